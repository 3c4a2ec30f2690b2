//! A queue that counts, records and fails at a chosen call, and a body with an effect that can be counted.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use scion_conformance::reference::{MemoryWork, VirtualClock};
use scion_domain::digest::sha256;
use scion_domain::json::Json;
use scion_domain::work::*;
use scion_ports::{Clock, TaskQueue, WorkAdmission, async_trait};
use scion_work::{JobBody, JobResult, NoWorkEvents, WorkerOptions, WorkerParts};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// What happens at the chosen call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Refused; nothing was done.
    Before,
    /// Done; the reply is lost.
    After,
    /// The process ends before it.
    DiesBefore,
    /// The process ends after it.
    DiesAfter,
}

/// The reference with a record of calls and one fault.
#[derive(Clone)]
pub(crate) struct Recorded {
    pub(crate) inner: MemoryWork,
    pub(crate) calls: Arc<Mutex<Vec<&'static str>>>,
    pub(crate) fault: Option<(usize, Fault)>,
    pub(crate) died: Arc<Notify>,
    /// Renewals of a lease are refused as fenced.
    pub(crate) fences: bool,
    pub(crate) lacks: bool,
}

impl Recorded {
    pub(crate) fn new(inner: &MemoryWork) -> Self {
        Self {
            inner: inner.clone(),
            calls: Arc::default(),
            fault: None,
            died: Arc::default(),
            fences: false,
            lacks: false,
        }
    }

    pub(crate) fn count(&self, name: &str) -> usize {
        self.calls.lock().unwrap().iter().filter(|call| **call == name).count()
    }

    async fn call<T>(
        &self,
        name: &'static str,
        call: impl Future<Output = Result<T, WorkRefusal>>,
    ) -> Result<T, WorkRefusal> {
        let number = {
            let mut calls = self.calls.lock().unwrap();
            calls.push(name);
            calls.len()
        };
        let fault = self.fault.filter(|(at, _)| *at == number).map(|(_, fault)| fault);
        let lost = WorkRefusal::Unreachable { what: "the queue" };
        match fault {
            None => call.await,
            Some(Fault::Before) => Err(lost),
            Some(Fault::After) => {
                call.await?;
                Err(lost)
            }
            Some(Fault::DiesBefore) => self.die().await,
            Some(Fault::DiesAfter) => {
                let _ = call.await;
                self.die().await
            }
        }
    }

    async fn die<T>(&self) -> T {
        self.died.notify_one();
        std::future::pending().await
    }
}

#[async_trait]
impl TaskQueue for Recorded {
    fn capabilities(&self) -> WorkCapabilities {
        self.inner.capabilities()
    }

    async fn ready(&self) -> Result<(), WorkRefusal> {
        if self.lacks { Err(WorkRefusal::MethodNotServed { method: "ClaimWorkItem" }) } else { Ok(()) }
    }

    async fn submit(&self, work: &NewWork, now_ms: i64) -> Result<String, WorkRefusal> {
        self.inner.submit(work, now_ms).await
    }

    async fn claim(&self, kinds: &[String], worker: &str, lease_ms: u64, now_ms: i64) -> Result<Claim, WorkRefusal> {
        self.call("claim", self.inner.claim(kinds, worker, lease_ms, now_ms)).await
    }

    async fn renew(&self, work: &ClaimedWork, lease_ms: u64, now_ms: i64) -> Result<i64, WorkRefusal> {
        if self.fences {
            return Err(WorkRefusal::Fenced { work: work.work_id.clone() });
        }
        self.call("renew", TaskQueue::renew(&self.inner, work, lease_ms, now_ms)).await
    }

    async fn settle(&self, work: &ClaimedWork, outcome: &WorkOutcome, now_ms: i64) -> Result<Settled, WorkRefusal> {
        self.call("settle", self.inner.settle(work, outcome, now_ms)).await
    }

    async fn defer(&self, work: &ClaimedWork, until_ms: i64, now_ms: i64) -> Result<(), WorkRefusal> {
        self.call("defer", self.inner.defer(work, until_ms, now_ms)).await
    }

    async fn cancel(&self, work_id: &str, now_ms: i64) -> Result<(), WorkRefusal> {
        self.inner.cancel(work_id, now_ms).await
    }

    async fn read(&self, work_id: &str) -> Result<Option<WorkView>, WorkRefusal> {
        self.inner.read(work_id).await
    }

    async fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<WorkView>, WorkRefusal> {
        self.inner.list(after, limit).await
    }
}

