//! The page loop (R004.20): discover, resume from the accepted checkpoint, fetch one page, shape and digest, drift gate,
//! commit against the expected previous checkpoint, verify the receipt, and only then the next page.

mod ahead;
mod budget;
mod edges;
mod gate;
mod page;
mod parts;
mod plan;
mod progress;
mod run;
mod shape;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use scion_domain::id::{ConnectorName, StreamName, TenantId};
use scion_domain::sink::StoreRefusal;
use scion_domain::sync::SyncRefusal;
use scion_ports::{CheckpointStore, Clock, Entropy, PackCapture, RepairProposals, SourceAdapter, async_trait};
use tokio_util::sync::CancellationToken;

pub use budget::SyncBudget;
pub use edges::{Reference, references};
pub use plan::{EdgePlan, Persistence, StreamPlan};
pub use progress::{Progress, write_hold};

use crate::commit::Committer;
use crate::deadline::within;
use crate::events::{self, EventSink};
use crate::fault::CommitPoint;
use crate::report::{SourceSyncReport, SyncState};

/// The longest wait for a store or a status that is not a commit.
pub(crate) const PORT_TIME: Duration = Duration::from_mins(1);

/// Everything a run talks to.
#[derive(Clone)]
pub struct SyncPorts {
    /// Sink, record digests, clock and fault seam, with the commit deadline.
    pub committer: Committer,
    /// Captures what a connector publishes before it is imported.
    pub packs: Arc<dyn PackCapture>,
    /// Progress documents.
    pub checkpoints: Arc<dyn CheckpointStore>,
    /// Where proposed repairs are recorded; without it a paused stream waits for a release.
    pub repairs: Option<Arc<dyn RepairProposals>>,
    /// Randomness for waits.
    pub entropy: Arc<dyn Entropy>,
    /// Where events go.
    pub events: Arc<dyn EventSink>,
}

/// Says whether batches may be sent now, and whether the server announced a change since it was last asked.
#[async_trait]
pub trait ContractBinding: Send + Sync {
    /// Refuses with `contract_not_accepted` unless the declaration the server serves right now is the one the store
    /// accepted (R017.2).
    async fn check(&self) -> Result<(), SyncRefusal>;

    /// Grows with every announced change.
    fn generation(&self) -> u64;
}

/// Synchronises one stream at a time; cheap to clone, usable for many streams side by side.
#[derive(Clone)]
pub struct SourceSyncRunner {
    pub(crate) ports: SyncPorts,
    pub(crate) budget: SyncBudget,
    pub(crate) tenant: TenantId,
}

impl SourceSyncRunner {
    /// A runner under a budget, for one tenant.
    pub const fn new(ports: SyncPorts, budget: SyncBudget, tenant: TenantId) -> Self {
        Self { ports, budget, tenant }
    }

    /// Runs one cycle of one stream. Never fails: the report says how it ended, and with which code.
    ///
    /// `cancel` stops it after the page that is being committed; one that was read ahead meanwhile is left to the next cycle.
    /// Dropping the future is safe at any point too; the next cycle then resumes
    /// from the accepted checkpoint.
    pub async fn sync(
        &self,
        plan: &StreamPlan,
        source: &dyn SourceAdapter,
        binding: &dyn ContractBinding,
        cancel: &CancellationToken,
    ) -> SourceSyncReport {
        self.sync_with_refusal(plan, source, binding, cancel).await.0
    }

    /// [`Self::sync`], with the refusal itself beside the report.
    pub(crate) async fn sync_with_refusal(
        &self,
        plan: &StreamPlan,
        source: &dyn SourceAdapter,
        binding: &dyn ContractBinding,
        cancel: &CancellationToken,
    ) -> (SourceSyncReport, Option<SyncRefusal>) {
        let mut report = SourceSyncReport::start(plan.connector.clone(), plan.stream.clone());
        self.ports.events.emit(events::stream_started(&plan.connector, &plan.stream));
        let outcome = self.run(plan, source, binding, cancel, &mut report).await;
        let refusal = outcome.err();
        if let Some(refusal) = &refusal {
            report.end_with(refusal);
        }
        let event = match (&refusal, report.state) {
            (Some(refusal), SyncState::Quarantined | SyncState::Paused) => events::stream_held(&report, refusal),
            (Some(refusal), SyncState::Failed) => events::stream_failed(&report, refusal),
            _ => events::stream_synced(&report),
        };
        self.ports.events.emit(event);
        (report, refusal)
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.ports.committer.clock
    }

    pub(crate) async fn reach(&self, point: CommitPoint) {
        self.ports.committer.faults.reach(point).await;
    }

    /// A call to a store or to the sink's status, bounded.
    pub(crate) async fn store_call<T, E: Into<SyncRefusal>>(
        &self,
        call: impl Future<Output = Result<T, E>>,
    ) -> Result<T, SyncRefusal> {
        match within(self.clock(), PORT_TIME, call).await {
            Some(answer) => answer.map_err(Into::into),
            None => Err(StoreRefusal::Unavailable { what: "it did not answer in time" }.into()),
        }
    }

    pub(crate) async fn load(&self, connector: &ConnectorName, stream: &StreamName) -> Result<Progress, SyncRefusal> {
        self.store_call(Progress::load(&*self.ports.checkpoints, connector, stream)).await
    }

    pub(crate) async fn save(
        &self,
        progress: &mut Progress,
        connector: &ConnectorName,
        stream: &StreamName,
    ) -> Result<(), SyncRefusal> {
        self.reach(CommitPoint::BeforeProgress).await;
        let store = self.ports.checkpoints.clone();
        self.store_call(progress.save(&*store, connector, stream)).await?;
        self.reach(CommitPoint::AfterProgress).await;
        Ok(())
    }
}
