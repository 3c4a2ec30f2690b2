//! The worker in virtual time, over the reference queue.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::atomic::Ordering;
use std::time::Duration;

use scion_domain::work::{HoldAnswer, WorkLane, WorkRefusal, WorkStatus, WorkersWanted};
use scion_ports::{Clock as _, TaskQueue as _, WorkAdmission as _};
use scion_work::{WorkerOptions, run_ingest_worker};
use support::*;
use tokio_util::sync::CancellationToken;

const SHORT: Duration = Duration::from_millis(10);

/// Proves: SDK-SOURCE-INGEST-R010
#[tokio::test(start_paused = true)]
async fn the_acknowledgement_follows_the_effect() {
    let world = World::new(1, 3).await;
    let queue = Recorded::new(&world.memory);
    let body = world.effects(&queue, SHORT, 0);
    let report = run_ingest_worker(world.parts(&queue, &body), options(true), &CancellationToken::new()).await.unwrap();
    assert_eq!((report.workers, report.succeeded, report.failed, report.unfinished), (1, 3, 0, 0));
    assert_eq!(
        *queue.calls.lock().unwrap(),
        [
            "acquire", "claim", "effect", "settle", "claim", "effect", "settle", "claim", "effect", "settle", "claim",
            "release"
        ]
    );
}

/// Proves: SDK-SOURCE-INGEST-R010
#[tokio::test(start_paused = true)]
async fn a_killed_body_sends_no_acknowledgement_and_the_work_is_done_again() {
    let world = World::new(1, 1).await;
    let queue = Recorded::new(&world.memory);
    let body = world.effects(&queue, SHORT, 1);
    let parts = world.parts(&queue, &body);
    let report = run_ingest_worker(parts.clone(), options(true), &CancellationToken::new()).await.unwrap();
    assert_eq!((report.unfinished, queue.count("settle"), queue.count("defer")), (1, 0, 0));
    assert_eq!(world.statuses().await, [WorkStatus::Leased], "nobody told the queue");
    tokio::time::sleep(Duration::from_millis(POLICY.lease_ms)).await;
    let report = run_ingest_worker(parts, options(true), &CancellationToken::new()).await.unwrap();
    assert_eq!((report.succeeded, body.runs.load(Ordering::SeqCst)), (1, 2));
    assert_eq!(world.statuses().await, [WorkStatus::Succeeded]);
}

/// Proves: SDK-SOURCE-INGEST-R010
#[tokio::test(start_paused = true)]
async fn without_a_lane_nothing_is_claimed() {
    let world = World::new(1, 1).await;
    let queue = Recorded::new(&world.memory);
    let body = world.effects(&queue, SHORT, 0);
    let elsewhere = WorkerOptions { lane: "nowhere".into(), ..options(true) };
    let refusal = run_ingest_worker(world.parts(&queue, &body), elsewhere, &CancellationToken::new()).await;
    assert_eq!(refusal, Err(WorkRefusal::LaneMissing { lane: "nowhere".into() }));
    assert_eq!(queue.count("claim") + queue.count("acquire"), 0);
}

/// Proves: SDK-SOURCE-INGEST-R010
#[tokio::test(start_paused = true)]
async fn a_full_lane_makes_it_wait_as_long_as_the_lane_says() {
    let world = World::new(1, 1).await;
    let queue = Recorded::new(&world.memory);
    let body = world.effects(&queue, SHORT, 0);
    let HoldAnswer::Held(_) = world.memory.acquire("ingest", "other", world.clock.unix_millis()).await.unwrap() else {
        panic!()
    };
    let since = world.clock.unix_millis();
    run_ingest_worker(world.parts(&queue, &body), options(true), &CancellationToken::new()).await.unwrap();
    let waited = world.clock.unix_millis() - since;
    let rounds = (POLICY.hold_ms).div_ceil(POLICY.full_ms) * POLICY.full_ms;
    assert_eq!(waited, i64::try_from(rounds).unwrap() + 10, "the other's hold ends after {} ms", POLICY.hold_ms);
    assert_eq!(queue.count("claim"), 2);
}

#[tokio::test(start_paused = true)]
async fn as_many_work_at_once_as_the_lane_admits() {
    for (capacity, floor, wanted, expected) in
        [(5, 2, WorkersWanted::Auto, 3), (5, 2, WorkersWanted::AtMost(2), 2), (5, 2, WorkersWanted::AtMost(9), 3)]
    {
        let world = World::new(1, 12).await;
        let lane = WorkLane { name: "ingest".into(), capacity, reserved_floor: floor, policy: POLICY };
        world.memory.set_lane(&lane, 0).await.unwrap();
        let queue = Recorded::new(&world.memory);
        let body = world.effects(&queue, Duration::from_millis(100), 0);
        let since = world.clock.unix_millis();
        let wants = WorkerOptions { workers: wanted, ..options(true) };
        let report = run_ingest_worker(world.parts(&queue, &body), wants, &CancellationToken::new()).await.unwrap();
        assert_eq!((report.workers, report.succeeded), (expected, 12));
        assert_eq!(world.clock.unix_millis() - since, 1200 / i64::from(expected));
    }
}

