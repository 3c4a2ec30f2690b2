//! Lanes, and the room that workers hold in them.

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use scion_domain::json::{parse, to_compact};
use scion_domain::work::{
    Admission, CapacityHold, HoldAnswer, LanePolicy, WorkLane, WorkRefusal, WorkersWanted, check_kind, check_worker,
};
use scion_ports::{WorkAdmission, async_trait};

use crate::EmbeddedGraph;
use crate::failure::{Failure, Outcome};
use crate::task_queue::Answer;

#[async_trait]
impl WorkAdmission for EmbeddedGraph {
    async fn ready(&self) -> Answer<()> {
        self.work(|_| Ok(Ok(()))).await
    }

    async fn set_lane(&self, lane: &WorkLane, _now_ms: i64) -> Answer<()> {
        lane.check()?;
        let lane = lane.clone();
        self.work(move |transaction| {
            let mut statement = transaction.prepare_cached(
                "INSERT OR REPLACE INTO work_lane(name, capacity, floor, policy) VALUES(?1, ?2, ?3, ?4)",
            )?;
            statement.execute(params![
                lane.name,
                lane.capacity,
                lane.reserved_floor,
                to_compact(&lane.policy.to_json())
            ])?;
            Ok(Ok(()))
        })
        .await
    }

    async fn lane(&self, name: &str) -> Answer<Option<WorkLane>> {
        check_kind(name)?;
        let name = name.to_owned();
        self.look(move |connection| find(connection, &name)).await
    }

    async fn admission(&self, lane: &str, wanted: WorkersWanted, now_ms: i64) -> Answer<Admission> {
        check_kind(lane)?;
        let name = lane.to_owned();
        self.work(move |transaction| {
            let (lane, free) = match room(transaction, &name, now_ms)? {
                Ok(room) => room,
                Err(refusal) => return Ok(Err(refusal)),
            };
            let workers = match wanted {
                WorkersWanted::Auto => free,
                WorkersWanted::AtMost(most) => free.min(most),
            };
            Ok(Ok(if workers == 0 {
                Admission::Wait { after_ms: lane.policy.full_ms }
            } else {
                Admission::Admitted { workers, reserved_floor: lane.reserved_floor, policy: lane.policy }
            }))
        })
        .await
    }

    async fn acquire(&self, lane: &str, worker: &str, now_ms: i64) -> Answer<HoldAnswer> {
        check_kind(lane)?;
        check_worker(worker)?;
        let (name, worker) = (lane.to_owned(), worker.to_owned());
        self.work(move |transaction| {
            let (lane, free) = match room(transaction, &name, now_ms)? {
                Ok(room) => room,
                Err(refusal) => return Ok(Err(refusal)),
            };
            if free == 0 {
                return Ok(Ok(HoldAnswer::Wait { after_ms: lane.policy.full_ms }));
            }
            let expires_at_ms = after(now_ms, lane.policy.hold_ms);
            let mut statement =
                transaction.prepare_cached("INSERT INTO work_hold(lane, worker, expires_ms) VALUES(?1, ?2, ?3)")?;
            let id = statement.insert(params![name, worker, expires_at_ms])?;
            let fence = u64::try_from(id).map_err(|_| Failure::corrupt())?;
            Ok(Ok(HoldAnswer::Held(CapacityHold { hold_id: format!("hold-{id}"), epoch: 1, fence, expires_at_ms })))
        })
        .await
    }

    async fn renew(&self, lane: &str, hold: &CapacityHold, now_ms: i64) -> Answer<i64> {
        check_kind(lane)?;
        let (name, hold) = (lane.to_owned(), hold.clone());
        self.work(move |transaction| {
            let Some(lane) = find(transaction, &name)? else { return Ok(Err(WorkRefusal::LaneMissing { lane: name })) };
            let expires_at_ms = after(now_ms, lane.policy.hold_ms);
            let mut statement = transaction.prepare_cached(
                "UPDATE work_hold SET expires_ms = ?3 WHERE id = ?1 AND lane = ?2 AND expires_ms > ?4",
            )?;
            let changed = statement.execute(params![hold.fence, name, expires_at_ms, now_ms])?;
            Ok(if changed == 1 { Ok(expires_at_ms) } else { Err(WorkRefusal::Fenced { work: hold.hold_id }) })
        })
        .await
    }

    async fn release(&self, lane: &str, hold: &CapacityHold, _now_ms: i64) -> Answer<()> {
        check_kind(lane)?;
        let (name, fence) = (lane.to_owned(), hold.fence);
        self.work(move |transaction| {
            transaction
                .prepare_cached("DELETE FROM work_hold WHERE id = ?1 AND lane = ?2")?
                .execute(params![fence, name])?;
            Ok(Ok(()))
        })
        .await
    }
}

fn after(now_ms: i64, length_ms: u64) -> i64 {
    now_ms.saturating_add(i64::try_from(length_ms).unwrap_or(i64::MAX))
}

/// The lane and how many more background workers it takes. Holds that ran out are gone afterwards.
fn room(transaction: &Transaction<'_>, name: &str, now_ms: i64) -> Outcome<Answer<(WorkLane, u32)>> {
    let Some(lane) = find(transaction, name)? else {
        return Ok(Err(WorkRefusal::LaneMissing { lane: name.to_owned() }));
    };
    let mut ended = transaction.prepare_cached("DELETE FROM work_hold WHERE lane = ?1 AND expires_ms <= ?2")?;
    ended.execute(params![name, now_ms])?;
    // At most the capacity of the lane.
    let mut count = transaction.prepare_cached("SELECT count(*) FROM work_hold WHERE lane = ?1")?;
    let held: u32 = count.query_row([name], |row| row.get(0))?;
    let free = lane.background().saturating_sub(held);
    Ok(Ok((lane, free)))
}

fn find(connection: &Connection, name: &str) -> Outcome<Option<WorkLane>> {
    let mut statement = connection.prepare_cached("SELECT capacity, floor, policy FROM work_lane WHERE name = ?1")?;
    let row = statement.query_row([name], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?))).optional()?;
    let Some((capacity, reserved_floor, policy)) = row else { return Ok(None) };
    let policy = parse(&policy).ok().and_then(|policy| LanePolicy::from_json(&policy).ok());
    let policy = policy.ok_or(Failure::corrupt())?;
    Ok(Some(WorkLane { name: name.to_owned(), capacity, reserved_floor, policy }))
}
