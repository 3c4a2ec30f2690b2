//! What a durable graph can do and what it refuses.

use crate::model::BatchRefusal;
use crate::refusals;

/// What a sink declares of itself, once. The port suite tests both sides: what is declared works, what is not declared
/// refuses with [`SinkRefusal::Capability`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SinkCapabilities {
    /// Edges may lead to another stream of the connector.
    pub cross_stream_relationships: bool,
    /// Edges may lead to a record that is not there yet; they show once it is.
    pub forward_references: bool,
    /// Honours `SourceRecord::complete_relations`.
    pub replaces_relations: bool,
    /// The most records in one batch.
    pub max_records: usize,
    /// The most relationships in one batch.
    pub max_relationships: usize,
    /// The most live ids in one reconcile batch.
    pub max_live_ids: usize,
    /// Batches that may be under way at once.
    pub max_in_flight: usize,
}

refusals! {
    /// Why a durable graph did not accept something. Upper-case codes are the engine's own.
    pub enum SinkRefusal {
        /// The batch is not well formed.
        Batch { refusal: BatchRefusal } => "batch_invalid", CallerMistake, Never,
            "{refusal}", "fix the batch; nothing was written";
        /// No accepted pack declares this mapping.
        UnknownMapping { reference: String } => "UNKNOWN_MAPPING_REFERENCE", CallerMistake, Never,
            "no accepted declaration has the mapping {reference}", "declare the record type in schema_mappings and import the declaration";
        /// No accepted pack declares this relation.
        UnknownRelation { reference: String } => "UNKNOWN_RELATIONSHIP_REFERENCE", CallerMistake, Never,
            "no accepted declaration has the relation {reference}", "declare the edge or the ontology's object property and import the declaration";
        /// A field has another type than the mapping says.
        FieldType { index: usize, field: String, expected: String } => "SOURCE_SCHEMA_TYPE_MISMATCH", PeerMisbehaved, Never,
            "record {index}, field {field}: expected {expected}", "fix the source or its mapping";
        /// A field the mapping does not name, in a strict batch.
        FieldUnknown { index: usize, field: String } => "SOURCE_SCHEMA_FIELD_UNKNOWN", PeerMisbehaved, Never,
            "record {index} has the undeclared field {field}", "declare the field or turn strict_schema off";
        /// The record's own `node_type` contradicts its mapping.
        Selector { index: usize } => "SOURCE_MAPPING_SELECTOR_MISMATCH", PeerMisbehaved, Never,
            "record {index} names another node_type than its mapping", "use the mapping of its type";
        /// A mapping that cannot work, for example two fields onto one property.
        MappingInvalid { reference: String, what: &'static str } => "mapping_invalid", CallerMistake, Never,
            "{reference}: {what}", "fix the declaration";
        /// A withdrawal of something not live.
        WithdrawalUnknown { index: usize } => "SOURCE_WITHDRAWAL_UNKNOWN", PeerMisbehaved, Never,
            "withdrawal {index} names a record that is not live", "withdraw a record once";
        /// An edge to a record nobody knows, where forward references are not offered.
        EndpointUnknown { index: usize } => "SOURCE_RELATIONSHIP_ENDPOINT_UNKNOWN", PeerMisbehaved, Never,
            "relationship {index} leads to an unknown record", "send the record first";
        /// An edge from or to a withdrawn record.
        EndpointWithdrawn { index: usize } => "SOURCE_RELATIONSHIP_ENDPOINT_WITHDRAWN", PeerMisbehaved, Never,
            "relationship {index} touches a withdrawn record", "send the record again first";
        /// The stream stands elsewhere than the batch expects.
        Conflict { stream: String } => "conflict", Unavailable, AfterReadback,
            "the stream {stream} has moved since it was read", "read its status and continue from there; run one writer per stream";
        /// The cursor policy forbids this checkpoint.
        CursorPolicy { stream: String } => "CURSOR_POLICY_VIOLATION", CallerMistake, Never,
            "the checkpoint of {stream} breaks the declared cursor policy", "fix the source's cursor";
        /// The store runs under another contract than the caller.
        ContractNotAccepted { connector: String } => "contract_not_accepted", Denied, Never,
            "the store has not accepted the declaration that {connector} serves now", "certify and import it, or set provision: true";
        /// The pack is not acceptable.
        PackInvalid { what: &'static str } => "pack_invalid", CallerMistake, Never,
            "the pack is not acceptable: {what}", "fix the declaration";
        /// Another import came first.
        PackConflict { connector: String } => "pack_conflict", Unavailable, AfterReadback,
            "another import of {connector} came first", "read the pack status and try again";
        /// More than half of the surface would go.
        MassWithdrawal { before: usize, withdrawn: usize } => "mass_withdrawal", Denied, Never,
            "the import would withdraw {withdrawn} of {before} published entries", "if that is meant, allow the mass withdrawal for this import";
        /// The sink cannot do this.
        Capability { what: &'static str } => "capability_missing", CallerMistake, Never,
            "this sink does not offer {what}", "use a sink that does, or declare the source without it";
        /// The store answered no, by a code of its own, and has not moved.
        Refused { code: &'static str } => "sink_refused", Denied, Never,
            "the store refuses the batch ({code}); nothing was written", "look the code up in the store's documentation, and its log";
        /// Nobody knows whether the commit happened.
        OutcomeUnknown => "outcome_unknown", Unavailable, AfterReadback,
            "it is not known whether the commit happened", "read the stream's status: it tells";
        /// The store itself refuses.
        Store { refusal: StoreRefusal } => "store", Unavailable, Later,
            "{refusal}", "see the store's own refusal";
    }
}

refusals! {
    /// Why a local store cannot be used.
    pub enum StoreRefusal {
        /// It cannot be opened or reached.
        Unavailable { what: &'static str } => "store_unavailable", Unavailable, Later,
            "the store cannot be used: {what}", "check the path and its permissions";
        /// A setting of it cannot be used.
        Setting { name: &'static str, what: &'static str } => "store_setting_invalid", CallerMistake, Never,
            "{name} {what}", "correct the setting";
        /// Another process holds it for longer than the wait.
        Locked { seconds: u64 } => "store_locked", Unavailable, Later,
            "another process has held the store for {seconds} s", "wait for it, or stop it";
        /// It can only be read.
        ReadOnly => "store_read_only", CallerMistake, Never,
            "the store can only be read", "make the file and its folder writable";
        /// No space is left.
        Full => "store_full", Unavailable, Later,
            "no space is left for the store", "free some space; nothing was lost";
        /// The file is damaged.
        Corrupt => "store_corrupt", Unavailable, Never,
            "the store file is damaged or is not a Scion store", "restore it from a copy, or move it away and sync again";
        /// A newer release wrote it.
        TooNew { found: i64, known: i64 } => "store_too_new", CallerMistake, Never,
            "the store has schema {found}; this release knows up to {known}", "use the newer release";
        /// A compare-and-swap found another version.
        Conflict { key: String } => "store_conflict", Unavailable, AfterReadback,
            "{key} has changed since it was read", "read it again and decide anew";
        /// A key or value is not acceptable.
        BadKey { what: &'static str } => "store_bad_key", CallerMistake, Never,
            "{what}", "use keys of 1 to 1024 bytes and values of at most 1 MiB";
    }
}

impl SinkRefusal {
    /// The most specific code: of the wrapped refusal where there is one.
    pub fn leaf_code(&self) -> &'static str {
        use crate::refusal::Refusal as _;
        match self {
            Self::Batch { refusal } => refusal.code(),
            Self::Store { refusal } => refusal.code(),
            other => other.code(),
        }
    }
}

impl From<StoreRefusal> for SinkRefusal {
    fn from(refusal: StoreRefusal) -> Self {
        Self::Store { refusal }
    }
}

impl From<BatchRefusal> for SinkRefusal {
    fn from(refusal: BatchRefusal) -> Self {
        Self::Batch { refusal }
    }
}
