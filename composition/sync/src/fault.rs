//! The places where a run may be interrupted, so that a simulation can reach each of them.

use scion_ports::async_trait;

/// Every place between two effects of a run. A run that stops at any of them loses nothing and repeats nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CommitPoint {
    /// Before the accepted checkpoint is read.
    BeforeStatus,
    /// Before a page is asked for.
    BeforeFetch,
    /// After a page arrived, before anything is decided about it.
    AfterFetch,
    /// Before a batch is sent.
    BeforeCommit,
    /// After the store answered a batch, before the answer is looked at.
    AfterCommit,
    /// Before the store is asked whether a batch of unknown outcome is durable.
    BeforeReadback,
    /// After the receipt was verified, before the record digests are noted.
    BeforeDigests,
    /// After the record digests were noted.
    AfterDigests,
    /// Before the progress document is written.
    BeforeProgress,
    /// After the progress document was written.
    AfterProgress,
    /// Before a declaration is imported.
    BeforeImport,
    /// After a declaration was imported.
    AfterImport,
}

impl CommitPoint {
    /// Every point, so that a test can prove that each one is reached.
    pub const ALL: [Self; 12] = [
        Self::BeforeStatus,
        Self::BeforeFetch,
        Self::AfterFetch,
        Self::BeforeCommit,
        Self::AfterCommit,
        Self::BeforeReadback,
        Self::BeforeDigests,
        Self::AfterDigests,
        Self::BeforeProgress,
        Self::AfterProgress,
        Self::BeforeImport,
        Self::AfterImport,
    ];
}

/// A hook at every [`CommitPoint`]. A simulation crashes a run by never returning and dropping it, and makes a call time
/// out by sleeping in its clock.
#[async_trait]
pub trait FaultSeam: Send + Sync {
    /// The run stands at this point.
    async fn reach(&self, point: CommitPoint);
}

/// The seam of real runs: does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFaults;

#[async_trait]
impl FaultSeam for NoFaults {
    async fn reach(&self, _point: CommitPoint) {}
}
