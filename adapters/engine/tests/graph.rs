//! The engine as a durable graph: every suite of its ports, against a real engine.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use scion_conformance::fixtures::{self, batch, connector, edge, stream, ticket, withdrawal};
use scion_conformance::suites::checkpoint_store::{self, CheckpointFixture};
use scion_conformance::suites::graph_query::{self, GraphFixture};
use scion_conformance::suites::record_digests::{self, Pair, RecordDigestsFixture};
use scion_conformance::suites::sink::{self, SinkFixture};
use scion_domain::model::IngestMode;
use scion_domain::query::{QueryAnswer, QueryRequest, Term};
use scion_domain::refusal::Refusal as _;
use scion_engine::EngineGraph;
use scion_ports::{CheckpointStore, GraphQuery, RecordDigests as _, Sink, StreamCatalog as _, async_trait};
use support::{Engine, Mode};
use tokio::sync::Mutex;

/// Graphs for the suites. Importing a pack takes an engine seconds and much memory, so one engine holds the fixture pack and gives each
/// check a graph of its own; a check that must begin without a pack gets an engine of its own.
struct Graphs {
    shared: Mutex<Engine>,
    alone: Mutex<Vec<Engine>>,
    opened: AtomicUsize,
}

impl Graphs {
    async fn start() -> Option<Self> {
        let engine = Engine::start(Mode::Signed).await?;
        let graph = EngineGraph::new(engine.client(), "kg:first");
        graph.create().await.unwrap();
        graph.import_pack(&fixtures::pack()).await.unwrap();
        Some(Self { shared: Mutex::new(engine), alone: Mutex::default(), opened: AtomicUsize::new(0) })
    }

    async fn graph(&self) -> EngineGraph {
        let number = self.opened.fetch_add(1, Ordering::SeqCst);
        let graph = EngineGraph::new(self.shared.lock().await.client(), format!("kg:suite-{number}"));
        graph.create().await.unwrap();
        graph
    }

    /// After a crash of the engine.
    async fn again(&self) -> EngineGraph {
        let mut engine = self.shared.lock().await;
        engine.crash_and_restart().await;
        let number = self.opened.load(Ordering::SeqCst) - 1;
        EngineGraph::new(engine.client(), format!("kg:suite-{number}"))
    }

    async fn bare(&self) -> EngineGraph {
        let engine = Engine::start(Mode::Signed).await.unwrap();
        let graph = EngineGraph::new(engine.client(), "kg:bare");
        graph.create().await.unwrap();
        // One after the other: an engine that has imported a pack holds a gigabyte.
        let mut alone = self.alone.lock().await;
        alone.clear();
        alone.push(engine);
        graph
    }
}

#[async_trait]
impl SinkFixture for Graphs {
    async fn open(&self) -> Arc<dyn Sink> {
        Arc::new(self.bare().await)
    }

    async fn open_with_pack(&self) -> Result<Arc<dyn Sink>, String> {
        Ok(Arc::new(self.graph().await))
    }

    async fn reopen(&self, _sink: Arc<dyn Sink>) -> Arc<dyn Sink> {
        Arc::new(self.again().await)
    }

    async fn live_ids(&self, _sink: &Arc<dyn Sink>) -> Option<Vec<String>> {
        let number = self.opened.load(Ordering::SeqCst) - 1;
        let graph = EngineGraph::new(self.shared.lock().await.client(), format!("kg:suite-{number}"));
        Some(subjects(&graph, "source_record_id").await)
    }
}

/// The values of a property of live tickets, sorted.
async fn subjects(graph: &EngineGraph, property: &str) -> Vec<String> {
    let sparql = format!("SELECT ?v WHERE {{ ?t a <urn:scion:graph#Ticket> ; <urn:scion:graph#{property}> ?v }}");
    let request = QueryRequest { sparql, max_rows: 1000, timeout_ms: 10_000 };
    let QueryAnswer::Solutions { rows, .. } = graph.query(&request).await.unwrap() else { panic!("rows") };
    let text = |term| match term {
        Term::Iri(text) | Term::Blank(text) | Term::Literal { value: text, .. } => text,
    };
    let mut values: Vec<String> = rows.into_iter().flatten().flatten().map(text).collect();
    values.sort_unstable();
    values
}

