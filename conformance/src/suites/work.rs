//! The suites of [`TaskQueue`] and [`WorkAdmission`].

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::digest::sha256;
use scion_domain::json::Json;
use scion_domain::work::{
    Admission, CapacityHold, Claim, ClaimedWork, HoldAnswer, LanePolicy, NewWork, Settled, WorkLane, WorkOutcome,
    WorkRefusal, WorkStatus, WorkersWanted,
};
use scion_ports::{TaskQueue, WorkAdmission};

use crate::report::Report;
use crate::{ensure, must};

type Checked = Result<(), String>;

/// A store that is a queue and its admission.
#[derive(Clone)]
pub struct WorkStore {
    /// The queue.
    pub queue: Arc<dyn TaskQueue>,
    /// Its lanes.
    pub admission: Arc<dyn WorkAdmission>,
}

/// Makes stores to test.
#[async_trait]
pub trait WorkFixture: Send + Sync {
    /// A fresh, empty store.
    async fn open(&self) -> WorkStore;

    /// The same store after a restart.
    async fn reopen(&self, store: WorkStore) -> WorkStore;

    /// Milliseconds since the Unix epoch, by the clock of the store.
    fn now_ms(&self) -> i64;

    /// Lets time go by.
    async fn pass(&self, ms: u64);
}

const KIND: &str = "source.sync";
const LEASE: u64 = 1000;

/// Runs every check.
pub async fn run(fixture: &dyn WorkFixture) -> Report {
    let mut report = Report::new("TaskQueue and WorkAdmission");
    report.add("O1", "the_same_work_is_submitted_once", submitted_once(fixture).await);
    report.add("O1", "a_key_stands_for_one_content", one_content(fixture).await);
    report.add("O2", "claims_go_by_priority_and_age", order(fixture).await);
    report.add("O2", "a_claim_asks_for_kinds", kinds(fixture).await);
    report.add("O2", "work_is_handed_out_once", race(fixture).await);
    report.add("O3", "an_older_token_changes_nothing", fencing(fixture).await);
    report.add("O3", "a_lease_that_ended_is_lost", own_lease_ended(fixture).await);
    report.add("O3", "a_renewed_lease_holds_longer", renewed(fixture).await);
    report.add("O3", "leases_that_end_use_attempts_up", attempts_by_leases(fixture).await);
    report.add("O4", "settled_work_survives_a_restart", restart(fixture).await);
    report.add("O4", "settling_again_answers_the_same", settled_again(fixture).await);
    report.add("O5", "a_failure_comes_back_until_attempts_are_used_up", retries(fixture).await);
    report.add("O5", "a_final_failure_stays", final_failure(fixture).await);
    report.add("O6", "deferred_work_comes_back_as_the_same_attempt", deferred(fixture).await);
    report.add("O7", "only_work_that_nobody_has_is_cancelled", cancelled(fixture).await);
    report.add("O8", "work_can_be_read_and_listed", listed(fixture).await);
    report.add("O8", "outcomes_are_told_where_declared", outcomes(fixture).await);
    report.add("O9", "what_is_out_of_bounds_is_refused", bounds(fixture).await);
    report.add("A1", "an_unknown_lane_admits_nobody", no_lane(fixture).await);
    report.add("A2", "admission_is_what_the_lane_leaves", admitted(fixture).await);
    report.add("A3", "holds_never_exceed_the_lane", held(fixture).await);
    report.add("A4", "a_hold_ends_by_itself", hold_ends(fixture).await);
    report.add("A4", "a_renewed_hold_goes_on", hold_renewed(fixture).await);
    report.add("A5", "released_room_is_free_at_once", released(fixture).await);
    report.add("A6", "lanes_and_holds_survive_a_restart", lanes_restart(fixture).await);
    report
}

fn work(key: &str) -> NewWork {
    let payload = Json::from(key);
    NewWork { kind: KIND.to_owned(), key: key.to_owned(), payload, priority: 0, max_attempts: 3 }
}

