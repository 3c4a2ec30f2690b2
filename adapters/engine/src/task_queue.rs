//! The queue of work on the engine's work items.

use ring::digest::{SHA256, digest};
use scion_domain::json::{Json, to_compact};
use scion_domain::work::{
    Claim, ClaimedWork, NewWork, Settled, WorkCapabilities, WorkOutcome, WorkRefusal, WorkStatus, WorkView, check_kind,
    check_worker,
};
use scion_ports::{TaskQueue, async_trait};

use crate::client::Repeats;
use crate::work::{EngineWork, malformed, moment, natural, time};
use crate::{Body, Value, body};

/// Of a tenant, under way at once: the engine's own bound. Lanes hold fewer.
const MAX_IN_FLIGHT: u64 = 4096;
/// How long a submission may be under way, in milliseconds; the engine refuses it later.
const SUBMISSION_MS: i64 = 10 * 60 * 1000;

#[async_trait]
impl TaskQueue for EngineWork {
    /// The engine's views have no attempts, and its work items keep no effect or code that can be read.
    fn capabilities(&self) -> WorkCapabilities {
        WorkCapabilities { tells_outcomes: false, tells_who_settled: false }
    }

    async fn ready(&self) -> Result<(), WorkRefusal> {
        self.served().await
    }

    async fn submit(&self, work: &NewWork, now_ms: i64) -> Result<String, WorkRefusal> {
        work.check()?;
        let id = work_id(&work.kind, &work.key);
        let body = Body::with("SubmitWorkItem", [("request", self.submission(work, &id, now_ms)?)]);
        match self.ask(body, Repeats::ByKey).await {
            Ok(answer) => {
                let given = answer.get("work_item_id").and_then(Value::as_text);
                if given == Some(&id) { Ok(id) } else { Err(malformed("SubmitWorkItem")) }
            }
            // Submitted before, at another time: the content decides whether it is the same.
            Err(conflict @ WorkRefusal::Conflict { .. }) => {
                let item = self.item(&id).await?.ok_or(conflict)?;
                if item.get("metadata").and_then(Value::to_json).is_some_and(|stored| stored == metadata(work)) {
                    Ok(id)
                } else {
                    Err(WorkRefusal::Conflict { what: "work with this key and other content" })
                }
            }
            Err(refusal) => Err(refusal),
        }
    }

    async fn claim(&self, kinds: &[String], worker: &str, lease_ms: u64, now_ms: i64) -> Result<Claim, WorkRefusal> {
        if kinds.is_empty() || kinds.len() > 16 || lease_ms == 0 {
            return Err(WorkRefusal::Invalid { what: "a claim asks for 1 to 16 kinds of work and a lease" });
        }
        kinds.iter().try_for_each(|kind| check_kind(kind))?;
        check_worker(worker)?;
        let mut found = Claim::Empty;
        for kind in kinds {
            match self.claim_one(kind, lease_ms, now_ms).await? {
                Claim::Empty => {}
                Claim::Full => found = Claim::Full,
                work @ Claim::Work(_) => return Ok(work),
            }
        }
        Ok(found)
    }

    async fn renew(&self, work: &ClaimedWork, lease_ms: u64, now_ms: i64) -> Result<i64, WorkRefusal> {
        let (tenant, me) = self.caller()?;
        let body = Body::with(
            "RenewWorkItemLease",
            [
                ("tenant", tenant.into()),
                ("work_item_id", work.work_id.as_str().into()),
                ("worker_id", me.into()),
                ("lease_epoch", work.lease_epoch.into()),
                ("fencing_token", work.fencing_token.into()),
                ("now_ms", time(now_ms)),
                ("lease_ms", lease_ms.into()),
            ],
        );
        let answer = self.ask(body, Repeats::ByKey).await?;
        match answer.get("renewed").and_then(Value::as_bool) {
            Some(true) => moment(&answer, "lease_expires_at_ms").ok_or(malformed("RenewWorkItemLease")),
            Some(false) if answer.get("reason").and_then(Value::as_text) == Some("missing") => Err(UNKNOWN),
            Some(false) => Err(fenced(work)),
            None => Err(malformed("RenewWorkItemLease")),
        }
    }

