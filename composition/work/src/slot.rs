//! One worker: takes room, claims, works, settles.

use std::sync::Arc;
use std::time::Duration;

use scion_domain::work::{CapacityHold, Claim, ClaimedWork, HoldAnswer, LanePolicy, Settled, WorkOutcome, WorkRefusal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::events::WorkEvent;
use crate::job::JobResult;
use crate::worker::{WorkerOptions, WorkerParts, WorkerReport, wait};

pub(crate) struct Slot {
    parts: WorkerParts,
    options: Arc<WorkerOptions>,
    policy: LanePolicy,
    name: String,
    stop: CancellationToken,
    report: WorkerReport,
}

/// Why a job is over for this worker.
enum Ended {
    /// The body returned.
    Body(JobResult),
    /// The lease is lost, or the body died: nobody is told.
    Lost,
    /// The room in the lane is lost: the work is given back.
    NoRoom,
}

/// Ends the body when its worker goes.
struct Body(JoinHandle<JobResult>);

impl Drop for Body {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Whether the same call may help in a while.
const fn passes(refusal: &WorkRefusal) -> bool {
    matches!(refusal, WorkRefusal::Unreachable { .. } | WorkRefusal::Store { .. } | WorkRefusal::Conflict { .. })
}

impl Slot {
    pub(crate) fn new(
        parts: WorkerParts,
        options: Arc<WorkerOptions>,
        policy: LanePolicy,
        number: u32,
        stop: CancellationToken,
    ) -> Self {
        let name = format!("{}#{number}", options.name);
        Self { parts, options, policy, name, stop, report: WorkerReport::default() }
    }

    pub(crate) async fn run(mut self) -> (WorkerReport, Result<(), WorkRefusal>) {
        let mut hold = None;
        let outcome = self.work(&mut hold).await;
        self.release(hold).await;
        (self.report, outcome)
    }

    fn now(&self) -> i64 {
        self.parts.clock.unix_millis()
    }

    fn say(&self, event: WorkEvent) {
        self.parts.events.emit(event);
    }

    async fn pause(&self, after_ms: u64) {
        self.say(WorkEvent::Waits { after_ms });
        wait(&*self.parts.clock, after_ms, &self.stop).await;
    }

    async fn work(&mut self, hold: &mut Option<CapacityHold>) -> Result<(), WorkRefusal> {
        while !self.stop.is_cancelled() {
            let Some(mut held) = self.room(hold.take()).await? else { continue };
            *hold = Some(held.clone());
            let claim = self.parts.queue.claim(&self.options.kinds, &self.name, self.policy.lease_ms, self.now()).await;
            let after_ms = match claim {
                Ok(Claim::Work(work)) => {
                    let room = self.job(&work, &mut held).await;
                    *hold = room.then_some(held);
                    continue;
                }
                Ok(Claim::Empty) if self.options.until_empty => return Ok(()),
                Ok(Claim::Empty) => self.policy.idle_ms,
                Ok(Claim::Full) => self.policy.full_ms,
                Err(refusal) if passes(&refusal) => {
                    self.say(WorkEvent::Refused { refusal });
                    self.policy.full_ms
                }
                Err(refusal) => return Err(refusal),
            };
            // Nobody keeps room without work.
            self.release(hold.take()).await;
            self.pause(after_ms).await;
        }
        Ok(())
    }

    /// The room this worker has, or new room; `None` after a wait.
    async fn room(&self, hold: Option<CapacityHold>) -> Result<Option<CapacityHold>, WorkRefusal> {
        let renewed_by = self.now().saturating_add(i64::try_from(self.policy.renew_ms).unwrap_or(i64::MAX));
        if let Some(hold) = hold {
            if hold.expires_at_ms > renewed_by {
                return Ok(Some(hold));
            }
            match self.parts.admission.renew(&self.options.lane, &hold, self.now()).await {
                Ok(expires_at_ms) => return Ok(Some(CapacityHold { expires_at_ms, ..hold })),
                Err(WorkRefusal::Fenced { .. }) => {}
                Err(refusal) if passes(&refusal) => self.say(WorkEvent::Refused { refusal }),
                Err(refusal) => return Err(refusal),
            }
        }
        let after_ms = match self.parts.admission.acquire(&self.options.lane, &self.name, self.now()).await {
            Ok(HoldAnswer::Held(hold)) => return Ok(Some(hold)),
            Ok(HoldAnswer::Wait { after_ms }) => after_ms,
            Err(refusal) if passes(&refusal) => {
                self.say(WorkEvent::Refused { refusal });
                self.policy.full_ms
            }
            Err(refusal) => return Err(refusal),
        };
        self.pause(after_ms).await;
        Ok(None)
    }

    /// Does one job. Answers whether the room is still held.
    async fn job(&mut self, work: &ClaimedWork, hold: &mut CapacityHold) -> bool {
        let work_id = work.work_id.clone();
        self.say(WorkEvent::Claimed { work_id: work_id.clone(), attempt: work.attempt });
        let mut until = work.lease_expires_at_ms;
        let ended = self.keep(work, hold, &mut until).await;
        let room = !matches!(ended, Ended::NoRoom);
        match ended {
            Ended::Body(JobResult::Done { effect_digest }) => {
                self.settle(work, WorkOutcome::Succeeded { effect_digest }, until).await;
            }
            Ended::Body(JobResult::Failed { code, retryable }) => {
                self.settle(work, WorkOutcome::Failed { code, retryable }, until).await;
            }
            Ended::Body(JobResult::Cancelled) | Ended::NoRoom => {
                self.report.unfinished += 1;
                let now = self.now();
                match self.parts.queue.defer(work, now, now).await {
                    Ok(()) => self.say(WorkEvent::GaveBack { work_id }),
                    // Its lease ends by itself.
                    Err(_) => self.say(WorkEvent::Abandoned { work_id }),
                }
            }
            Ended::Lost => {
                self.report.unfinished += 1;
                self.say(WorkEvent::Abandoned { work_id });
            }
        }
        room
    }

    /// Runs the body and renews until it ends, or until lease or room are lost.
    async fn keep(&self, work: &ClaimedWork, hold: &mut CapacityHold, until: &mut i64) -> Ended {
        let (body, copy, stop) = (self.parts.body.clone(), work.clone(), self.stop.clone());
        // A task of its own, so that a body that panics takes no worker with it.
        let mut body = Body(tokio::spawn(async move { body.run(&copy, &stop).await }));
        loop {
            tokio::select! {
                biased;
                result = &mut body.0 => return result.map_or(Ended::Lost, Ended::Body),
                () = self.parts.clock.sleep(Duration::from_millis(self.policy.renew_ms)) => {}
            }
            match self.parts.queue.renew(work, self.policy.lease_ms, self.now()).await {
                Ok(renewed) => *until = renewed,
                // It may still be ours: the next renewal tells, unless the lease ends before.
                Err(refusal) if passes(&refusal) && self.now() < *until => self.say(WorkEvent::Refused { refusal }),
                Err(_) => return Ended::Lost,
            }
            match self.parts.admission.renew(&self.options.lane, hold, self.now()).await {
                Ok(renewed) => hold.expires_at_ms = renewed,
                Err(refusal) if passes(&refusal) && self.now() < hold.expires_at_ms => {
                    self.say(WorkEvent::Refused { refusal });
                }
                Err(_) => return Ended::NoRoom,
            }
        }
    }

    /// Tells the queue, again and again while the lease lasts when it does not answer.
    async fn settle(&mut self, work: &ClaimedWork, outcome: WorkOutcome, until: i64) {
        let work_id = work.work_id.clone();
        loop {
            match self.parts.queue.settle(work, &outcome, self.now()).await {
                Ok(settled) => {
                    if settled == Settled::Succeeded {
                        self.report.succeeded += 1;
                    } else {
                        self.report.failed += 1;
                    }
                    let code = match outcome {
                        WorkOutcome::Failed { code, .. } => Some(code),
                        WorkOutcome::Succeeded { .. } => None,
                    };
                    self.say(WorkEvent::Settled { work_id, settled, code });
                    return;
                }
                Err(refusal) if passes(&refusal) && self.now() < until => {
                    self.say(WorkEvent::Refused { refusal });
                    // Also while stopping: the effect is durable, so the queue should know.
                    self.parts.clock.sleep(Duration::from_millis(self.policy.renew_ms)).await;
                }
                Err(_) => {
                    self.report.unfinished += 1;
                    self.say(WorkEvent::Abandoned { work_id });
                    return;
                }
            }
        }
    }

    async fn release(&self, hold: Option<CapacityHold>) {
        if let Some(hold) = hold {
            // Otherwise it ends by itself.
            let _ = self.parts.admission.release(&self.options.lane, &hold, self.now()).await;
        }
    }
}