fn lane(capacity: u32, reserved_floor: u32) -> WorkLane {
    let policy = LanePolicy { lease_ms: 2000, renew_ms: 500, hold_ms: 1000, idle_ms: 150, full_ms: 70 };
    WorkLane { name: "ingest".to_owned(), capacity, reserved_floor, policy }
}

fn done(text: &str) -> WorkOutcome {
    WorkOutcome::Succeeded { effect_digest: sha256(text.as_bytes()) }
}

fn failed(retryable: bool) -> WorkOutcome {
    WorkOutcome::Failed { code: "source_unreachable".to_owned(), retryable }
}

async fn submit(fixture: &dyn WorkFixture, store: &WorkStore, work: &NewWork) -> Result<String, String> {
    Ok(must!(store.queue.submit(work, fixture.now_ms()).await, "submit"))
}

async fn try_claim(fixture: &dyn WorkFixture, store: &WorkStore) -> Result<Option<ClaimedWork>, String> {
    let claim = store.queue.claim(&[KIND.to_owned()], "worker-1", LEASE, fixture.now_ms()).await;
    match must!(claim, "claim") {
        Claim::Work(work) => Ok(Some(*work)),
        Claim::Empty => Ok(None),
        Claim::Full => Err("the queue says it is full".to_owned()),
    }
}

async fn claim(fixture: &dyn WorkFixture, store: &WorkStore) -> Result<ClaimedWork, String> {
    try_claim(fixture, store).await?.ok_or_else(|| "nothing is claimed, though work is due".to_owned())
}

async fn status(store: &WorkStore, id: &str) -> Result<Option<WorkStatus>, String> {
    Ok(must!(store.queue.read(id).await, "read").map(|view| view.status))
}

async fn submitted_once(fixture: &dyn WorkFixture) -> Checked {
    let store = fixture.open().await;
    let first = submit(fixture, &store, &work("a")).await?;
    fixture.pass(3).await;
    let again = submit(fixture, &store, &work("a")).await?;
    ensure!(first == again, "the same key got {first} and {again}");
    let other = submit(fixture, &store, &NewWork { kind: "other".to_owned(), ..work("a") }).await?;
    ensure!(other != first, "the same key of another kind is the same work");
    claim(fixture, &store).await?;
    ensure!(try_claim(fixture, &store).await?.is_none(), "work submitted twice is there twice");
    Ok(())
}

async fn one_content(fixture: &dyn WorkFixture) -> Checked {
    let store = fixture.open().await;
    submit(fixture, &store, &work("a")).await?;
    for other in [
        NewWork { payload: Json::from("other"), ..work("a") },
        NewWork { priority: 1, ..work("a") },
        NewWork { max_attempts: 4, ..work("a") },
    ] {
        match store.queue.submit(&other, fixture.now_ms()).await {
            Err(WorkRefusal::Conflict { .. }) => {}
            answer => return Err(format!("other content under the same key got {answer:?}")),
        }
    }
    ensure!(claim(fixture, &store).await?.payload == Json::from("a"), "the content is another one");
    Ok(())
}

async fn order(fixture: &dyn WorkFixture) -> Checked {
    let store = fixture.open().await;
    for (key, priority) in [("b", 5), ("c", 1), ("a", 2), ("d", 2), ("e", 0)] {
        submit(fixture, &store, &NewWork { priority, ..work(key) }).await?;
        fixture.pass(2).await;
    }
    let mut order = String::new();
    for _ in 0..5 {
        order.push_str(claim(fixture, &store).await?.payload.as_str().unwrap_or_default());
    }
    ensure!(order == "ecadb", "the order was {order}");
    Ok(())
}

async fn kinds(fixture: &dyn WorkFixture) -> Checked {
    let store = fixture.open().await;
    submit(fixture, &store, &NewWork { kind: "other".to_owned(), ..work("a") }).await?;
    ensure!(try_claim(fixture, &store).await?.is_none(), "work of another kind was claimed");
    let both = [KIND.to_owned(), "other".to_owned()];
    match must!(store.queue.claim(&both, "w", LEASE, fixture.now_ms()).await, "claim") {
        Claim::Work(found) => ensure!(found.kind == "other", "the kind is {}", found.kind),
        other => return Err(format!("a claim for two kinds got {other:?}")),
    }
    Ok(())
}

