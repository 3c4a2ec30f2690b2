//! Streams, the feed and change envelopes on a real engine, against the suites. One engine serves all; each store is a graph.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use scion_conformance::suites::change_envelopes::{self, ChangeEnvelopesFixture};
use scion_conformance::suites::change_feed_reader::{self, ChangeFeedFixture};
use scion_conformance::suites::message_stream::{self, MessageStreamFixture};
use scion_conformance::suites::write_back_ledger::{self, LedgerFixture};
use scion_engine::{Body, COMMONS, Call, EngineLedger, EngineMessages, Repeats, Value, encode};
use scion_ports::{ChangeEnvelopes, ChangeFeedReader, MessageStream, WriteBackLedger, async_trait};
use support::{Engine, Mode};
use tokio::sync::Mutex;

struct Stores {
    engine: Mutex<Engine>,
    opened: AtomicUsize,
    tenant: &'static str,
}

impl Stores {
    async fn fresh(&self) -> Arc<EngineMessages> {
        let number = self.opened.fetch_add(1, Ordering::SeqCst) + 1;
        let name = format!("kg:suite-{number}");
        let body = Body::with("CreateGraph", [("graph_name", name.into()), ("graph_type", "Commons".into())]);
        let client = self.engine.lock().await.client();
        client.call(Call { graph: COMMONS, body, idempotency_key: None, repeats: Repeats::ByKey }).await.unwrap();
        self.last().await
    }

    async fn last(&self) -> Arc<EngineMessages> {
        let number = self.opened.load(Ordering::SeqCst);
        Arc::new(EngineMessages::new(self.engine.lock().await.client(), format!("kg:suite-{number}")))
    }

    async fn ledger(&self) -> Arc<dyn WriteBackLedger> {
        let number = self.opened.load(Ordering::SeqCst);
        Arc::new(EngineLedger::new(self.engine.lock().await.client(), format!("kg:suite-{number}")))
    }

    async fn crash(&self) -> Arc<EngineMessages> {
        self.engine.lock().await.crash_and_restart().await;
        self.last().await
    }
}

#[async_trait]
impl MessageStreamFixture for Stores {
    async fn open(&self) -> Arc<dyn MessageStream> {
        self.fresh().await
    }

    async fn reopen(&self, _store: Arc<dyn MessageStream>) -> Arc<dyn MessageStream> {
        self.crash().await
    }
}

#[async_trait]
impl ChangeEnvelopesFixture for Stores {
    async fn open(&self) -> Arc<dyn ChangeEnvelopes> {
        self.fresh().await
    }

    async fn reopen(&self, _graph: Arc<dyn ChangeEnvelopes>) -> Arc<dyn ChangeEnvelopes> {
        self.crash().await
    }
}

#[async_trait]
impl ChangeFeedFixture for Stores {
    async fn open(&self) -> Arc<dyn ChangeFeedReader> {
        self.fresh().await
    }

    async fn add(&self, node: &str) {
        let graph = format!("kg:suite-{}", self.opened.load(Ordering::SeqCst));
        let properties = Value::Bytes(encode(&Value::map([("type", "Note".into())])));
        let body = Body::with("AddNode", [("node_id", node.into()), ("properties_msgpack", properties)]);
        let client = self.engine.lock().await.client();
        let call = Call { graph: &graph, body, idempotency_key: None, repeats: Repeats::ByKey };
        client.call(call).await.unwrap();
    }

    async fn lose(&self) -> Arc<dyn ChangeFeedReader> {
        self.crash().await
    }
}

#[async_trait]
impl LedgerFixture for Stores {
    async fn open(&self) -> Arc<dyn WriteBackLedger> {
        self.fresh().await;
        self.ledger().await
    }

    async fn reopen(&self, _ledger: Arc<dyn WriteBackLedger>) -> Arc<dyn WriteBackLedger> {
        self.crash().await;
        self.ledger().await
    }

    fn tenant(&self) -> &'static str {
        self.tenant
    }
}

async fn suites(mode: Mode) {
    let Some(engine) = Engine::start(mode).await else { return };
    let tenant = if mode == Mode::Signed { "tenant:acme" } else { "local" };
    let stores = Stores { engine: Mutex::new(engine), opened: AtomicUsize::new(0), tenant };
    message_stream::run(&stores).await.assert_passed();
    change_envelopes::run(&stores).await.assert_passed();
    change_feed_reader::run(&stores).await.assert_passed();
    write_back_ledger::run(&stores).await.assert_passed();
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R022, SDK-CONNECTOR-CONTROL-R782
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_message_suites_pass_signed() {
    suites(Mode::Signed).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_message_suites_pass_without_authentication() {
    suites(Mode::Anonymous).await;
}
