//! What a run proves about itself (R004.23, R017.5): counts, digests, progress and codes; no payload, no credential.

use scion_domain::id::{ConnectorName, Digest256, StreamName};
use scion_domain::model::{Disposition, IngestMode, SourceBatch, SourceCheckpoint};
use scion_domain::sync::SyncRefusal;
use serde::Serialize;

use crate::commit::VerifiedReceipt;

/// How the cycle of one stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SyncState {
    /// The sweep was exhausted.
    Complete,
    /// A budget ended the cycle; the next one resumes.
    Partial,
    /// A refusal ended it; the next cycle resumes from the accepted checkpoint.
    Failed,
    /// A stage it depends on did not complete, so it did not start.
    Blocked,
    /// It was stopped from outside, after the page in flight.
    Cancelled,
    /// It is held because the tool changed its contract.
    Quarantined,
    /// It is held because a repair is proposed.
    Paused,
}

impl SyncState {
    /// Whether the stream did what it should: finished, or stopped at a budget.
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Complete | Self::Partial)
    }
}

/// The proof of one committed batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BatchEvidence {
    /// The receipt.
    pub receipt_id: String,
    /// Digest of the batch.
    pub batch_digest: Digest256,
    /// Digest of the receipt; zero when the reply was lost and the commit was proved by readback.
    pub receipt_digest: Digest256,
    /// Digest of the checkpoint it moved to.
    pub checkpoint_digest: Digest256,
    /// The batch had been applied before, or its reply was lost.
    pub replayed: bool,
    /// Its mode.
    pub mode: IngestMode,
    /// Records in it, stubs included.
    pub records: u64,
    /// Relationships in it.
    pub relationships: u64,
    /// Records it withdrew.
    pub withdrawn: u64,
    /// `contract:<connector>#<record type>`.
    pub contract_iri: String,
    /// The revision of the contract it was admitted under.
    pub contract_revision: u64,
    /// The digest of that contract.
    pub contract_digest: Digest256,
}

impl BatchEvidence {
    pub(crate) fn of(batch: &SourceBatch, verified: &VerifiedReceipt, contract_iri: &str) -> Self {
        let receipt = &verified.receipt;
        Self {
            receipt_id: receipt.receipt_id.clone(),
            batch_digest: receipt.batch_digest,
            receipt_digest: receipt.receipt_digest,
            checkpoint_digest: receipt.accepted_checkpoint_digest,
            replayed: receipt.disposition == Disposition::Replayed,
            mode: receipt.mode,
            records: batch.records.len() as u64,
            relationships: receipt.relationship_count,
            withdrawn: receipt.tombstones.len() as u64,
            contract_iri: contract_iri.to_owned(),
            contract_revision: receipt.contract_revision,
            contract_digest: receipt.contract_digest,
        }
    }
}

/// One refusal as a report carries it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusalEvidence {
    /// The most specific code.
    pub code: &'static str,
    /// One line.
    pub message: String,
    /// What to do next.
    pub next: &'static str,
}

impl From<&SyncRefusal> for RefusalEvidence {
    fn from(refusal: &SyncRefusal) -> Self {
        Self { code: refusal.leaf_code(), message: refusal.to_string(), next: refusal.leaf_next_step() }
    }
}

/// The report of one cycle of one stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceSyncReport {
    /// The connector.
    pub connector: ConnectorName,
    /// The source, which is the stream.
    pub source: StreamName,
    /// The mode of the sweep: full, delta or reconcile.
    pub mode: IngestMode,
    /// How it ended.
    pub state: SyncState,
    /// The sweep reached its end.
    pub exhausted: bool,
    /// Pages read.
    pub pages: u64,
    /// Records the source gave, before any filter.
    pub seen: u64,
    /// Records of the source that were accepted.
    pub submitted: u64,
    /// Records that had not changed, so that nothing was sent.
    pub unchanged: u64,
    /// Stub records accepted for referenced records nobody sent yet.
    pub stubs: u64,
    /// Relationships accepted.
    pub relationships: u64,
    /// References of a record to itself, which are not edges.
    pub self_references: u64,
    /// Records withdrawn.
    pub withdrawn: u64,
    /// One entry per batch, in order.
    pub batches: Vec<BatchEvidence>,
    /// The accepted checkpoint before the cycle.
    pub cursor_before: Option<SourceCheckpoint>,
    /// The last checkpoint a batch offered.
    pub cursor_offered: Option<SourceCheckpoint>,
    /// The accepted checkpoint after the cycle.
    pub cursor_after: Option<SourceCheckpoint>,
    /// Why it ended, when it did not end in order.
    pub refusal: Option<RefusalEvidence>,
}

impl SourceSyncReport {
    /// A report before anything happened.
    pub fn start(connector: ConnectorName, source: StreamName) -> Self {
        Self {
            connector,
            source,
            mode: IngestMode::Full,
            state: SyncState::Failed,
            exhausted: false,
            pages: 0,
            seen: 0,
            submitted: 0,
            unchanged: 0,
            stubs: 0,
            relationships: 0,
            self_references: 0,
            withdrawn: 0,
            batches: Vec::new(),
            cursor_before: None,
            cursor_offered: None,
            cursor_after: None,
            refusal: None,
        }
    }

    /// Ends the report with a refusal and the state that belongs to it.
    pub(crate) fn end_with(&mut self, refusal: &SyncRefusal) {
        self.state = match refusal {
            SyncRefusal::Quarantined { .. } => SyncState::Quarantined,
            SyncRefusal::RepairPending { .. } => SyncState::Paused,
            SyncRefusal::Cancelled => SyncState::Cancelled,
            SyncRefusal::StageBlocked { .. } => SyncState::Blocked,
            _ => SyncState::Failed,
        };
        self.refusal = Some(refusal.into());
    }
}
