//! What a nested value becomes.

use std::collections::BTreeMap;

use scion_domain::declaration::EdgeSpec;
use scion_domain::id::StreamName;
use scion_domain::ingest::IngestRefusal;

use crate::mapping::IdTemplate;

/// How an object inside a property becomes one entity and one relationship (R017.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestedMapping {
    /// The name of the relationship.
    pub relation: String,
    /// The record type of the entity.
    pub target_type: String,
    /// The member with the entity's id.
    pub id_key: String,
    /// Forms the entity's id from `{type}` and `{id}`.
    pub id_template: IdTemplate,
    /// Property of the entity to member of the object; empty keeps every member.
    pub fields: BTreeMap<String, String>,
    /// The stream whose own record is meant; then no entity is made.
    pub target_stream: Option<StreamName>,
    /// The object only names something that has records of its own: such a record, in the change set or in the graph, wins.
    /// Otherwise the object is the entity's content and replaces it.
    pub reference: bool,
}

impl NestedMapping {
    /// A mapping with the usual id template `{type}:{id}` that keeps every member.
    pub fn new(relation: impl Into<String>, target_type: impl Into<String>) -> Result<Self, IngestRefusal> {
        Ok(Self {
            relation: relation.into(),
            target_type: target_type.into(),
            id_key: "id".to_owned(),
            id_template: IdTemplate::parse("{type}:{id}")?,
            fields: BTreeMap::new(),
            target_stream: None,
            reference: false,
        })
    }

    /// The mapping a declared edge stands for.
    pub fn from_edge(edge: &EdgeSpec) -> Result<Self, IngestRefusal> {
        Ok(Self {
            relation: edge.relationship.clone(),
            target_type: edge.target_type.clone(),
            id_key: edge.target_id_key.clone().unwrap_or_else(|| "id".to_owned()),
            id_template: IdTemplate::parse(&edge.target_id_template)?,
            fields: edge.target_fields.clone(),
            target_stream: edge.target_stream.clone(),
            reference: true,
        })
    }

    /// The id of the entity a vendor id stands for.
    pub fn target_id(&self, id: &str) -> Option<String> {
        self.id_template.fill(|place| match place {
            "type" => Some(self.target_type.clone()),
            "id" => Some(id.to_owned()),
            _ => None,
        })
    }
}
