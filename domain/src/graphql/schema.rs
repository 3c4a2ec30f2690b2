//! What a server offers, from its introspection: enough for a tool to be made of it.

use std::collections::BTreeMap;
use std::fmt;

use super::GraphQlRefusal;
use crate::json::{Json, JsonObject};

/// Asks for types, fields and arguments; nine levels of lists and non-nulls around a type.
pub const INTROSPECTION: &str = "query Introspection { __schema { queryType { name } mutationType { name } types { kind name \
fields(includeDeprecated: true) { name isDeprecated type { ...T } args { name defaultValue type { ...T } } } \
inputFields { name defaultValue type { ...T } } enumValues(includeDeprecated: true) { name } possibleTypes { name } } } } \
fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name \
ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } } } } } }";

const MAX_TYPES: usize = 20_000;
const MAX_FIELDS: usize = 200_000;
const MAX_WRAPPERS: usize = 9;
/// The longest name or default, in bytes.
const MAX_TEXT: usize = 1024;

/// The kind of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// A leaf.
    Scalar,
    /// Fields.
    Object,
    /// Fields of several objects.
    Interface,
    /// One of several objects.
    Union,
    /// One of several words.
    Enum,
    /// An argument with members.
    InputObject,
}

/// The type of a field or argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeRef {
    /// A named type.
    Named(String),
    /// A list.
    List(Box<TypeRef>),
    /// Never null.
    NonNull(Box<TypeRef>),
}

/// A field, an argument or a member of an input object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldModel {
    /// Its name.
    pub name: String,
    /// Its type.
    pub of: TypeRef,
    /// Its arguments; none for arguments themselves.
    pub arguments: Vec<FieldModel>,
    /// Whether a value is needed: the type is never null and there is no default.
    pub required: bool,
    /// Whether the server advises against it.
    pub deprecated: bool,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeModel {
    /// Its kind.
    pub kind: TypeKind,
    /// Fields, or members of an input object.
    pub fields: Vec<FieldModel>,
    /// Words of an enum, or objects of an interface or union.
    pub values: Vec<String>,
}

/// A schema, without the types that describe schemas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaModel {
    /// The type whose fields are queries.
    pub query: String,
    /// The type whose fields are mutations.
    pub mutation: Option<String>,
    /// Types by name.
    pub types: BTreeMap<String, TypeModel>,
}

impl SchemaModel {
    /// Reads the data of [`INTROSPECTION`]. Every name must be one (GraphQL, section 2.1.9), and every type that is used must be there.
    pub fn read(data: &JsonObject) -> Result<Self, GraphQlRefusal> {
        let malformed = || GraphQlRefusal::Malformed { what: "is not an introspection" };
        let schema = data.get("__schema").ok_or_else(malformed)?;
        let root = |name: &str| schema.get(name).and_then(|of| of.get("name")).and_then(name_of);
        let query = root("queryType").ok_or_else(malformed)?;
        let listed = schema.get("types").and_then(Json::as_array).ok_or_else(malformed)?;
        if listed.len() > MAX_TYPES {
            return Err(GraphQlRefusal::SchemaTooLarge { what: "types", limit: MAX_TYPES });
        }
        let mut reader = Reader { fields: 0 };
        let mut types = BTreeMap::new();
        for listed in listed {
            let name = listed.get("name").and_then(name_of).ok_or_else(malformed)?;
            if name.starts_with("__") {
                continue;
            }
            types.insert(name, reader.one(listed)?);
        }
        let model = Self { query, mutation: root("mutationType"), types };
        let known = |name: &String| model.types.contains_key(name);
        let fields = model.types.values().flat_map(|of| &of.fields);
        let used = fields.flat_map(|field| std::iter::once(field).chain(&field.arguments));
        let whole = known(&model.query)
            && model.mutation.as_ref().is_none_or(known)
            && used.into_iter().all(|field| model.types.contains_key(field.of.name()));
        if whole {
            Ok(model)
        } else {
            Err(GraphQlRefusal::Malformed { what: "is an introspection that lacks types it uses" })
        }
    }

