use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use scion_domain::ingest::{Document, Entity, Relationship};
use scion_sync::mapping::Mapped;
use scion_sync::stream::{Counts, SourceStream};

use crate::graph::desk;

fn shape(batch: &scion_domain::model::SourceBatch) -> (Vec<&str>, usize) {
    let ids = batch.records.iter().map(|record| record.entity.record_id.as_str()).collect();
    (ids, batch.relationships.len())
}

/// Proves: SDK-SOURCE-INGEST-R004.33
#[tokio::test]
async fn entities_come_first_then_relationships_each_batch_with_one_anchor() {
    let (graph, service, binding) = desk();
    let stream = SourceStream::new(binding).ingest(service).batch_size(2).unwrap();
    let mut mapped = Mapped::new();
    for id in ["a", "b", "c"] {
        mapped.entity(Entity::new("N", id));
    }
    for (source, target) in [("b", "a"), ("b", "c"), ("a", "c")] {
        mapped.edge(Relationship::new(source, "to", target));
    }
    mapped.document(Document::new("d", "", "text"));
    assert_eq!(stream.mapped(mapped).await.unwrap(), Some(Counts { nodes: 4, edges: 3 }), "anchors count once");
    let batches = graph.batches();
    let shapes: Vec<(Vec<&str>, usize)> = batches.iter().map(shape).collect();
    assert_eq!(
        shapes,
        [(vec!["a", "b"], 0), (vec!["c"], 0), (vec!["d"], 0), (vec!["b"], 2), (vec!["a"], 1)],
        "records, then edges, each batch anchored to one entity"
    );
}

#[tokio::test]
async fn a_result_that_fits_is_one_commit() {
    let (graph, service, binding) = desk();
    let stream = SourceStream::new(binding).ingest(service).batch_size(3).unwrap();
    let mut mapped = Mapped::new();
    mapped.entity(Entity::new("N", "a")).entity(Entity::new("N", "b")).edge(Relationship::new("a", "to", "b"));
    stream.mapped(mapped).await.unwrap();
    assert_eq!(graph.batches().len(), 1);
}

/// A page larger than the sink takes is split by itself; one change set that must stay whole is refused.
#[tokio::test]
async fn more_than_the_sink_takes_is_split_or_refused() {
    let (graph, service, binding) = desk();
    let stream = SourceStream::new(binding).ingest(service);
    let entities: Vec<Entity> = (0..2500).map(|n| Entity::new("N", n.to_string())).collect();
    let mut mapped = Mapped::new();
    for entity in entities.clone() {
        mapped.entity(entity);
    }
    assert_eq!(stream.mapped(mapped).await.unwrap(), Some(Counts { nodes: 2500, edges: 0 }));
    assert_eq!(graph.batches().len(), 3);
    assert_eq!(crate::graph::code(stream.entities(entities).await), "batch_too_many");
    assert_eq!(graph.batches().len(), 3);
}

/// Edges whose source is not in the result at all still commit, by the type they name.
#[tokio::test]
async fn edges_without_entities_need_no_anchor() {
    let (graph, service, binding) = desk();
    let stream = SourceStream::new(binding).ingest(service).batch_size(1).unwrap();
    let mut mapped = Mapped::new();
    for target in ["x", "y"] {
        let edge = Relationship::new("old", "to", target);
        mapped.edge(Relationship { source_type: Some("N".to_owned()), ..edge });
    }
    assert_eq!(stream.mapped(mapped).await.unwrap(), Some(Counts { nodes: 0, edges: 2 }));
    assert_eq!(graph.batches().len(), 2);
}

fn edges() -> impl Strategy<Value = Vec<(u8, u8, u8)>> {
    prop::collection::vec((0u8..12, 0u8..3, 0u8..16), 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Batching commits every entity, document and edge exactly once, anchors aside, and leads to the same graph as one
    /// commit, also when edges were there before.
    ///
    /// Proves: SDK-SOURCE-INGEST-R004.33
    #[test]
    fn batching_keeps_everything_exactly_once(
        nodes in 1u8..12, documents in 0u8..5, before in edges(), now in edges(), size in 1usize..12,
    ) {
        let result = |edges: &[(u8, u8, u8)]| {
            let mut mapped = Mapped::new();
            for id in 0..nodes {
                let mut entity = Entity::new("N", id.to_string()).with("n", u64::from(id));
                entity.complete_relations = vec!["r0".to_owned(), "r1".to_owned()];
                mapped.entity(entity);
            }
            for id in 0..documents {
                mapped.document(Document::new(format!("d{id}"), "", "text"));
            }
            for (source, relation, target) in edges.iter().filter(|(source, _, target)| source != target && *source < nodes) {
                mapped.edge(Relationship::new(source.to_string(), format!("r{relation}"), target.to_string()));
            }
            mapped
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let (whole, service, binding) = desk();
            let one = SourceStream::new(binding).ingest(service);
            let (parts, service, binding) = desk();
            let split = SourceStream::new(binding).ingest(service).batch_size(size).unwrap();
            for edges in [&before, &now] {
                one.mapped(result(edges)).await.unwrap();
                let counts = split.mapped(result(edges)).await.unwrap().unwrap();
                let expected = result(edges);
                assert_eq!(counts.nodes, expected.entities().len() + expected.documents().len());
                assert_eq!(counts.edges, expected.relationships().len());
            }
            assert_eq!(whole.ids(), parts.ids());
            // A source with more edges than a batch holds keeps the edges it had: nobody can say they are all there.
            let mut edges_of: BTreeMap<u8, usize> = BTreeMap::new();
            for (source, _, _) in result(&now).relationships().iter().map(|edge| (edge.source.parse::<u8>().unwrap(), 0, 0)) {
                *edges_of.entry(source).or_default() += 1;
            }
            let sure = |edge: &&(String, String, String)| edges_of.get(&edge.0.parse().unwrap()).is_none_or(|count| *count <= size);
            let (all, got) = (whole.edges(), parts.edges());
            let all_sure: BTreeSet<_> = all.iter().filter(sure).collect();
            let got_sure: BTreeSet<_> = got.iter().filter(sure).collect();
            assert_eq!(all_sure, got_sure);
            assert!(all.iter().all(|edge| got.contains(edge)), "no edge is lost");
            let batches = parts.batches();
            let last: Vec<_> = batches.iter().skip_while(|batch| batch.records.is_empty()).collect();
            let in_entity_batches: Vec<&str> = last.iter().filter(|batch| batch.relationships.is_empty()).flat_map(|batch| shape(batch).0).collect();
            if batches.len() > 2 {
                let unique: BTreeSet<&str> = in_entity_batches.iter().copied().collect();
                assert_eq!(in_entity_batches.len() % unique.len().max(1), 0, "each record once a run");
            }
            let whole_result = usize::from(nodes) + usize::from(documents);
            assert!(batches.iter().all(|batch| batch.relationships.len() <= size && batch.records.len() <= size.max(1).min(whole_result.max(1))));
        });
    }
}
