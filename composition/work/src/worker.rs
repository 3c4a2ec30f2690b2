use std::sync::Arc;
use std::time::Duration;

use scion_domain::work::{Admission, LanePolicy, WorkRefusal, WorkersWanted};
use scion_ports::{Clock, TaskQueue, WorkAdmission};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::events::{WorkEvent, WorkEvents};
use crate::job::JobBody;
use crate::slot::Slot;

/// What a worker stands on.
#[derive(Clone)]
pub struct WorkerParts {
    /// Where work comes from.
    pub queue: Arc<dyn TaskQueue>,
    /// Who says how many work, and how.
    pub admission: Arc<dyn WorkAdmission>,
    /// What is done.
    pub body: Arc<dyn JobBody>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Who is told.
    pub events: Arc<dyn WorkEvents>,
}

/// Which work a process does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerOptions {
    /// The lane it works in.
    pub lane: String,
    /// The kinds of work its body does.
    pub kinds: Vec<String>,
    /// How many workers it asks for.
    pub workers: WorkersWanted,
    /// The name of this process; each of its workers adds a number.
    pub name: String,
    /// Ends when nothing is due, instead of waiting for more.
    pub until_empty: bool,
}

/// What a process did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerReport {
    /// How many workers the lane admitted.
    pub workers: u32,
    /// Jobs that succeeded.
    pub succeeded: u64,
    /// Jobs that failed, for now or for good.
    pub failed: u64,
    /// Jobs given back or not acknowledged.
    pub unfinished: u64,
}

impl WorkerReport {
    const fn add(&mut self, other: &Self) {
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.unfinished += other.unfinished;
    }
}

/// Works until `stop`, or until nothing is due with [`WorkerOptions::until_empty`].
///
/// Asks first whether the queue serves everything it needs, then how many workers the lane admits; a lane that is full is asked
/// again when it says so. Then each worker takes room in the lane, claims, runs the body while it renews lease and room, and
/// acknowledges when the effect is durable. After `stop` no work is claimed; bodies end at their next safe point, and what they
/// did not finish is given back.
///
/// Refuses when the queue does not answer before the first claim, lacks a method, or when there is no such lane, also later.
/// Dropping the future abandons the jobs: their leases end by themselves and others do them again.
pub async fn run_ingest_worker(
    parts: WorkerParts,
    options: WorkerOptions,
    stop: &CancellationToken,
) -> Result<WorkerReport, WorkRefusal> {
    parts.queue.ready().await?;
    parts.admission.ready().await?;
    let Some((workers, policy)) = admitted(&parts, &options, stop).await? else { return Ok(WorkerReport::default()) };
    parts.events.emit(WorkEvent::Admitted { workers });
    let options = Arc::new(options);
    let mut slots = JoinSet::new();
    for number in 1..=workers {
        let slot = Slot::new(parts.clone(), options.clone(), policy, number, stop.clone());
        slots.spawn(slot.run());
    }
    let mut report = WorkerReport { workers, ..WorkerReport::default() };
    let mut refused = None;
    while let Some(ended) = slots.join_next().await {
        match ended {
            Ok((done, answer)) => {
                report.add(&done);
                // The others find out by themselves; what they have under way they finish.
                refused = refused.or(answer.err());
            }
            Err(_) => report.unfinished += 1,
        }
    }
    refused.map_or(Ok(report), Err)
}

async fn admitted(
    parts: &WorkerParts,
    options: &WorkerOptions,
    stop: &CancellationToken,
) -> Result<Option<(u32, LanePolicy)>, WorkRefusal> {
    while !stop.is_cancelled() {
        let now = parts.clock.unix_millis();
        match parts.admission.admission(&options.lane, options.workers, now).await? {
            Admission::Admitted { workers: 0, .. } => {
                return Err(WorkRefusal::LaneMissing { lane: options.lane.clone() });
            }
            Admission::Admitted { workers, policy, .. } => {
                policy.check()?;
                return Ok(Some((workers, policy)));
            }
            Admission::Wait { after_ms } => {
                parts.events.emit(WorkEvent::Waits { after_ms });
                wait(&*parts.clock, after_ms, stop).await;
            }
        }
    }
    Ok(None)
}

/// Waits, or until `stop`.
pub(crate) async fn wait(clock: &dyn Clock, ms: u64, stop: &CancellationToken) {
    tokio::select! {
        () = clock.sleep(Duration::from_millis(ms)) => {}
        () = stop.cancelled() => {}
    }
}
