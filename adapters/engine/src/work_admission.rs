//! Lanes on the engine's capacity cells.

use scion_domain::json::{parse, to_compact};
use scion_domain::work::{
    Admission, CapacityHold, HoldAnswer, LanePolicy, WorkLane, WorkRefusal, WorkersWanted, check_kind, check_worker,
};
use scion_ports::{WorkAdmission, async_trait};

use crate::client::Repeats;
use crate::work::{EngineWork, malformed, moment, natural, time};
use crate::{Body, Value};

/// Entries of a status; the cell that is asked for is the only one, its leases are not read.
const PAGE: u64 = 10;

/// A lane and the epoch of its cell.
struct Cell {
    lane: WorkLane,
    epoch: u64,
}

fn cell_id(lane: &str) -> String {
    format!("scion-lane:{lane}")
}

fn missing(lane: &str) -> WorkRefusal {
    WorkRefusal::LaneMissing { lane: lane.to_owned() }
}

#[async_trait]
impl WorkAdmission for EngineWork {
    async fn ready(&self) -> Result<(), WorkRefusal> {
        self.served().await
    }

    async fn set_lane(&self, lane: &WorkLane, now_ms: i64) -> Result<(), WorkRefusal> {
        lane.check()?;
        let digest = lane.policy.digest().to_hex();
        // Before the cell that names it.
        self.keep_policy(&lane.name, &digest, &to_compact(&lane.policy.to_json())).await?;
        let known = self.cell(&lane.name).await?;
        if known.as_ref().is_some_and(|known| known.lane == *lane) {
            return Ok(());
        }
        let epoch = known.map(|known| known.epoch);
        let cell = Value::map([
            ("cell_id", cell_id(&lane.name).into()),
            ("resource_class", "worker".into()),
            ("capacity", u64::from(lane.capacity).into()),
            ("reserved_floor", u64::from(lane.reserved_floor).into()),
            ("epoch", (epoch.unwrap_or(0) + 1).into()),
            ("policy_digest", digest.into()),
            ("updated_at_ms", time(now_ms)),
        ]);
        let request = Value::map([
            ("schema_version", "1".into()),
            ("cell", cell),
            ("expected_epoch", Value::from(epoch)),
            ("now_ms", time(now_ms)),
        ]);
        let answer = self.ask(Body::with("UpdateCapacityCell", [("request", request)]), Repeats::ByKey).await?;
        match decision(&answer) {
            Some("accepted" | "replayed") => Ok(()),
            Some("stale_epoch") => Err(WorkRefusal::Conflict { what: "the lane" }),
            _ => Err(malformed("UpdateCapacityCell")),
        }
    }

    async fn lane(&self, name: &str) -> Result<Option<WorkLane>, WorkRefusal> {
        check_kind(name)?;
        Ok(self.cell(name).await?.map(|cell| cell.lane))
    }

    async fn admission(&self, lane: &str, wanted: WorkersWanted, now_ms: i64) -> Result<Admission, WorkRefusal> {
        check_kind(lane)?;
        let cell = self.cell(lane).await?.ok_or_else(|| missing(lane))?;
        // More than there can be is never given, and the refusal says how much there is.
        let more = u64::from(cell.lane.capacity) + 1;
        let answer =
            self.demand(lane, &format!("ask:{}", self.unique()), more, cell.lane.policy.hold_ms, now_ms).await?;
        let free = || {
            let available = answer.get("available")?.as_list()?.first()?;
            u32::try_from(natural(available, "available")?).ok()
        };
        let free = match decision(&answer) {
            Some("exhausted") => free().ok_or(malformed("AcquireCapacity"))?.min(cell.lane.background()),
            Some("backpressure") => 0,
            _ => return Err(malformed("AcquireCapacity")),
        };
        let workers = match wanted {
            WorkersWanted::Auto => free,
            WorkersWanted::AtMost(most) => free.min(most),
        };
        let policy = cell.lane.policy;
        Ok(if workers == 0 {
            Admission::Wait { after_ms: policy.full_ms }
        } else {
            Admission::Admitted { workers, reserved_floor: cell.lane.reserved_floor, policy }
        })
    }

    async fn acquire(&self, lane: &str, worker: &str, now_ms: i64) -> Result<HoldAnswer, WorkRefusal> {
        check_worker(worker)?;
        check_kind(lane)?;
        let cell = self.cell(lane).await?.ok_or_else(|| missing(lane))?;
        let policy = cell.lane.policy;
        let key = format!("{worker}:{}", self.unique());
        let answer = self.demand(lane, &key, 1, policy.hold_ms, now_ms).await?;
        match decision(&answer) {
            Some("accepted" | "replayed") => {
                let held = || {
                    let lease = answer.get("leases")?.as_list()?.first()?;
                    Some(CapacityHold {
                        hold_id: lease.get("lease_id")?.as_text()?.to_owned(),
                        epoch: natural(lease, "lease_epoch")?,
                        fence: natural(lease, "fence_token")?,
                        expires_at_ms: moment(lease, "expires_at_ms")?,
                    })
                };
                held().map(HoldAnswer::Held).ok_or(malformed("AcquireCapacity"))
            }
            Some("exhausted" | "backpressure") => Ok(HoldAnswer::Wait { after_ms: policy.full_ms }),
            Some("not_found") => Err(missing(lane)),
            _ => Err(malformed("AcquireCapacity")),
        }
    }

