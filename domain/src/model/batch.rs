//! The unit of commitment.

use std::collections::HashSet;

use super::{EntityRef, RelationshipRecord, SourceCheckpoint, SourceRecord};
use crate::id::ConnectorName;
use crate::refusals;

/// How a batch is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IngestMode {
    /// A page of a sweep over everything.
    Full,
    /// A page of changes since the accepted watermark; may be empty and may withdraw.
    Delta,
    /// A page with the complete list of what is live; whatever is not listed is gone.
    Reconcile,
}

impl IngestMode {
    /// The wire word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Delta => "delta",
            Self::Reconcile => "reconcile",
        }
    }
}

/// A record the source says is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withdrawal {
    /// Which.
    pub entity: EntityRef,
    /// Why, in the source's words.
    pub reason: String,
}

/// Everything one commit does. Build it, then [`SourceBatch::check`] it; a sink checks again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceBatch {
    /// The connector.
    pub connector: ConnectorName,
    /// The mode.
    pub mode: IngestMode,
    /// Refuse payload members the mapping does not name.
    pub strict_schema: bool,
    /// Records, each identity once.
    pub records: Vec<SourceRecord>,
    /// Edges, each (source, relation, target) once.
    pub relationships: Vec<RelationshipRecord>,
    /// The checkpoint this batch moves to.
    pub provider_checkpoint: SourceCheckpoint,
    /// The checkpoint it moves from; `None` on the first batch of a stream.
    pub expected_previous_checkpoint: Option<SourceCheckpoint>,
    /// Every live record, in a reconcile batch.
    pub authoritative_live_ids: Option<Vec<EntityRef>>,
    /// The operator's words that an empty authoritative batch is meant.
    pub empty_authoritative_approval: Option<String>,
    /// Records to withdraw, in a delta batch.
    pub withdrawals: Vec<Withdrawal>,
}

