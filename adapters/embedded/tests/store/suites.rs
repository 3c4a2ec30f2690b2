//! The port suites, on the embedded store.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use scion_conformance::fixtures;
use scion_conformance::suites::checkpoint_store::{self, CheckpointFixture};
use scion_conformance::suites::graph_query::{self, GraphFixture};
use scion_conformance::suites::key_value::{self, KeyValueFixture};
use scion_conformance::suites::record_digests::{self, Pair, RecordDigestsFixture};
use scion_conformance::suites::sink::{self, SinkFixture};
use scion_domain::model::IngestMode;
use scion_embedded::EmbeddedGraph;
use scion_ports::{CheckpointStore, GraphQuery, KeyValueStore, Sink, async_trait};
use tempfile::TempDir;

use crate::support::rows;

/// Stores in folders of their own. A check opens one store and may reopen it, so the last one made is meant.
#[derive(Default)]
struct Stores {
    folders: Mutex<Vec<TempDir>>,
}

impl Stores {
    fn path(&self) -> PathBuf {
        self.folders.lock().unwrap().last().unwrap().path().join("graph.sqlite")
    }

    fn fresh(&self) -> EmbeddedGraph {
        self.folders.lock().unwrap().push(tempfile::tempdir().unwrap());
        self.again()
    }

    fn again(&self) -> EmbeddedGraph {
        EmbeddedGraph::open(&self.path()).unwrap()
    }
}

#[async_trait]
impl SinkFixture for Stores {
    async fn open(&self) -> Arc<dyn Sink> {
        Arc::new(self.fresh())
    }

    async fn reopen(&self, sink: Arc<dyn Sink>) -> Arc<dyn Sink> {
        drop(sink);
        Arc::new(self.again())
    }

    async fn live_ids(&self, _sink: &Arc<dyn Sink>) -> Option<Vec<String>> {
        let reader = EmbeddedGraph::open_read_only(&self.path()).unwrap();
        Some(rows(&reader, "SELECT ?id { ?r scion:stream \"tickets\" ; scion:recordId ?id }").await)
    }

    async fn graph(&self, _sink: &Arc<dyn Sink>) -> Option<Arc<dyn GraphQuery>> {
        Some(Arc::new(EmbeddedGraph::open_read_only(&self.path()).unwrap()))
    }
}

#[async_trait]
impl KeyValueFixture for Stores {
    async fn open(&self) -> Arc<dyn KeyValueStore> {
        Arc::new(self.fresh())
    }

    async fn reopen(&self, store: Arc<dyn KeyValueStore>) -> Arc<dyn KeyValueStore> {
        drop(store);
        Arc::new(self.again())
    }
}

#[async_trait]
impl CheckpointFixture for Stores {
    async fn open(&self) -> Arc<dyn CheckpointStore> {
        Arc::new(self.fresh())
    }

    async fn reopen(&self, store: Arc<dyn CheckpointStore>) -> Arc<dyn CheckpointStore> {
        drop(store);
        Arc::new(self.again())
    }
}

fn pair(graph: EmbeddedGraph) -> Pair {
    Pair { sink: Arc::new(graph.clone()), digests: Arc::new(graph) }
}

#[async_trait]
impl RecordDigestsFixture for Stores {
    async fn open(&self) -> Pair {
        pair(self.fresh())
    }

    async fn reopen(&self, old: Pair) -> Pair {
        drop(old);
        pair(self.again())
    }
}

#[async_trait]
impl GraphFixture for Stores {
    async fn open(&self) -> Arc<dyn GraphQuery> {
        let graph = self.fresh();
        graph.import_pack(&fixtures::pack()).await.unwrap();
        let tickets = [("a", "one"), ("b", "two"), ("c", "three")].map(|(id, subject)| fixtures::ticket(id, subject));
        let mut first = fixtures::batch(IngestMode::Full, tickets.to_vec(), None, 1);
        first.relationships = ["b", "c", "never came"].map(|target| fixtures::edge("a", target)).to_vec();
        graph.commit(&first).await.unwrap();
        let mut second = fixtures::batch(IngestMode::Delta, vec![], Some(1), 2);
        second.withdrawals = vec![fixtures::withdrawal("c")];
        graph.commit(&second).await.unwrap();
        drop(graph);
        Arc::new(EmbeddedGraph::open_read_only(&self.path()).unwrap())
    }

    async fn add(&self) {
        let batch = fixtures::batch(IngestMode::Delta, vec![fixtures::ticket("d", "four")], Some(2), 3);
        self.again().commit(&batch).await.unwrap();
    }

    fn subject_property(&self) -> String {
        "urn:scion:desk-mcp#subject".to_owned()
    }

    fn blocks_property(&self) -> String {
        "urn:scion:desk-mcp#blocks".to_owned()
    }
}

macro_rules! suite {
    ($name:ident, $suite:ident) => {
        #[tokio::test]
        async fn $name() {
            $suite::run(&Stores::default()).await.assert_passed();
        }
    };
}

suite!(the_sink_suite_passes, sink);
suite!(the_key_value_suite_passes, key_value);
/// Proves: SDK-SOURCE-INGEST-R004.21
#[tokio::test]
async fn the_checkpoint_suite_passes() {
    checkpoint_store::run(&Stores::default()).await.assert_passed();
}

suite!(the_digest_suite_passes, record_digests);
suite!(the_query_suite_passes, graph_query);
