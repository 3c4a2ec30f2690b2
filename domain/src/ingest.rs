//! What a connector hands in for ingest, and why it can be refused.

mod change_set;

pub use change_set::{ChangeSet, Document, Entity, MediaAsset, Relationship};

use crate::refusal::Refusal;
use crate::refusals;
use crate::sink::{SinkRefusal, StoreRefusal};
use crate::source::SourceRefusal;
use crate::sync::SyncRefusal;

refusals! {
    /// Why a change set is not ingested. Nothing is written when one of these is answered before a commit, and no
    /// refused batch moves a checkpoint.
    pub enum IngestRefusal {
        /// There is nothing to ingest.
        Empty { what: &'static str } => "ingest_empty", CallerMistake, Never,
            "there are no {what} to ingest", "hand in at least one, or do not call";
        /// The stream has no mapper for the kind.
        UnknownKind { kind: String } => "ingest_unknown_kind", CallerMistake, Never,
            "the stream has no mapper for the kind `{kind}`", "declare a RecordMap for it or use a declared kind";
        /// An entity has no id.
        EntityWithoutId { index: usize } => "ingest_entity_without_id", PeerMisbehaved, Never,
            "entity {index} has no id", "choose id keys that every record has";
        /// An entity has no usable type.
        EntityWithoutType { index: usize } => "ingest_entity_without_type", CallerMistake, Never,
            "entity {index} has no type of 1 to 128 characters", "name the record type of every entity";
        /// A document lacks what makes it one.
        DocumentIncomplete { index: usize, what: &'static str } => "ingest_document_incomplete", PeerMisbehaved, Never,
            "document {index} has no {what}", "give every document an id and a text";
        /// A relationship lacks an end or a name.
        RelationshipIncomplete { index: usize, what: &'static str } => "ingest_relationship_incomplete", PeerMisbehaved, Never,
            "relationship {index} has no {what}", "give every relationship a source, a target and a name";
        /// Nothing says what type the source of a relationship has, so its relation cannot be named.
        RelationshipUnanchored { index: usize } => "ingest_relationship_unanchored", CallerMistake, Never,
            "the source of relationship {index} is not in the change set and no source type is given",
            "put the source entity in the change set or set source_type";
        /// A record lacks a required field.
        FieldMissing { field: String } => "ingest_field_missing", PeerMisbehaved, Never,
            "a record has no field `{field}`", "read a field every record has, or treat it as optional";
        /// A required field holds nothing.
        FieldEmpty { field: String } => "ingest_field_empty", PeerMisbehaved, Never,
            "the field `{field}` of a record is empty", "read a field that is never empty, or treat it as optional";
        /// A field has another type than the mapper reads.
        FieldType { field: String, expected: &'static str, found: &'static str } => "ingest_field_type", PeerMisbehaved, Never,
            "the field `{field}` of a record is a {found}, not a {expected}", "fix the mapper or the source";
        /// A result holds no list of records where the mapper looks.
        NoRecords { path: String } => "ingest_records_missing", PeerMisbehaved, Never,
            "there is no list of records at `{path}`", "name the path of the list";
        /// A record of a list is not an object.
        NotAnObject { index: usize } => "ingest_record_not_object", PeerMisbehaved, Never,
            "record {index} is not an object", "name the path of the list of objects";
        /// An id, name or reference is outside its alphabet or bound.
        BadIdentity { refusal: crate::id::IdRefusal } => "ingest_bad_identity", CallerMistake, Never,
            "{refusal}", "use ids and names inside their alphabet and bound";
        /// A mapper, binding, stream or tool declaration cannot work.
        Declaration { what: &'static str, name: String } => "ingest_declaration", CallerMistake, Never,
            "`{name}`: {what}", "fix the declaration";
        /// A nested value is an object without the id its mapping reads.
        NestedValueWithoutId { record_type: String, field: String } => "ingest_nested_value_without_id", PeerMisbehaved, Never,
            "the nested value {record_type}.{field} has no id", "name the member with the id in the edge's target_id_key";
        /// More than one commit may carry.
        TooLarge { what: &'static str, count: usize, limit: usize } => "ingest_change_set_too_large", CallerMistake, Never,
            "a change set has {count} {what}; at most {limit} are committed at once", "set a batch size or hand in less";
        /// The stream's guard said no.
        GuardRefused { reason: String } => "ingest_guard_refused", Denied, Never,
            "the guard of the stream stopped the commit: {reason}", "change what is submitted, or the guard";
        /// The projection refuses its input.
        Projection { what: &'static str } => "ingest_projection_refused", CallerMistake, Never,
            "the projection refuses the change set: {what}", "fix the projection or the records";
        /// An id cannot have a pseudonym.
        Pseudonym { refusal: crate::pseudonym::PseudonymRefusal } => "ingest_pseudonym_refused", CallerMistake, Never,
            "{refusal}", "see the refusal inside";
        /// No ingest service is there.
        Unavailable => "ingest_unavailable", Unavailable, Later,
            "no ingest service is installed in this process", "install one, or give the stream its own";
        /// Media came without a place to keep its bytes.
        NoMediaStore => "ingest_no_media_store", CallerMistake, Never,
            "no store for media is configured", "give the ingest service a key-value store for media";
        /// Another kind of writer moves the stream.
        ForeignPosition { stream: String } => "ingest_foreign_position", CallerMistake, Never,
            "the stream {stream} is moved by another kind of writer", "use a stream of its own for this ingest";
        /// A cursor strategy refuses a page or a stored cursor.
        Cursor { refusal: crate::cursor::CursorRefusal } => "ingest_cursor_refused", CallerMistake, Never,
            "{refusal}", "fix the strategy or the source, or reset the stream";
        /// An argument of an ingest tool is not acceptable.
        Argument { name: String, what: &'static str } => "ingest_tool_argument", CallerMistake, Never,
            "the argument `{name}` {what}", "see the input schema of the tool";
        /// The vendor's client failed.
        Client { what: &'static str } => "ingest_client_failed", Unavailable, Later,
            "the vendor client failed: {what}", "see the vendor client's own log";
        /// The sink refused.
        Sink { refusal: SinkRefusal } => "ingest_sink", Unavailable, Later,
            "{refusal}", "see the sink's own refusal";
        /// A local store refused.
        Store { refusal: StoreRefusal } => "ingest_store", Unavailable, Later,
            "{refusal}", "see the store's own refusal";
        /// The commit did not end with proof.
        Sync { refusal: SyncRefusal } => "ingest_sync", Unavailable, Later,
            "{refusal}", "see the refusal inside";
        /// The source refused.
        Source { refusal: SourceRefusal } => "ingest_source", PeerMisbehaved, Never,
            "{refusal}", "see the source's own refusal";
    }
}

impl IngestRefusal {
    /// The refusal inside, where there is one: what the sink says comes through unchanged.
    pub fn leaf(&self) -> &dyn Refusal {
        match self {
            Self::BadIdentity { refusal } => refusal,
            Self::Sink { refusal: SinkRefusal::Batch { refusal } } => refusal,
            Self::Sink { refusal: SinkRefusal::Store { refusal } } | Self::Store { refusal } => refusal,
            Self::Sink { refusal } => refusal,
            Self::Sync { refusal } => refusal,
            Self::Cursor { refusal } => refusal,
            Self::Pseudonym { refusal } => refusal,
            Self::Source { refusal: SourceRefusal::Session { refusal } } => refusal,
            Self::Source { refusal } => refusal,
            other => other,
        }
    }

    /// The code of [`IngestRefusal::leaf`].
    pub fn leaf_code(&self) -> &'static str {
        self.leaf().code()
    }
}

impl From<SyncRefusal> for IngestRefusal {
    fn from(refusal: SyncRefusal) -> Self {
        match refusal {
            SyncRefusal::Source { refusal } => refusal.into(),
            SyncRefusal::Sink { refusal } => refusal.into(),
            SyncRefusal::Store { refusal } => refusal.into(),
            SyncRefusal::Session { refusal } => refusal.into(),
            refusal => Self::Sync { refusal },
        }
    }
}

impl From<crate::id::IdRefusal> for IngestRefusal {
    fn from(refusal: crate::id::IdRefusal) -> Self {
        Self::BadIdentity { refusal }
    }
}

impl From<SinkRefusal> for IngestRefusal {
    fn from(refusal: SinkRefusal) -> Self {
        Self::Sink { refusal }
    }
}

impl From<crate::model::BatchRefusal> for IngestRefusal {
    fn from(refusal: crate::model::BatchRefusal) -> Self {
        Self::Sink { refusal: refusal.into() }
    }
}

impl From<StoreRefusal> for IngestRefusal {
    fn from(refusal: StoreRefusal) -> Self {
        Self::Store { refusal }
    }
}

impl From<SourceRefusal> for IngestRefusal {
    fn from(refusal: SourceRefusal) -> Self {
        Self::Source { refusal }
    }
}

impl From<crate::cursor::CursorRefusal> for IngestRefusal {
    fn from(refusal: crate::cursor::CursorRefusal) -> Self {
        Self::Cursor { refusal }
    }
}

impl From<crate::pseudonym::PseudonymRefusal> for IngestRefusal {
    fn from(refusal: crate::pseudonym::PseudonymRefusal) -> Self {
        Self::Pseudonym { refusal }
    }
}

impl From<crate::mcp::McpRefusal> for IngestRefusal {
    fn from(refusal: crate::mcp::McpRefusal) -> Self {
        Self::Source { refusal: refusal.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::{Blame, Retry};

    #[test]
    fn what_the_sink_says_comes_through_unchanged() {
        let unknown = SinkRefusal::UnknownMapping { reference: "connector:desk#mappings/X".into() };
        let refusal = IngestRefusal::from(SyncRefusal::from(unknown.clone()));
        assert_eq!(refusal.leaf_code(), "UNKNOWN_MAPPING_REFERENCE");
        assert_eq!(refusal.leaf().to_string(), unknown.to_string());
        assert_eq!((refusal.leaf().blame(), refusal.leaf().retry()), (Blame::CallerMistake, Retry::Never));
        let policy = IngestRefusal::from(SinkRefusal::CursorPolicy { stream: "s".into() });
        assert_eq!(policy.leaf_code(), "CURSOR_POLICY_VIOLATION");
        let locked = IngestRefusal::from(SinkRefusal::from(StoreRefusal::Locked { seconds: 3 }));
        assert_eq!((locked.leaf_code(), locked.leaf().retry()), ("store_locked", Retry::Later));
    }
}
