//! The queue of work. A claim costs a look into an index per kind, and one step for each lease or delay that ran out since the
//! last one, so that a long queue is as fast as a short one.

use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior, params};
use scion_domain::id::Digest256;
use scion_domain::json::{parse, to_compact};
use scion_domain::work::{
    Claim, ClaimedWork, NewWork, Settled, WorkCapabilities, WorkOutcome, WorkRefusal, WorkStatus, WorkView, check_kind,
    check_worker,
};
use scion_ports::{TaskQueue, async_trait};

use crate::EmbeddedGraph;
use crate::failure::{Failure, Outcome};
use crate::writer::Writer;

const READY: u8 = 0;
const SCHEDULED: u8 = 1;
const LEASED: u8 = 2;
const SUCCEEDED: u8 = 3;
const FAILED: u8 = 4;
const DEAD: u8 = 5;
const CANCELLED: u8 = 6;

/// Leases and delays that one claim lets run out at most; the next claim goes on.
const RUN_OUT: u32 = 256;
const MAX_KINDS: usize = 16;
/// The wait before the second attempt; it doubles with each, up to the last.
const FIRST_RETRY_MS: i64 = 1000;
const LAST_RETRY_MS: i64 = 15 * 60 * 1000;

/// What a transaction answers: work refusals are no failures of the store.
pub(crate) type Answer<T> = Result<T, WorkRefusal>;

impl EmbeddedGraph {
    /// One immediate transaction; it is rolled back when the answer is a refusal.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&Transaction<'_>) -> Outcome<Answer<T>> + Send + 'static,
    ) -> Answer<T> {
        let run = move |writer: &mut Writer| {
            let transaction = writer.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let answer = operation(&transaction)?;
            if answer.is_ok() {
                transaction.commit()?;
            }
            Ok(answer)
        };
        self.write(run).await.map_err(|failure| self.work_refusal(failure))?
    }

    pub(crate) async fn look<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    ) -> Answer<T> {
        self.reading(operation).await.map_err(|failure| self.work_refusal(failure))
    }

    fn work_refusal(&self, failure: Failure) -> WorkRefusal {
        use scion_domain::refusal::Refusal as _;
        WorkRefusal::Store { code: self.store(failure).code() }
    }
}

#[async_trait]
impl TaskQueue for EmbeddedGraph {
    fn capabilities(&self) -> WorkCapabilities {
        WorkCapabilities { tells_outcomes: true, tells_who_settled: true }
    }

    async fn ready(&self) -> Answer<()> {
        self.work(|_| Ok(Ok(()))).await
    }

    async fn submit(&self, work: &NewWork, now_ms: i64) -> Answer<String> {
        work.check()?;
        let work = work.clone();
        self.work(move |transaction| submit(transaction, &work, now_ms)).await
    }

    async fn claim(&self, kinds: &[String], worker: &str, lease_ms: u64, now_ms: i64) -> Answer<Claim> {
        if kinds.is_empty() || kinds.len() > MAX_KINDS {
            return Err(WorkRefusal::Invalid { what: "a claim asks for 1 to 16 kinds of work" });
        }
        kinds.iter().try_for_each(|kind| check_kind(kind))?;
        check_worker(worker)?;
        let until = lease_end(now_ms, lease_ms)?;
        let (kinds, worker) = (kinds.to_vec(), worker.to_owned());
        self.work(move |transaction| claim(transaction, &kinds, &worker, until, now_ms)).await
    }

    async fn renew(&self, work: &ClaimedWork, lease_ms: u64, now_ms: i64) -> Answer<i64> {
        let until = lease_end(now_ms, lease_ms)?;
        let work = work.clone();
        self.work(move |transaction| {
            let id = match held(transaction, &work, now_ms)? {
                Ok(held) => held.id,
                Err(refusal) => return Ok(Err(refusal)),
            };
            let mut statement =
                transaction.prepare_cached("UPDATE work_item SET due_ms = ?2, updated_ms = ?3 WHERE id = ?1")?;
            statement.execute(params![id, until, now_ms])?;
            Ok(Ok(until))
        })
        .await
    }

    async fn settle(&self, work: &ClaimedWork, outcome: &WorkOutcome, now_ms: i64) -> Answer<Settled> {
        if let WorkOutcome::Failed { code, .. } = outcome {
            check_kind(code)
                .map_err(|_| WorkRefusal::Invalid { what: "a failure is named by the code of a refusal" })?;
        }
        let (work, outcome) = (work.clone(), outcome.clone());
        self.work(move |transaction| settle(transaction, &work, &outcome, now_ms)).await
    }