    /// The queries.
    pub fn queries(&self) -> &[FieldModel] {
        self.types.get(&self.query).map_or(&[], |of| &of.fields)
    }

    /// The mutations.
    pub fn mutations(&self) -> &[FieldModel] {
        self.mutation.as_ref().and_then(|name| self.types.get(name)).map_or(&[], |of| &of.fields)
    }
}

struct Reader {
    fields: usize,
}

impl Reader {
    fn one(&mut self, listed: &Json) -> Result<TypeModel, GraphQlRefusal> {
        let kind = match listed.get("kind").and_then(Json::as_str) {
            Some("SCALAR") => TypeKind::Scalar,
            Some("OBJECT") => TypeKind::Object,
            Some("INTERFACE") => TypeKind::Interface,
            Some("UNION") => TypeKind::Union,
            Some("ENUM") => TypeKind::Enum,
            Some("INPUT_OBJECT") => TypeKind::InputObject,
            _ => return Err(GraphQlRefusal::Malformed { what: "has a type of an unknown kind" }),
        };
        let (fields, values) = match kind {
            TypeKind::InputObject => ("inputFields", None),
            TypeKind::Enum => ("", Some("enumValues")),
            TypeKind::Union => ("", Some("possibleTypes")),
            TypeKind::Interface => ("fields", Some("possibleTypes")),
            TypeKind::Object | TypeKind::Scalar => ("fields", None),
        };
        let fields = self.fields(listed.get(fields))?;
        let named = values.and_then(|values| listed.get(values)).and_then(Json::as_array).unwrap_or_default();
        self.count(named.len())?;
        let values =
            named.iter().map(|value| value.get("name").and_then(name_of).ok_or(NAMELESS)).collect::<Result<_, _>>()?;
        Ok(TypeModel { kind, fields, values })
    }

    fn count(&mut self, more: usize) -> Result<(), GraphQlRefusal> {
        self.fields = self.fields.saturating_add(more);
        if self.fields > MAX_FIELDS {
            return Err(GraphQlRefusal::SchemaTooLarge { what: "fields", limit: MAX_FIELDS });
        }
        Ok(())
    }

    fn fields(&mut self, listed: Option<&Json>) -> Result<Vec<FieldModel>, GraphQlRefusal> {
        let listed = listed.and_then(Json::as_array).unwrap_or_default();
        self.count(listed.len())?;
        listed.iter().map(|field| self.field(field, true)).collect()
    }

    fn field(&mut self, field: &Json, with_arguments: bool) -> Result<FieldModel, GraphQlRefusal> {
        let arguments = match field.get("args").and_then(Json::as_array) {
            Some(listed) if with_arguments => {
                self.count(listed.len())?;
                listed.iter().map(|argument| self.field(argument, false)).collect::<Result<_, _>>()?
            }
            _ => Vec::new(),
        };
        let of = field
            .get("type")
            .and_then(|of| type_ref(of, 0))
            .ok_or(GraphQlRefusal::Malformed { what: "has a field without a type" })?;
        let silent = field.get("defaultValue").is_none_or(Json::is_null);
        Ok(FieldModel {
            name: field.get("name").and_then(name_of).ok_or(NAMELESS)?,
            required: silent && matches!(of, TypeRef::NonNull(_)),
            of,
            arguments,
            deprecated: field.get("isDeprecated").and_then(Json::as_bool).unwrap_or(false),
        })
    }
}

const NAMELESS: GraphQlRefusal = GraphQlRefusal::Malformed { what: "has a name that is none" };

fn name_of(value: &Json) -> Option<String> {
    let text = value.as_str()?;
    let mut bytes = text.bytes();
    let start = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let rest = bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (start && rest && text.len() <= MAX_TEXT).then(|| text.to_owned())
}

