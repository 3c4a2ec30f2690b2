//! The entry of a tool.

use super::{EntryKind, PackAnnotations, PackRefusal, ToolContractFacts};
use crate::canonical::peer_json;
use crate::fingerprint;
use crate::id::ConnectorName;
use crate::json::{Json, JsonObject};
use crate::mcp::ToolDescription;
use crate::model::PackEntry;

/// Keywords whose members have names of the author's choice: what is called `default` there is a parameter.
const NAMED: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Keywords whose values are data, not schemas.
const DATA: [&str; 3] = ["const", "enum", "examples"];

/// Keywords whose lists are sets.
const SETS: [&str; 3] = ["enum", "required", "type"];

/// The input schema as a pack holds it: the keyword `default` left out, because it is no part of what a caller must agree on, and
/// lists that mean sets sorted. A parameter that is called `default` stays.
pub fn tool_schema(schema: &Json) -> Json {
    match schema {
        Json::Object(members) => {
            let kept = members.iter().filter(|(name, _)| *name != "default");
            Json::Object(kept.map(|(name, value)| (name.clone(), keyword(name, value))).collect())
        }
        Json::Array(items) => items.iter().map(tool_schema).collect::<Vec<_>>().into(),
        scalar => scalar.clone(),
    }
}

fn keyword(name: &str, value: &Json) -> Json {
    match value {
        Json::Array(items) if SETS.contains(&name) && items.iter().all(|item| item.as_str().is_some()) => {
            let mut sorted = items.clone();
            sorted.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
            Json::Array(sorted)
        }
        value if DATA.contains(&name) => value.clone(),
        Json::Object(named) if name == "dependentRequired" => {
            Json::Object(named.iter().map(|(name, set)| (name.clone(), keyword("required", set))).collect())
        }
        Json::Object(named) if NAMED.contains(&name) => {
            Json::Object(named.iter().map(|(name, schema)| (name.clone(), tool_schema(schema))).collect())
        }
        value => tool_schema(value),
    }
}

/// The entry of a listed tool: body, schemas, annotations with the fingerprint of its contract, and facts.
pub fn tool_entry(connector: &ConnectorName, tool: &ToolDescription) -> Result<PackEntry, PackRefusal> {
    let uri = format!("tool://{connector}/{}", tool.name);
    let malformed = |what| PackRefusal::Malformed { uri: uri.clone(), what };
    if tool.name.trim().is_empty() || tool.name.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(malformed("a blank name, or one with blanks in it"));
    }
    if tool.input_schema.get("type").and_then(Json::as_str) != Some("object") {
        return Err(malformed("an input schema whose type is not `object`"));
    }
    if tool.output_schema.as_ref().is_some_and(|schema| !schema.is_null() && schema.as_object().is_none()) {
        return Err(malformed("an output schema that is not an object"));
    }
    let pin = fingerprint::compatibility(tool).map_err(|_| malformed("schemas that have no fingerprint"))?;
    let input = tool_schema(&tool.input_schema);
    let output = tool.output_schema.clone().filter(|schema| !schema.is_null());
    let body: JsonObject = [
        ("name", Json::from(tool.name.as_str())),
        ("description", Json::from(tool.description.as_deref().unwrap_or_default())),
        ("input_schema", input.clone()),
        ("output_schema", output.clone().unwrap_or_default()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect();
    let body = peer_json(&Json::Object(body)).into_bytes();
    let annotations = PackAnnotations::of_tool(&uri, &tool.meta, tool.hints, pin)?;
    let facts = ToolContractFacts::of_tool(&uri, tool, &body)?;
    Ok(PackEntry {
        kind: EntryKind::Tool.as_str().to_owned(),
        name: tool.name.clone(),
        media_type: "application/json".to_owned(),
        input_schema: Some(peer_json(&input).into_bytes()),
        output_schema: output.as_ref().map(|schema| peer_json(schema).into_bytes()),
        body,
        annotations,
        references: Vec::new(),
        facts: Some(facts),
        uri,
    })
}
