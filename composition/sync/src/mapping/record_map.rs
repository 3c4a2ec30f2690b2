//! A declared record kind.

use scion_domain::id::RecordType;
use scion_domain::ingest::{Entity, IngestRefusal};
use scion_domain::json::{Json, JsonObject};

use super::read::{at, ext_id, id_text};
use super::{EdgeMap, IdTemplate, Mapped, RecordMapper};

/// One record kind as data: its type, how its id is formed, which fields it keeps and where its edges lead.
///
/// ```
/// use scion_sync::mapping::{EdgeMap, RecordMap};
/// # fn main() -> Result<(), scion_domain::ingest::IngestRefusal> {
/// let tickets = RecordMap::new("Ticket", "ticket:{id}")?
///     .id_keys(["id", "number"])
///     .field("title", "fields.summary")
///     .external_id("id")
///     .constant("system", "desk")
///     .edge(EdgeMap::new("assignee", "fields.assignee", "user:{id}")?.target_type("User"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordMap {
    node_type: RecordType,
    id_template: IdTemplate,
    id_keys: Vec<String>,
    fields: Vec<(String, String)>,
    external_id: Option<String>,
    updated_field: Option<String>,
    constants: JsonObject,
    edges: Vec<EdgeMap>,
    strict: bool,
    keep_nulls: bool,
}

/// The property the engine copies past every mapping (`wire/engine-protocol.md` 7.1).
const EXTERNAL_ID: &str = "externalToolId";

impl RecordMap {
    /// A kind. `{id}` of the template is the first usable id key; any other place is a field of the record by its dotted
    /// path. Refuses a type or a template that cannot work.
    pub fn new(node_type: &str, id_template: &str) -> Result<Self, IngestRefusal> {
        Ok(Self {
            node_type: RecordType::parse(node_type)?,
            id_template: IdTemplate::parse(id_template)?,
            id_keys: vec!["id".to_owned()],
            fields: Vec::new(),
            external_id: None,
            updated_field: None,
            constants: JsonObject::new(),
            edges: Vec::new(),
            strict: false,
            keep_nulls: false,
        })
    }

    /// The keys that may hold the id, in order of preference; `id` when silent.
    #[must_use]
    pub fn id_keys<K: Into<String>>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        self.id_keys = keys.into_iter().map(Into::into).collect();
        self
    }

    /// A property and the key it is read from; a dotted key reads nested objects.
    #[must_use]
    pub fn field(mut self, property: impl Into<String>, key: impl Into<String>) -> Self {
        self.fields.push((property.into(), key.into()));
        self
    }

    /// Several properties at once.
    #[must_use]
    pub fn fields<P: Into<String>, K: Into<String>>(mut self, fields: impl IntoIterator<Item = (P, K)>) -> Self {
        self.fields.extend(fields.into_iter().map(|(property, key)| (property.into(), key.into())));
        self
    }

    /// The key with the vendor's own id, kept as the property `externalToolId`.
    #[must_use]
    pub fn external_id(mut self, key: impl Into<String>) -> Self {
        self.external_id = Some(key.into());
        self
    }

    /// The key with the vendor's change time.
    #[must_use]
    pub fn updated_field(mut self, key: impl Into<String>) -> Self {
        self.updated_field = Some(key.into());
        self
    }

    /// A property with the same value for every record.
    #[must_use]
    pub fn constant(mut self, property: impl Into<String>, value: impl Into<Json>) -> Self {
        self.constants.insert(property.into(), value.into());
        self
    }

    /// An edge.
    #[must_use]
    pub fn edge(mut self, edge: EdgeMap) -> Self {
        self.edges.push(edge);
        self
    }

    /// Refuses a record without an id instead of skipping it.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Keeps a field that is null as a null property. Without this it is left out: a record is always replaced whole, so
    /// both say that the property has no value now.
    #[must_use]
    pub fn keep_nulls(mut self) -> Self {
        self.keep_nulls = true;
        self
    }

    fn id_of(&self, record: &JsonObject) -> Option<String> {
        self.id_template.fill(|place| match place {
            "id" => ext_id(record, &self.id_keys),
            field => at(record, field).and_then(id_text),
        })
    }
}

impl RecordMapper for RecordMap {
    fn map(&self, record: &JsonObject, mapped: &mut Mapped) -> Result<(), IngestRefusal> {
        let Some(id) = self.id_of(record) else {
            if self.strict {
                return Err(IngestRefusal::EntityWithoutId { index: mapped.entities().len() });
            }
            mapped.skip();
            return Ok(());
        };
        let mut entity = Entity::new(self.node_type.as_str(), id.as_str());
        for (property, key) in &self.fields {
            if let Some(value) = at(record, key).filter(|value| self.keep_nulls || !value.is_null()) {
                entity.properties.insert(property.clone(), value.clone());
            }
        }
        if let Some(external) = self.external_id.as_ref().and_then(|key| at(record, key)).and_then(id_text) {
            entity.properties.insert(EXTERNAL_ID.to_owned(), external.into());
        }
        entity.properties.extend(self.constants.clone());
        entity.updated_at = self.updated_field.as_ref().and_then(|key| at(record, key)).and_then(id_text);
        entity.complete_relations = self.edges.iter().map(|edge| edge.relation().to_owned()).collect();
        mapped.entity(entity);
        for edge in &self.edges {
            edge.emit(record, &id, self.node_type.as_str(), mapped);
        }
        Ok(())
    }
}
