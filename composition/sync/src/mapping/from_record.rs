//! Loose objects as typed parts of a change set.

use scion_domain::ingest::{Document, Entity, IngestRefusal, Relationship};
use scion_domain::json::JsonObject;

use super::read::id_text;
use super::read_field;

/// An entity from `{id, node_type, updated_at?, properties?}`; every other member is a property too, and `properties` wins
/// over a member of the same name. `type` stands for an absent `node_type`.
pub fn entity_from_record(record: &JsonObject) -> Result<Entity, IngestRefusal> {
    let type_key = if record.contains_key("node_type") { "node_type" } else { "type" };
    let mut entity = Entity::new(read_field::<String>(record, type_key)?, required_id(record, "id")?);
    entity.updated_at = record.get("updated_at").and_then(id_text);
    entity.properties = rest(record, &["id", type_key, "updated_at", "properties"])?;
    Ok(entity)
}

/// A relationship from `{source, target, relation, properties?}`; other members are properties too. `type` stands for an
/// absent `relation`.
pub fn relationship_from_record(record: &JsonObject) -> Result<Relationship, IngestRefusal> {
    let name_key = if record.contains_key("relation") { "relation" } else { "type" };
    let (source, target) = (required_id(record, "source")?, required_id(record, "target")?);
    let mut edge = Relationship::new(source, read_field::<String>(record, name_key)?, target);
    edge.properties = rest(record, &["source", "target", name_key, "properties"])?;
    Ok(edge)
}

/// A document from `{id, text, title?, doc_type?, updated_at?, properties?}`; other members are properties too.
pub fn document_from_record(record: &JsonObject) -> Result<Document, IngestRefusal> {
    let optional = |key| {
        if record.get(key).is_none_or(super::is_blank) { Ok(None) } else { read_field::<String>(record, key).map(Some) }
    };
    let title = optional("title")?.unwrap_or_default();
    let mut document = Document::new(required_id(record, "id")?, title, read_field::<String>(record, "text")?);
    if let Some(doc_type) = optional("doc_type")? {
        document.doc_type = doc_type;
    }
    document.updated_at = record.get("updated_at").and_then(id_text);
    document.properties = rest(record, &["id", "title", "text", "doc_type", "updated_at", "properties"])?;
    Ok(document)
}

fn required_id(record: &JsonObject, key: &str) -> Result<String, IngestRefusal> {
    record.get(key).and_then(id_text).map_or_else(|| read_field::<String>(record, key), Ok)
}

fn rest(record: &JsonObject, taken: &[&str]) -> Result<JsonObject, IngestRefusal> {
    let mut properties: JsonObject = record
        .iter()
        .filter(|(key, _)| !taken.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if record.get("properties").is_some_and(|value| !super::is_blank(value)) {
        properties.extend(read_field::<&JsonObject>(record, "properties")?.clone());
    }
    Ok(properties)
}