#[async_trait]
impl WorkAdmission for Recorded {
    async fn ready(&self) -> Result<(), WorkRefusal> {
        Ok(())
    }

    async fn set_lane(&self, lane: &WorkLane, now_ms: i64) -> Result<(), WorkRefusal> {
        self.inner.set_lane(lane, now_ms).await
    }

    async fn lane(&self, name: &str) -> Result<Option<WorkLane>, WorkRefusal> {
        self.inner.lane(name).await
    }

    async fn admission(&self, lane: &str, wanted: WorkersWanted, now_ms: i64) -> Result<Admission, WorkRefusal> {
        self.inner.admission(lane, wanted, now_ms).await
    }

    async fn acquire(&self, lane: &str, worker: &str, now_ms: i64) -> Result<HoldAnswer, WorkRefusal> {
        self.call("acquire", self.inner.acquire(lane, worker, now_ms)).await
    }

    async fn renew(&self, lane: &str, hold: &CapacityHold, now_ms: i64) -> Result<i64, WorkRefusal> {
        self.call("renew_hold", WorkAdmission::renew(&self.inner, lane, hold, now_ms)).await
    }

    async fn release(&self, lane: &str, hold: &CapacityHold, now_ms: i64) -> Result<(), WorkRefusal> {
        self.call("release", self.inner.release(lane, hold, now_ms)).await
    }
}

/// A body whose effect is an entry under the work's id: doing it again finds it.
pub(crate) struct Effects {
    pub(crate) done: Mutex<BTreeMap<String, u32>>,
    pub(crate) runs: AtomicUsize,
    pub(crate) takes: Duration,
    /// The first runs panic.
    pub(crate) panics: usize,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) calls: Arc<Mutex<Vec<&'static str>>>,
}

#[async_trait]
impl JobBody for Effects {
    async fn run(&self, work: &ClaimedWork, stop: &CancellationToken) -> JobResult {
        let run = self.runs.fetch_add(1, Ordering::SeqCst);
        tokio::select! {
            () = self.clock.sleep(self.takes) => {}
            () = stop.cancelled() => return JobResult::Cancelled,
        }
        assert!(run >= self.panics, "the body is killed");
        let mut done = self.done.lock().unwrap();
        if !done.contains_key(&work.work_id) {
            done.insert(work.work_id.clone(), 1);
            self.calls.lock().unwrap().push("effect");
        }
        JobResult::Done { effect_digest: sha256(work.work_id.as_bytes()) }
    }
}

pub(crate) const POLICY: LanePolicy =
    LanePolicy { lease_ms: 2000, renew_ms: 500, hold_ms: 3000, idle_ms: 150, full_ms: 70 };

pub(crate) struct World {
    pub(crate) memory: MemoryWork,
    pub(crate) clock: Arc<VirtualClock>,
}

impl World {
    pub(crate) async fn new(capacity: u32, jobs: u32) -> Self {
        let (memory, clock) = (MemoryWork::default(), Arc::new(VirtualClock::default()));
        let lane = WorkLane { name: "ingest".into(), capacity, reserved_floor: 0, policy: POLICY };
        memory.set_lane(&lane, clock.unix_millis()).await.unwrap();
        for job in 0..jobs {
            let (kind, key) = ("source.sync".to_owned(), job.to_string());
            let work = NewWork { kind, key, payload: Json::Null, priority: 0, max_attempts: 5 };
            memory.submit(&work, clock.unix_millis()).await.unwrap();
        }
        Self { memory, clock }
    }

    pub(crate) fn effects(&self, calls: &Recorded, takes: Duration, panics: usize) -> Arc<Effects> {
        let (done, runs) = (Mutex::default(), AtomicUsize::new(0));
        Arc::new(Effects { done, runs, takes, panics, clock: self.clock.clone(), calls: calls.calls.clone() })
    }

    pub(crate) fn parts(&self, queue: &Recorded, body: &Arc<Effects>) -> WorkerParts {
        WorkerParts {
            queue: Arc::new(queue.clone()),
            admission: Arc::new(queue.clone()),
            body: body.clone(),
            clock: self.clock.clone(),
            events: Arc::new(NoWorkEvents),
        }
    }

    pub(crate) async fn statuses(&self) -> Vec<WorkStatus> {
        self.memory.list(None, 1000).await.unwrap().into_iter().map(|view| view.status).collect()
    }
}

pub(crate) fn options(until_empty: bool) -> WorkerOptions {
    WorkerOptions {
        lane: "ingest".into(),
        kinds: vec!["source.sync".into()],
        workers: WorkersWanted::Auto,
        name: "test".into(),
        until_empty,
    }
}
