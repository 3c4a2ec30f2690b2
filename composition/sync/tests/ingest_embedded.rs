//! The ingest use case on the real embedded store.
#![allow(clippy::unwrap_used, reason = "a test helper that panics fails its test")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use scion_domain::cursor::OffsetCursor;
use scion_domain::declaration::ConnectorDeclaration;
use scion_domain::ingest::{ChangeSet, Entity};
use scion_domain::json::{Json, parse};
use scion_domain::model::{IngestMode, PackImport, PackServer};
use scion_domain::query::{QueryAnswer, QueryRequest, Term};
use scion_embedded::EmbeddedGraph;
use scion_ports::{Clock, GraphQuery, Sink, async_trait};
use scion_sync::Committer;
use scion_sync::ingest::{IngestBinding, KnowledgeIngest, MediaVault};
use scion_sync::mapping::{EdgeMap, RecordMap};
use scion_sync::request::Cursor;
use scion_sync::stream::{Counts, CursorPage, SourceStream, SyncPlan};

const DECLARATION: &str = r#"{
  "connector": "desk",
  "sources": [{"source_id": "tickets", "record_type": "Ticket", "tools": ["list_tickets"], "id_field": "id",
    "edges": [{"relationship": "owner", "target_field": "owner", "target_type": "Person", "target_id_template": "{id}",
               "target_fields": {"name": "display"}},
              {"relationship": "parent", "target_field": "parent", "target_type": "Ticket", "target_id_template": "{id}"}]}],
  "schema_mappings": {
    "Ticket": {"ontology_class": "Ticket", "fields": {"title": "title", "access_public": "access_public",
      "access_markings": "access_markings"}},
    "Person": {"ontology_class": "Person", "fields": {"name": "name"}}
  },
  "resources": [],
  "descriptors": []
}"#;

struct RuntimeClock(tokio::time::Instant);

#[async_trait]
impl Clock for RuntimeClock {
    fn unix_millis(&self) -> i64 {
        0
    }

    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

fn declaration() -> ConnectorDeclaration {
    ConnectorDeclaration::from_text(DECLARATION.as_bytes()).unwrap()
}

fn binding() -> IngestBinding {
    IngestBinding::for_declaration(&declaration(), "tickets".parse().unwrap()).unwrap()
}

async fn import(graph: &EmbeddedGraph, declaration: &ConnectorDeclaration) {
    let pack = PackImport {
        connector: declaration.connector.clone(),
        server: PackServer::default(),
        entries: vec![declaration.pack_entry()],
        expected_revision: graph.pack_status(&declaration.connector).await.unwrap().revision,
        allow_mass_withdrawal: false,
    };
    graph.import_pack(&pack).await.unwrap();
}

/// A process: its own store handle and its own service.
fn process(path: &Path) -> (Arc<EmbeddedGraph>, Arc<KnowledgeIngest>) {
    let graph = Arc::new(EmbeddedGraph::open(path).unwrap());
    let clock = Arc::new(RuntimeClock(tokio::time::Instant::now()));
    let committer = Committer::new(graph.clone(), graph.clone(), clock);
    let service = KnowledgeIngest::new(committer).with_media(MediaVault::new(graph.clone()));
    (graph, Arc::new(service))
}

fn stream(service: Arc<KnowledgeIngest>) -> SourceStream {
    let owner = EdgeMap::new("owner", "owner", "{id}").unwrap().target_type("Person").target_field("name", "display");
    let tickets = RecordMap::new("Ticket", "{id}")
        .unwrap()
        .field("title", "title")
        .edge(owner)
        .edge(EdgeMap::new("parent", "parent", "{id}").unwrap());
    SourceStream::new(binding()).mapper("ticket", tickets).ingest(service)
}

async fn rows(graph: &EmbeddedGraph, sparql: &str) -> Vec<Vec<String>> {
    let request = QueryRequest { sparql: sparql.to_owned(), max_rows: 1000, timeout_ms: 10_000 };
    let QueryAnswer::Solutions { rows, .. } = graph.query(&request).await.unwrap() else { panic!("not a SELECT") };
    let text = |term: Option<Term>| match term.unwrap() {
        Term::Iri(text) | Term::Blank(text) | Term::Literal { value: text, .. } => text,
    };
    rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect()
}

fn records(from: usize, to: usize) -> Vec<Json> {
    let record = |n: usize| {
        let parent = n.saturating_sub(1);
        parse(&format!(
            r#"{{"id": {n}, "title": "Ticket {n}", "parent": {parent}, "owner": {{"id": "p{}", "display": "P"}}}}"#,
            n % 3
        ))
        .unwrap()
    };
    (from..to).map(record).collect()
}

const EDGES: &str = "SELECT ?s ?o WHERE { ?s <urn:scion:desk#owner> ?o }";

/// Proves: SDK-SOURCE-INGEST-R004.31, SDK-SOURCE-INGEST-R004.33, SDK-SOURCE-INGEST-R017.3
#[tokio::test]
async fn a_walk_goes_on_in_another_process_and_the_graph_answers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.sqlite");
    let plan = SyncPlan { max_pages: 2, ..SyncPlan::with_strategy(OffsetCursor::new(10).unwrap()) };
    for run in 0..3 {
        let (graph, service) = process(&path);
        import(&graph, &declaration()).await;
        let stream = stream(service).batch_size(7).unwrap();
        let fetch = |cursor: Option<Json>| {
            let from: usize = cursor.unwrap().as_str().unwrap().parse().unwrap();
            assert!(from >= run * 20, "a page that was committed is not read again");
            std::future::ready(Ok(CursorPage::of(records(from, 45.min(from + 10)))))
        };
        stream.sync("ticket", &plan, fetch).await.unwrap().unwrap();
    }
    let (graph, _) = process(&path);
    assert_eq!(rows(&graph, "SELECT ?s WHERE { ?s a <urn:scion:desk#Ticket> }").await.len(), 45);
    assert_eq!(rows(&graph, "SELECT ?s WHERE { ?s a <urn:scion:desk#Person> }").await.len(), 3);
    assert_eq!(rows(&graph, EDGES).await.len(), 45);
    assert_eq!(rows(&graph, "SELECT ?s ?o WHERE { ?s <urn:scion:desk#parent> ?o }").await.len(), 44);
}

