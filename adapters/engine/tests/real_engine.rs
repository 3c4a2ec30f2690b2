//! Against a real engine, without authentication and signed.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use scion_conformance::suites::key_value::{KeyValueFixture, run};
use scion_domain::engine::{EngineCode, EngineRefusal};
use scion_engine::{Body, COMMONS, Call, EngineKeyValues, EngineOptions, Repeats};
use scion_ports::{KeyValueStore, async_trait};
use support::{Engine, Mode};
use tokio::sync::Mutex;

/// Every store is a graph of its own in one engine.
struct Stores {
    engine: Mutex<Engine>,
    opened: AtomicUsize,
}

impl Stores {
    async fn store(&self, graph: &str) -> Arc<dyn KeyValueStore> {
        Arc::new(EngineKeyValues::new(self.engine.lock().await.client(), graph))
    }
}

#[async_trait]
impl KeyValueFixture for Stores {
    async fn open(&self) -> Arc<dyn KeyValueStore> {
        let number = self.opened.fetch_add(1, Ordering::SeqCst);
        let graph = format!("kg:suite-{number}");
        let client = self.engine.lock().await.client();
        let body = Body::with("CreateGraph", [("graph_name", graph.as_str().into()), ("graph_type", "Commons".into())]);
        client.call(Call { graph: COMMONS, body, idempotency_key: None, repeats: Repeats::ByKey }).await.unwrap();
        self.store(&graph).await
    }

    async fn reopen(&self, _store: Arc<dyn KeyValueStore>) -> Arc<dyn KeyValueStore> {
        self.engine.lock().await.crash_and_restart().await;
        let number = self.opened.load(Ordering::SeqCst) - 1;
        self.store(&format!("kg:suite-{number}")).await
    }
}

async fn suite(mode: Mode) {
    let Some(engine) = Engine::start(mode).await else { return };
    let report = run(&Stores { engine: Mutex::new(engine), opened: AtomicUsize::new(0) }).await;
    report.assert_passed();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn small_values_pass_the_suite_without_authentication() {
    suite(Mode::Anonymous).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn small_values_pass_the_suite_signed() {
    suite(Mode::Signed).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_requests_share_a_few_connections() {
    let Some(engine) = Engine::start(Mode::Signed).await else { return };
    let client = engine.client();
    let pings: Vec<_> = (0..500)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.ping().await })
        })
        .collect();
    for ping in pings {
        ping.await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusals_keep_the_code_of_the_engine() {
    let Some(mut engine) = Engine::start(Mode::Signed).await else { return };
    let without = engine.client_with(&["kv:read"], EngineOptions::default());
    let refusal = without.ping().await.unwrap_err();
    assert_eq!(refusal.engine_code().map(EngineCode::as_str), Some("ACCESS_DENIED"));
    let client = engine.client();
    let bogus =
        Call { graph: COMMONS, body: Body::unit("NoSuchMethod"), idempotency_key: None, repeats: Repeats::Never };
    let refusal = client.call(bogus).await.unwrap_err();
    assert_eq!(refusal.engine_code().map(EngineCode::as_str), Some("INVALID_ARGUMENT"));
    // A connection that died is replaced by the next request.
    client.ping().await.unwrap();
    engine.crash_and_restart().await;
    client.ping().await.unwrap();
    let small = engine.client_with(&["*"], EngineOptions { frame_limit: 1024, ..EngineOptions::default() });
    let large =
        Body::with("KvGet", [("namespace", "n".into()), ("key", "k".repeat(4096).into()), ("shared", true.into())]);
    let large = Call { graph: COMMONS, body: large, idempotency_key: None, repeats: Repeats::Freely };
    assert!(matches!(small.call(large).await, Err(EngineRefusal::TooLarge { .. })));
}

#[tokio::test]
async fn nobody_there_is_said_at_once() {
    let endpoint = scion_engine::Endpoint::parse("unix:///nowhere/eg.sock").unwrap();
    let client = scion_engine::EngineClient::new(
        endpoint,
        scion_engine::Identity::Anonymous,
        EngineOptions { request_timeout: Duration::from_secs(5), ..EngineOptions::default() },
        Arc::new(scion_local::SystemClock::new()),
        Arc::new(scion_local::SystemEntropy),
    );
    assert!(matches!(client.ping().await, Err(EngineRefusal::Unreachable { .. })));
}
