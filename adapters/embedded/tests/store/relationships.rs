//! Edges: stored, hidden while an end is missing, replaced when the record's relations are complete.

use std::sync::Arc;

use scion_domain::model::{IngestMode, SourceBatch, SourceRecord};
use scion_domain::sink::SinkRefusal;
use scion_ports::{Sink, StreamCatalog};

use crate::support::*;

async fn owners(desk: &Desk) -> Vec<String> {
    rows(&desk.graph, "SELECT ?t ?p { ?r desk:owner ?o . ?r scion:recordId ?t . ?o scion:recordId ?p }").await
}

fn people(step: u64, ids: &[&str]) -> SourceBatch {
    batch("people", IngestMode::Full, step, ids.iter().map(|id| record("people", "Person", id, "{}")).collect())
}

/// Proves: SDK-SOURCE-INGEST-R004.36
#[tokio::test]
async fn an_edge_to_another_streams_record_shows_once_that_record_is_there() {
    let desk = desk().await;
    let mut first = full(1, vec![ticket("1", "{}"), ticket("2", "{}")]);
    first.relationships = vec![edge("1", "owner", "people", "ada"), edge("1", "parent", "tickets", "2")];
    let receipt = commit(&desk.graph, &first).await;
    assert_eq!((receipt.affected_count, receipt.relationship_count), (4, 2));
    assert!(owners(&desk).await.is_empty(), "ada is not there yet");
    assert!(rows(&desk.graph, "SELECT ?o { ?r desk:owner ?o }").await.is_empty());
    assert_eq!(
        rows(&desk.graph, "SELECT ?o { <urn:scion:desk:tickets:1> desk:parent ?o }").await,
        ["urn:scion:desk:tickets:2"]
    );
    commit(&desk.graph, &people(1, &["ada"])).await;
    assert_eq!(owners(&desk).await, ["1 | ada"]);
    assert_eq!(
        rows(&desk.graph, "SELECT ?r ?p { ?r ?p <urn:scion:desk:people:ada> }").await,
        ["urn:scion:desk:tickets:1 | urn:scion:desk#owner"]
    );
}

#[tokio::test]
async fn an_undeclared_relation_is_refused_and_the_declared_kinds_are_not() {
    let desk = desk().await;
    let mut first = full(1, vec![ticket("1", "{}"), ticket("2", "{}")]);
    first.relationships = vec![edge("1", "blocks", "tickets", "2")];
    let refusal = desk.graph.commit(&first).await.unwrap_err();
    assert_eq!(
        refusal,
        SinkRefusal::UnknownRelation { reference: "connector:desk#relations/Ticket/blocks".to_owned() }
    );
    assert!(live(&desk.graph).await.is_empty());
    // By the ontology's object property, and by a resource's relation.
    first.relationships = vec![edge("1", "watches", "tickets", "2")];
    commit(&desk.graph, &first).await;
    let mut second = people(1, &["ada", "bob"]);
    let mut manager = edge("1", "owner", "people", "bob");
    (manager.source, manager.relation_reference) = (entity("people", "ada"), relation("Person", "manager"));
    second.relationships = vec![manager];
    commit(&desk.graph, &second).await;
    assert_eq!(rows(&desk.graph, "SELECT ?a ?b { ?a desk:manager ?b }").await.len(), 1);
}

#[tokio::test]
async fn complete_relations_drop_what_is_gone_and_leave_the_rest() {
    let desk = desk().await;
    commit(&desk.graph, &people(1, &["ada", "bob", "eve"])).await;
    let mut first = full(1, vec![ticket("1", "{}"), ticket("2", "{}")]);
    first.relationships = vec![
        edge("1", "owner", "people", "ada"),
        edge("1", "owner", "people", "bob"),
        edge("1", "parent", "tickets", "2"),
        edge("2", "owner", "people", "ada"),
    ];
    commit(&desk.graph, &first).await;
    let complete = |record: SourceRecord, names: &[&str]| SourceRecord {
        complete_relations: names.iter().map(|name| relation("Ticket", name)).collect::<Vec<_>>().into(),
        ..record
    };
    let mut second = full(2, vec![complete(ticket("1", r#"{"title":"x"}"#), &["owner"])]);
    second.relationships = vec![edge("1", "owner", "people", "bob"), edge("1", "owner", "people", "eve")];
    commit(&desk.graph, &second).await;
    assert_eq!(owners(&desk).await, ["1 | bob", "1 | eve", "2 | ada"]);
    assert_eq!(
        rows(&desk.graph, "SELECT ?p { ?r desk:parent ?p }").await.len(),
        1,
        "parent was not said to be complete"
    );
    let third = full(3, vec![complete(ticket("1", "{}"), &["owner", "parent"]), ticket("2", r#"{"title":"y"}"#)]);
    commit(&desk.graph, &third).await;
    assert_eq!(owners(&desk).await, ["2 | ada"]);
    assert_eq!(desk.graph.streams().await.unwrap()[1].relationships, 1);
    let mut undeclared = full(4, vec![ticket("1", "{}")]);
    undeclared.records[0].complete_relations = Arc::new([relation("Ticket", "blocks")]);
    assert_eq!(desk.graph.commit(&undeclared).await.unwrap_err().leaf_code(), "UNKNOWN_RELATIONSHIP_REFERENCE");
}

#[tokio::test]
async fn edges_wait_for_a_withdrawn_target_and_end_with_their_source() {
    let desk = desk().await;
    let mut first = full(1, vec![ticket("1", "{}"), ticket("2", "{}")]);
    first.relationships = vec![edge("1", "parent", "tickets", "2")];
    commit(&desk.graph, &first).await;
    let parents = "SELECT ?a ?b { ?a desk:parent ?b }";
    commit(&desk.graph, &delta(2, vec![], &["2"])).await;
    assert!(rows(&desk.graph, parents).await.is_empty());
    assert_eq!(desk.graph.streams().await.unwrap()[0].relationships, 0);
    commit(&desk.graph, &delta(3, vec![ticket("2", "{}")], &[])).await;
    assert_eq!(
        rows(&desk.graph, parents).await.len(),
        1,
        "the record came back, and with it the edge that leads to it"
    );
    commit(&desk.graph, &delta(4, vec![], &["1"])).await;
    commit(&desk.graph, &delta(5, vec![ticket("1", "{}")], &[])).await;
    assert!(rows(&desk.graph, parents).await.is_empty(), "a record that comes back brings its own edges or has none");
    commit(&desk.graph, &delta(6, vec![], &["1"])).await;
    let mut from_withdrawn = delta(7, vec![], &[]);
    from_withdrawn.relationships = vec![edge("1", "parent", "tickets", "2")];
    let refusal = desk.graph.commit(&from_withdrawn).await.unwrap_err();
    assert_eq!(refusal, SinkRefusal::EndpointWithdrawn { index: 0 });
}

#[tokio::test]
async fn an_edge_sent_again_replaces_itself() {
    let desk = desk().await;
    let mut first = full(1, vec![ticket("1", "{}"), ticket("2", "{}")]);
    first.relationships = vec![edge("1", "parent", "tickets", "2")];
    commit(&desk.graph, &first).await;
    let mut second = full(2, vec![ticket("1", r#"{"title":"t"}"#)]);
    second.relationships = vec![edge("1", "parent", "tickets", "2")];
    second.relationships[0].properties = object(r#"{"since":1}"#);
    commit(&desk.graph, &second).await;
    assert_eq!(rows(&desk.graph, "SELECT ?a ?b { ?a desk:parent ?b }").await.len(), 1);
    assert_eq!(desk.graph.streams().await.unwrap()[0].relationships, 1);
}
