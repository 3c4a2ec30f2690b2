//! The operation manifest: what an API's own description says about operations (`wire/mcp-surface.md` 2.3).

use std::collections::BTreeSet;

use super::{InputField, OperationInputs, ToolSurfaceRefusal};
use crate::json::{Json, JsonObject};

/// What the manifest says about one operation; what it does not say, the operation says itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestEntry {
    /// The operation.
    pub method: String,
    /// `http`, as written.
    pub http: Option<String>,
    /// The operation's name in the tool, without the prefix.
    pub tool: Option<String>,
    /// What it does.
    pub summary: Option<String>,
    /// Whether it destroys, whatever its method and name say.
    pub destructive: Option<bool>,
    /// Whether it acts for the user who calls (SDK-CONNECTOR-CONTROL-R902.1).
    pub requires_actor: bool,
    /// What it takes, when `parameters` or `requestBody` are there.
    pub inputs: Option<OperationInputs>,
}

/// The most entries of a manifest, and the most parameters of an entry.
const MAX_ENTRIES: usize = 10_000;
const MAX_PARAMETERS: usize = 512;

/// Reads a manifest: a list of entries, each with the `method` it describes, none twice.
pub fn read_manifest(manifest: &Json) -> Result<Vec<ManifestEntry>, ToolSurfaceRefusal> {
    let items = list(Some(manifest), "the root", MAX_ENTRIES)?;
    let mut seen = BTreeSet::new();
    items
        .iter()
        .enumerate()
        .map(|(at, item)| {
            let entry = entry(item, at)?;
            if seen.insert(entry.method.clone()) {
                Ok(entry)
            } else {
                Err(ToolSurfaceRefusal::ManifestTwice { operation: entry.method })
            }
        })
        .collect()
}

fn entry(item: &Json, at: usize) -> Result<ManifestEntry, ToolSurfaceRefusal> {
    let Some(method) = text(item, "method", &format!("entry {at}"))?.filter(|method| !method.is_empty()) else {
        return Err(fault(&format!("entry {at}"), "it names no method"));
    };
    Ok(ManifestEntry {
        http: text(item, "http", &method)?,
        tool: text(item, "name", &method)?,
        summary: text(item, "summary", &method)?,
        destructive: flag(item, "destructive", &method)?,
        requires_actor: flag(item, "requires_actor", &method)?.unwrap_or(false),
        inputs: inputs(item, &method)?,
        method,
    })
}

fn inputs(item: &Json, method: &str) -> Result<Option<OperationInputs>, ToolSurfaceRefusal> {
    let (parameters, body) = (present(item, "parameters"), present(item, "requestBody"));
    if parameters.is_none() && body.is_none() {
        return Ok(None);
    }
    let mut fields = Vec::new();
    for parameter in parameters.map(|all| list(Some(all), method, MAX_PARAMETERS)).transpose()?.unwrap_or_default() {
        let Some(wire) = text(parameter, "name", method)? else { return Err(fault(method, "a parameter has no name")) };
        let in_path = text(parameter, "in", method)?.as_deref() == Some("path");
        let required = in_path || flag(parameter, "required", method)?.unwrap_or(false);
        fields.push(field(parameter, &wire, type_of(parameter.get("schema")), required, method)?);
    }
    if let Some(body) = body {
        let required = flag(body, "required", method)?.unwrap_or(false);
        fields.push(field(body, "body", any_object(), required, method)?);
    }
    Ok(Some(OperationInputs::of(fields)))
}

fn field(
    item: &Json,
    wire: &str,
    schema: Json,
    required: bool,
    method: &str,
) -> Result<InputField, ToolSurfaceRefusal> {
    let field = if required {
        InputField::required(wire, schema)
    } else {
        let null = Json::from([("type", "null".into())]);
        InputField::optional(wire, Json::from([("anyOf", vec![schema, null].into())]), Json::Null)
    };
    Ok(match text(item, "python_name", method)? {
        Some(argument) => field.argument(wire, &argument),
        None => field,
    })
}

/// Types only: what else a schema says is the vendor's to check, and clients reject much of it.
fn type_of(schema: Option<&Json>) -> Json {
    match schema.and_then(|schema| schema.get("type")).and_then(Json::as_str) {
        Some("array") => Json::from([("type", "array".into()), ("items", JsonObject::new().into())]),
        Some("object") => any_object(),
        Some(plain @ ("string" | "integer" | "number" | "boolean")) => Json::from([("type", plain.into())]),
        _ => JsonObject::new().into(),
    }
}

fn any_object() -> Json {
    Json::from([("type", "object".into()), ("additionalProperties", true.into())])
}

fn present<'a>(item: &'a Json, member: &str) -> Option<&'a Json> {
    item.get(member).filter(|value| !value.is_null())
}

fn text(item: &Json, member: &str, place: &str) -> Result<Option<String>, ToolSurfaceRefusal> {
    match present(item, member) {
        None => Ok(None),
        Some(Json::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(fault(place, "a member that is a text holds something else")),
    }
}

fn flag(item: &Json, member: &str, place: &str) -> Result<Option<bool>, ToolSurfaceRefusal> {
    match present(item, member) {
        None => Ok(None),
        Some(Json::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(fault(place, "a member that is true or false holds something else")),
    }
}

fn list<'a>(value: Option<&'a Json>, place: &str, limit: usize) -> Result<&'a [Json], ToolSurfaceRefusal> {
    match value.and_then(Json::as_array) {
        Some(items) if items.len() <= limit => Ok(items),
        Some(_) => Err(fault(place, "there are too many entries")),
        None => Err(fault(place, "it is not a list")),
    }
}

fn fault(place: &str, what: &'static str) -> ToolSurfaceRefusal {
    ToolSurfaceRefusal::Manifest { place: place.to_owned(), what }
}