    async fn defer(&self, work: &ClaimedWork, until_ms: i64, now_ms: i64) -> Answer<()> {
        let work = work.clone();
        self.work(move |transaction| {
            let id = match held(transaction, &work, now_ms)? {
                Ok(held) => held.id,
                Err(refusal) => return Ok(Err(refusal)),
            };
            let mut statement = transaction.prepare_cached(
                "UPDATE work_item SET state = ?2, due_ms = ?3, worker = NULL, attempt = attempt - 1, updated_ms = ?4
                 WHERE id = ?1",
            )?;
            statement.execute(params![id, SCHEDULED, until_ms, now_ms])?;
            Ok(Ok(()))
        })
        .await
    }

    async fn cancel(&self, work_id: &str, now_ms: i64) -> Answer<()> {
        let work_id = work_id.to_owned();
        self.work(move |transaction| cancel(transaction, &work_id, now_ms)).await
    }

    async fn read(&self, work_id: &str) -> Answer<Option<WorkView>> {
        let Ok(id) = number(work_id) else { return Ok(None) };
        self.look(move |connection| {
            let sql = format!("SELECT {VIEW} FROM work_item WHERE id = ?1");
            let found = connection.prepare_cached(&sql)?.query_row([id], |row| Ok(view(row))).optional()?;
            found.transpose()
        })
        .await
    }

    async fn list(&self, after: Option<&str>, limit: usize) -> Answer<Vec<WorkView>> {
        if !(1..=1000).contains(&limit) {
            return Err(WorkRefusal::Invalid { what: "a list has 1 to 1000 entries" });
        }
        let after = after.map_or(Ok(0), number)?;
        self.look(move |connection| {
            let sql = format!("SELECT {VIEW} FROM work_item WHERE id > ?1 ORDER BY id LIMIT ?2");
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map(params![after, limit], |row| Ok(view(row)))?;
            rows.map(|row| row?).collect()
        })
        .await
    }
}

fn lease_end(now_ms: i64, lease_ms: u64) -> Answer<i64> {
    let length = i64::try_from(lease_ms).ok().filter(|length| *length > 0);
    let end = length.and_then(|length| now_ms.checked_add(length));
    end.ok_or(WorkRefusal::Invalid { what: "a lease lasts at least a millisecond" })
}

/// Work ids are `work-` and the row.
fn name(id: i64) -> String {
    format!("work-{id}")
}

fn number(work_id: &str) -> Answer<i64> {
    let digits = work_id.strip_prefix("work-").filter(|digits| !digits.starts_with(['+', '-', '0']));
    digits.and_then(|digits| digits.parse().ok()).ok_or(WorkRefusal::Unknown { what: "the work" })
}

fn submit(transaction: &Transaction<'_>, work: &NewWork, now_ms: i64) -> Outcome<Answer<String>> {
    let payload = to_compact(&work.payload);
    let stored = transaction
        .prepare_cached("SELECT id, payload, priority, max_attempts FROM work_item WHERE kind = ?1 AND key = ?2")?
        .query_row([&work.kind, &work.key], |row| {
            let same = row.get::<_, String>(1)? == payload
                && row.get::<_, u16>(2)? == work.priority
                && row.get::<_, u32>(3)? == work.max_attempts;
            Ok((row.get::<_, i64>(0)?, same))
        })
        .optional()?;
    if let Some((id, same)) = stored {
        return Ok(if same {
            Ok(name(id))
        } else {
            Err(WorkRefusal::Conflict { what: "work with this key and other content" })
        });
    }
    let mut statement = transaction.prepare_cached(
        "INSERT INTO work_item(kind, key, payload, priority, max_attempts, updated_ms) VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let id = statement.insert(params![work.kind, work.key, payload, work.priority, work.max_attempts, now_ms])?;
    Ok(Ok(name(id)))
}

/// Lets leases and delays run out.
fn run_out(transaction: &Transaction<'_>, now_ms: i64) -> Outcome<()> {
    let mut statement = transaction.prepare_cached(
        "UPDATE work_item SET state = CASE WHEN state = 2 AND attempt >= max_attempts THEN 5 ELSE 0 END,
                              code = CASE WHEN state = 2 THEN 'work_lease_ended' ELSE code END,
                              worker = NULL, due_ms = NULL, updated_ms = ?1
         WHERE id IN (SELECT id FROM work_item WHERE state IN (1, 2) AND due_ms <= ?1 ORDER BY due_ms LIMIT ?2)",
    )?;
    statement.execute(params![now_ms, RUN_OUT])?;
    Ok(())
}

fn claim(
    transaction: &Transaction<'_>,
    kinds: &[String],
    worker: &str,
    until: i64,
    now_ms: i64,
) -> Outcome<Answer<Claim>> {
    run_out(transaction, now_ms)?;
    let mut next: Option<(i64, i64)> = None;
    for kind in kinds {
        let mut statement = transaction.prepare_cached(
            "SELECT priority, id FROM work_item WHERE state = 0 AND kind = ?1 ORDER BY priority, id LIMIT 1",
        )?;
        let first = statement.query_row([kind], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        next = [next, first].into_iter().flatten().min();
    }
    let Some((_, id)) = next else { return Ok(Ok(Claim::Empty)) };
    let mut statement = transaction.prepare_cached(
        "UPDATE work_item SET state = ?2, due_ms = ?3, worker = ?4, attempt = attempt + 1, fence = fence + 1,
                              updated_ms = ?5
         WHERE id = ?1 RETURNING kind, payload, attempt, fence",
    )?;
    let (kind, payload, attempt, fencing_token) = statement
        .query_row(params![id, LEASED, until, worker, now_ms], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get(2)?, row.get(3)?))
        })?;
    let payload = parse(&payload).map_err(|_| Failure::corrupt())?;
    Ok(Ok(Claim::Work(Box::new(ClaimedWork {
        work_id: name(id),
        kind,
        payload,
        attempt,
        lease_epoch: fencing_token,
        fencing_token,
        lease_expires_at_ms: until,
    }))))
}

