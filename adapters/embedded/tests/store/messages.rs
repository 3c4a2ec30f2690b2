//! Streams, change envelopes and their feed against the suites, across processes' lifetimes.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use scion_conformance::suites::change_envelopes::{self, ChangeEnvelopesFixture, put};
use scion_conformance::suites::change_feed_reader::{self, ChangeFeedFixture};
use scion_conformance::suites::message_stream::{self, MessageStreamFixture};
use scion_conformance::suites::write_back_ledger::{self, LedgerFixture};
use scion_domain::messaging::ChangeBatch;
use scion_embedded::EmbeddedGraph;
use scion_ports::{ChangeEnvelopes, ChangeFeedReader, MessageStream, WriteBackLedger, async_trait};
use tempfile::TempDir;

#[derive(Default)]
struct Stores {
    folders: Mutex<Vec<TempDir>>,
}

impl Stores {
    fn path(&self) -> PathBuf {
        self.folders.lock().unwrap().last().unwrap().path().join("graph.sqlite")
    }

    fn fresh(&self) -> Arc<EmbeddedGraph> {
        self.folders.lock().unwrap().push(tempfile::tempdir().unwrap());
        self.again()
    }

    fn again(&self) -> Arc<EmbeddedGraph> {
        Arc::new(EmbeddedGraph::open(&self.path()).unwrap())
    }
}

#[async_trait]
impl MessageStreamFixture for Stores {
    async fn open(&self) -> Arc<dyn MessageStream> {
        self.fresh()
    }

    async fn reopen(&self, store: Arc<dyn MessageStream>) -> Arc<dyn MessageStream> {
        drop(store);
        self.again()
    }
}

#[async_trait]
impl ChangeEnvelopesFixture for Stores {
    async fn open(&self) -> Arc<dyn ChangeEnvelopes> {
        self.fresh()
    }

    async fn reopen(&self, store: Arc<dyn ChangeEnvelopes>) -> Arc<dyn ChangeEnvelopes> {
        drop(store);
        self.again()
    }
}

#[async_trait]
impl ChangeFeedFixture for Stores {
    async fn open(&self) -> Arc<dyn ChangeFeedReader> {
        self.fresh()
    }

    async fn add(&self, node: &str) {
        let graph = self.again();
        let expected = graph.cursor("test", "").await.unwrap();
        let batch = ChangeBatch::new("test", "", expected, vec![(expected.map_or(0, |at| at + 1), put(node, "text"))]);
        graph.apply(&batch.unwrap()).await.unwrap();
    }

    /// As if as many changes had come since as the feed keeps.
    async fn lose(&self) -> Arc<dyn ChangeFeedReader> {
        rusqlite::Connection::open(self.path()).unwrap().execute("DELETE FROM change_log", []).unwrap();
        self.again()
    }
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R022
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn message_streams_pass_the_suite() {
    message_stream::run(&Stores::default()).await.assert_passed();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn change_envelopes_pass_the_suite() {
    change_envelopes::run(&Stores::default()).await.assert_passed();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_change_feed_passes_the_suite() {
    change_feed_reader::run(&Stores::default()).await.assert_passed();
}

#[async_trait]
impl LedgerFixture for Stores {
    async fn open(&self) -> Arc<dyn WriteBackLedger> {
        self.fresh()
    }

    async fn reopen(&self, ledger: Arc<dyn WriteBackLedger>) -> Arc<dyn WriteBackLedger> {
        drop(ledger);
        self.again()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_ledger_passes_the_suite() {
    write_back_ledger::run(&Stores::default()).await.assert_passed();
}
