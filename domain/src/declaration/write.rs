//! Writing `connector://resources`: Python's default spacing, keys sorted, unset members left out except `descriptors`
//! (`wire/mcp-surface.md` 1.3).

use super::words::SOURCE_PAGINATION;
use super::{ConnectorDeclaration, EdgeSpec, ForEach, RelationSpec, ResourceSpec, SchemaMapping, SourceSpec};
use crate::json::{Json, JsonObject, to_spaced};
use crate::model::PackEntry;

/// The URI the declaration is served at.
pub const DECLARATION_URI: &str = "connector://resources";

/// Its media type.
pub const DECLARATION_MEDIA_TYPE: &str = "application/json";

struct Out(JsonObject);

impl Out {
    fn new() -> Self {
        Self(JsonObject::new())
    }

    fn put(mut self, name: &str, value: impl Into<Json>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    fn put_if(self, wanted: bool, name: &str, value: impl Into<Json>) -> Self {
        if wanted { self.put(name, value) } else { self }
    }

    fn text(self, name: &str, value: &str) -> Self {
        self.put_if(!value.is_empty(), name, value)
    }

    fn end(self) -> Json {
        Json::Object(self.0)
    }
}

fn texts(map: &std::collections::BTreeMap<String, String>) -> Json {
    Json::Object(map.iter().map(|(key, value)| (key.clone(), Json::from(value.as_str()))).collect())
}

impl ConnectorDeclaration {
    /// The document.
    pub fn to_json(&self) -> Json {
        Out::new()
            .put("connector", self.connector.as_str())
            .put("descriptors", self.descriptors.iter().cloned().map(Json::Object).collect::<Vec<_>>())
            .put_if(
                !self.sources.is_empty(),
                "sources",
                self.sources.iter().map(SourceSpec::to_json).collect::<Vec<_>>(),
            )
            .put_if(
                !self.schema_mappings.is_empty(),
                "schema_mappings",
                self.schema_mappings.iter().map(|(key, item)| (key.clone(), item.to_json())).collect::<JsonObject>(),
            )
            .put_if(
                !self.resources.is_empty(),
                "resources",
                self.resources.iter().map(ResourceSpec::to_json).collect::<Vec<_>>(),
            )
            .end()
    }

    /// The text as served.
    pub fn to_text(&self) -> String {
        to_spaced(&self.to_json())
    }

    /// The entry of a pack that carries this declaration.
    pub fn pack_entry(&self) -> PackEntry {
        PackEntry {
            kind: "resource".to_owned(),
            uri: DECLARATION_URI.to_owned(),
            media_type: DECLARATION_MEDIA_TYPE.to_owned(),
            body: self.to_text().into_bytes(),
            ..PackEntry::default()
        }
    }
}

impl SourceSpec {
    /// Every member, defaults included.
    pub fn to_full_json(&self) -> JsonObject {
        let members = Out::new()
            .put("source_id", self.source_id.as_str())
            .put("record_type", self.record_type.as_str())
            .put("tools", self.tools.iter().map(|tool| Json::from(tool.as_str())).collect::<Vec<_>>())
            .put("id_field", self.id_field.as_str())
            .put("records_path", self.records_path.as_str())
            .put("title_field", self.title_field.as_deref())
            .put("text_field", self.text_field.as_deref())
            .put("cursor_field", self.cursor_field.as_deref())
            .put("incremental", self.incremental)
            .put("arguments", self.arguments.clone())
            .put("pagination", SOURCE_PAGINATION.word(self.pagination))
            .put("page_param", self.page_param.as_deref())
            .put("page_size_param", self.page_size_param.as_deref())
            .put("page_size", u64::from(self.page_size))
            .put("start_page", self.start_page)
            .put("description", self.description.as_str())
            .put("server", self.server.as_str())
            .put("preset", self.preset.clone())
            .put("for_each", self.for_each.as_ref().map(ForEach::to_json))
            .put("edges", self.edges.iter().map(EdgeSpec::to_json).collect::<Vec<_>>());
        members.0
    }

    /// The members the source set itself.
    pub fn to_json(&self) -> Json {
        let mut members = self.to_full_json();
        members.retain(|name, _| self.is_set(name));
        Json::Object(members)
    }

    /// Whether the source set this member itself; the four required ones always count as set.
    pub fn is_set(&self, member: &str) -> bool {
        matches!(member, "source_id" | "record_type" | "tools" | "id_field")
            || self.set_members.iter().any(|name| name == member)
    }
}

impl ForEach {
    pub(super) fn to_json(&self) -> Json {
        Out::new()
            .put("source", self.source.as_str())
            .put("argument", self.argument.as_str())
            .put_if(self.field != "id", "field", self.field.as_str())
            .end()
    }
}

impl EdgeSpec {
    pub(super) fn to_json(&self) -> Json {
        Out::new()
            .put("relationship", self.relationship.as_str())
            .put("target_field", self.target_field.as_str())
            .put("target_type", self.target_type.as_str())
            .put_if(self.target_id_key.is_some(), "target_id_key", self.target_id_key.as_deref())
            .put_if(self.target_id_template != "{type}:{id}", "target_id_template", self.target_id_template.as_str())
            .put_if(!self.target_fields.is_empty(), "target_fields", texts(&self.target_fields))
            .put_if(
                self.target_stream.is_some(),
                "target_stream",
                self.target_stream.as_ref().map(crate::id::StreamName::as_str),
            )
            .end()
    }
}

impl SchemaMapping {
    pub(super) fn to_json(&self) -> Json {
        Out::new()
            .put_if(self.ontology_class.is_some(), "ontology_class", self.ontology_class.as_deref())
            .put_if(!self.fields.is_empty(), "fields", texts(&self.fields))
            .end()
    }
}

impl ResourceSpec {
    pub(super) fn to_json(&self) -> Json {
        Out::new()
            .put("name", self.name.as_str())
            .text("label", &self.label)
            .text("id_prefix", &self.id_prefix)
            .put_if(
                !self.relations.is_empty(),
                "relations",
                self.relations.iter().map(RelationSpec::to_json).collect::<Vec<_>>(),
            )
            .end()
    }
}

impl RelationSpec {
    fn to_json(&self) -> Json {
        Out::new()
            .put("name", self.name.as_str())
            .put("target", self.target.as_str())
            .text("label", &self.label)
            .text("lpg_rel_type", &self.lpg_rel_type)
            .end()
    }
}
