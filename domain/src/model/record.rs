//! One record, one relationship, and where they came from.

use std::sync::Arc;

use crate::id::{ConnectorName, Digest256, MappingReference, RecordId, RelationReference, StreamName};
use crate::json::JsonObject;

/// The identity of a record inside a connector.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntityRef {
    /// The stream the record belongs to.
    pub stream: StreamName,
    /// Its vendor identity.
    pub record_id: RecordId,
}

/// Where a record was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// The connector; must equal the batch's.
    pub connector: ConnectorName,
    /// The kind of adapter, for example `mcp_tool`.
    pub adapter_kind: String,
    /// The server the tool lives on.
    pub server: String,
    /// The tool that answered.
    pub tool: String,
    /// The live contract fingerprint of that tool.
    pub tool_schema_sha256: Digest256,
    /// Where the record can be found again, for example `mcp-tool://<server>/<tool>/<id>`.
    pub source_uri: String,
}

/// One record on its way to the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRecord {
    /// Identity.
    pub entity: EntityRef,
    /// The declared mapping that admits it.
    pub mapping_reference: MappingReference,
    /// The vendor's fields after projection and privacy guard, before mapping.
    pub payload: JsonObject,
    /// The vendor's change time as text, when it has one.
    pub updated_at: Option<String>,
    /// Where it was read.
    pub provenance: Provenance,
    /// Digest of the record as the source gave it, under its current shape; not sent, used to skip unchanged records.
    pub content_digest: Digest256,
    /// Relations of which the batch carries this record's complete outgoing set, so that a store that can
    /// (`SinkCapabilities::replaces_relations`) drops the edges that are gone. Not part of the engine's wire form.
    pub complete_relations: Arc<[RelationReference]>,
}

/// One edge on its way to the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelationshipRecord {
    /// From.
    pub source: EntityRef,
    /// To.
    pub target: EntityRef,
    /// The declared relation that admits it.
    pub relation_reference: RelationReference,
    /// Properties of the edge; empty means none.
    pub properties: JsonObject,
    /// Where it was read.
    pub provenance: Provenance,
}