/// Work that its caller still has.
struct Held {
    id: i64,
    attempt: u32,
    max_attempts: u32,
}

/// What the store knows of claimed work.
struct Stored {
    held: Held,
    state: u8,
    fence: u64,
    due_ms: Option<i64>,
    settled: Option<(u8, u64)>,
    effect: Option<[u8; 32]>,
    code: Option<String>,
}

fn stored(transaction: &Transaction<'_>, work_id: &str) -> Outcome<Answer<Stored>> {
    let id = match number(work_id) {
        Ok(id) => id,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let mut statement = transaction.prepare_cached(
        "SELECT attempt, max_attempts, state, fence, due_ms, settled, settled_fence, effect, code
         FROM work_item WHERE id = ?1",
    )?;
    let found = statement
        .query_row([id], |row| {
            let settled: Option<u8> = row.get(5)?;
            Ok(Stored {
                held: Held { id, attempt: row.get(0)?, max_attempts: row.get(1)? },
                state: row.get(2)?,
                fence: row.get(3)?,
                due_ms: row.get(4)?,
                settled: settled.zip(row.get(6)?),
                effect: row.get(7)?,
                code: row.get(8)?,
            })
        })
        .optional()?;
    Ok(found.ok_or(WorkRefusal::Unknown { what: "the work" }))
}

impl Stored {
    fn held_by(self, work: &ClaimedWork, now_ms: i64) -> Answer<Held> {
        let current =
            self.state == LEASED && self.fence == work.fencing_token && self.due_ms.is_some_and(|until| until > now_ms);
        if current { Ok(self.held) } else { Err(WorkRefusal::Fenced { work: work.work_id.clone() }) }
    }
}

fn held(transaction: &Transaction<'_>, work: &ClaimedWork, now_ms: i64) -> Outcome<Answer<Held>> {
    Ok(stored(transaction, &work.work_id)?.and_then(|stored| stored.held_by(work, now_ms)))
}

fn settle(
    transaction: &Transaction<'_>,
    work: &ClaimedWork,
    outcome: &WorkOutcome,
    now_ms: i64,
) -> Outcome<Answer<Settled>> {
    let stored = match stored(transaction, &work.work_id)? {
        Ok(stored) => stored,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if let Some((settled, fence)) = stored.settled
        && fence == work.fencing_token
    {
        return repeated(&stored, settled, outcome);
    }
    let held = match stored.held_by(work, now_ms) {
        Ok(held) => held,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let (effect, code) = match outcome {
        WorkOutcome::Succeeded { effect_digest } => (Some(effect_digest.as_bytes().to_vec()), None),
        WorkOutcome::Failed { code, .. } => (None, Some(code.as_str())),
    };
    let retryable = matches!(outcome, WorkOutcome::Failed { retryable: true, .. });
    let (settled, state, due) = match (effect.is_some(), retryable) {
        (true, _) => (Settled::Succeeded, SUCCEEDED, None),
        (false, false) => (Settled::Failed, FAILED, None),
        (false, true) if held.attempt >= held.max_attempts => (Settled::DeadLetter, DEAD, None),
        (false, true) => (Settled::Retried, SCHEDULED, Some(now_ms.saturating_add(retry_after(held.attempt)))),
    };
    let mut statement = transaction.prepare_cached(
        "UPDATE work_item SET state = ?2, due_ms = ?3, effect = ?4, code = ?5, settled = ?6, settled_fence = fence,
                              worker = NULL, updated_ms = ?7
         WHERE id = ?1",
    )?;
    statement.execute(params![held.id, state, due, effect, code, number_of(settled), now_ms])?;
    Ok(Ok(settled))
}

/// The answer to a call that was made before: its own, as long as it says the same.
fn repeated(stored: &Stored, settled: u8, outcome: &WorkOutcome) -> Outcome<Answer<Settled>> {
    let settled = match settled {
        0 => Settled::Succeeded,
        1 => Settled::Failed,
        2 => Settled::Retried,
        3 => Settled::DeadLetter,
        _ => return Err(Failure::corrupt()),
    };
    let same = match outcome {
        WorkOutcome::Succeeded { effect_digest } => {
            settled == Settled::Succeeded && stored.effect.as_ref() == Some(effect_digest.as_bytes())
        }
        WorkOutcome::Failed { code, retryable } => {
            settled != Settled::Succeeded
                && *retryable == (settled != Settled::Failed)
                // A later attempt may have ended with a code of its own by now.
                && (stored.state == LEASED || stored.code.as_deref() == Some(code.as_str()))
        }
    };
    Ok(if same { Ok(settled) } else { Err(WorkRefusal::Settled { what: "the work" }) })
}

const fn number_of(settled: Settled) -> u8 {
    match settled {
        Settled::Succeeded => 0,
        Settled::Failed => 1,
        Settled::Retried => 2,
        Settled::DeadLetter => 3,
    }
}

fn retry_after(attempt: u32) -> i64 {
    let doubled = 1_i64.checked_shl(attempt.saturating_sub(1)).filter(|factor| *factor > 0 && attempt < 40);
    doubled.map_or(LAST_RETRY_MS, |factor| FIRST_RETRY_MS.saturating_mul(factor).min(LAST_RETRY_MS))
}

fn cancel(transaction: &Transaction<'_>, work_id: &str, now_ms: i64) -> Outcome<Answer<()>> {
    run_out(transaction, now_ms)?;
    let stored = match stored(transaction, work_id)? {
        Ok(stored) => stored,
        Err(refusal) => return Ok(Err(refusal)),
    };
    match stored.state {
        READY | SCHEDULED => {
            let mut statement = transaction
                .prepare_cached("UPDATE work_item SET state = ?2, due_ms = NULL, updated_ms = ?3 WHERE id = ?1")?;
            statement.execute(params![stored.held.id, CANCELLED, now_ms])?;
            Ok(Ok(()))
        }
        LEASED if stored.due_ms.is_some_and(|until| until > now_ms) => {
            Ok(Err(WorkRefusal::InFlight { work: work_id.to_owned() }))
        }
        CANCELLED => Ok(Ok(())),
        _ => Ok(Err(WorkRefusal::Settled { what: "the work" })),
    }
}

const VIEW: &str = "id, kind, key, state, attempt, effect, code, updated_ms";

fn view(row: &Row<'_>) -> Outcome<WorkView> {
    let status = match row.get::<_, u8>(3)? {
        READY | SCHEDULED => WorkStatus::Waiting,
        LEASED => WorkStatus::Leased,
        SUCCEEDED => WorkStatus::Succeeded,
        FAILED => WorkStatus::Failed,
        DEAD => WorkStatus::DeadLetter,
        CANCELLED => WorkStatus::Cancelled,
        _ => return Err(Failure::corrupt()),
    };
    Ok(WorkView {
        work_id: name(row.get(0)?),
        kind: row.get(1)?,
        key: row.get(2)?,
        status,
        attempts: Some(row.get(4)?),
        effect_digest: row.get::<_, Option<[u8; 32]>>(5)?.map(Digest256::from_bytes),
        code: row.get(6)?,
        updated_at_ms: row.get(7)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_wait_longer_and_longer_up_to_a_bound() {
        let waits: Vec<i64> = (1..=5).map(retry_after).collect();
        assert_eq!(waits, [1000, 2000, 4000, 8000, 16_000]);
        assert_eq!([retry_after(12), retry_after(100), retry_after(u32::MAX)], [LAST_RETRY_MS; 3]);
    }

    #[test]
    fn only_our_own_ids_are_ids() {
        assert_eq!(number("work-17"), Ok(17));
        for wrong in ["17", "work-", "work-017", "work-+1", "work--1", "work-1x", "work-99999999999999999999"] {
            assert!(number(wrong).is_err(), "{wrong}");
        }
    }
}