/// Proves: SDK-SOURCE-INGEST-R017.2
#[tokio::test]
async fn a_nested_value_is_a_native_relationship_in_the_graph() {
    let folder = tempfile::tempdir().unwrap();
    let (graph, service) = process(&folder.path().join("graph.sqlite"));
    import(&graph, &declaration()).await;
    let stream = SourceStream::new(binding()).ingest(service);
    let ticket = |owner: &str| Entity {
        properties: parse(owner).unwrap().as_object().unwrap().clone(),
        ..Entity::new("Ticket", "t1")
    };
    let answer = stream.entities(vec![ticket(r#"{"title": "x", "owner": {"id": "p1", "display": "Team"}}"#)]).await;
    assert_eq!(answer.unwrap(), Some(Counts { nodes: 2, edges: 1 }));
    let owner = rows(&graph, EDGES).await;
    assert_eq!(owner, [["urn:scion:desk:tickets:t1", "urn:scion:desk:tickets:p1"]]);
    assert_eq!(
        rows(&graph, "SELECT ?n WHERE { ?p a <urn:scion:desk#Person> ; <urn:scion:desk#name> ?n }").await,
        [["Team"]]
    );
    let access = rows(&graph, "SELECT ?m WHERE { ?r <urn:scion:desk#access_markings> ?m }").await;
    assert_eq!(
        access,
        [["connector-unconfigured-acl"]; 2],
        "the ticket and its owner are quarantined, and can be asked"
    );
    stream.entities(vec![ticket(r#"{"title": "x", "owner": {}}"#)]).await.unwrap();
    assert!(rows(&graph, EDGES).await.is_empty(), "an owner that is gone takes its edge along");
}

/// Proves: SDK-SOURCE-INGEST-R017.4, SDK-SOURCE-INGEST-R017.5
#[tokio::test]
async fn a_changed_declaration_and_an_undeclared_type_are_refused_and_nothing_moves() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.sqlite");
    let (graph, service) = process(&path);
    let one = |node_type: &str| ChangeSet { entities: vec![Entity::new(node_type, "1")], ..ChangeSet::default() };
    let binding = binding();
    let none = service.submit(&binding, one("Ticket"), Cursor::Keep).await.unwrap_err();
    assert_eq!(none.leaf_code(), "contract_not_accepted", "nothing was imported yet");
    import(&graph, &declaration()).await;
    let outcome = service.submit(&binding, one("Ticket"), Cursor::Move("c".into())).await.unwrap();
    let status = graph.pack_status(&binding.connector).await.unwrap();
    assert_eq!(Some(outcome.contract.digest), status.accepted_digest);
    assert_eq!(Some(outcome.contract.revision), status.revision);
    assert_eq!(outcome.contract.iris, ["contract:desk#Ticket"]);
    let before = graph.status(&binding.connector, &binding.stream).await.unwrap();
    let unknown = service.submit(&binding, one("Invoice"), Cursor::Move("d".into())).await.unwrap_err();
    assert_eq!(unknown.leaf_code(), "UNKNOWN_MAPPING_REFERENCE");
    let mut changed = declaration();
    changed.sources[0].edges.pop();
    let changed = IngestBinding::for_declaration(&changed, binding.stream.clone()).unwrap();
    let (_, second) = process(&path);
    for service in [&service, &second] {
        let refused = service.submit(&changed, one("Ticket"), Cursor::Keep).await.unwrap_err();
        assert_eq!(refused.leaf_code(), "contract_not_accepted");
    }
    assert_eq!(graph.status(&binding.connector, &binding.stream).await.unwrap(), before);
}

/// Ids and values at the edge of what a vendor may send arrive as they were.
#[tokio::test]
async fn unusual_ids_and_numbers_arrive_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let (graph, service) = process(&folder.path().join("graph.sqlite"));
    import(&graph, &declaration()).await;
    let stream = SourceStream::for_declaration(&declaration(), "tickets".parse().unwrap()).unwrap().ingest(service);
    let long = "x".repeat(8192);
    let ids = [
        "line\nbreak",
        "quo\"te",
        "'; DROP TABLE records; --",
        "<a>&b",
        "\u{202e}\u{1d54f}",
        "a",
        "\u{430}",
        " a",
        &long,
    ];
    let title = parse("123456789012345678901234567890.5").unwrap();
    let entities = ids.iter().map(|id| Entity::new("Ticket", *id).with("title", title.clone())).collect();
    assert_eq!(stream.entities(entities).await.unwrap(), Some(Counts { nodes: ids.len(), edges: 0 }));
    let titles = rows(&graph, "SELECT ?t WHERE { ?s <urn:scion:desk#title> ?t }").await;
    assert_eq!(titles.len(), ids.len(), "look-alikes stay apart");
    assert!(titles.iter().all(|row| row == &["123456789012345678901234567890.5"]));
    for bad in ["", "nul\0", &format!("{long}x")] {
        assert!(stream.entities(vec![Entity::new("Ticket", bad)]).await.is_err());
    }
}

/// Proves: SDK-SOURCE-INGEST-R004.32
#[tokio::test]
async fn a_reconcile_and_two_writers_on_the_real_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.sqlite");
    let (graph, first) = process(&path);
    import(&graph, &declaration()).await;
    let (_, second) = process(&path);
    let streams = [SourceStream::new(binding()).ingest(first), SourceStream::new(binding()).ingest(second)];
    let writers = (0..12).map(|n: usize| {
        let stream = streams[n % 2].clone();
        tokio::spawn(async move { stream.entities(vec![Entity::new("Ticket", format!("t{n}"))]).await })
    });
    let mut committed = Vec::new();
    for (n, writer) in writers.collect::<Vec<_>>().into_iter().enumerate() {
        match writer.await.unwrap() {
            Ok(_) => committed.push(format!("t{n}")),
            Err(refusal) => assert_eq!(refusal.leaf_code(), "conflict", "the only way to lose"),
        }
    }
    let live = rows(&graph, "SELECT ?s WHERE { ?s a <urn:scion:desk#Ticket> }").await;
    assert_eq!(live.len(), committed.len(), "what was answered as committed is there, and nothing else");
    let reconcile = ChangeSet {
        mode: IngestMode::Reconcile,
        entities: vec![Entity::new("Ticket", "t0")],
        live_ids: Some(vec!["t0".to_owned()]),
        ..ChangeSet::default()
    };
    let outcomes = streams[0].submit_receipt(reconcile, None).await.unwrap().unwrap();
    let others = committed.iter().filter(|id| *id != "t0").count();
    assert_eq!(outcomes[0].receipt.tombstones.len(), others);
}
