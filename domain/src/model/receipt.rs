//! Proof that a batch is durable.

use super::{EntityRef, IngestMode, SourceCheckpoint};
use crate::id::Digest256;

/// Whether this commit did the work or found it done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// The batch was applied now.
    Committed,
    /// The same batch had been applied before; nothing changed.
    Replayed,
}

/// What the store recorded of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawAdmission {
    /// Which record.
    pub entity: EntityRef,
    /// SHA-256 of the record's canonical MessagePack.
    pub raw_digest: Digest256,
    /// The store already held exactly these bytes.
    pub deduplicated: bool,
}

/// A record that is no longer live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tombstone {
    /// Which record.
    pub entity: EntityRef,
    /// Why.
    pub reason: String,
}

/// The durable answer to one batch (`SourceMappingReceipt`). A caller advances only after
/// it has checked `batch_digest`, `accepted_checkpoint_digest` and every `raw_digest` against what it sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceReceipt {
    /// `source-ingest:<batch digest>`.
    pub receipt_id: String,
    /// Applied now or before.
    pub disposition: Disposition,
    /// The mode of the batch.
    pub mode: IngestMode,
    /// Digest of the batch this receipt answers.
    pub batch_digest: Digest256,
    /// One per record of the batch, in its order.
    pub raw_admissions: Vec<RawAdmission>,
    /// Records withdrawn by this batch.
    pub tombstones: Vec<Tombstone>,
    /// The checkpoint now accepted.
    pub accepted_checkpoint: SourceCheckpoint,
    /// Its digest.
    pub accepted_checkpoint_digest: Digest256,
    /// Records and relationships of the batch.
    pub affected_count: u64,
    /// Relationships of the batch.
    pub relationship_count: u64,
    /// The contract (pack) the batch was admitted under.
    pub contract_digest: Digest256,
    /// The revision of that contract; counts accepted imports, starting at 1.
    pub contract_revision: u64,
    /// The graph version after the commit.
    pub committed_graph_version: u64,
    /// Digest of the receipt itself.
    pub receipt_digest: Digest256,
}