fn type_ref(of: &Json, depth: usize) -> Option<TypeRef> {
    let inner = |depth| if depth < MAX_WRAPPERS { type_ref(of.get("ofType")?, depth + 1).map(Box::new) } else { None };
    match of.get("kind")?.as_str()? {
        "LIST" => inner(depth).map(TypeRef::List),
        "NON_NULL" => inner(depth).map(TypeRef::NonNull),
        _ => of.get("name").and_then(name_of).map(TypeRef::Named),
    }
}

impl TypeRef {
    /// The named type inside.
    pub fn name(&self) -> &str {
        match self {
            Self::Named(name) => name,
            Self::List(inner) | Self::NonNull(inner) => inner.name(),
        }
    }
}

impl fmt::Display for TypeRef {
    /// As in a document: `[Int!]!`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::List(inner) => write!(f, "[{inner}]"),
            Self::NonNull(inner) => write!(f, "{inner}!"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphql::GraphQlDocument;
    use crate::json::parse;

    fn read(types: &str) -> Result<SchemaModel, GraphQlRefusal> {
        let text = format!(
            r#"{{"__schema": {{"queryType": {{"name": "Query"}}, "mutationType": null, "types": [{types}]}}}}"#
        );
        SchemaModel::read(parse(&text).unwrap().as_object().unwrap())
    }

    const INT: &str = r#"{"kind": "SCALAR", "name": "Int"}"#;

    /// Proves: SDK-CENTRALIZED-CAPABILITIES-R016
    #[test]
    fn types_fields_and_arguments_are_read() {
        let query = r#"{"kind": "OBJECT", "name": "Query", "fields": [{"name": "page", "isDeprecated": true,
            "type": {"kind": "NON_NULL", "ofType": {"kind": "LIST", "ofType": {"kind": "ENUM", "name": "Day"}}},
            "args": [{"name": "size", "defaultValue": null, "type": {"kind": "NON_NULL", "ofType": {"kind": "SCALAR", "name": "Int"}}},
                     {"name": "from", "defaultValue": "1", "type": {"kind": "NON_NULL", "ofType": {"kind": "SCALAR", "name": "Int"}}}]}]}"#;
        let day = r#"{"kind": "ENUM", "name": "Day", "enumValues": [{"name": "MON"}, {"name": "TUE"}]}"#;
        let own = r#"{"kind": "OBJECT", "name": "__Type", "fields": [{"name": "x"}]}"#;
        let schema = read(&[query, day, INT, own].join(",")).unwrap();
        let page = &schema.queries()[0];
        assert_eq!((page.of.to_string().as_str(), page.deprecated, page.required), ("[Day]!", true, true));
        assert_eq!(page.arguments.iter().map(|argument| argument.required).collect::<Vec<_>>(), [true, false]);
        assert_eq!(schema.types["Day"].values, ["MON", "TUE"]);
        assert_eq!((schema.types.len(), schema.mutations().len()), (3, 0));
        assert!(GraphQlDocument::parse(INTROSPECTION).is_ok());
    }

    #[test]
    fn odd_schemas_are_refused() {
        let query = |fields: &str| format!(r#"{{"kind": "OBJECT", "name": "Query", "fields": [{fields}]}}"#);
        let wrapped = (0..12).fold(r#"{"kind": "SCALAR", "name": "Int"}"#.to_owned(), |of, _| {
            format!(r#"{{"kind": "LIST", "ofType": {of}}}"#)
        });
        for bad in [
            String::new(),
            INT.to_owned(),
            query(r#"{"name": "a", "type": {"kind": "SCALAR", "name": "Gone"}}"#),
            query(r#"{"name": "a b", "type": {"kind": "SCALAR", "name": "Query"}}"#),
            query(r#"{"name": "a"}"#),
            query(&format!(r#"{{"name": "a", "type": {wrapped}}}"#)) + "," + INT,
            r#"{"kind": "THING", "name": "Query"}"#.to_owned(),
        ] {
            assert!(matches!(read(&bad), Err(GraphQlRefusal::Malformed { .. })), "{bad}");
        }
        let many = vec![INT; MAX_TYPES + 1].join(",");
        assert!(matches!(read(&many), Err(GraphQlRefusal::SchemaTooLarge { what: "types", .. })));
    }
}
