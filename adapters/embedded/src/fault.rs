//! Named points of a commit at which a test can make the store fail, so that simulations and kill tests do not have to
//! guess where a crash hurts.

use scion_domain::sink::SinkRefusal;

use crate::failure::Failure;

/// A point of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommitPoint {
    /// Before the transaction begins.
    BeforeBegin,
    /// Records are written, inside the transaction.
    AfterRecords,
    /// Relationships and withdrawals are written, inside the transaction.
    AfterRelationships,
    /// Everything is written, inside the transaction.
    BeforeCommit,
    /// The transaction is durable; the caller does not know yet.
    AfterCommit,
}

impl CommitPoint {
    /// Every point, in the order a commit reaches them.
    pub const ALL: [Self; 5] =
        [Self::BeforeBegin, Self::AfterRecords, Self::AfterRelationships, Self::BeforeCommit, Self::AfterCommit];

    /// The registered name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BeforeBegin => "before_begin",
            Self::AfterRecords => "after_records",
            Self::AfterRelationships => "after_relationships",
            Self::BeforeCommit => "before_commit",
            Self::AfterCommit => "after_commit",
        }
    }
}

/// What happens at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing: go on.
    None,
    /// As if the process died here: what is not durable is gone, and the caller gets
    /// [`SinkRefusal::OutcomeUnknown`].
    Crash,
}

/// Decides, at each point, whether to fail. An implementation may also end the process or wait.
pub trait FaultPlan: Send + Sync {
    /// Called on the writer's thread.
    fn reach(&self, point: CommitPoint) -> Fault;
}

pub(crate) fn reach(plan: Option<&dyn FaultPlan>, point: CommitPoint) -> Result<(), Failure> {
    match plan.map_or(Fault::None, |plan| plan.reach(point)) {
        Fault::None => Ok(()),
        Fault::Crash => Err(Failure::Sink(SinkRefusal::OutcomeUnknown)),
    }
}
