//! A queue and its lanes in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use scion_domain::id::Digest256;
use scion_domain::json::Json;
use scion_domain::work::{
    Admission, CapacityHold, Claim, ClaimedWork, HoldAnswer, NewWork, Settled, WorkCapabilities, WorkLane, WorkOutcome,
    WorkRefusal, WorkStatus, WorkView, WorkersWanted, check_kind, check_worker,
};
use scion_ports::{TaskQueue, WorkAdmission};

#[derive(Clone, Debug)]
struct Item {
    work: NewWork,
    status: WorkStatus,
    attempt: u32,
    fence: u64,
    /// Waiting: not before. Leased: the end of the lease.
    due_ms: i64,
    settled: Option<(u64, WorkOutcome, Settled)>,
    effect: Option<Digest256>,
    code: Option<String>,
    updated_ms: i64,
}

#[derive(Debug, Default)]
struct State {
    items: Vec<Item>,
    lanes: BTreeMap<String, WorkLane>,
    holds: BTreeMap<u64, (String, i64)>,
    last_hold: u64,
}

/// A queue in memory that is its own admission. Clones share one state. It looks at every item for each claim.
#[derive(Clone, Debug, Default)]
pub struct MemoryWork {
    state: Arc<Mutex<State>>,
}

fn fenced(work: &str) -> WorkRefusal {
    WorkRefusal::Fenced { work: work.to_owned() }
}

const UNKNOWN: WorkRefusal = WorkRefusal::Unknown { what: "the work" };

impl State {
    fn index(&self, work_id: &str) -> Result<usize, WorkRefusal> {
        let index = work_id.strip_prefix("memory-").and_then(|digits| digits.parse::<usize>().ok());
        index.filter(|index| *index < self.items.len()).ok_or(UNKNOWN)
    }

    fn held(&mut self, work: &ClaimedWork, now_ms: i64) -> Result<&mut Item, WorkRefusal> {
        let index = self.index(&work.work_id)?;
        let item = &mut self.items[index];
        let current = item.status == WorkStatus::Leased && item.fence == work.fencing_token && item.due_ms > now_ms;
        if current { Ok(item) } else { Err(fenced(&work.work_id)) }
    }

    fn run_out(&mut self, now_ms: i64) {
        for item in &mut self.items {
            if item.status == WorkStatus::Leased && item.due_ms <= now_ms {
                let over = item.attempt >= item.work.max_attempts;
                item.status = if over { WorkStatus::DeadLetter } else { WorkStatus::Waiting };
                item.code = Some("work_lease_ended".to_owned());
            }
        }
    }

    fn room(&mut self, name: &str, now_ms: i64) -> Result<(WorkLane, u32), WorkRefusal> {
        let lane = self.lanes.get(name).cloned().ok_or_else(|| WorkRefusal::LaneMissing { lane: name.to_owned() })?;
        self.holds.retain(|_, (_, until)| *until > now_ms);
        let held = self.holds.values().filter(|(lane, _)| lane == name).count();
        let free = lane.background().saturating_sub(u32::try_from(held).unwrap_or(u32::MAX));
        Ok((lane, free))
    }
}

impl MemoryWork {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn after(now_ms: i64, length_ms: u64) -> i64 {
    now_ms.saturating_add(i64::try_from(length_ms).unwrap_or(i64::MAX))
}

fn view(index: usize, item: &Item) -> WorkView {
    WorkView {
        work_id: format!("memory-{index}"),
        kind: item.work.kind.clone(),
        key: item.work.key.clone(),
        status: item.status,
        attempts: Some(item.attempt),
        effect_digest: item.effect,
        code: item.code.clone(),
        updated_at_ms: item.updated_ms,
    }
}

#[async_trait]
impl TaskQueue for MemoryWork {
    fn capabilities(&self) -> WorkCapabilities {
        WorkCapabilities { tells_outcomes: true, tells_who_settled: true }
    }

    async fn ready(&self) -> Result<(), WorkRefusal> {
        Ok(())
    }