    async fn renew(&self, lane: &str, hold: &CapacityHold, now_ms: i64) -> Result<i64, WorkRefusal> {
        check_kind(lane)?;
        let cell = self.cell(lane).await?.ok_or_else(|| missing(lane))?;
        let answer = self.mutate("RenewCapacity", hold, now_ms, Some(cell.lane.policy.hold_ms)).await?;
        match decision(&answer) {
            Some("renewed" | "replayed") => {
                let lease = answer.get("leases").and_then(Value::as_list).and_then(<[Value]>::first);
                lease.and_then(|lease| moment(lease, "expires_at_ms")).ok_or(malformed("RenewCapacity"))
            }
            Some("expired" | "stale_fence" | "stale_epoch" | "not_found") => {
                Err(WorkRefusal::Fenced { work: hold.hold_id.clone() })
            }
            _ => Err(malformed("RenewCapacity")),
        }
    }

    async fn release(&self, lane: &str, hold: &CapacityHold, now_ms: i64) -> Result<(), WorkRefusal> {
        check_kind(lane)?;
        let answer = self.mutate("ReleaseCapacity", hold, now_ms, None).await?;
        match decision(&answer) {
            // What ended by itself, or was released before, is free.
            Some("released" | "replayed" | "expired" | "stale_fence" | "stale_epoch" | "not_found") => Ok(()),
            _ => Err(malformed("ReleaseCapacity")),
        }
    }
}

fn decision(answer: &Value) -> Option<&str> {
    answer.get("decision").and_then(Value::as_text)
}

impl EngineWork {
    async fn demand(&self, lane: &str, key: &str, amount: u64, ttl_ms: u64, now_ms: i64) -> Result<Value, WorkRefusal> {
        let (tenant, me) = self.caller()?;
        let demand = Value::map([
            ("cell_id", cell_id(lane).into()),
            ("resource_class", "worker".into()),
            ("amount", amount.into()),
        ]);
        let request = Value::map([
            ("schema_version", "1".into()),
            ("tenant_ref", tenant.into()),
            ("work_item_id", format!("scion-hold:{key}").into()),
            ("owner_digest", me.into()),
            ("idempotency_key", format!("scion-hold:{key}").into()),
            ("priority", "background_ingestion".into()),
            ("demands", Value::List(vec![demand])),
            ("lease_id", Value::Nil),
            ("ttl_ms", ttl_ms.into()),
            ("now_ms", time(now_ms)),
            ("cost_budget_micros", Value::Nil),
            ("token_budget", Value::Nil),
        ]);
        self.ask(Body::with("AcquireCapacity", [("request", request)]), Repeats::ByKey).await
    }

    async fn mutate(
        &self,
        method: &'static str,
        hold: &CapacityHold,
        now_ms: i64,
        ttl_ms: Option<u64>,
    ) -> Result<Value, WorkRefusal> {
        let (tenant, me) = self.caller()?;
        let lease = Value::map([
            ("lease_id", hold.hold_id.as_str().into()),
            ("lease_epoch", hold.epoch.into()),
            ("fence_token", hold.fence.into()),
        ]);
        let request = Value::map([
            ("schema_version", "1".into()),
            ("tenant_ref", tenant.into()),
            ("owner_digest", me.into()),
            ("leases", Value::List(vec![lease])),
            ("now_ms", time(now_ms)),
            ("ttl_ms", Value::from(ttl_ms)),
            ("idempotency_key", Value::Nil),
        ]);
        self.ask(Body::with(method, [("request", request)]), Repeats::ByKey).await
    }

    /// The cell of a lane; `None` when nobody set it up, or its times are not those it names.
    async fn cell(&self, lane: &str) -> Result<Option<Cell>, WorkRefusal> {
        let (tenant, _) = self.caller()?;
        let request = Value::map([
            ("schema_version", "1".into()),
            ("tenant_ref", tenant.into()),
            ("cell_id", cell_id(lane).into()),
            ("lease_id", Value::Nil),
            ("max_count", Value::Natural(PAGE)),
            ("cursor", Value::Nil),
        ]);
        let answer = self.ask(Body::with("CapacityStatus", [("request", request)]), Repeats::Freely).await?;
        let cells = answer.get("cells").and_then(Value::as_list).ok_or(malformed("CapacityStatus"))?;
        let wanted = cell_id(lane);
        let Some(cell) = cells.iter().find(|cell| cell.get("cell_id").and_then(Value::as_text) == Some(&wanted)) else {
            return Ok(None);
        };
        let read = || {
            let number = |name| natural(cell, name).and_then(|number| u32::try_from(number).ok());
            let digest = cell.get("policy_digest")?.as_text()?.to_owned();
            Some((number("capacity")?, number("reserved_floor")?, natural(cell, "epoch")?, digest))
        };
        let (capacity, reserved_floor, epoch, digest) = read().ok_or(malformed("CapacityStatus"))?;
        let kept = self.policy(lane, &digest).await?;
        let policy = kept.and_then(|bytes| parse(std::str::from_utf8(&bytes).ok()?).ok());
        let policy = policy.and_then(|policy| LanePolicy::from_json(&policy).ok());
        let Some(policy) = policy.filter(|policy| policy.digest().to_hex() == digest) else { return Ok(None) };
        let lane = WorkLane { name: lane.to_owned(), capacity, reserved_floor, policy };
        Ok(Some(Cell { lane, epoch }))
    }
}