    async fn settle(&self, work: &ClaimedWork, outcome: &WorkOutcome, now_ms: i64) -> Result<Settled, WorkRefusal> {
        let (tenant, me) = self.caller()?;
        let (word, result, error, retryable) = match outcome {
            WorkOutcome::Succeeded { effect_digest } => {
                ("succeeded", Value::Text(format!("sha256:{effect_digest}")), Value::Nil, false)
            }
            WorkOutcome::Failed { code, retryable } => {
                check_kind(code)
                    .map_err(|_| WorkRefusal::Invalid { what: "a failure is named by the code of a refusal" })?;
                ("failed", Value::Nil, Value::Text(format!("refusal:{code}")), *retryable)
            }
        };
        let body = Body::with(
            "CommitWorkItemResult",
            [
                ("tenant", tenant.into()),
                ("work_item_id", work.work_id.as_str().into()),
                ("worker_id", me.into()),
                ("lease_epoch", work.lease_epoch.into()),
                ("fencing_token", work.fencing_token.into()),
                ("idempotency_key", format!("settle:{}:{}:{now_ms}", work.work_id, work.fencing_token).into()),
                ("outcome", word.into()),
                ("result_ref", result),
                ("outcome_extension", Value::Nil),
                ("error_ref", error),
                ("retryable", retryable.into()),
                ("now_ms", time(now_ms)),
            ],
        );
        let answer = self.ask(body, Repeats::ByKey).await?;
        match answer.get("status").and_then(Value::as_text) {
            Some("succeeded") => Ok(Settled::Succeeded),
            Some("failed") => Ok(Settled::Failed),
            Some("retry_scheduled") => Ok(Settled::Retried),
            Some("dead_letter") => Ok(Settled::DeadLetter),
            Some("missing") => Err(UNKNOWN),
            // Ended before, or, when a retry waits, not ours any more: where it stands tells what became of it.
            Some("noop" | "cancelled" | "fenced") => self.stands(work, outcome).await,
            _ => Err(malformed("CommitWorkItemResult")),
        }
    }

    async fn defer(&self, work: &ClaimedWork, until_ms: i64, now_ms: i64) -> Result<(), WorkRefusal> {
        let (tenant, me) = self.caller()?;
        let body = Body::with(
            "DeferWorkItem",
            [
                ("tenant", tenant.into()),
                ("work_item_id", work.work_id.as_str().into()),
                ("worker_id", me.into()),
                ("lease_epoch", work.lease_epoch.into()),
                ("fencing_token", work.fencing_token.into()),
                ("idempotency_key", format!("defer:{}:{}", work.work_id, work.fencing_token).into()),
                ("next_retry_at_ms", time(until_ms)),
                ("reason_ref", Value::Nil),
                ("now_ms", time(now_ms)),
            ],
        );
        let answer = self.ask(body, Repeats::ByKey).await?;
        match answer.get("status").and_then(Value::as_text) {
            Some("deferred") => Ok(()),
            Some("missing") => Err(UNKNOWN),
            Some("fenced") => Err(fenced(work)),
            _ => Err(malformed("DeferWorkItem")),
        }
    }

    async fn cancel(&self, work_id: &str, now_ms: i64) -> Result<(), WorkRefusal> {
        check_id(work_id)?;
        let (tenant, _) = self.caller()?;
        let body = Body::with(
            "CancelWorkItem",
            [
                ("tenant", tenant.into()),
                ("work_item_id", work_id.into()),
                ("idempotency_key", format!("cancel:{work_id}:{now_ms}").into()),
                ("reason_ref", Value::Nil),
                ("now_ms", time(now_ms)),
            ],
        );
        let answer = self.ask(body, Repeats::ByKey).await?;
        match answer.get("status").and_then(Value::as_text) {
            Some("cancelled") => Ok(()),
            Some("missing") => Err(UNKNOWN),
            Some("in_flight") => Err(WorkRefusal::InFlight { work: work_id.to_owned() }),
            Some("noop" | "not_cancellable") => match self.read(work_id).await?.map(|view| view.status) {
                Some(WorkStatus::Cancelled) => Ok(()),
                _ => Err(WorkRefusal::Settled { what: "the work" }),
            },
            _ => Err(malformed("CancelWorkItem")),
        }
    }

    async fn read(&self, work_id: &str) -> Result<Option<WorkView>, WorkRefusal> {
        if check_id(work_id).is_err() {
            return Ok(None);
        }
        let item = self.item(work_id).await?;
        item.map(|item| view(&item).ok_or(malformed("GetWorkItem"))).transpose()
    }