refusals! {
    /// Why a batch is not well formed. The rules are the engine's decode rules (`wire/engine-protocol.md` 7.2).
    pub enum BatchRefusal {
        /// Provenance or a checkpoint names something else than the batch.
        ScopeMismatch { what: &'static str } => "batch_scope_mismatch", CallerMistake, Never,
            "{what} names another connector or stream than the batch", "build one batch per connector and stream";
        /// An identity stands twice.
        DuplicateRecord { index: usize } => "batch_duplicate_record", PeerMisbehaved, Never,
            "record {index} repeats an identity of this batch", "make record ids unique inside a page";
        /// An edge stands twice.
        DuplicateRelationship { index: usize } => "batch_duplicate_relationship", PeerMisbehaved, Never,
            "relationship {index} repeats one of this batch", "emit each edge once";
        /// An edge leads to its own start.
        SelfRelationship { index: usize } => "batch_self_relationship", PeerMisbehaved, Never,
            "relationship {index} leads from a record to itself", "drop the edge";
        /// The new checkpoint equals the previous one.
        CheckpointUnmoved => "batch_checkpoint_unmoved", CallerMistake, Never,
            "the batch does not move the checkpoint", "submit nothing when nothing changed";
        /// A member is present that the mode does not allow.
        NotInMode { what: &'static str, mode: &'static str } => "batch_not_in_mode", CallerMistake, Never,
            "{what} is not allowed in a {mode} batch", "use the mode that allows it";
        /// A reconcile batch without its live set.
        LiveSetMissing => "batch_live_set_missing", CallerMistake, Never,
            "a reconcile batch must list every live record", "send the complete list or use another mode";
        /// A record or endpoint of a reconcile batch is not in its live set.
        NotLive { index: usize } => "batch_not_live", PeerMisbehaved, Never,
            "record {index} is not in the live set of its own batch", "list every observed record as live";
        /// Empty and authoritative, without approval.
        EmptyNeedsApproval => "empty_authoritative_snapshot", Denied, Never,
            "an empty authoritative batch would withdraw everything",
            "if that is meant, set empty_authoritative_approval to a sentence that says so";
        /// Approval given although the batch is not empty.
        ApprovalNotNeeded => "batch_approval_not_needed", CallerMistake, Never,
            "an approval for an empty batch was given for a batch that is not empty", "drop the approval";
        /// Observed and withdrawn at once.
        ObservedAndWithdrawn { index: usize } => "batch_observed_and_withdrawn", PeerMisbehaved, Never,
            "withdrawal {index} names a record of the same batch", "decide which it is";
        /// More than a bound allows.
        TooMany { what: &'static str, count: usize, limit: usize } => "batch_too_many", CallerMistake, Never,
            "{count} {what}; at most {limit} fit one batch", "split the batch";
    }
}

impl SourceBatch {
    /// Whether nothing is observed.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty() && self.relationships.is_empty()
    }

    /// Checks every rule that needs no store. `cross_stream` says whether edges may leave the stream, which the embedded
    /// store allows and the engine does not.
    pub fn check(&self, cross_stream: bool) -> Result<(), BatchRefusal> {
        self.check_scope(cross_stream)?;
        self.check_identities()?;
        if self.expected_previous_checkpoint.as_ref() == Some(&self.provider_checkpoint) {
            return Err(BatchRefusal::CheckpointUnmoved);
        }
        self.check_mode()
    }

    fn check_scope(&self, cross_stream: bool) -> Result<(), BatchRefusal> {
        let stream = &self.provider_checkpoint.stream;
        let mismatch = |what| Err(BatchRefusal::ScopeMismatch { what });
        if self.expected_previous_checkpoint.as_ref().is_some_and(|previous| previous.stream != *stream) {
            return mismatch("the previous checkpoint");
        }
        if self.records.iter().any(|r| r.entity.stream != *stream || r.provenance.connector != self.connector) {
            return mismatch("a record");
        }
        if self.relationships.iter().any(|r| {
            r.source.stream != *stream
                || (!cross_stream && r.target.stream != *stream)
                || r.provenance.connector != self.connector
        }) {
            return mismatch("a relationship");
        }
        if self.withdrawals.iter().any(|w| w.entity.stream != *stream) {
            return mismatch("a withdrawal");
        }
        if self.authoritative_live_ids.iter().flatten().any(|entity| entity.stream != *stream) {
            return mismatch("a live id");
        }
        Ok(())
    }

    fn check_identities(&self) -> Result<(), BatchRefusal> {
        let mut seen = HashSet::with_capacity(self.records.len());
        for (index, record) in self.records.iter().enumerate() {
            if !seen.insert(&record.entity) {
                return Err(BatchRefusal::DuplicateRecord { index });
            }
        }
        let mut edges = HashSet::with_capacity(self.relationships.len());
        for (index, edge) in self.relationships.iter().enumerate() {
            if edge.source == edge.target {
                return Err(BatchRefusal::SelfRelationship { index });
            }
            if !edges.insert((&edge.source, &edge.target, &edge.relation_reference)) {
                return Err(BatchRefusal::DuplicateRelationship { index });
            }
        }
        for (index, withdrawal) in self.withdrawals.iter().enumerate() {
            if seen.contains(&withdrawal.entity) {
                return Err(BatchRefusal::ObservedAndWithdrawn { index });
            }
        }
        Ok(())
    }

    fn check_mode(&self) -> Result<(), BatchRefusal> {
        let mode = self.mode.as_str();
        let approved = self.empty_authoritative_approval.as_deref().is_some_and(|text| !text.trim().is_empty());
        if self.mode != IngestMode::Reconcile && self.authoritative_live_ids.is_some() {
            return Err(BatchRefusal::NotInMode { what: "a live set", mode });
        }
        if self.mode != IngestMode::Delta && !self.withdrawals.is_empty() {
            return Err(BatchRefusal::NotInMode { what: "a withdrawal", mode });
        }
        let empty = match (self.mode, &self.authoritative_live_ids) {
            (IngestMode::Delta, _) => {
                return if self.empty_authoritative_approval.is_some() {
                    Err(BatchRefusal::NotInMode { what: "an approval", mode })
                } else {
                    Ok(())
                };
            }
            (IngestMode::Full, _) => self.is_empty(),
            (IngestMode::Reconcile, None) => return Err(BatchRefusal::LiveSetMissing),
            (IngestMode::Reconcile, Some(live)) => {
                let live: HashSet<&EntityRef> = live.iter().collect();
                if let Some(index) = self.records.iter().position(|record| !live.contains(&record.entity)) {
                    return Err(BatchRefusal::NotLive { index });
                }
                live.is_empty()
            }
        };
        match (empty, approved) {
            (true, false) => Err(BatchRefusal::EmptyNeedsApproval),
            (false, true) => Err(BatchRefusal::ApprovalNotNeeded),
            _ => Ok(()),
        }
    }
}
