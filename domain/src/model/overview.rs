//! What an operator wants to know of a stream at a glance (`scion status`).

use super::SourceCheckpoint;
use crate::id::{ConnectorName, StreamName};

/// Why a stream does not move.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum StreamHold {
    /// A page was quarantined because the tool's contract changed (R002).
    Quarantined {
        /// `BREAKING` or `REQUIRES_REVIEW`.
        classification: String,
        /// Reason codes, sorted.
        reason_codes: Vec<String>,
        /// JSON-pointer-like paths of what changed, sorted.
        affected_fields: Vec<String>,
    },
    /// A repair was proposed; the stream waits for the graph service (R003).
    RepairPending {
        /// Digest of the proposal.
        proposal_digest: String,
    },
}

/// One stream as a store sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamOverview {
    /// The connector.
    pub connector: ConnectorName,
    /// The stream.
    pub stream: StreamName,
    /// The accepted checkpoint.
    pub checkpoint: Option<SourceCheckpoint>,
    /// The last receipt.
    pub last_receipt_id: Option<String>,
    /// Milliseconds since the Unix epoch at which the last batch was committed.
    pub last_commit_unix_ms: Option<i64>,
    /// Batches committed so far.
    pub batches: u64,
    /// Live records.
    pub live_records: u64,
    /// Withdrawn records.
    pub withdrawn_records: u64,
    /// Live relationships that start in this stream.
    pub relationships: u64,
}