#[async_trait]
impl RecordDigestsFixture for Graphs {
    async fn open(&self) -> Pair {
        let graph = Arc::new(self.graph().await);
        Pair { sink: graph.clone(), digests: graph }
    }

    async fn open_with_pack(&self) -> Result<Pair, String> {
        Ok(RecordDigestsFixture::open(self).await)
    }

    async fn reopen(&self, _pair: Pair) -> Pair {
        let graph = Arc::new(self.again().await);
        Pair { sink: graph.clone(), digests: graph }
    }
}

#[async_trait]
impl CheckpointFixture for Graphs {
    async fn open(&self) -> Arc<dyn CheckpointStore> {
        Arc::new(self.graph().await)
    }

    async fn reopen(&self, _store: Arc<dyn CheckpointStore>) -> Arc<dyn CheckpointStore> {
        Arc::new(self.again().await)
    }
}

#[async_trait]
impl GraphFixture for Graphs {
    async fn open(&self) -> Arc<dyn GraphQuery> {
        let graph = self.graph().await;
        let three = vec![ticket("a", "one"), ticket("b", "two"), ticket("c", "three")];
        let mut first = batch(IngestMode::Full, three, None, 1);
        first.relationships.extend([edge("a", "b"), edge("a", "c")]);
        graph.commit(&first).await.unwrap();
        let mut second = batch(IngestMode::Delta, vec![], Some(1), 2);
        second.withdrawals.push(withdrawal("c"));
        graph.commit(&second).await.unwrap();
        Arc::new(graph)
    }

    async fn add(&self) {
        let number = self.opened.load(Ordering::SeqCst) - 1;
        let graph = EngineGraph::new(self.shared.lock().await.client(), format!("kg:suite-{number}"));
        graph.commit(&batch(IngestMode::Delta, vec![ticket("d", "four")], Some(2), 3)).await.unwrap();
    }

    fn subject_property(&self) -> String {
        "urn:scion:graph#subject".to_owned()
    }

    fn blocks_property(&self) -> String {
        "urn:scion:graph#blocks".to_owned()
    }
}

/// One test, because its parts share an engine.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_suites_of_a_durable_graph_pass_on_the_engine() {
    let Some(graphs) = Graphs::start().await else { return };
    sink::run(&graphs).await.assert_passed();
    record_digests::run(&graphs).await.assert_passed();
    checkpoint_store::run(&graphs).await.assert_passed();
    written_records_are_read_back(&graphs).await;
    a_missing_scope_is_refused_by_its_code(&graphs).await;
    an_interrupted_batch_hides_no_change(&graphs).await;
    many_digests_are_kept_and_changed(&graphs).await;
    // Last: engine 2.27.7 does not stop evaluating an endless query, even when it is told to.
    graph_query::run(&graphs).await.assert_passed();
}

async fn written_records_are_read_back(graphs: &Graphs) {
    let graph = graphs.graph().await;
    let mut first = batch(IngestMode::Full, vec![ticket("a", "one"), ticket("b", "two")], None, 1);
    first.relationships.push(edge("a", "b"));
    graph.commit(&first).await.unwrap();
    assert_eq!(subjects(&graph, "subject").await, ["one", "two"]);
    assert_eq!(subjects(&graph, "source_record_id").await, ["a", "b"]);
    let mut second = batch(IngestMode::Delta, vec![], Some(1), 2);
    second.withdrawals.push(withdrawal("b"));
    graph.commit(&second).await.unwrap();
    assert_eq!(subjects(&graph, "subject").await, ["one"]);
    let status = graph.status(&connector(), &stream()).await.unwrap();
    assert_eq!(status.accepted_checkpoint, Some(second.provider_checkpoint));
}