    async fn submit(&self, work: &NewWork, now_ms: i64) -> Result<String, WorkRefusal> {
        work.check()?;
        let mut state = self.lock();
        let known = state.items.iter().position(|item| item.work.kind == work.kind && item.work.key == work.key);
        if let Some(index) = known {
            let conflict = WorkRefusal::Conflict { what: "work with this key and other content" };
            return if state.items[index].work == *work { Ok(format!("memory-{index}")) } else { Err(conflict) };
        }
        state.items.push(Item {
            work: work.clone(),
            status: WorkStatus::Waiting,
            attempt: 0,
            fence: 0,
            due_ms: i64::MIN,
            settled: None,
            effect: None,
            code: None,
            updated_ms: now_ms,
        });
        Ok(format!("memory-{}", state.items.len() - 1))
    }

    async fn claim(&self, kinds: &[String], worker: &str, lease_ms: u64, now_ms: i64) -> Result<Claim, WorkRefusal> {
        if kinds.is_empty() || kinds.len() > 16 || lease_ms == 0 {
            return Err(WorkRefusal::Invalid { what: "a claim asks for 1 to 16 kinds of work" });
        }
        kinds.iter().try_for_each(|kind| check_kind(kind))?;
        check_worker(worker)?;
        let mut state = self.lock();
        state.run_out(now_ms);
        let due = |item: &Item| {
            item.status == WorkStatus::Waiting && item.due_ms <= now_ms && kinds.contains(&item.work.kind)
        };
        let next = state.items.iter().enumerate().filter(|(_, item)| due(item));
        let Some(index) = next.min_by_key(|(index, item)| (item.work.priority, *index)).map(|(index, _)| index) else {
            return Ok(Claim::Empty);
        };
        let item = &mut state.items[index];
        item.status = WorkStatus::Leased;
        item.attempt += 1;
        item.fence += 1;
        item.due_ms = after(now_ms, lease_ms);
        item.updated_ms = now_ms;
        Ok(Claim::Work(Box::new(ClaimedWork {
            work_id: format!("memory-{index}"),
            kind: item.work.kind.clone(),
            payload: Json::clone(&item.work.payload),
            attempt: item.attempt,
            lease_epoch: item.fence,
            fencing_token: item.fence,
            lease_expires_at_ms: item.due_ms,
        })))
    }

    async fn renew(&self, work: &ClaimedWork, lease_ms: u64, now_ms: i64) -> Result<i64, WorkRefusal> {
        let mut state = self.lock();
        let item = state.held(work, now_ms)?;
        item.due_ms = after(now_ms, lease_ms);
        Ok(item.due_ms)
    }

    async fn settle(&self, work: &ClaimedWork, outcome: &WorkOutcome, now_ms: i64) -> Result<Settled, WorkRefusal> {
        let mut state = self.lock();
        let index = state.index(&work.work_id)?;
        if let Some((fence, before, settled)) = &state.items[index].settled
            && *fence == work.fencing_token
        {
            return if before == outcome { Ok(*settled) } else { Err(WorkRefusal::Settled { what: "the work" }) };
        }
        let item = state.held(work, now_ms)?;
        item.updated_ms = now_ms;
        let settled = match outcome {
            WorkOutcome::Succeeded { effect_digest } => {
                item.effect = Some(*effect_digest);
                item.status = WorkStatus::Succeeded;
                Settled::Succeeded
            }
            WorkOutcome::Failed { code, retryable } => {
                item.code = Some(code.clone());
                if !retryable {
                    item.status = WorkStatus::Failed;
                    Settled::Failed
                } else if item.attempt >= item.work.max_attempts {
                    item.status = WorkStatus::DeadLetter;
                    Settled::DeadLetter
                } else {
                    item.status = WorkStatus::Waiting;
                    item.due_ms = after(now_ms, 1000 << (item.attempt - 1).min(9));
                    Settled::Retried
                }
            }
        };
        item.settled = Some((item.fence, outcome.clone(), settled));
        Ok(settled)
    }

