//! Wrong queues and lanes.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

use async_trait::async_trait;
use scion_domain::digest::sha256;
use scion_domain::work::{
    Admission, CapacityHold, Claim, ClaimedWork, HoldAnswer, LanePolicy, NewWork, Settled, WorkCapabilities, WorkLane,
    WorkOutcome, WorkRefusal, WorkView, WorkersWanted,
};
use scion_ports::{TaskQueue, WorkAdmission};

use crate::reference::MemoryWork;
use crate::suites::work::{WorkFixture, WorkStore};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkFlaw {
    /// Nothing; the reference.
    None,
    /// Every submission is new work.
    SubmitsTwice,
    /// Other content under a key is taken for the same.
    KeepsFirst,
    /// Every piece has the same priority.
    NoPriority,
    /// Claims over all kinds.
    AnyKind,
    /// Hands everything out again at once.
    NoLease,
    /// Takes every token.
    NoFence,
    /// A lease never ends for its holder.
    Late,
    /// Renewing does nothing.
    NoRenewal,
    /// Tries for ever.
    NoEnd,
    /// Forgets everything at a restart.
    Forgets,
    /// Settling twice is an error.
    SettlesOnce,
    /// A failure comes back whatever it was.
    AlwaysRetries,
    /// A failure never comes back.
    NeverRetries,
    /// A deferral is a failure.
    DeferFails,
    /// Cancels nothing, and says it did.
    NoCancel,
    /// Lists the first page again and again, up to a point.
    NoPages,
    /// Does not tell outcomes that it declares.
    Silent,
    /// Has no bounds.
    Unbounded,
    /// Makes up a lane.
    MakesUpLanes,
    /// Gives the floor away.
    NoFloor,
    /// Everybody has room.
    NoCount,
    /// Holds never end.
    EternalHolds,
    /// Renewing a hold does nothing.
    HoldNotRenewed,
    /// Releasing does nothing.
    NoRelease,
}

impl WorkFlaw {
    /// Every flaw.
    pub const ALL: &'static [Self] = &[
        Self::SubmitsTwice,
        Self::KeepsFirst,
        Self::NoPriority,
        Self::AnyKind,
        Self::NoLease,
        Self::NoFence,
        Self::Late,
        Self::NoRenewal,
        Self::NoEnd,
        Self::Forgets,
        Self::SettlesOnce,
        Self::AlwaysRetries,
        Self::NeverRetries,
        Self::DeferFails,
        Self::NoCancel,
        Self::NoPages,
        Self::Silent,
        Self::Unbounded,
        Self::MakesUpLanes,
        Self::NoFloor,
        Self::NoCount,
        Self::EternalHolds,
        Self::HoldNotRenewed,
        Self::NoRelease,
    ];
}

/// A queue with a flaw over the reference.
#[derive(Debug)]
pub struct FlawedWork {
    inner: MemoryWork,
    flaw: WorkFlaw,
    count: AtomicU32,
}

impl FlawedWork {
    fn is(&self, flaw: WorkFlaw) -> bool {
        self.flaw == flaw
    }

    /// The same piece with the token that is current, whatever the caller has.
    async fn current(&self, work: &ClaimedWork, now_ms: i64) -> ClaimedWork {
        let mut current = work.clone();
        if self.is(WorkFlaw::NoFence) {
            for token in 1..20 {
                current.fencing_token = token;
                if self.inner.clone().renew_quietly(&current, now_ms).await {
                    break;
                }
            }
        }
        current
    }
}

impl MemoryWork {
    async fn renew_quietly(self, work: &ClaimedWork, now_ms: i64) -> bool {
        TaskQueue::renew(&self, work, 1000, now_ms).await.is_ok()
    }
}

#[async_trait]
impl TaskQueue for FlawedWork {
    fn capabilities(&self) -> WorkCapabilities {
        self.inner.capabilities()
    }

    async fn ready(&self) -> Result<(), WorkRefusal> {
        Ok(())
    }

