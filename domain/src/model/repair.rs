//! What became of a proposal to repair a stream whose tool changed (R003).

/// What became of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairDecision {
    /// Nobody knows it.
    Unknown,
    /// Not decided.
    Pending,
    /// Put in force: the live contract is the accepted one now.
    Accepted,
    /// Turned down: the stream stays quarantined.
    Rejected,
}