    async fn defer(&self, work: &ClaimedWork, until_ms: i64, now_ms: i64) -> Result<(), WorkRefusal> {
        let mut state = self.lock();
        let item = state.held(work, now_ms)?;
        item.status = WorkStatus::Waiting;
        item.attempt -= 1;
        item.due_ms = until_ms;
        Ok(())
    }

    async fn cancel(&self, work_id: &str, now_ms: i64) -> Result<(), WorkRefusal> {
        let mut state = self.lock();
        state.run_out(now_ms);
        let index = state.index(work_id)?;
        let item = &mut state.items[index];
        match item.status {
            WorkStatus::Waiting => item.status = WorkStatus::Cancelled,
            WorkStatus::Leased => return Err(WorkRefusal::InFlight { work: work_id.to_owned() }),
            WorkStatus::Cancelled => {}
            _ => return Err(WorkRefusal::Settled { what: "the work" }),
        }
        Ok(())
    }

    async fn read(&self, work_id: &str) -> Result<Option<WorkView>, WorkRefusal> {
        let state = self.lock();
        Ok(state.index(work_id).ok().map(|index| view(index, &state.items[index])))
    }

    async fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<WorkView>, WorkRefusal> {
        if !(1..=1000).contains(&limit) {
            return Err(WorkRefusal::Invalid { what: "a list has 1 to 1000 entries" });
        }
        let state = self.lock();
        let from = after.map_or(Ok(0), |after| state.index(after).map(|index| index + 1))?;
        Ok(state.items.iter().enumerate().skip(from).take(limit).map(|(index, item)| view(index, item)).collect())
    }
}

#[async_trait]
impl WorkAdmission for MemoryWork {
    async fn ready(&self) -> Result<(), WorkRefusal> {
        Ok(())
    }

    async fn set_lane(&self, lane: &WorkLane, _now_ms: i64) -> Result<(), WorkRefusal> {
        lane.check()?;
        self.lock().lanes.insert(lane.name.clone(), lane.clone());
        Ok(())
    }

    async fn lane(&self, name: &str) -> Result<Option<WorkLane>, WorkRefusal> {
        Ok(self.lock().lanes.get(name).cloned())
    }

    async fn admission(&self, lane: &str, wanted: WorkersWanted, now_ms: i64) -> Result<Admission, WorkRefusal> {
        let (lane, free) = self.lock().room(lane, now_ms)?;
        let workers = match wanted {
            WorkersWanted::Auto => free,
            WorkersWanted::AtMost(most) => free.min(most),
        };
        Ok(if workers == 0 {
            Admission::Wait { after_ms: lane.policy.full_ms }
        } else {
            Admission::Admitted { workers, reserved_floor: lane.reserved_floor, policy: lane.policy }
        })
    }

    async fn acquire(&self, lane: &str, worker: &str, now_ms: i64) -> Result<HoldAnswer, WorkRefusal> {
        check_worker(worker)?;
        let mut state = self.lock();
        let (lane, free) = state.room(lane, now_ms)?;
        if free == 0 {
            return Ok(HoldAnswer::Wait { after_ms: lane.policy.full_ms });
        }
        state.last_hold += 1;
        let fence = state.last_hold;
        let expires_at_ms = after(now_ms, lane.policy.hold_ms);
        state.holds.insert(fence, (lane.name, expires_at_ms));
        Ok(HoldAnswer::Held(CapacityHold { hold_id: format!("hold-{fence}"), epoch: 1, fence, expires_at_ms }))
    }

    async fn renew(&self, lane: &str, hold: &CapacityHold, now_ms: i64) -> Result<i64, WorkRefusal> {
        let mut state = self.lock();
        let (lane, _) = state.room(lane, now_ms)?;
        let (_, until) = state.holds.get_mut(&hold.fence).ok_or_else(|| fenced(&hold.hold_id))?;
        *until = after(now_ms, lane.policy.hold_ms);
        Ok(*until)
    }

    async fn release(&self, _lane: &str, hold: &CapacityHold, _now_ms: i64) -> Result<(), WorkRefusal> {
        self.lock().holds.remove(&hold.fence);
        Ok(())
    }
}