    async fn submit(&self, work: &NewWork, now_ms: i64) -> Result<String, WorkRefusal> {
        let mut work = work.clone();
        match self.flaw {
            WorkFlaw::SubmitsTwice if work.check().is_ok() => {
                let number = self.count.fetch_add(1, Ordering::SeqCst);
                work.key = format!("{}{number}", work.key);
            }
            WorkFlaw::NoPriority if work.check().is_ok() => work.priority = 0,
            WorkFlaw::NoEnd if work.check().is_ok() => work.max_attempts = 100,
            WorkFlaw::Unbounded if work.check().is_err() => return Ok("memory-0".to_owned()),
            WorkFlaw::KeepsFirst => {
                return match self.inner.submit(&work, now_ms).await {
                    Err(WorkRefusal::Conflict { .. }) => Ok("memory-0".to_owned()),
                    answer => answer,
                };
            }
            _ => {}
        }
        self.inner.submit(&work, now_ms).await
    }

    async fn claim(&self, kinds: &[String], worker: &str, lease_ms: u64, now_ms: i64) -> Result<Claim, WorkRefusal> {
        let mut kinds = kinds.to_vec();
        if self.is(WorkFlaw::AnyKind) && kinds.len() == 1 {
            kinds.push("other".to_owned());
        }
        let claim = self.inner.claim(&kinds, worker, lease_ms, now_ms).await?;
        if let (WorkFlaw::NoLease, Claim::Work(work)) = (self.flaw, &claim) {
            self.inner.defer(work, now_ms, now_ms).await?;
        }
        Ok(claim)
    }

    async fn renew(&self, work: &ClaimedWork, lease_ms: u64, now_ms: i64) -> Result<i64, WorkRefusal> {
        match self.flaw {
            WorkFlaw::NoRenewal => Ok(now_ms + 1),
            WorkFlaw::Late => TaskQueue::renew(&self.inner, work, lease_ms, work.lease_expires_at_ms - 1).await,
            _ => TaskQueue::renew(&self.inner, &self.current(work, now_ms).await, lease_ms, now_ms).await,
        }
    }

    async fn settle(&self, work: &ClaimedWork, outcome: &WorkOutcome, now_ms: i64) -> Result<Settled, WorkRefusal> {
        let mut outcome = outcome.clone();
        let now_ms = if self.is(WorkFlaw::Late) { work.lease_expires_at_ms - 1 } else { now_ms };
        match (&mut outcome, self.flaw) {
            (WorkOutcome::Failed { retryable, .. }, WorkFlaw::AlwaysRetries) => *retryable = true,
            (WorkOutcome::Failed { retryable, .. }, WorkFlaw::NeverRetries) => *retryable = false,
            (WorkOutcome::Succeeded { effect_digest }, WorkFlaw::Silent) => *effect_digest = sha256(b"nothing"),
            _ => {}
        }
        if self.is(WorkFlaw::SettlesOnce) && self.inner.read(&work.work_id).await?.is_some_and(|v| v.status.is_final())
        {
            return Err(WorkRefusal::Settled { what: "the work" });
        }
        self.inner.settle(&self.current(work, now_ms).await, &outcome, now_ms).await
    }

    async fn defer(&self, work: &ClaimedWork, until_ms: i64, now_ms: i64) -> Result<(), WorkRefusal> {
        if self.is(WorkFlaw::DeferFails) {
            let outcome = WorkOutcome::Failed { code: "deferred".to_owned(), retryable: true };
            return self.inner.settle(work, &outcome, now_ms).await.map(|_| ());
        }
        self.inner.defer(&self.current(work, now_ms).await, until_ms, now_ms).await
    }

    async fn cancel(&self, work_id: &str, now_ms: i64) -> Result<(), WorkRefusal> {
        if self.is(WorkFlaw::NoCancel) { Ok(()) } else { self.inner.cancel(work_id, now_ms).await }
    }

    async fn read(&self, work_id: &str) -> Result<Option<WorkView>, WorkRefusal> {
        self.inner.read(work_id).await
    }

