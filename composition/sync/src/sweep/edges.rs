//! From the reference fields of a record to edges and stubs (R004.36).

use scion_domain::declaration::EdgeSpec;
use scion_domain::json::{Json, JsonObject, read_dotted};

/// One reference of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The id of the target record.
    pub target_id: String,
    /// What a stub of the target knows.
    pub properties: JsonObject,
}

/// The references a record makes through one declared edge, in order, each target once. A list on the way is read element
/// by element; empty, absent and null references are none.
pub fn references(edge: &EdgeSpec, record: &JsonObject) -> Vec<Reference> {
    let mut found: Vec<Reference> = Vec::new();
    let (head, tail) = edge.target_field.split_once('.').unwrap_or((edge.target_field.as_str(), ""));
    let Some(start) = record.get(head) else { return found };
    let mut leaves = Vec::new();
    collect(start, tail, &mut leaves);
    for leaf in leaves {
        let Some(id) = reference_id(edge, leaf) else { continue };
        let target_id = edge.target_id_template.replace("{type}", &edge.target_type).replace("{id}", &id);
        if !found.iter().any(|known| known.target_id == target_id) {
            found.push(Reference { target_id, properties: properties(edge, leaf) });
        }
    }
    found
}

fn collect<'a>(value: &'a Json, path: &str, out: &mut Vec<&'a Json>) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| collect(item, path, out)),
        _ if path.is_empty() => out.push(value),
        Json::Object(members) => {
            let (head, tail) = path.split_once('.').unwrap_or((path, ""));
            if let Some(inner) = members.get(head) {
                collect(inner, tail, out);
            }
        }
        _ => {}
    }
}

fn reference_id(edge: &EdgeSpec, leaf: &Json) -> Option<String> {
    let value = match (leaf, &edge.target_id_key) {
        (Json::Object(_), Some(key)) => read_dotted(leaf, key)?,
        (Json::Object(_), None) => return None,
        _ => leaf,
    };
    match value {
        Json::String(text) if !text.is_empty() => Some(text.clone()),
        Json::Number(number) => Some(number.as_text().to_owned()),
        _ => None,
    }
}

fn properties(edge: &EdgeSpec, leaf: &Json) -> JsonObject {
    let read = |(property, member): (&String, &String)| {
        let value = read_dotted(leaf, member).filter(|value| !value.is_null())?;
        Some((property.clone(), value.clone()))
    };
    if leaf.as_object().is_some() { edge.target_fields.iter().filter_map(read).collect() } else { JsonObject::new() }
}
