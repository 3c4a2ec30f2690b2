//! What a tool shows of a schema, and what it says when it cannot (SDK-CONNECTOR-CONTROL-R030, R014.12).

use super::{FieldModel, SchemaModel, TypeKind};
use crate::json::{Json, JsonObject};
use crate::refusal::Refusal;

const fn word(kind: TypeKind) -> &'static str {
    match kind {
        TypeKind::Scalar => "SCALAR",
        TypeKind::Object => "OBJECT",
        TypeKind::Interface => "INTERFACE",
        TypeKind::Union => "UNION",
        TypeKind::Enum => "ENUM",
        TypeKind::InputObject => "INPUT_OBJECT",
    }
}

impl SchemaModel {
    /// Every type with its kind, in the order of names.
    pub fn list_types(&self) -> JsonObject {
        let of = |(name, of): (&String, &super::TypeModel)| {
            Json::from([("name", name.as_str().into()), ("kind", word(of.kind).into())])
        };
        JsonObject::from([("types".to_owned(), self.types.iter().map(of).collect::<Vec<_>>().into())])
    }

    /// A type with its fields, their arguments, and its words; for a name that is no type, an answer that says so.
    pub fn type_details(&self, name: &str) -> JsonObject {
        let Some(of) = self.types.get(name) else {
            let known: String = name.chars().take(128).collect();
            return JsonObject::from([("error".to_owned(), "unknown_type".into()), ("type".to_owned(), known.into())]);
        };
        JsonObject::from([
            ("name".to_owned(), name.into()),
            ("kind".to_owned(), word(of.kind).into()),
            ("fields".to_owned(), of.fields.iter().map(|field| described(field, true)).collect::<Vec<_>>().into()),
            ("values".to_owned(), of.values.iter().map(|value| value.as_str().into()).collect::<Vec<Json>>().into()),
        ])
    }
}

fn described(field: &FieldModel, with_arguments: bool) -> Json {
    let mut members = JsonObject::from([
        ("name".to_owned(), Json::from(field.name.as_str())),
        ("type".to_owned(), field.of.to_string().into()),
        ("required".to_owned(), field.required.into()),
    ]);
    if with_arguments {
        let arguments: Vec<Json> = field.arguments.iter().map(|argument| described(argument, false)).collect();
        members.insert("arguments".to_owned(), arguments.into());
    }
    members.into()
}

/// The fixed answer of an introspection that failed: the class of the failure, which is its stable code, and an id to find it in
/// the logs. Never its message.
pub fn introspection_failed(refusal: &dyn Refusal, correlation: &str) -> JsonObject {
    JsonObject::from([
        ("error".to_owned(), "operation_failed".into()),
        ("class".to_owned(), refusal.code().into()),
        ("correlation_id".to_owned(), correlation.into()),
    ])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use crate::graphql::{GraphQlRefusal, SchemaModel, introspection_failed};
    use crate::json::{Json, parse, to_compact};

    fn schema() -> SchemaModel {
        let text = r#"{"__schema":{"queryType":{"name":"Query"},"mutationType":null,"types":[
            {"kind":"SCALAR","name":"Int"},{"kind":"ENUM","name":"Day","enumValues":[{"name":"MON"}]},
            {"kind":"OBJECT","name":"Query","fields":[{"name":"days","isDeprecated":false,
              "type":{"kind":"LIST","ofType":{"kind":"ENUM","name":"Day"}},
              "args":[{"name":"first","defaultValue":null,"type":{"kind":"NON_NULL","ofType":{"kind":"SCALAR","name":"Int"}}}]}]}]}}"#;
        SchemaModel::read(parse(text).unwrap().as_object().unwrap()).unwrap()
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R030
    #[test]
    fn types_are_listed_and_one_is_shown_with_its_arguments() {
        assert_eq!(
            to_compact(&Json::Object(schema().list_types())),
            r#"{"types":[{"kind":"ENUM","name":"Day"},{"kind":"SCALAR","name":"Int"},{"kind":"OBJECT","name":"Query"}]}"#
        );
        assert_eq!(
            to_compact(&Json::Object(schema().type_details("Query"))),
            r#"{"fields":[{"arguments":[{"name":"first","required":true,"type":"Int!"}],"name":"days","required":false,"type":"[Day]"}],"kind":"OBJECT","name":"Query","values":[]}"#
        );
        let day = schema().type_details("Day");
        assert_eq!(day["values"], Json::from(vec!["MON".into()]));
        assert_eq!(
            to_compact(&Json::Object(schema().type_details("Nope"))),
            r#"{"error":"unknown_type","type":"Nope"}"#
        );
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R014.12
    #[test]
    fn a_failure_is_a_class_and_an_id_and_no_message() {
        let refusal = GraphQlRefusal::Malformed { what: "a message" };
        let payload = to_compact(&Json::Object(introspection_failed(&refusal, "7f")));
        let class = crate::refusal::Refusal::code(&refusal);
        assert_eq!(payload, format!(r#"{{"class":"{class}","correlation_id":"7f","error":"operation_failed"}}"#));
    }
}