#[tokio::test(start_paused = true)]
async fn lease_and_room_are_renewed_while_a_body_works() {
    let world = World::new(1, 1).await;
    let queue = Recorded::new(&world.memory);
    // Five leases long.
    let body = world.effects(&queue, Duration::from_millis(5 * POLICY.lease_ms + 250), 0);
    let report = run_ingest_worker(world.parts(&queue, &body), options(true), &CancellationToken::new()).await.unwrap();
    assert_eq!((report.succeeded, body.runs.load(Ordering::SeqCst)), (1, 1));
    assert_eq!((queue.count("renew"), queue.count("renew_hold")), (20, 20));
}

#[tokio::test(start_paused = true)]
async fn a_lost_lease_ends_the_body_without_a_word() {
    let world = World::new(1, 1).await;
    let queue = Recorded { fences: true, ..Recorded::new(&world.memory) };
    let body = world.effects(&queue, Duration::from_mins(1), 0);
    let stop = CancellationToken::new();
    let running = tokio::spawn({
        let (parts, stop) = (world.parts(&queue, &body), stop.clone());
        async move { run_ingest_worker(parts, options(false), &stop).await }
    });
    tokio::time::sleep(Duration::from_millis(POLICY.renew_ms + 1)).await;
    assert!(body.done.lock().unwrap().is_empty());
    stop.cancel();
    let report = running.await.unwrap().unwrap();
    assert_eq!((report.unfinished, queue.count("settle"), queue.count("defer")), (1, 0, 0));
}

/// Proves: SDK-SOURCE-INGEST-R010
#[tokio::test(start_paused = true)]
async fn stopping_gives_work_back_at_once_and_counts_no_attempt() {
    let world = World::new(2, 3).await;
    let queue = Recorded::new(&world.memory);
    let body = world.effects(&queue, Duration::from_secs(1), 0);
    let stop = CancellationToken::new();
    let running = tokio::spawn({
        let (parts, stop) = (world.parts(&queue, &body), stop.clone());
        async move { run_ingest_worker(parts, options(false), &stop).await }
    });
    tokio::time::sleep(SHORT).await;
    stop.cancel();
    let report = running.await.unwrap().unwrap();
    assert_eq!((report.succeeded, report.unfinished), (0, 2));
    assert_eq!((queue.count("claim"), queue.count("defer"), queue.count("release")), (2, 2, 2));
    let views = world.memory.list(None, 10).await.unwrap();
    assert!(views.iter().all(|view| view.status == WorkStatus::Waiting && view.attempts == Some(0)), "{views:?}");
    let report = run_ingest_worker(world.parts(&queue, &body), options(true), &CancellationToken::new()).await.unwrap();
    assert_eq!(report.succeeded, 3);
}

/// Proves: SDK-SOURCE-INGEST-R011
#[tokio::test(start_paused = true)]
async fn a_queue_that_lacks_a_method_is_left_alone() {
    let world = World::new(1, 1).await;
    let queue = Recorded { lacks: true, ..Recorded::new(&world.memory) };
    let body = world.effects(&queue, SHORT, 0);
    let refusal = run_ingest_worker(world.parts(&queue, &body), options(true), &CancellationToken::new()).await;
    assert_eq!(refusal, Err(WorkRefusal::MethodNotServed { method: "ClaimWorkItem" }));
    assert!(queue.calls.lock().unwrap().is_empty());
}

/// Every call of the worker fails once, before or after it took effect, or is the last thing the process does. Whatever happens,
/// another worker finishes: each effect once, everything acknowledged.
///
/// Proves: SDK-SOURCE-INGEST-R010
#[tokio::test(start_paused = true)]
async fn whatever_call_fails_each_effect_happens_once() {
    const JOBS: u32 = 3;
    let mut cases = 0;
    for fault in [Fault::Before, Fault::After, Fault::DiesBefore, Fault::DiesAfter] {
        for at in 1.. {
            let world = World::new(2, JOBS).await;
            let queue = Recorded { fault: Some((at, fault)), ..Recorded::new(&world.memory) };
            let body = world.effects(&queue, Duration::from_millis(700), 0);
            let stop = CancellationToken::new();
            tokio::select! {
                biased;
                () = queue.died.notified() => {}
                report = run_ingest_worker(world.parts(&queue, &body), options(true), &stop) => {
                    report.unwrap();
                }
            }
            let reached = queue.calls.lock().unwrap().iter().filter(|call| **call != "effect").count() >= at;
            // Whatever was held runs out.
            tokio::time::sleep(Duration::from_secs(3)).await;
            let second = Recorded { calls: queue.calls.clone(), ..Recorded::new(&world.memory) };
            run_ingest_worker(world.parts(&second, &body), options(true), &stop).await.unwrap();
            assert_eq!(queue.count("effect"), JOBS as usize, "{fault:?} at {at}");
            assert!(world.statuses().await.iter().all(|status| *status == WorkStatus::Succeeded), "{fault:?} at {at}");
            if !reached {
                break;
            }
            cases += 1;
        }
    }
    assert!(cases > 60, "{cases} cases only");
}

/// Proves: SDK-SOURCE-INGEST-R010
#[test]
fn the_worker_has_no_times_and_no_counts_of_its_own() {
    for source in [include_str!("../src/slot.rs"), include_str!("../src/worker.rs")] {
        for line in source.lines().map(|line| line.split("//").next().unwrap()) {
            let numbers: Vec<&str> = line
                .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
                .collect();
            assert!(numbers.iter().all(|number| ["0", "1"].contains(number)), "{line}");
            assert!(!line.contains("const ") || line.contains("const fn"), "{line}");
        }
    }
}