async fn race(fixture: &dyn WorkFixture) -> Checked {
    let store = fixture.open().await;
    let now = fixture.now_ms();
    for number in 0..6 {
        submit(fixture, &store, &work(&number.to_string())).await?;
    }
    let claims: Vec<_> = (0..9)
        .map(|worker| {
            let store = store.clone();
            tokio::spawn(async move { store.queue.claim(&[KIND.to_owned()], &format!("w{worker}"), 60_000, now).await })
        })
        .collect();
    let (mut ids, mut empty) = (BTreeSet::new(), 0);
    for claim in claims {
        match must!(must!(claim.await, "join"), "claim") {
            Claim::Work(work) => ensure!(ids.insert(work.work_id.clone()), "{} was handed out twice", work.work_id),
            _ => empty += 1,
        }
    }
    ensure!(ids.len() == 6 && empty == 3, "{} pieces were handed out and {empty} claims were empty", ids.len());
    Ok(())
}

fn is_fenced<T>(answer: &Result<T, WorkRefusal>) -> bool {
    matches!(answer, Err(WorkRefusal::Fenced { .. }))
}

async fn fencing(fixture: &dyn WorkFixture) -> Checked {
    let store = fixture.open().await;
    submit(fixture, &store, &work("a")).await?;
    let old = claim(fixture, &store).await?;
    fixture.pass(LEASE + 1).await;
    let new = claim(fixture, &store).await?;
    ensure!(new.work_id == old.work_id, "another piece of work");
    ensure!(
        new.fencing_token > old.fencing_token,
        "the token went from {} to {}",
        old.fencing_token,
        new.fencing_token
    );
    ensure!(new.attempt == 2, "the second attempt has the number {}", new.attempt);
    let now = fixture.now_ms();
    ensure!(is_fenced(&store.queue.renew(&old, LEASE, now).await), "an older token renews");
    ensure!(is_fenced(&store.queue.settle(&old, &done("old"), now).await), "an older token settles");
    ensure!(is_fenced(&store.queue.defer(&old, now + 1, now).await), "an older token defers");
    ensure!(must!(store.queue.settle(&new, &done("new"), now).await, "settle") == Settled::Succeeded, "not settled");
    Ok(())
}

async fn own_lease_ended(fixture: &dyn WorkFixture) -> Checked {
    let store = fixture.open().await;
    submit(fixture, &store, &work("a")).await?;
    let lost = claim(fixture, &store).await?;
    fixture.pass(LEASE + 1).await;
    let now = fixture.now_ms();
    ensure!(is_fenced(&store.queue.renew(&lost, LEASE, now).await), "a lease that ended is renewed");
    ensure!(is_fenced(&store.queue.settle(&lost, &done("x"), now).await), "a lease that ended settles");
    Ok(())
}

async fn renewed(fixture: &dyn WorkFixture) -> Checked {
    let store = fixture.open().await;
    submit(fixture, &store, &work("a")).await?;
    let held = claim(fixture, &store).await?;
    fixture.pass(LEASE / 2).await;
    let until = must!(store.queue.renew(&held, LEASE * 2, fixture.now_ms()).await, "renew");
    ensure!(until > held.lease_expires_at_ms, "the lease ends at {until}, not later");
    fixture.pass(LEASE).await;
    ensure!(try_claim(fixture, &store).await?.is_none(), "work under a renewed lease was handed out");
    must!(store.queue.settle(&held, &done("x"), fixture.now_ms()).await, "settle");
    Ok(())
}

async fn attempts_by_leases(fixture: &dyn WorkFixture) -> Checked {
    let store = fixture.open().await;
    let id = submit(fixture, &store, &NewWork { max_attempts: 2, ..work("a") }).await?;
    for attempt in 1..=2 {
        ensure!(claim(fixture, &store).await?.attempt == attempt, "the attempts are counted otherwise");
        fixture.pass(LEASE + 1).await;
    }
    ensure!(try_claim(fixture, &store).await?.is_none(), "a third attempt of two");
    ensure!(status(&store, &id).await? == Some(WorkStatus::DeadLetter), "it is not a dead letter");
    Ok(())
}