    async fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<WorkView>, WorkRefusal> {
        let after = after.filter(|_| !self.is(WorkFlaw::NoPages));
        self.inner.list(after, limit).await
    }
}

#[async_trait]
impl WorkAdmission for FlawedWork {
    async fn ready(&self) -> Result<(), WorkRefusal> {
        Ok(())
    }

    async fn set_lane(&self, lane: &WorkLane, now_ms: i64) -> Result<(), WorkRefusal> {
        let mut lane = lane.clone();
        match self.flaw {
            WorkFlaw::NoFloor => lane.reserved_floor = 0,
            WorkFlaw::EternalHolds => lane.policy.hold_ms = 86_400_000,
            _ => {}
        }
        self.inner.set_lane(&lane, now_ms).await
    }

    async fn lane(&self, name: &str) -> Result<Option<WorkLane>, WorkRefusal> {
        self.inner.lane(name).await
    }

    async fn admission(&self, lane: &str, wanted: WorkersWanted, now_ms: i64) -> Result<Admission, WorkRefusal> {
        let answer = self.inner.admission(lane, wanted, now_ms).await;
        if self.is(WorkFlaw::MakesUpLanes) && answer.is_err() {
            let policy =
                LanePolicy { lease_ms: 30_000, renew_ms: 10_000, hold_ms: 30_000, idle_ms: 1000, full_ms: 1000 };
            return Ok(Admission::Admitted { workers: 4, reserved_floor: 0, policy });
        }
        answer
    }

    async fn acquire(&self, lane: &str, worker: &str, now_ms: i64) -> Result<HoldAnswer, WorkRefusal> {
        let answer = self.inner.acquire(lane, worker, now_ms).await?;
        if self.is(WorkFlaw::NoCount) && matches!(answer, HoldAnswer::Wait { .. }) {
            let fence = u64::from(1000 + self.count.fetch_add(1, Ordering::SeqCst));
            let hold = CapacityHold { hold_id: "made up".to_owned(), epoch: 1, fence, expires_at_ms: now_ms + 1000 };
            return Ok(HoldAnswer::Held(hold));
        }
        Ok(answer)
    }

    async fn renew(&self, lane: &str, hold: &CapacityHold, now_ms: i64) -> Result<i64, WorkRefusal> {
        if self.is(WorkFlaw::HoldNotRenewed) {
            return Ok(now_ms + 1000);
        }
        WorkAdmission::renew(&self.inner, lane, hold, now_ms).await
    }

    async fn release(&self, lane: &str, hold: &CapacityHold, now_ms: i64) -> Result<(), WorkRefusal> {
        if self.is(WorkFlaw::NoRelease) { Ok(()) } else { self.inner.release(lane, hold, now_ms).await }
    }
}

/// A fixture of flawed queues in virtual time.
#[derive(Debug)]
pub struct FlawedWorkStores {
    flaw: WorkFlaw,
    now: AtomicI64,
}

impl FlawedWorkStores {
    /// Stores with this flaw.
    pub const fn new(flaw: WorkFlaw) -> Self {
        Self { flaw, now: AtomicI64::new(1_700_000_000_000) }
    }
}

#[async_trait]
impl WorkFixture for FlawedWorkStores {
    async fn open(&self) -> WorkStore {
        let store = Arc::new(FlawedWork { inner: MemoryWork::default(), flaw: self.flaw, count: AtomicU32::new(0) });
        WorkStore { queue: store.clone(), admission: store }
    }

    async fn reopen(&self, store: WorkStore) -> WorkStore {
        if self.flaw == WorkFlaw::Forgets { self.open().await } else { store }
    }

    fn now_ms(&self) -> i64 {
        self.now.load(Ordering::SeqCst)
    }

    async fn pass(&self, ms: u64) {
        self.now.fetch_add(i64::try_from(ms).unwrap_or(i64::MAX), Ordering::SeqCst);
    }
}
