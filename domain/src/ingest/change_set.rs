//! The change set: what a connector wants to become true, in its own ids.

use crate::access::ExternalAccess;
use crate::id::StreamName;
use crate::json::JsonObject;
use crate::model::IngestMode;

/// One thing with an identity and a type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entity {
    /// Its id in the stream.
    pub id: String,
    /// Its record type; a mapping of the declaration must have it.
    pub node_type: String,
    /// Its properties, in the vendor's names.
    pub properties: JsonObject,
    /// The vendor's change time as text.
    pub updated_at: Option<String>,
    /// Who may read it; the binding's policy when silent.
    pub access: Option<ExternalAccess>,
    /// It only stands for the end of an edge: a record with its id, in the change set or in the graph, wins.
    pub reference: bool,
    /// Relations of which the change set holds all edges that start here, so that edges that are gone go away.
    pub complete_relations: Vec<String>,
}

impl Entity {
    /// An entity without properties.
    pub fn new(node_type: impl Into<String>, id: impl Into<String>) -> Self {
        Self { id: id.into(), node_type: node_type.into(), ..Self::default() }
    }

    /// Adds a property.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<crate::json::Json>) -> Self {
        self.properties.insert(name.into(), value.into());
        self
    }
}

/// One edge between two ids of the stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relationship {
    /// From.
    pub source: String,
    /// To.
    pub target: String,
    /// Its name.
    pub relation: String,
    /// Its properties.
    pub properties: JsonObject,
    /// The record type of the source, when the source is not in the same change set.
    pub source_type: Option<String>,
    /// The stream of the target, when it is another one; needs a sink with cross-stream relationships.
    pub target_stream: Option<StreamName>,
}

impl Relationship {
    /// An edge without properties.
    pub fn new(source: impl Into<String>, relation: impl Into<String>, target: impl Into<String>) -> Self {
        Self { source: source.into(), target: target.into(), relation: relation.into(), ..Self::default() }
    }
}

/// One text with an identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its id in the stream.
    pub id: String,
    /// Its record type; `Document` when the connector says nothing else.
    pub doc_type: String,
    /// Its title; may be empty.
    pub title: String,
    /// Its text.
    pub text: String,
    /// Further properties.
    pub properties: JsonObject,
    /// The vendor's change time as text.
    pub updated_at: Option<String>,
    /// Who may read it; the binding's policy when silent.
    pub access: Option<ExternalAccess>,
    /// As [`Entity::complete_relations`].
    pub complete_relations: Vec<String>,
}

impl Document {
    /// The record type of a document that names none.
    pub const TYPE: &'static str = "Document";

    /// A document of the usual type.
    pub fn new(id: impl Into<String>, title: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            doc_type: Self::TYPE.to_owned(),
            title: title.into(),
            text: text.into(),
            properties: JsonObject::new(),
            updated_at: None,
            access: None,
            complete_relations: Vec::new(),
        }
    }
}

/// Bytes with the record that describes them.
#[derive(Clone, PartialEq, Eq)]
pub struct MediaAsset {
    /// Its id in the stream.
    pub id: String,
    /// Its record type; `MediaAsset` when the connector says nothing else.
    pub node_type: String,
    /// Its file name or title.
    pub name: String,
    /// Its media type, for example `image/png`.
    pub mime_type: String,
    /// The bytes; never empty.
    pub data: Vec<u8>,
    /// Further properties.
    pub properties: JsonObject,
}

impl MediaAsset {
    /// The record type of an asset that names none.
    pub const TYPE: &'static str = "MediaAsset";
}

impl std::fmt::Debug for MediaAsset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MediaAsset")
            .field("id", &self.id)
            .field("mime_type", &self.mime_type)
            .field("bytes", &self.data.len())
            .finish_non_exhaustive()
    }
}

/// Everything one submission changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeSet {
    /// `Delta` for ordinary submissions; `Reconcile` needs `live_ids`.
    pub mode: IngestMode,
    /// Things.
    pub entities: Vec<Entity>,
    /// Edges.
    pub relationships: Vec<Relationship>,
    /// Texts.
    pub documents: Vec<Document>,
    /// Records that are gone, each with the reason; only in a delta.
    pub withdrawals: Vec<(String, String)>,
    /// Bytes.
    pub media: Vec<MediaAsset>,
    /// Everything that is live, in a reconcile.
    pub live_ids: Option<Vec<String>>,
    /// The operator's words that an empty authoritative change set is meant.
    pub empty_approval: Option<String>,
    /// Nested values were taken apart already, and `complete_relations` says all there is to say.
    pub flat: bool,
}

impl Default for ChangeSet {
    fn default() -> Self {
        Self {
            mode: IngestMode::Delta,
            entities: Vec::new(),
            relationships: Vec::new(),
            documents: Vec::new(),
            withdrawals: Vec::new(),
            media: Vec::new(),
            live_ids: None,
            empty_approval: None,
            flat: false,
        }
    }
}

impl ChangeSet {
    /// How many records it asks for, before nested values are taken apart.
    pub fn record_count(&self) -> usize {
        self.entities.len() + self.documents.len() + self.media.len()
    }

    /// Whether it changes nothing. A reconcile always says something.
    pub fn is_empty(&self) -> bool {
        self.record_count() == 0
            && self.relationships.is_empty()
            && self.withdrawals.is_empty()
            && self.mode != IngestMode::Reconcile
    }
}
