use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use scion_domain::ingest::{ChangeSet, Document, Entity, IngestRefusal, Relationship};
use scion_domain::json::JsonObject;
use scion_domain::model::IngestMode;
use scion_domain::sink::SinkRefusal;
use scion_ports::async_trait;
use scion_sync::ingest::{IngestBinding, NestedMapping};
use scion_sync::mapping::{Mapped, RecordMap};
use scion_sync::stream::{ClientFactory, Counts, FnClient, SourceStream, open_client};

use crate::graph::{code, desk, list};

#[expect(clippy::unnecessary_wraps, reason = "what the methods answer")]
fn counts(nodes: usize, edges: usize) -> Option<Counts> {
    Some(Counts { nodes, edges })
}

fn tickets() -> RecordMap {
    RecordMap::new("Ticket", "{id}").unwrap().field("title", "title")
}

/// Proves: SDK-SOURCE-INGEST-R004.31
#[tokio::test]
async fn a_stream_ingests_entities_documents_mapped_and_kinds_with_counts() {
    let (graph, service, binding) = desk();
    let stream = SourceStream::new(binding).mapper("ticket", tickets()).ingest(service);
    let two = vec![Entity::new("User", "a"), Entity::new("User", "b")];
    assert_eq!(stream.entities(two.clone()).await.unwrap(), counts(2, 0));
    assert_eq!(stream.documents(vec![Document::new("d", "Title", "Text")]).await.unwrap(), counts(1, 0));
    assert_eq!(stream.records("ticket", &list(r#"[{"id": 1}, {"id": 2}]"#)).await.unwrap(), counts(2, 0));
    let mut mapped = Mapped::new();
    mapped.entity(Entity::new("User", "c")).edge(Relationship::new("c", "knows", "a"));
    assert_eq!(stream.mapped(mapped).await.unwrap(), counts(1, 1));
    assert_eq!(graph.ids(), ["1", "2", "a", "b", "c", "d"]);
    assert_eq!(graph.record("d")["text"], "Text".into());
    assert_eq!(graph.batches().len(), 4, "one change set each");
    let wire = serde_json::to_string(&Counts { nodes: 1, edges: 2 }).unwrap();
    assert_eq!(wire, r#"{"nodes":1,"edges":2}"#);
}

/// Proves: SDK-SOURCE-INGEST-R004.31
#[tokio::test]
async fn empty_and_unknown_input_is_refused() {
    let (graph, service, binding) = desk();
    let stream = SourceStream::new(binding).mapper("ticket", tickets()).ingest(service);
    assert_eq!(code(stream.entities(vec![]).await), "ingest_empty");
    assert_eq!(code(stream.documents(vec![]).await), "ingest_empty");
    assert_eq!(code(stream.mapped(Mapped::new()).await), "ingest_empty");
    assert_eq!(code(stream.records("ticket", &[]).await), "ingest_empty");
    assert_eq!(code(stream.records("ticket", &list(r#"[{"title": "no id"}]"#)).await), "ingest_empty");
    assert_eq!(code(stream.records("ticket", &list("[3]")).await), "ingest_record_not_object");
    assert_eq!(code(stream.records("user", &list(r#"[{"id": 1}]"#)).await), "ingest_unknown_kind");
    assert_eq!(code(stream.batch(vec![], vec![], vec![]).await), "ingest_empty");
    assert_eq!(code(stream.submit(ChangeSet::default(), None).await), "ingest_empty");
    assert_eq!(code(stream.documents(vec![Document::new("d", "t", " ")]).await), "ingest_document_incomplete");
    assert_eq!(code(stream.documents(vec![Document::new("", "t", "x")]).await), "ingest_document_incomplete");
    assert!(graph.batches().is_empty());
}

/// Proves: SDK-SOURCE-INGEST-R004.31
#[tokio::test]
async fn without_an_argument_the_service_of_the_process_is_used() {
    let (graph, service, binding) = desk();
    let stream = SourceStream::new(binding);
    let user = || vec![Entity::new("User", "a")];
    assert_eq!(code(stream.entities(user()).await), "ingest_unavailable");
    assert_eq!(stream.clone().best_effort().entities(user()).await, Ok(None));
    assert!(scion_sync::ingest::install(service.clone()).is_ok());
    assert!(scion_sync::ingest::install(service).is_err(), "the first one stays");
    assert_eq!(stream.entities(user()).await.unwrap(), counts(1, 0));
    assert_eq!(graph.ids(), ["a"]);
}

/// Proves: SDK-SOURCE-INGEST-R004.32
#[tokio::test]
async fn a_best_effort_stream_answers_none_instead_of_refusing() {
    let (graph, service, binding) = desk();
    let stream = SourceStream::new(binding).mapper("ticket", tickets().strict()).ingest(service).best_effort();
    assert_eq!(stream.entities(vec![]).await, Ok(None));
    assert_eq!(stream.entities(vec![Entity::new("User", "")]).await, Ok(None));
    assert_eq!(stream.documents(vec![Document::new("", "t", "x")]).await, Ok(None));
    assert_eq!(stream.documents(vec![Document::new("d", "t", "")]).await, Ok(None));
    assert_eq!(stream.records("unknown", &list(r#"[{"id": 1}]"#)).await, Ok(None));
    assert_eq!(stream.records("ticket", &list("[{}]")).await, Ok(None));
    assert_eq!(stream.submit_receipt(ChangeSet::default(), None).await, Ok(None));
    graph.write(|state| state.refuse_next = Some(SinkRefusal::CursorPolicy { stream: "s".into() }));
    assert_eq!(stream.entities(vec![Entity::new("User", "a")]).await, Ok(None), "a refused commit");
    assert!(graph.batches().is_empty());
    assert_eq!(stream.entities(vec![Entity::new("User", "a")]).await.unwrap(), counts(1, 0));
}

/// Proves: SDK-SOURCE-INGEST-R004.32
#[tokio::test]
async fn documents_go_to_a_stream_of_their_own() {
    let (graph, service, binding) = desk();
    let pages = IngestBinding::for_connector(binding.connector.clone(), "pages".parse().unwrap());
    let stream = SourceStream::new(binding).document_binding(pages).ingest(service);
    let mut mapped = Mapped::new();
    mapped
        .entity(Entity::new("Ticket", "t"))
        .document(Document::new("d", "", "text"))
        .edge(Relationship::new("t", "describedBy", "d"))
        .edge(Relationship::new("d", "about", "t"));
    assert_eq!(stream.mapped(mapped).await.unwrap(), counts(2, 2));
    let batches = graph.batches();
    let streams: Vec<&str> = batches.iter().map(|batch| batch.provider_checkpoint.stream.as_str()).collect();
    assert_eq!(streams, ["pages", "tickets"], "two change sets");
    let to_page = &batches[1].relationships[0];
    assert_eq!((to_page.source.stream.as_str(), to_page.target.stream.as_str()), ("tickets", "pages"));
    let from_page = &batches[0].relationships[0];
    assert_eq!((from_page.source.stream.as_str(), from_page.target.stream.as_str()), ("pages", "tickets"));
    assert_eq!(from_page.relation_reference.as_str(), "connector:desk#relations/Document/about");
    assert_eq!(stream.documents(vec![Document::new("e", "", "text")]).await.unwrap(), counts(1, 0));
    assert_eq!(graph.batches().len(), 3, "documents alone are one commit");
}

/// Proves: SDK-SOURCE-INGEST-R004.32
#[tokio::test]
async fn batch_commits_one_mixed_change_set_and_submit_takes_another_binding() {
    let (graph, service, binding) = desk();
    let other = binding.scoped("audit").unwrap();
    let stream = SourceStream::new(binding).ingest(service);
    let mixed = stream.batch(
        vec![Entity::new("Ticket", "t")],
        vec![Relationship::new("t", "r", "d")],
        vec![Document::new("d", "", "text")],
    );
    assert_eq!(mixed.await.unwrap(), counts(2, 1));
    assert_eq!(graph.batches().len(), 1);
    let change_set = ChangeSet { entities: vec![Entity::new("Event", "e")], ..ChangeSet::default() };
    assert_eq!(stream.submit(change_set, Some(&other)).await.unwrap(), counts(1, 0));
    assert_eq!(graph.batches()[1].provider_checkpoint.stream.as_str(), "tickets/audit");
    let reconcile = ChangeSet {
        mode: IngestMode::Reconcile,
        entities: vec![Entity::new("Ticket", "n")],
        live_ids: Some(vec!["n".to_owned(), "d".to_owned()]),
        ..ChangeSet::default()
    };
    let outcomes = stream.submit_receipt(reconcile, None).await.unwrap().unwrap();
    assert_eq!(outcomes[0].receipt.tombstones[0].entity.record_id.as_str(), "t");
    let withdrawal = ChangeSet { withdrawals: vec![("n".into(), "closed".into())], ..ChangeSet::default() };
    assert_eq!(stream.submit(withdrawal, None).await.unwrap(), counts(0, 0));
    assert_eq!(graph.ids(), ["d", "e"]);
    let empty = ChangeSet { mode: IngestMode::Reconcile, live_ids: Some(vec![]), ..ChangeSet::default() };
    assert_eq!(code(stream.submit(empty, None).await), "empty_authoritative_snapshot");
}

/// Proves: SDK-SOURCE-INGEST-R004.34
#[tokio::test]
async fn a_guard_a_limit_a_scope_and_a_receipt() {
    let (graph, service, binding) = desk();
    let stream = SourceStream::new(binding).ingest(service).max_records(2).unwrap();
    let guarded = stream.clone().before_submit(|binding, change_set| {
        if change_set.entities.iter().any(|entity| entity.node_type == "Secret") {
            return Err(IngestRefusal::GuardRefused { reason: format!("{} holds no secrets", binding.stream) });
        }
        Ok(())
    });
    assert_eq!(code(guarded.entities(vec![Entity::new("Secret", "1")]).await), "ingest_guard_refused");
    assert_eq!(guarded.entities(vec![Entity::new("User", "1")]).await.unwrap(), counts(1, 0));
    let three = (0..3).map(|n| Entity::new("User", n.to_string())).collect();
    assert_eq!(code(guarded.entities(three).await), "ingest_change_set_too_large");
    let change_set = ChangeSet { entities: vec![Entity::new("User", "1")], ..ChangeSet::default() };
    let receipt = stream.submit_receipt(change_set, None).await.unwrap().unwrap().remove(0).receipt;
    assert_eq!(receipt.receipt_id, format!("source-ingest:{}", receipt.batch_digest));
    let scoped = stream.scoped("account-7", |binding| binding.strict_schema = true).unwrap();
    scoped.entities(vec![Entity::new("User", "9")]).await.unwrap();
    let last = graph.batches().pop().unwrap();
    assert_eq!((last.provider_checkpoint.stream.as_str(), last.strict_schema), ("tickets/account-7", true));
    assert_eq!(last.provider_checkpoint.position.get("sequence"), Some(&1u64.into()), "its own progress");
    assert!(matches!(stream.scoped("", |_| ()), Err(IngestRefusal::Declaration { .. })));
    assert!(matches!(stream.scoped("a b", |_| ()), Err(IngestRefusal::BadIdentity { .. })));
    assert!(matches!(stream.clone().max_records(0), Err(IngestRefusal::Declaration { .. })));
    assert!(matches!(stream.clone().batch_size(0), Err(IngestRefusal::Declaration { .. })));
}

/// Proves: SDK-SOURCE-INGEST-R004.34
#[tokio::test]
async fn nothing_is_committed_when_any_part_is_refused_before() {
    let (graph, service, binding) = desk();
    let stream = SourceStream::new(binding)
        .mapper("any", |record: &JsonObject, mapped: &mut Mapped| {
            mapped.entity(scion_sync::mapping::entity_from_record(record)?);
            Ok(())
        })
        .ingest(service)
        .batch_size(1)
        .unwrap()
        .before_submit(|_, change_set| match change_set.entities.first() {
            Some(entity) if entity.id == "3" => Err(IngestRefusal::GuardRefused { reason: "three".into() }),
            _ => Ok(()),
        });
    let records = list(r#"[{"id": 1, "type": "T"}, {"id": 2, "type": "T"}, {"id": 3, "type": "T"}]"#);
    assert_eq!(code(stream.records("any", &records).await), "ingest_guard_refused");
    let nested = list(r#"[{"id": 1, "type": "T"}, {"id": 2, "type": "T", "x": {"id": 1}}]"#);
    assert_eq!(code(stream.records("any", &nested).await), "undeclared_nested_value");
    assert!(graph.batches().is_empty());
}

/// An edge's target that the graph has a record of is not overwritten by the little the edge knows.
#[tokio::test]
async fn a_reference_does_not_overwrite_a_record_of_the_graph() {
    let (graph, service, binding) = desk();
    let owner = NestedMapping { reference: true, ..NestedMapping::new("ownedBy", "User").unwrap() };
    let stream = SourceStream::new(binding.nested("Ticket", "owner", owner)).ingest(service);
    let ticket = |id: &str| Entity {
        properties: crate::graph::object(r#"{"owner": {"id": 5, "name": "short"}}"#),
        ..Entity::new("Ticket", id)
    };
    assert_eq!(stream.entities(vec![ticket("1")]).await.unwrap(), counts(2, 1));
    stream.entities(vec![Entity::new("User", "User:5").with("name", "in full")]).await.unwrap();
    assert_eq!(stream.entities(vec![ticket("2")]).await.unwrap(), counts(1, 1));
    assert_eq!(graph.record("User:5")["name"], "in full".into());
}

/// An edge that is gone at the source goes away in the graph.
#[tokio::test]
async fn a_declared_edge_that_is_gone_goes_away() {
    let (graph, service, binding) = desk();
    let edge = scion_sync::mapping::EdgeMap::new("assignee", "assignee", "user:{id}").unwrap();
    let stream = SourceStream::new(binding).mapper("ticket", tickets().edge(edge.target_type("User"))).ingest(service);
    for (stream, step) in [(stream.clone(), "whole"), (stream.batch_size(2).unwrap(), "in batches")] {
        for (assignee, edges) in
            [("\"a\"", vec!["user:a"]), ("[\"b\", \"c\"]", vec!["user:b", "user:c"]), ("null", vec![])]
        {
            let records = list(&format!(r#"[{{"id": 1, "assignee": {assignee}}}, {{"id": 2}}, {{"id": 3}}]"#));
            stream.records("ticket", &records).await.unwrap();
            let targets: Vec<String> = graph.edges().into_iter().map(|(_, _, target)| target).collect();
            assert_eq!(targets, edges, "{step}");
        }
    }
}

struct Counting(AtomicUsize, AtomicUsize);

#[async_trait]
impl ClientFactory for Counting {
    type Client = usize;

    async fn open(&self) -> Result<usize, IngestRefusal> {
        tokio::task::yield_now().await;
        Ok(self.0.fetch_add(1, Ordering::SeqCst))
    }

    async fn close(&self, _client: &usize) {
        tokio::task::yield_now().await;
        self.1.fetch_add(1, Ordering::SeqCst);
    }
}

/// Proves: SDK-SOURCE-INGEST-R004.31
#[tokio::test]
async fn a_client_is_closed_whether_the_work_succeeds_or_not() {
    let factory = Counting(AtomicUsize::new(0), AtomicUsize::new(0));
    let closed = || factory.1.load(Ordering::SeqCst);
    assert_eq!(open_client(&factory, |client| async move { Ok(*client) }).await, Ok(0));
    assert_eq!(closed(), 1);
    let failing = open_client(&factory, |_| async { Err::<(), _>(IngestRefusal::Client { what: "no answer" }) }).await;
    assert_eq!((code(failing), closed()), ("ingest_client_failed", 2));
    let seen = Arc::new(AtomicUsize::new(0));
    let count = seen.clone();
    let plain = FnClient::new(
        || Ok("client"),
        move |_: &&str| {
            count.fetch_add(1, Ordering::SeqCst);
        },
    );
    assert_eq!(open_client(&plain, |client| async move { Ok(client.len()) }).await, Ok(6));
    assert_eq!(seen.load(Ordering::SeqCst), 1);
    let closed_door = FnClient::<()>::new(|| Err(IngestRefusal::Client { what: "no credentials" }), |()| ());
    assert_eq!(code(open_client(&closed_door, |_| async { Ok(()) }).await), "ingest_client_failed");
}
