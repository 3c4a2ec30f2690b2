//! The queue of work and its lanes.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

use scion_conformance::suites::work::{WorkFixture, WorkStore, run};
use scion_domain::json::Json;
use scion_domain::work::{Claim, NewWork, WorkOutcome};
use scion_embedded::EmbeddedGraph;
use scion_ports::{TaskQueue, async_trait};
use tokio::sync::Mutex;

use crate::support::*;

struct Stores {
    desks: Mutex<Vec<Desk>>,
    now: AtomicI64,
}

fn store(graph: &EmbeddedGraph) -> WorkStore {
    WorkStore { queue: Arc::new(graph.clone()), admission: Arc::new(graph.clone()) }
}

#[async_trait]
impl WorkFixture for Stores {
    async fn open(&self) -> WorkStore {
        let desk = empty();
        let opened = store(&desk.graph);
        self.desks.lock().await.push(desk);
        opened
    }

    async fn reopen(&self, closed: WorkStore) -> WorkStore {
        drop(closed);
        let mut desks = self.desks.lock().await;
        let Desk { graph, folder } = desks.pop().unwrap();
        drop(graph);
        let graph = EmbeddedGraph::open(&folder.path().join("graph.sqlite")).unwrap();
        let opened = store(&graph);
        desks.push(Desk { graph, folder });
        opened
    }

    fn now_ms(&self) -> i64 {
        self.now.load(Ordering::SeqCst)
    }

    async fn pass(&self, ms: u64) {
        self.now.fetch_add(i64::try_from(ms).unwrap(), Ordering::SeqCst);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_suite_passes() {
    let stores = Stores { desks: Mutex::default(), now: AtomicI64::new(1_700_000_000_000) };
    run(&stores).await.assert_passed();
}

fn work(key: u64, kind: &str) -> NewWork {
    NewWork { kind: kind.into(), key: key.to_string(), payload: Json::from(key), priority: 0, max_attempts: 3 }
}

#[tokio::test]
async fn two_handles_on_one_file_share_one_queue() {
    let desk = empty();
    let other = EmbeddedGraph::open(&desk.path()).unwrap();
    for key in 0..40 {
        desk.graph.submit(&work(key, "k"), 1).await.unwrap();
    }
    // Side by side, 20 times each: neither waits for the other to be done with all.
    let next = |graph: EmbeddedGraph| async move {
        match graph.claim(&["k".into()], "w", 1000, 1).await.unwrap() {
            Claim::Work(work) => work.work_id,
            other => panic!("{other:?}"),
        }
    };
    let mut all = Vec::new();
    for _ in 0..20 {
        let (here, there) = tokio::join!(next(desk.graph.clone()), next(other.clone()));
        all.extend([here, there]);
    }
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 40);
}

/// A claim looks into an index: what waits for a time, what is under way and what is of another kind are not passed over.
#[tokio::test]
async fn every_step_of_a_claim_is_a_look_into_an_index() {
    let desk = empty();
    let database = rusqlite::Connection::open(desk.path()).unwrap();
    for (sql, index) in [
        (
            "SELECT priority, id FROM work_item WHERE state = 0 AND kind = 'k' ORDER BY priority, id LIMIT 1",
            "work_ready",
        ),
        ("SELECT id FROM work_item WHERE state IN (1, 2) AND due_ms <= 5 ORDER BY due_ms LIMIT 9", "work_due"),
        ("DELETE FROM work_hold WHERE lane = 'l' AND expires_ms <= 5", "work_hold_lane"),
    ] {
        let mut plan = database.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let steps: Vec<String> = plan.query_map([], |row| row.get(3)).unwrap().map(Result::unwrap).collect();
        let text = steps.join("; ");
        assert!(text.contains(index) && text.contains("SEARCH") && !text.contains("TEMP"), "{sql}: {text}");
    }
}

/// Work that ended, waits or is held does not slow a claim down. The bound is wide: a scan would be a hundred times slower.
#[tokio::test]
async fn a_long_queue_is_as_fast_as_a_short_one() {
    let desk = empty();
    let database = rusqlite::Connection::open(desk.path()).unwrap();
    let time = |label: &'static str| {
        let graph = desk.graph.clone();
        async move {
            let since = Instant::now();
            for key in 0..20 {
                graph.submit(&work(key, label), 10).await.unwrap();
                let Claim::Work(held) = graph.claim(&[label.into()], "w", 1000, 10).await.unwrap() else { panic!() };
                let outcome = WorkOutcome::Failed { code: "no".into(), retryable: false };
                graph.settle(&held, &outcome, 10).await.unwrap();
            }
            since.elapsed()
        }
    };
    let short = time("short").await;
    database
        .execute_batch(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
             INSERT INTO work_item(kind, key, payload, priority, max_attempts, state, due_ms, updated_ms)
             SELECT 'long', 'x' || i, 'null', 0, 3, i % 7, CASE WHEN i % 7 IN (1, 2) THEN 1000000 + i END, 1 FROM n
             WHERE i % 7 > 0",
        )
        .unwrap();
    let long = time("long").await;
    assert!(long < short * 20, "{short:?} became {long:?}");
}
