//! Queued work and its lanes on a real engine.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use scion_conformance::suites::work::{WorkFixture, WorkStore, run};
use scion_domain::json::Json;
use scion_domain::work::{NewWork, WorkRefusal};
use scion_engine::{Body, COMMONS, Call, EngineOptions, EngineWork, Repeats};
use scion_local::SystemClock;
use scion_ports::{Clock, TaskQueue, async_trait};
use support::{Engine, Mode};
use tokio::sync::Mutex;

/// Every store is a graph of its own in one engine.
struct Stores {
    engine: Mutex<Engine>,
    opened: AtomicUsize,
    /// What was let pass beyond real time.
    ahead: AtomicI64,
}

impl Stores {
    async fn store(&self) -> WorkStore {
        let graph = format!("kg:work-{}", self.opened.load(Ordering::SeqCst));
        let work = Arc::new(EngineWork::new(self.engine.lock().await.client(), graph));
        WorkStore { queue: work.clone(), admission: work }
    }
}

#[async_trait]
impl WorkFixture for Stores {
    async fn open(&self) -> WorkStore {
        self.ahead.store(0, Ordering::SeqCst);
        let number = self.opened.fetch_add(1, Ordering::SeqCst) + 1;
        create(&*self.engine.lock().await, &format!("kg:work-{number}")).await;
        self.store().await
    }

    async fn reopen(&self, _store: WorkStore) -> WorkStore {
        self.engine.lock().await.crash_and_restart().await;
        self.store().await
    }

    fn now_ms(&self) -> i64 {
        SystemClock::new().unix_millis() + self.ahead.load(Ordering::SeqCst)
    }

    /// The engine goes by the caller's time for work and by its own for holds, so short times really pass.
    async fn pass(&self, ms: u64) {
        if ms <= 1200 {
            tokio::time::sleep(Duration::from_millis(ms)).await;
        } else {
            self.ahead.fetch_add(i64::try_from(ms).unwrap(), Ordering::SeqCst);
        }
    }
}

async fn create(engine: &Engine, graph: &str) {
    let body = Body::with("CreateGraph", [("graph_name", graph.into()), ("graph_type", "Commons".into())]);
    let call = Call { graph: COMMONS, body, idempotency_key: None, repeats: Repeats::ByKey };
    engine.client().call(call).await.unwrap();
}

/// Proves: SDK-SOURCE-INGEST-R010
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_suite_passes_on_the_engine() {
    let Some(engine) = Engine::start(Mode::Signed).await else { return };
    let stores = Stores { engine: Mutex::new(engine), opened: AtomicUsize::new(0), ahead: AtomicI64::new(0) };
    run(&stores).await.assert_passed();
}

#[tokio::test]
async fn an_engine_without_authentication_takes_no_work() {
    let Some(engine) = Engine::start(Mode::Anonymous).await else { return };
    let work = EngineWork::new(engine.client(), COMMONS);
    let new = NewWork { kind: "k".into(), key: "k".into(), payload: Json::Null, priority: 0, max_attempts: 1 };
    assert!(matches!(work.submit(&new, 1).await, Err(WorkRefusal::Invalid { .. })));
    assert!(matches!(TaskQueue::ready(&work).await, Err(WorkRefusal::Invalid { .. })));
}

#[tokio::test]
async fn a_scope_that_is_missing_is_named_by_the_engines_code() {
    let Some(engine) = Engine::start(Mode::Signed).await else { return };
    let work = EngineWork::new(engine.client_with(&["service:control"], EngineOptions::default()), COMMONS);
    TaskQueue::ready(&work).await.unwrap();
    let claim = work.claim(&["k".into()], "w", 1000, 1).await;
    assert_eq!(claim, Err(WorkRefusal::Denied { method: "ClaimWorkItem", code: "ACCESS_DENIED" }));
}