async fn restart(fixture: &dyn WorkFixture) -> Checked {
    let store = fixture.open().await;
    let first = submit(fixture, &store, &work("a")).await?;
    let second = submit(fixture, &store, &work("b")).await?;
    let held = claim(fixture, &store).await?;
    must!(store.queue.settle(&held, &done("a"), fixture.now_ms()).await, "settle");
    let store = fixture.reopen(store).await;
    ensure!(status(&store, &first).await? == Some(WorkStatus::Succeeded), "settled work is forgotten");
    fixture.pass(LEASE + 1).await;
    ensure!(claim(fixture, &store).await?.work_id == second, "settled work was handed out again, or work is lost");
    Ok(())
}

async fn settled_again(fixture: &dyn WorkFixture) -> Checked {
    let store = fixture.open().await;
    let id = submit(fixture, &store, &work("a")).await?;
    let held = claim(fixture, &store).await?;
    for turn in 0..2 {
        let settled = must!(store.queue.settle(&held, &done("a"), fixture.now_ms()).await, "settle");
        ensure!(settled == Settled::Succeeded, "turn {turn} got {settled:?}");
        fixture.pass(2).await;
    }
    match store.queue.settle(&held, &failed(false), fixture.now_ms()).await {
        Err(WorkRefusal::Settled { .. }) => {}
        other => return Err(format!("another outcome of settled work got {other:?}")),
    }
    if store.queue.capabilities().tells_who_settled {
        let stranger = ClaimedWork { fencing_token: held.fencing_token + 7, ..held };
        let answer = store.queue.settle(&stranger, &done("a"), fixture.now_ms()).await;
        ensure!(is_fenced(&answer), "another token got {answer:?}");
    }
    ensure!(status(&store, &id).await? == Some(WorkStatus::Succeeded), "the outcome changed");
    Ok(())
}

async fn retries(fixture: &dyn WorkFixture) -> Checked {
    let store = fixture.open().await;
    let id = submit(fixture, &store, &NewWork { max_attempts: 2, ..work("a") }).await?;
    let first = claim(fixture, &store).await?;
    let settled = must!(store.queue.settle(&first, &failed(true), fixture.now_ms()).await, "settle");
    ensure!(settled == Settled::Retried, "the first failure got {settled:?}");
    let again = must!(store.queue.settle(&first, &failed(true), fixture.now_ms()).await, "settle again");
    ensure!(again == Settled::Retried, "the first failure said again got {again:?}");
    ensure!(try_claim(fixture, &store).await?.is_none(), "it comes back at once");
    ensure!(status(&store, &id).await? == Some(WorkStatus::Waiting), "it does not wait");
    fixture.pass(60_000).await;
    let second = claim(fixture, &store).await?;
    ensure!(second.attempt == 2 && second.fencing_token > first.fencing_token, "the second attempt is {second:?}");
    let settled = must!(store.queue.settle(&second, &failed(true), fixture.now_ms()).await, "settle");
    ensure!(settled == Settled::DeadLetter, "the last failure got {settled:?}");
    fixture.pass(60_000).await;
    ensure!(try_claim(fixture, &store).await?.is_none(), "a dead letter was handed out");
    ensure!(status(&store, &id).await? == Some(WorkStatus::DeadLetter), "it is not a dead letter");
    Ok(())
}

async fn final_failure(fixture: &dyn WorkFixture) -> Checked {
    let store = fixture.open().await;
    let id = submit(fixture, &store, &work("a")).await?;
    let held = claim(fixture, &store).await?;
    let settled = must!(store.queue.settle(&held, &failed(false), fixture.now_ms()).await, "settle");
    ensure!(settled == Settled::Failed, "it got {settled:?}");
    fixture.pass(60_000).await;
    ensure!(try_claim(fixture, &store).await?.is_none(), "it was handed out again");
    ensure!(status(&store, &id).await? == Some(WorkStatus::Failed), "it has not failed");
    Ok(())
}