    /// The engine's pages go by a cursor of its own, so a list after a work id reads from the start; work of others is left out.
    async fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<WorkView>, WorkRefusal> {
        if !(1..=1000).contains(&limit) {
            return Err(WorkRefusal::Invalid { what: "a list has 1 to 1000 entries" });
        }
        let (tenant, _) = self.caller()?;
        let (mut found, mut cursor, mut skipping) = (Vec::new(), None, after.is_some());
        loop {
            let body = Body::with(
                "ListWorkItems",
                [
                    ("tenant", tenant.as_str().into()),
                    ("cursor", Value::from(cursor)),
                    ("limit", Value::Natural(PAGE)),
                    ("kind", Value::Nil),
                    ("metadata_match", Value::Nil),
                ],
            );
            let page = self.ask(body, Repeats::Freely).await?;
            let items = page.get("items").and_then(Value::as_list).ok_or(malformed("ListWorkItems"))?;
            for view in items.iter().filter_map(view) {
                if !skipping {
                    found.push(view);
                } else if after == Some(&view.work_id) {
                    skipping = false;
                }
                if found.len() == limit {
                    return Ok(found);
                }
            }
            match page.get("next_cursor").and_then(Value::as_text) {
                Some(next) if !items.is_empty() => cursor = Some(next.to_owned()),
                _ => return Ok(found),
            }
        }
    }
}

/// Items of a page: the engine's most.
const PAGE: u64 = 100;
const UNKNOWN: WorkRefusal = WorkRefusal::Unknown { what: "the work" };

fn fenced(work: &ClaimedWork) -> WorkRefusal {
    WorkRefusal::Fenced { work: work.work_id.clone() }
}

/// The id of work is named by its kind and key, so that it can be read back whatever became of the reply.
fn work_id(kind: &str, key: &str) -> String {
    let named = digest(&SHA256, format!("{kind}\0{key}").as_bytes());
    format!("scion-work:{}", body::hex(named.as_ref()))
}

fn check_id(work_id: &str) -> Result<(), WorkRefusal> {
    if work_id.starts_with("scion-work:") && work_id.len() == 75 { Ok(()) } else { Err(UNKNOWN) }
}