/// A batch is committed and its process ends before the digests are noted: what it touched counts as unknown, so that a record that
/// changes back is not taken for unchanged.
async fn an_interrupted_batch_hides_no_change(graphs: &Graphs) {
    let graph = graphs.graph().await;
    let one = |subject: &str, from, to| batch(IngestMode::Full, vec![ticket("a", subject)], from, to);
    let first = one("old", None, 1);
    let receipt = graph.commit(&first).await.unwrap();
    let digest = first.records[0].content_digest;
    graph.accepted(&connector(), &stream(), &[(fixtures::id("a"), digest)], &receipt).await.unwrap();
    let ids = [fixtures::id("a"), fixtures::id("b")];
    assert_eq!(graph.lookup(&connector(), &stream(), &ids).await.unwrap(), [Some(digest), None]);
    graph.commit(&one("new", Some(1), 2)).await.unwrap();
    assert_eq!(graph.lookup(&connector(), &stream(), &ids).await.unwrap(), [None, None]);
    // The next batch finds what is pending and forgets what stood before.
    let other = batch(IngestMode::Delta, vec![ticket("b", "x")], Some(2), 3);
    let receipt = graph.commit(&other).await.unwrap();
    let digest = other.records[0].content_digest;
    graph.accepted(&connector(), &stream(), &[(fixtures::id("b"), digest)], &receipt).await.unwrap();
    assert_eq!(graph.lookup(&connector(), &stream(), &ids).await.unwrap(), [None, Some(digest)]);
    let streams = graph.streams().await.unwrap();
    assert_eq!(streams.iter().map(|one| (one.batches, one.live_records)).collect::<Vec<_>>(), [(3, 2)]);
    // A batch that was refused leaves what was known as it is.
    let stale = graph.commit(&batch(IngestMode::Full, vec![ticket("b", "y")], Some(1), 9)).await;
    assert!(matches!(stale, Err(scion_domain::sink::SinkRefusal::Conflict { .. })), "{stale:?}");
}

/// More digests than one value holds.
async fn many_digests_are_kept_and_changed(graphs: &Graphs) {
    let graph = graphs.graph().await;
    let receipt = graph.commit(&batch(IngestMode::Full, vec![ticket("a", "1")], None, 1)).await.unwrap();
    let digest = |number: u32, round: u32| scion_domain::digest::sha256(format!("{number}/{round}").as_bytes());
    let id = |number: u32| fixtures::id(&format!("r{number}"));
    let ids: Vec<_> = (0..601).map(id).collect();
    for round in 0..2 {
        let all: Vec<_> = (0..600).map(|number| (id(number), digest(number, round))).collect();
        graph.accepted(&connector(), &stream(), &all, &receipt).await.unwrap();
        let found = graph.lookup(&connector(), &stream(), &ids).await.unwrap();
        let expected: Vec<_> = (0..600).map(|number| Some(digest(number, round))).chain([None]).collect();
        assert_eq!(found, expected);
    }
}

async fn a_missing_scope_is_refused_by_its_code(graphs: &Graphs) {
    let graph = graphs.graph().await;
    let scopes = ["kv:read", "kv:write", "kv:shared:write", "agent:pack-read"];
    let client = graphs.shared.lock().await.client_with(&scopes, scion_engine::EngineOptions::default());
    let narrow = EngineGraph::new(client, graph.name());
    let refusal = narrow.commit(&batch(IngestMode::Full, vec![ticket("a", "one")], None, 1)).await.unwrap_err();
    assert_eq!(refusal.code(), "sink_refused");
    assert_eq!(refusal.to_string(), "the store refuses the batch (ACCESS_DENIED); nothing was written");
    assert_eq!(graph.status(&connector(), &stream()).await.unwrap().accepted_checkpoint, None);
    graph.commit(&batch(IngestMode::Full, vec![ticket("a", "one")], None, 1)).await.unwrap();
}