async fn deferred(fixture: &dyn WorkFixture) -> Checked {
    let store = fixture.open().await;
    submit(fixture, &store, &NewWork { max_attempts: 1, ..work("a") }).await?;
    let first = claim(fixture, &store).await?;
    let now = fixture.now_ms();
    must!(store.queue.defer(&first, now + 5000, now).await, "defer");
    ensure!(try_claim(fixture, &store).await?.is_none(), "deferred work was handed out before its time");
    ensure!(is_fenced(&store.queue.renew(&first, LEASE, fixture.now_ms()).await), "deferred work is still held");
    fixture.pass(5001).await;
    let second = claim(fixture, &store).await?;
    ensure!(second.attempt == 1, "the deferred attempt counts: {}", second.attempt);
    ensure!(second.fencing_token > first.fencing_token, "the token did not grow");
    Ok(())
}

async fn cancelled(fixture: &dyn WorkFixture) -> Checked {
    let store = fixture.open().await;
    let id = submit(fixture, &store, &work("a")).await?;
    must!(store.queue.cancel(&id, fixture.now_ms()).await, "cancel");
    must!(store.queue.cancel(&id, fixture.now_ms()).await, "cancel again");
    ensure!(try_claim(fixture, &store).await?.is_none(), "cancelled work was handed out");
    ensure!(status(&store, &id).await? == Some(WorkStatus::Cancelled), "it is not cancelled");
    let id = submit(fixture, &store, &work("b")).await?;
    let held = claim(fixture, &store).await?;
    match store.queue.cancel(&id, fixture.now_ms()).await {
        Err(WorkRefusal::InFlight { .. }) => {}
        other => return Err(format!("cancelling work under way got {other:?}")),
    }
    must!(store.queue.settle(&held, &done("b"), fixture.now_ms()).await, "settle");
    match store.queue.cancel(&id, fixture.now_ms()).await {
        Err(WorkRefusal::Settled { .. }) => {}
        other => return Err(format!("cancelling settled work got {other:?}")),
    }
    match store.queue.cancel("work-987654321", fixture.now_ms()).await {
        Err(WorkRefusal::Unknown { .. }) => Ok(()),
        other => Err(format!("cancelling unknown work got {other:?}")),
    }
}

async fn listed(fixture: &dyn WorkFixture) -> Checked {
    let store = fixture.open().await;
    ensure!(must!(store.queue.read("work-987654321").await, "read").is_none(), "unknown work is there");
    let mut ids = BTreeSet::new();
    for number in 0..5 {
        ids.insert(submit(fixture, &store, &work(&number.to_string())).await?);
    }
    let held = claim(fixture, &store).await?;
    ensure!(status(&store, &held.work_id).await? == Some(WorkStatus::Leased), "claimed work is not leased");
    let (mut found, mut after) = (BTreeSet::new(), None);
    loop {
        let page = must!(store.queue.list(after.as_deref(), 2).await, "list");
        ensure!(page.len() <= 2, "a page of two has {}", page.len());
        let Some(last) = page.last() else { break };
        after = Some(last.work_id.clone());
        for view in page {
            ensure!(view.kind == KIND && view.key.len() == 1, "{} is {} {}", view.work_id, view.kind, view.key);
            ensure!(found.insert(view.work_id), "work is listed twice");
        }
    }
    ensure!(found == ids, "the list has {} of 5", found.len());
    Ok(())
}

async fn outcomes(fixture: &dyn WorkFixture) -> Checked {
    let store = fixture.open().await;
    let tells = store.queue.capabilities().tells_outcomes;
    let good = submit(fixture, &store, &work("a")).await?;
    let held = claim(fixture, &store).await?;
    must!(store.queue.settle(&held, &done("a"), fixture.now_ms()).await, "settle");
    let bad = submit(fixture, &store, &work("b")).await?;
    let held = claim(fixture, &store).await?;
    must!(store.queue.settle(&held, &failed(false), fixture.now_ms()).await, "settle");
    let (good, bad) = (must!(store.queue.read(&good).await, "read"), must!(store.queue.read(&bad).await, "read"));
    let (Some(good), Some(bad)) = (good, bad) else { return Err("settled work cannot be read".to_owned()) };
    let told = (good.attempts, good.effect_digest, bad.code.as_deref());
    let expected = if tells { (Some(1), Some(sha256(b"a")), Some("source_unreachable")) } else { (None, None, None) };
    ensure!(told == expected, "the outcomes are {told:?}");
    Ok(())
}

