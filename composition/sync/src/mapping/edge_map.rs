//! A declared relationship of a record kind.

use scion_domain::ingest::{Entity, IngestRefusal, Relationship};
use scion_domain::json::{Json, JsonObject};

use super::read::{at, each_at, id_text};
use super::{IdTemplate, Mapped};

/// How a reference field becomes edges: one per referenced id. An empty reference emits nothing; a reference of a record
/// to itself is counted as skipped, because no store takes such an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeMap {
    relation: String,
    target: String,
    id_key: String,
    id_template: IdTemplate,
    target_type: Option<String>,
    target_fields: Vec<(String, String)>,
    properties: Vec<(String, String)>,
}

impl EdgeMap {
    /// An edge to the ids at a dotted path. A list on the path is read element by element. The template forms the target's
    /// id from `{id}`.
    pub fn new(
        relation: impl Into<String>,
        target: impl Into<String>,
        id_template: &str,
    ) -> Result<Self, IngestRefusal> {
        let id_template = IdTemplate::parse(id_template)?;
        let relation = relation.into();
        if relation.is_empty() {
            return Err(IngestRefusal::Declaration { what: "an edge has no name", name: id_template.as_str().into() });
        }
        if id_template.places().any(|place| place != "id") {
            return Err(IngestRefusal::Declaration {
                what: "the template of an edge has no place but {id}",
                name: relation,
            });
        }
        Ok(Self {
            relation,
            target: target.into(),
            id_key: "id".to_owned(),
            id_template,
            target_type: None,
            target_fields: Vec::new(),
            properties: Vec::new(),
        })
    }

    /// Where a reference that is an object keeps its id; `id` when silent.
    #[must_use]
    pub fn id_key(mut self, key: impl Into<String>) -> Self {
        self.id_key = key.into();
        self
    }

    /// Emits the target once as an entity of this type; a real record with its id wins.
    #[must_use]
    pub fn target_type(mut self, record_type: impl Into<String>) -> Self {
        self.target_type = Some(record_type.into());
        self
    }

    /// A property of the emitted target, read from a member of the reference.
    #[must_use]
    pub fn target_field(mut self, property: impl Into<String>, member: impl Into<String>) -> Self {
        self.target_fields.push((property.into(), member.into()));
        self
    }

    /// A property of the edge, read from the record.
    #[must_use]
    pub fn property(mut self, property: impl Into<String>, key: impl Into<String>) -> Self {
        self.properties.push((property.into(), key.into()));
        self
    }

    pub(super) fn relation(&self) -> &str {
        &self.relation
    }

    pub(super) fn emit(&self, record: &JsonObject, source: &str, source_type: &str, mapped: &mut Mapped) {
        for reference in each_at(record, &self.target) {
            let id = match reference {
                Json::Object(members) => at(members, &self.id_key).and_then(id_text),
                scalar => id_text(scalar),
            };
            let Some(target) = id.and_then(|id| self.id_template.fill(|_| Some(id.clone()))) else {
                continue;
            };
            if target == source {
                mapped.skip();
                continue;
            }
            if let Some(target_type) = &self.target_type {
                let mut entity = Entity::new(target_type, target.as_str());
                if let Json::Object(members) = reference {
                    copy(&self.target_fields, members, &mut entity.properties);
                }
                mapped.target(entity);
            }
            let mut edge = Relationship::new(source, self.relation.as_str(), target);
            edge.source_type = Some(source_type.to_owned());
            copy(&self.properties, record, &mut edge.properties);
            mapped.edge(edge);
        }
    }
}

fn copy(fields: &[(String, String)], from: &JsonObject, into: &mut JsonObject) {
    for (property, key) in fields {
        if let Some(value) = at(from, key).filter(|value| !value.is_null()) {
            into.insert(property.clone(), value.clone());
        }
    }
}
