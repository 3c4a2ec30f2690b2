//! The JSON Schema of a declaration, as a peer generates it, without the descriptions. A pack carries it as the
//! `output_schema` of the entry `connector://resources` (R075.7).

use super::ConnectorDeclaration;
use crate::json::{Json, JsonObject};

/// One member of a model: its name, its schema without the title, whether it must be there.
type Member = (&'static str, Json, bool);

impl ConnectorDeclaration {
    /// The JSON Schema (draft 2020-12) of the document.
    pub fn json_schema() -> Json {
        let mut root = model("IngestSourceDeclaration", declaration());
        let definitions = [
            ("EdgeSpec", model("EdgeSpec", edge())),
            ("ForEach", model("ForEach", for_each())),
            ("IngestSourceSpec", model("IngestSourceSpec", source())),
            ("JsonValue", Json::Object(JsonObject::new())),
            ("ResourceRelation", model("ResourceRelation", relation())),
            ("ResourceSpec", model("ResourceSpec", resource())),
            ("SchemaMapping", model("SchemaMapping", mapping())),
        ];
        if let Json::Object(members) = &mut root {
            members.insert("$defs".to_owned(), Json::from(definitions));
        }
        root
    }
}

fn declaration() -> Vec<Member> {
    let descriptors = Json::from([("additionalProperties", true.into()), ("type", "object".into())]);
    let mappings = [("additionalProperties", reference("SchemaMapping")), ("type", "object".into())];
    vec![
        ("connector", sized_text(128), true),
        ("sources", defaulted(list(reference("IngestSourceSpec")), empty_list()), false),
        ("schema_mappings", Json::from(mappings), false),
        ("resources", defaulted(list(reference("ResourceSpec")), empty_list()), false),
        ("descriptors", defaulted(list(descriptors), empty_list()), false),
    ]
}

fn source() -> Vec<Member> {
    let tools = Json::from([("items", text()), ("minItems", 1u64.into()), ("type", "array".into())]);
    let words = Json::from([
        ("default", "none".into()),
        ("enum", vec!["none".into(), "page".into()].into()),
        ("type", "string".into()),
    ]);
    let page_size = Json::from([
        ("default", 100u64.into()),
        ("maximum", 1000u64.into()),
        ("minimum", 1u64.into()),
        ("type", "integer".into()),
    ]);
    let start_page = Json::from([("default", 1u64.into()), ("minimum", 0u64.into()), ("type", "integer".into())]);
    let flag = Json::from([("default", false.into()), ("type", "boolean".into())]);
    vec![
        ("source_id", pattern(SOURCE_ID), true),
        ("record_type", sized_text(128), true),
        ("tools", tools, true),
        ("id_field", non_empty(), true),
        ("records_path", defaulted(text(), "".into()), false),
        ("title_field", nullable(text()), false),
        ("text_field", nullable(text()), false),
        ("cursor_field", nullable(text()), false),
        ("incremental", flag, false),
        ("arguments", any_members(), false),
        ("pagination", words, false),
        ("page_param", nullable(text()), false),
        ("page_size_param", nullable(text()), false),
        ("page_size", page_size, false),
        ("start_page", start_page, false),
        ("description", defaulted(text(), "".into()), false),
        ("server", defaulted(text(), "".into()), false),
        ("preset", nullable(any_members()), false),
        ("for_each", nullable(reference("ForEach")), false),
        ("edges", defaulted(list(reference("EdgeSpec")), empty_list()), false),
    ]
}

fn edge() -> Vec<Member> {
    vec![
        ("relationship", pattern("^[A-Za-z][A-Za-z0-9_]{0,63}$"), true),
        ("target_field", non_empty(), true),
        ("target_type", sized_text(128), true),
        ("target_id_key", nullable(text()), false),
        ("target_id_template", defaulted(text(), "{type}:{id}".into()), false),
        ("target_fields", text_members(), false),
        ("target_stream", nullable(pattern(SOURCE_ID)), false),
    ]
}

fn for_each() -> Vec<Member> {
    vec![
        ("source", non_empty(), true),
        ("argument", non_empty(), true),
        ("field", defaulted(non_empty(), "id".into()), false),
    ]
}

fn mapping() -> Vec<Member> {
    vec![("ontology_class", nullable(text()), false), ("fields", text_members(), false)]
}

fn resource() -> Vec<Member> {
    vec![
        ("name", text(), true),
        ("label", defaulted(text(), "".into()), false),
        ("id_prefix", defaulted(text(), "".into()), false),
        ("relations", list(reference("ResourceRelation")), false),
    ]
}

fn relation() -> Vec<Member> {
    vec![
        ("name", text(), true),
        ("target", text(), true),
        ("label", defaulted(text(), "".into()), false),
        ("lpg_rel_type", defaulted(text(), "".into()), false),
    ]
}

const SOURCE_ID: &str = "^[a-z0-9][a-z0-9._-]{0,63}$";

fn model(title: &str, members: Vec<Member>) -> Json {
    let required = members.iter().filter(|member| member.2).map(|member| Json::from(member.0)).collect::<Vec<_>>();
    let properties = members.into_iter().map(|(name, schema, _)| (name.to_owned(), titled(name, schema)));
    let mut out = JsonObject::new();
    out.insert("additionalProperties".to_owned(), false.into());
    out.insert("properties".to_owned(), properties.collect::<JsonObject>().into());
    if !required.is_empty() {
        out.insert("required".to_owned(), required.into());
    }
    out.insert("title".to_owned(), title.into());
    out.insert("type".to_owned(), "object".into());
    Json::Object(out)
}

/// Adds the title made from the name, except where the schema is a reference or an optional one.
fn titled(name: &str, mut schema: Json) -> Json {
    let is_reference = |schema: &Json| schema.get("$ref").is_some();
    let optional_reference =
        schema.get("anyOf").and_then(Json::as_array).is_some_and(|any| any.iter().any(is_reference));
    if !is_reference(&schema)
        && !optional_reference
        && let Json::Object(members) = &mut schema
    {
        let words = name.split('_').map(|word| word[..1].to_uppercase() + &word[1..]);
        members.insert("title".to_owned(), words.collect::<Vec<_>>().join(" ").into());
    }
    schema
}

fn defaulted(mut schema: Json, value: Json) -> Json {
    if let Json::Object(members) = &mut schema {
        members.insert("default".to_owned(), value);
    }
    schema
}

fn nullable(schema: Json) -> Json {
    let null = Json::from([("type", "null".into())]);
    Json::from([("anyOf", vec![schema, null].into()), ("default", Json::Null)])
}

fn text() -> Json {
    Json::from([("type", "string".into())])
}

fn non_empty() -> Json {
    Json::from([("minLength", 1u64.into()), ("type", "string".into())])
}

fn sized_text(longest: u64) -> Json {
    Json::from([("maxLength", longest.into()), ("minLength", 1u64.into()), ("type", "string".into())])
}

fn pattern(pattern: &str) -> Json {
    Json::from([("pattern", pattern.into()), ("type", "string".into())])
}

fn list(items: Json) -> Json {
    Json::from([("items", items), ("type", "array".into())])
}

fn empty_list() -> Json {
    Json::Array(Vec::new())
}

fn text_members() -> Json {
    Json::from([("additionalProperties", text()), ("type", "object".into())])
}

fn any_members() -> Json {
    Json::from([("additionalProperties", reference("JsonValue")), ("type", "object".into())])
}

fn reference(definition: &str) -> Json {
    Json::from([("$ref", format!("#/$defs/{definition}").into())])
}