/// What is kept beside a work item: everything that makes it the same work.
fn metadata(work: &NewWork) -> Json {
    let members = [
        ("key", Json::from(work.key.as_str())),
        ("max_attempts", Json::from(u64::from(work.max_attempts))),
        ("payload", Json::from(to_compact(&work.payload))),
        ("priority", Json::from(u64::from(work.priority))),
    ];
    Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

impl EngineWork {
    fn submission(&self, work: &NewWork, id: &str, now_ms: i64) -> Result<Value, WorkRefusal> {
        let caller = self.context()?;
        let (_, me) = self.caller()?;
        let content = body::hex(digest(&SHA256, to_compact(&metadata(work)).as_bytes()).as_ref());
        let context = Value::map([
            ("schema_version", "2".into()),
            ("request_id", format!("submit:{id}").into()),
            ("subject_id", me.into()),
            ("tenant_id", caller.tenant.as_str().into()),
            ("agent_id", caller.agent.as_str().into()),
            ("scopes", caller.scopes.clone().into()),
            ("audience", caller.audience.as_str().into()),
            ("authentication_method", "workload_identity".into()),
            ("policy_version", caller.policy_version.as_str().into()),
            ("graph", self.graph().into()),
            ("placement_epoch", Value::Nil),
            ("trace_id", format!("submit:{id}").into()),
            ("issued_at_ms", time(now_ms)),
            ("expires_at_ms", time(now_ms.saturating_add(SUBMISSION_MS))),
        ]);
        Ok(Value::map([
            ("schema_version", "1".into()),
            ("context", context),
            ("work_item_id", id.into()),
            ("idempotency_key", id.into()),
            ("command_digest", content.as_str().into()),
            ("kind", work.kind.as_str().into()),
            ("priority", u64::from(work.priority).into()),
            ("depends_on", Value::List(Vec::new())),
            ("input_ref", format!("sha256:{content}").into()),
            ("policy_digest", content.as_str().into()),
            ("catalog_digest", content.as_str().into()),
            ("model_digest", content.as_str().into()),
            ("max_attempts", u64::from(work.max_attempts).into()),
            ("deadline_unix", Value::Nil),
            (
                "metadata",
                Value::map([
                    ("key", work.key.as_str().into()),
                    ("max_attempts", u64::from(work.max_attempts).into()),
                    ("payload", to_compact(&work.payload).into()),
                    ("priority", u64::from(work.priority).into()),
                ]),
            ),
            ("provenance_refs", Value::List(Vec::new())),
            ("max_tenant_in_flight", MAX_IN_FLIGHT.into()),
        ]))
    }

    async fn claim_one(&self, kind: &str, lease_ms: u64, now_ms: i64) -> Result<Claim, WorkRefusal> {
        let (tenant, me) = self.caller()?;
        let request = Value::map([
            ("schema_version", "1".into()),
            ("tenant_ref", tenant.into()),
            ("work_item_id", Value::Nil),
            ("queue_ref", kind.into()),
            ("resource_class", Value::Nil),
            ("fairness_group", Value::Nil),
            ("worker_ref", me.into()),
            ("now_ms", time(now_ms)),
            ("lease_ms", lease_ms.into()),
            ("max_tenant_in_flight", MAX_IN_FLIGHT.into()),
        ]);
        // Under its key a claim whose reply is lost is answered again, with the same work.
        let answer = self.ask(Body::with("ClaimWorkItem", [("request", request)]), Repeats::ByKey).await?;
        let read = || {
            Some(match answer.get("reason")?.as_text()? {
                "empty" => None,
                "tenant_quota" => Some(Err(())),
                "claimed" => Some(Ok((
                    answer.get("work_item_id")?.as_text()?.to_owned(),
                    u32::try_from(natural(&answer, "attempt")?).ok()?,
                    natural(&answer, "lease_epoch")?,
                    natural(&answer, "fencing_token")?,
                    moment(&answer, "lease_expires_at_ms")?,
                ))),
                _ => return None,
            })
        };
        let (work_id, attempt, lease_epoch, fencing_token, lease_expires_at_ms) =
            match read().ok_or(malformed("ClaimWorkItem"))? {
                None => return Ok(Claim::Empty),
                Some(Err(())) => return Ok(Claim::Full),
                Some(Ok(claimed)) => claimed,
            };
        let item = self.item(&work_id).await?.ok_or(malformed("GetWorkItem"))?;
        let payload = item.get("metadata").and_then(|kept| kept.get("payload")).and_then(Value::as_text);
        // Work of another program under the same kind has no input of ours: its body refuses it.
        let payload = payload.map_or(Ok(Json::Null), scion_domain::json::parse);
        let payload = payload.map_err(|_| malformed("GetWorkItem"))?;
        Ok(Claim::Work(Box::new(ClaimedWork {
            work_id,
            kind: kind.to_owned(),
            payload,
            attempt,
            lease_epoch,
            fencing_token,
            lease_expires_at_ms,
        })))
    }

    async fn item(&self, work_id: &str) -> Result<Option<Value>, WorkRefusal> {
        let (tenant, _) = self.caller()?;
        let body = Body::with("GetWorkItem", [("tenant", tenant.into()), ("work_item_id", work_id.into())]);
        match self.ask(body, Repeats::Freely).await? {
            Value::Nil => Ok(None),
            item => Ok(Some(item)),
        }
    }

    /// Whether work that takes no settlement any more stands where this outcome leads.
    async fn stands(&self, work: &ClaimedWork, outcome: &WorkOutcome) -> Result<Settled, WorkRefusal> {
        let Some(item) = self.item(&work.work_id).await? else { return Err(UNKNOWN) };
        let status = item.get("status").and_then(Value::as_text).and_then(status).ok_or(malformed("GetWorkItem"))?;
        match (outcome, status) {
            (WorkOutcome::Succeeded { .. }, WorkStatus::Succeeded) => Ok(Settled::Succeeded),
            (WorkOutcome::Failed { retryable: false, .. }, WorkStatus::Failed) => Ok(Settled::Failed),
            (WorkOutcome::Failed { retryable: true, .. }, WorkStatus::DeadLetter) => Ok(Settled::DeadLetter),
            (WorkOutcome::Failed { retryable: true, .. }, WorkStatus::Waiting) => Ok(Settled::Retried),
            (_, WorkStatus::Waiting | WorkStatus::Leased) => Err(fenced(work)),
            _ => Err(WorkRefusal::Settled { what: "the work" }),
        }
    }
}

fn status(word: &str) -> Option<WorkStatus> {
    Some(match word {
        "submitted" | "ready" => WorkStatus::Waiting,
        "leased" | "running" => WorkStatus::Leased,
        "succeeded" => WorkStatus::Succeeded,
        "failed" => WorkStatus::Failed,
        "dead_letter" => WorkStatus::DeadLetter,
        "cancelled" => WorkStatus::Cancelled,
        _ => return None,
    })
}

/// `None` for work that another program queued.
fn view(item: &Value) -> Option<WorkView> {
    Some(WorkView {
        work_id: item.get("work_item_id")?.as_text()?.to_owned(),
        kind: item.get("kind")?.as_text()?.to_owned(),
        key: item.get("metadata")?.get("key")?.as_text()?.to_owned(),
        status: status(item.get("status")?.as_text()?)?,
        attempts: None,
        effect_digest: None,
        code: None,
        updated_at_ms: moment(item, "updated_at_ms")?,
    })
}