async fn bounds(fixture: &dyn WorkFixture) -> Checked {
    let store = fixture.open().await;
    let now = fixture.now_ms();
    let wrong = [
        NewWork { kind: "No Kind".to_owned(), ..work("a") },
        NewWork { key: String::new(), ..work("a") },
        NewWork { payload: Json::from("x".repeat(NewWork::MAX_PAYLOAD)), ..work("a") },
        NewWork { max_attempts: 0, ..work("a") },
    ];
    for work in &wrong {
        let answer = store.queue.submit(work, now).await;
        ensure!(matches!(answer, Err(WorkRefusal::Invalid { .. })), "{:.40} got {answer:?}", work.key);
    }
    submit(fixture, &store, &NewWork { payload: Json::from("x".repeat(NewWork::MAX_PAYLOAD - 2)), ..work("a") })
        .await?;
    let many = vec![KIND.to_owned(); 17];
    for (kinds, worker, lease) in [(&many[..0], "w", 1), (&many, "w", 1), (&many[..1], "", 1), (&many[..1], "w", 0)] {
        let answer = store.queue.claim(kinds, worker, lease, now).await;
        ensure!(matches!(answer, Err(WorkRefusal::Invalid { .. })), "a claim out of bounds got {answer:?}");
    }
    ensure!(store.queue.list(None, 0).await.is_err(), "a list of no entries");
    let largest = claim(fixture, &store).await?;
    ensure!(largest.payload.as_str().is_some_and(|text| text.len() == NewWork::MAX_PAYLOAD - 2), "it is cut");
    Ok(())
}

async fn no_lane(fixture: &dyn WorkFixture) -> Checked {
    let store = fixture.open().await;
    let now = fixture.now_ms();
    ensure!(must!(store.admission.lane("ingest").await, "lane").is_none(), "a lane that nobody set up is there");
    let admission = store.admission.admission("ingest", WorkersWanted::Auto, now).await;
    ensure!(matches!(admission, Err(WorkRefusal::LaneMissing { .. })), "it admits {admission:?}");
    let hold = store.admission.acquire("ingest", "w", now).await;
    ensure!(matches!(hold, Err(WorkRefusal::LaneMissing { .. })), "it gives {hold:?}");
    let wrong = WorkLane { reserved_floor: 2, ..lane(2, 0) };
    ensure!(store.admission.set_lane(&wrong, now).await.is_err(), "a lane without room is set up");
    Ok(())
}

async fn set(fixture: &dyn WorkFixture, capacity: u32, floor: u32) -> Result<WorkStore, String> {
    let store = fixture.open().await;
    must!(store.admission.set_lane(&lane(capacity, floor), fixture.now_ms()).await, "set the lane up");
    Ok(store)
}

async fn admitted(fixture: &dyn WorkFixture) -> Checked {
    let store = set(fixture, 5, 2).await?;
    let expected = lane(5, 2);
    ensure!(must!(store.admission.lane("ingest").await, "lane") == Some(expected.clone()), "the lane is another one");
    for (wanted, workers) in [(WorkersWanted::Auto, 3), (WorkersWanted::AtMost(2), 2), (WorkersWanted::AtMost(9), 3)] {
        let answer = must!(store.admission.admission("ingest", wanted, fixture.now_ms()).await, "admission");
        let expected = Admission::Admitted { workers, reserved_floor: 2, policy: expected.policy };
        ensure!(answer == expected, "{wanted:?} got {answer:?}");
    }
    must!(store.admission.set_lane(&lane(3, 2), fixture.now_ms()).await, "change the lane");
    take(fixture, &store).await?;
    let answer = must!(store.admission.admission("ingest", WorkersWanted::Auto, fixture.now_ms()).await, "admission");
    ensure!(answer == Admission::Wait { after_ms: 70 }, "a full lane answers {answer:?}");
    Ok(())
}

