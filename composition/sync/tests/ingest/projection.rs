use std::collections::BTreeSet;

use proptest::prelude::*;
use scion_domain::ingest::{ChangeSet, Document, Entity, IngestRefusal, Relationship};
use scion_domain::model::IngestMode;
use scion_domain::pseudonym::Pseudonymizer;
use scion_domain::refusal::Refusal as _;
use scion_domain::secret::Secret;
use scion_sync::ingest::NestedMapping;
use scion_sync::mapping::Mapped;
use scion_sync::stream::{Projection, SourceStream, rewrite_ids};

use crate::graph::{code, desk, object};

/// Reversible, so that a test can look inside.
struct Marked;

impl Projection for Marked {
    fn project(&self, change_set: ChangeSet) -> Result<ChangeSet, IngestRefusal> {
        rewrite_ids(change_set, |node_type, id| Ok(format!("x:{node_type}:{id}")))
    }
}

/// Proves: SDK-SOURCE-INGEST-R004.34
#[tokio::test]
async fn a_projection_rewrites_ids_ends_and_nested_values_alike() {
    let (graph, service, binding) = desk();
    let binding = binding.nested("Ticket", "owner", NestedMapping::new("ownedBy", "User").unwrap());
    let pages = binding.scoped("pages").unwrap();
    let stream = SourceStream::new(binding).document_binding(pages).ingest(service).projection(Marked);
    let mut mapped = Mapped::new();
    mapped
        .entity(Entity { properties: object(r#"{"owner": {"id": 5}}"#), ..Entity::new("Ticket", "t") })
        .document(Document::new("d", "", "text"))
        .edge(Relationship::new("t", "in", "d"))
        .edge(Relationship::new("t", "out", "elsewhere"));
    stream.mapped(mapped).await.unwrap();
    assert_eq!(graph.ids(), ["x:Ticket:t", "x:User:User:5", "x:Document:d"]);
    let edges: BTreeSet<(String, String, String)> = graph.edges().into_iter().collect();
    let edge = |relation: &str, target: &str| ("x:Ticket:t".to_owned(), relation.to_owned(), target.to_owned());
    assert_eq!(edges, [edge("in", "x:Document:d"), edge("out", "elsewhere"), edge("ownedBy", "x:User:User:5")].into());
}

/// Proves: SDK-SOURCE-INGEST-R004.34
#[tokio::test]
async fn a_projection_of_ids_without_a_type_is_refused() {
    let (graph, service, binding) = desk();
    let stream = SourceStream::new(binding).ingest(service).projection(Marked);
    let withdrawal = ChangeSet { withdrawals: vec![("t".into(), "gone".into())], ..ChangeSet::default() };
    assert_eq!(code(stream.submit(withdrawal, None).await), "ingest_projection_refused");
    let live = |ids: &[&str]| ChangeSet {
        mode: IngestMode::Reconcile,
        entities: vec![Entity::new("T", "t")],
        live_ids: Some(ids.iter().map(|id| (*id).to_owned()).collect()),
        ..ChangeSet::default()
    };
    assert_eq!(code(stream.submit(live(&["t", "u"]), None).await), "ingest_projection_refused");
    assert!(graph.batches().is_empty());
    stream.submit(live(&["t"]), None).await.unwrap();
    assert_eq!(graph.ids(), ["x:T:t"]);
}

/// Proves: SDK-SOURCE-INGEST-R004.34
#[tokio::test]
async fn the_pseudonymizer_hides_ids_keeps_edges_and_drops_what_is_to_be_redacted() {
    let (graph, service, binding) = desk();
    let key = |byte: u8, length: usize| Secret::new(vec![byte; length]);
    let people = |key| Pseudonymizer::new(binding.connector.clone(), "desk", key, ["email".to_owned()]);
    assert_eq!(people(key(1, 31)).unwrap_err().code(), "pseudonym_short_key");
    let stream = SourceStream::new(binding.clone()).ingest(service).projection(people(key(1, 32)).unwrap());
    let mut mapped = Mapped::new();
    mapped
        .entity(Entity::new("Person", "101").with("email", "a@example.org").with("team", "blue"))
        .entity(Entity::new("Agent", "101x"))
        .document(Document::new("d1", "", "text"))
        .edge(Relationship::new("101", "wrote", "d1"));
    stream.mapped(mapped.clone()).await.unwrap();
    let ids = graph.ids();
    assert!(ids.iter().all(|id| id.starts_with("desk:") && id.len() > 64), "{ids:?}");
    let person = ids.iter().find(|id| id.starts_with("desk:Person:")).unwrap();
    let document = ids.iter().find(|id| id.starts_with("desk:Document:")).unwrap();
    assert_eq!(graph.edges(), [(person.clone(), "wrote".to_owned(), document.clone())]);
    let record = graph.record(person);
    assert!(!record.contains_key("email") && record["team"] == "blue".into());
    stream.mapped(mapped).await.unwrap();
    assert_eq!(graph.ids(), ids, "the same ids again");
    assert_eq!(code(stream.entities(vec![Entity::new("Person", "")]).await), "ingest_entity_without_id");
    assert_eq!(code(stream.entities(vec![Entity::new("Person", "a\0b")]).await), "pseudonym_nul");
}

proptest! {
    /// Whatever is projected and however it is batched, an edge leads from and to the new ids of its records.
    ///
    /// Proves: SDK-SOURCE-INGEST-R004.34
    #[test]
    fn both_ends_of_an_edge_follow_their_records(
        types in prop::collection::vec(0u8..3, 1..10), edges in prop::collection::vec((0usize..10, 0usize..14), 0..25), size in 1usize..30,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let (graph, service, binding) = desk();
            let stream = SourceStream::new(binding).ingest(service).projection(Marked).batch_size(size).unwrap();
            let name = |index: usize| types.get(index).map_or_else(|| format!("{index}"), |kind| format!("x:T{kind}:{index}"));
            let mut mapped = Mapped::new();
            for (index, kind) in types.iter().enumerate() {
                mapped.entity(Entity::new(format!("T{kind}"), index.to_string()));
            }
            let edges: BTreeSet<(usize, usize)> = edges.into_iter().filter(|(source, target)| source != target && *source < types.len()).collect();
            for (source, target) in &edges {
                mapped.edge(Relationship::new(source.to_string(), "to", target.to_string()));
            }
            stream.mapped(mapped).await.unwrap();
            let expected: BTreeSet<_> = edges.iter().map(|(source, target)| (name(*source), "to".to_owned(), name(*target))).collect();
            assert_eq!(graph.edges().into_iter().collect::<BTreeSet<_>>(), expected);
        });
    }
}