async fn try_take(fixture: &dyn WorkFixture, store: &WorkStore) -> Result<Option<CapacityHold>, String> {
    match must!(store.admission.acquire("ingest", "w", fixture.now_ms()).await, "acquire") {
        HoldAnswer::Held(hold) => Ok(Some(hold)),
        HoldAnswer::Wait { after_ms: 70 } => Ok(None),
        HoldAnswer::Wait { after_ms } => Err(format!("told to wait {after_ms} ms, not as the lane says")),
    }
}

async fn take(fixture: &dyn WorkFixture, store: &WorkStore) -> Result<CapacityHold, String> {
    try_take(fixture, store).await?.ok_or_else(|| "no room, though the lane has some".to_owned())
}

async fn held(fixture: &dyn WorkFixture) -> Checked {
    let store = set(fixture, 5, 2).await?;
    let now = fixture.now_ms();
    let asked: Vec<_> = (0..8)
        .map(|worker| {
            let store = store.clone();
            tokio::spawn(async move { store.admission.acquire("ingest", &format!("w{worker}"), now).await })
        })
        .collect();
    let mut fences = BTreeSet::new();
    for answer in asked {
        if let HoldAnswer::Held(hold) = must!(must!(answer.await, "join"), "acquire") {
            ensure!(fences.insert(hold.fence), "a fence is given twice");
        }
    }
    ensure!(fences.len() == 3, "{} of 8 have room for 3", fences.len());
    Ok(())
}

async fn hold_ends(fixture: &dyn WorkFixture) -> Checked {
    let store = set(fixture, 1, 0).await?;
    let old = take(fixture, &store).await?;
    ensure!(try_take(fixture, &store).await?.is_none(), "two have room for one");
    fixture.pass(1100).await;
    let new = take(fixture, &store).await?;
    let answer = store.admission.renew("ingest", &old, fixture.now_ms()).await;
    ensure!(is_fenced(&answer), "a hold that ended is renewed: {answer:?}");
    must!(store.admission.release("ingest", &old, fixture.now_ms()).await, "release what ended");
    ensure!(try_take(fixture, &store).await?.is_none(), "releasing what ended freed another's room");
    must!(store.admission.renew("ingest", &new, fixture.now_ms()).await, "renew");
    Ok(())
}

async fn hold_renewed(fixture: &dyn WorkFixture) -> Checked {
    let store = set(fixture, 1, 0).await?;
    let hold = take(fixture, &store).await?;
    fixture.pass(600).await;
    let until = must!(store.admission.renew("ingest", &hold, fixture.now_ms()).await, "renew");
    ensure!(until > hold.expires_at_ms, "the hold ends at {until}, not later");
    fixture.pass(600).await;
    ensure!(try_take(fixture, &store).await?.is_none(), "a renewed hold ended");
    Ok(())
}

async fn released(fixture: &dyn WorkFixture) -> Checked {
    let store = set(fixture, 1, 0).await?;
    let hold = take(fixture, &store).await?;
    for _ in 0..2 {
        must!(store.admission.release("ingest", &hold, fixture.now_ms()).await, "release");
    }
    take(fixture, &store).await?;
    ensure!(try_take(fixture, &store).await?.is_none(), "two releases made room for two");
    Ok(())
}

async fn lanes_restart(fixture: &dyn WorkFixture) -> Checked {
    let store = set(fixture, 2, 1).await?;
    let policy = LanePolicy { hold_ms: 60_000, ..lane(2, 1).policy };
    must!(store.admission.set_lane(&WorkLane { policy, ..lane(2, 1) }, fixture.now_ms()).await, "change the lane");
    let hold = take(fixture, &store).await?;
    let store = fixture.reopen(store).await;
    ensure!(
        must!(store.admission.lane("ingest").await, "lane").is_some_and(|lane| lane.policy == policy),
        "it is lost"
    );
    ensure!(try_take(fixture, &store).await?.is_none(), "a restart makes room");
    must!(store.admission.renew("ingest", &hold, fixture.now_ms()).await, "renew");
    Ok(())
}
