//! Committing, replaying and refusing batches.

use scion_domain::digest;
use scion_domain::id::Digest256;
use scion_domain::model::{BatchRefusal, Disposition, IngestMode, SourceBatch, StreamStatus};
use scion_domain::sink::SinkRefusal;
use scion_embedded::EmbeddedGraph;
use scion_ports::{RecordDigests, Sink, StreamCatalog};

use crate::support::*;

#[tokio::test]
async fn a_commit_answers_a_receipt_that_binds_the_batch() {
    let desk = desk().await;
    let batch = full(1, vec![ticket("1", r#"{"title":"a"}"#), ticket("2", r#"{"title":"b"}"#)]);
    let receipt = commit(&desk.graph, &batch).await;
    let expected = digest::batch(&batch).unwrap();
    assert_eq!(receipt.disposition, Disposition::Committed);
    assert_eq!(receipt.batch_digest, expected.batch);
    assert_eq!(receipt.receipt_id, format!("source-ingest:{}", expected.batch));
    assert_eq!(receipt.raw_admissions.iter().map(|a| a.raw_digest).collect::<Vec<_>>(), expected.raw);
    assert_eq!(receipt.accepted_checkpoint, batch.provider_checkpoint);
    assert_eq!(receipt.accepted_checkpoint_digest, digest::checkpoint(&batch.provider_checkpoint));
    assert_eq!((receipt.affected_count, receipt.relationship_count), (2, 0));
    assert_eq!(receipt.contract_revision, 1);
    assert_eq!(Some(receipt.contract_digest), desk.graph.pack_status(&connector()).await.unwrap().accepted_digest);
    assert_eq!(receipt.receipt_digest, digest::receipt(&receipt));

    let status = desk.graph.status(&connector(), &stream("tickets")).await.unwrap();
    assert_eq!(status.accepted_checkpoint.as_ref(), Some(&batch.provider_checkpoint));
    assert_eq!(status.last_batch_digest, Some(expected.batch));
    assert_eq!(status.last_receipt_id, Some(receipt.receipt_id));
    assert_eq!(status.committed_graph_version, Some(receipt.committed_graph_version));
    assert_eq!(live(&desk.graph).await, ["1", "2"]);
}

#[tokio::test]
async fn the_same_batch_again_is_replayed_with_the_same_receipt() {
    let desk = desk().await;
    let first = delta(1, vec![ticket("1", r#"{"title":"a"}"#), ticket("2", "{}")], &[]);
    let second = delta(2, vec![ticket("2", "{}")], &["1"]);
    let (one, two) = (commit(&desk.graph, &first).await, commit(&desk.graph, &second).await);
    assert!(two.raw_admissions[0].deduplicated);
    assert_eq!(two.tombstones[0].reason, "1 was deleted");
    for (batch, receipt) in [(&first, one), (&second, two)] {
        let again = commit(&desk.graph, batch).await;
        assert_eq!(again.disposition, Disposition::Replayed);
        assert_eq!(again, scion_domain::model::SourceReceipt { disposition: Disposition::Replayed, ..receipt });
    }
    assert_eq!(live(&desk.graph).await, ["2"]);
    assert_eq!(desk.graph.streams().await.unwrap()[0].batches, 2);
}

/// A batch is a replay only where the stream has moved past it. A source that comes full circle sends equal bytes that are
/// a new step, and the change in them must not be lost.
#[tokio::test]
async fn equal_bytes_at_the_expected_place_are_a_new_batch() {
    let desk = desk().await;
    let there = |title: &str| SourceBatch {
        expected_previous_checkpoint: checkpoint("tickets", 1),
        ..batch("tickets", IngestMode::Full, 2, vec![ticket("1", &format!(r#"{{"title":"{title}"}}"#))])
    };
    let back = SourceBatch {
        expected_previous_checkpoint: checkpoint("tickets", 2),
        ..batch("tickets", IngestMode::Delta, 1, vec![])
    };
    let back = SourceBatch { expected_previous_checkpoint: checkpoint("tickets", 2), ..back };
    commit(&desk.graph, &full(1, vec![ticket("1", r#"{"title":"old"}"#)])).await;
    commit(&desk.graph, &there("old")).await;
    commit(&desk.graph, &back).await;
    commit(&desk.graph, &there("new")).await;
    commit(&desk.graph, &back).await;
    let receipt = commit(&desk.graph, &there("old")).await;
    assert_eq!(receipt.disposition, Disposition::Committed);
    assert_eq!(rows(&desk.graph, "SELECT ?t { ?r desk:title ?t }").await, ["old"]);
    assert_eq!(commit(&desk.graph, &there("old")).await.receipt_digest, receipt.receipt_digest);
}

#[tokio::test]
async fn a_stale_checkpoint_is_a_conflict_and_changes_nothing() {
    let desk = desk().await;
    commit(&desk.graph, &full(1, vec![ticket("1", "{}")])).await;
    commit(&desk.graph, &full(2, vec![ticket("2", "{}")])).await;
    let before = desk.graph.status(&connector(), &stream("tickets")).await.unwrap();
    for stale in [full(1, vec![ticket("3", "{}")]), full(2, vec![ticket("3", "{}")]), full(9, vec![ticket("3", "{}")])]
    {
        let refusal = desk.graph.commit(&stale).await.unwrap_err();
        assert_eq!(refusal, SinkRefusal::Conflict { stream: "tickets".to_owned() });
    }
    assert_eq!(desk.graph.status(&connector(), &stream("tickets")).await.unwrap(), before);
    assert_eq!(live(&desk.graph).await, ["1", "2"]);
}

/// Proves: SDK-SOURCE-INGEST-R004.25, SDK-SOURCE-INGEST-R017.4
#[tokio::test]
async fn a_record_without_a_declared_mapping_is_refused_and_the_checkpoint_stays() {
    let desk = desk().await;
    commit(&desk.graph, &full(1, vec![ticket("1", "{}")])).await;
    let before = desk.graph.status(&connector(), &stream("tickets")).await.unwrap();
    let unknown = full(2, vec![ticket("2", "{}"), record("tickets", "Invoice", "3", "{}")]);
    let refusal = desk.graph.commit(&unknown).await.unwrap_err();
    assert_eq!(refusal.leaf_code(), "UNKNOWN_MAPPING_REFERENCE");
    assert_eq!(refusal, SinkRefusal::UnknownMapping { reference: "connector:desk#mappings/Invoice".to_owned() });
    assert_eq!(desk.graph.status(&connector(), &stream("tickets")).await.unwrap(), before);
    assert_eq!(live(&desk.graph).await, ["1"]);
}

/// Proves: SDK-SOURCE-INGEST-R004.25
#[tokio::test]
async fn without_an_imported_declaration_no_mapping_is_known() {
    let desk = empty();
    let refusal = desk.graph.commit(&full(1, vec![ticket("1", "{}")])).await.unwrap_err();
    assert_eq!(refusal.leaf_code(), "UNKNOWN_MAPPING_REFERENCE");
    assert_eq!(desk.graph.status(&connector(), &stream("tickets")).await.unwrap(), StreamStatus::default());
    assert!(desk.graph.streams().await.unwrap().is_empty());
}

#[tokio::test]
async fn fields_are_checked_against_their_mapping() {
    let desk = desk().await;
    let good = r#"{"open":true,"points":-3,"age":0,"cost":1.5e400,"created":"2026","title":null,"node_type":"Ticket"}"#;
    commit(&desk.graph, &full(1, vec![ticket("1", good)])).await;
    let bad = [
        (r#"{"open":"yes"}"#, "open", "xsd:boolean"),
        (r#"{"open":null}"#, "open", "xsd:boolean"),
        (r#"{"points":1.0}"#, "points", "xsd:integer"),
        (r#"{"age":-1}"#, "age", "xsd:nonNegativeInteger"),
        (r#"{"cost":"1"}"#, "cost", "xsd:decimal"),
        (r#"{"created":5}"#, "created", "xsd:dateTime"),
        (r#"{"created":["2026"]}"#, "created", "xsd:dateTime"),
    ];
    for (payload, field, expected) in bad {
        let refusal = desk.graph.commit(&full(2, vec![ticket("0", "{}"), ticket("1", payload)])).await.unwrap_err();
        let (field, expected) = (field.to_owned(), expected.to_owned());
        assert_eq!(refusal, SinkRefusal::FieldType { index: 1, field, expected }, "{payload}");
    }
    let selector = desk.graph.commit(&full(2, vec![ticket("1", r#"{"node_type":"Person"}"#)])).await.unwrap_err();
    assert_eq!(selector, SinkRefusal::Selector { index: 0 });
    let broken = desk.graph.commit(&full(2, vec![record("tickets", "Broken", "1", "{}")])).await.unwrap_err();
    assert!(matches!(broken, SinkRefusal::MappingInvalid { .. }));
    assert_eq!(live(&desk.graph).await, ["1"]);
}

#[tokio::test]
async fn strict_schema_refuses_what_the_mapping_does_not_name() {
    let desk = desk().await;
    let payload = r#"{"id":"1","node_type":"Ticket","externalToolId":"x","title":"a","extra":1}"#;
    let loose = full(1, vec![ticket("1", payload)]);
    let strict = SourceBatch { strict_schema: true, ..loose.clone() };
    let refusal = desk.graph.commit(&strict).await.unwrap_err();
    assert_eq!(refusal, SinkRefusal::FieldUnknown { index: 0, field: "extra".to_owned() });
    commit(&desk.graph, &loose).await;
    assert_eq!(rows(&desk.graph, "SELECT ?x { ?r desk:externalToolId ?x }").await, ["x"]);
    assert!(rows(&desk.graph, "SELECT ?x { ?r desk:extra ?x }").await.is_empty());
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.13
#[tokio::test]
async fn who_may_see_a_record_is_kept_whatever_the_mapping_names() {
    let desk = desk().await;
    let payload = r#"{"id":"1","title":"a","access_public":false,"access_markings":["connector-unconfigured-acl"]}"#;
    let strict = SourceBatch { strict_schema: true, ..full(1, vec![ticket("1", payload)]) };
    commit(&desk.graph, &strict).await;
    let marked = "SELECT ?m { ?r desk:access_markings ?m ; desk:access_public false }";
    assert_eq!(rows(&desk.graph, marked).await, ["connector-unconfigured-acl"]);
}

#[tokio::test]
async fn a_batch_that_is_not_well_formed_is_refused_before_anything_else() {
    let desk = desk().await;
    let twice = full(1, vec![ticket("1", "{}"), ticket("1", "{}")]);
    let refusal = desk.graph.commit(&twice).await.unwrap_err();
    assert_eq!(refusal, SinkRefusal::Batch { refusal: BatchRefusal::DuplicateRecord { index: 1 } });
    let empty = desk.graph.commit(&full(1, vec![])).await.unwrap_err();
    assert_eq!(empty.leaf_code(), "empty_authoritative_snapshot");
    let limit = desk.graph.capabilities().max_records;
    let many = (0..=limit).map(|n| ticket(&n.to_string(), "{}")).collect();
    assert_eq!(desk.graph.commit(&full(1, many)).await.unwrap_err().leaf_code(), "batch_too_many");
}

#[tokio::test]
async fn digests_are_those_of_the_last_accepted_content() {
    let desk = desk().await;
    let one = ticket("1", r#"{"title":"a"}"#);
    commit(&desk.graph, &full(1, vec![one.clone(), ticket("2", "{}")])).await;
    let changed = ticket("1", r#"{"title":"b"}"#);
    assert_ne!(one.content_digest, changed.content_digest);
    commit(&desk.graph, &delta(2, vec![changed.clone()], &["2"])).await;
    let ids = [id("2"), id("1"), id("unseen"), id("1")];
    let found = desk.graph.lookup(&connector(), &stream("tickets"), &ids).await.unwrap();
    assert_eq!(found, [None, Some(changed.content_digest), None, Some(changed.content_digest)]);
    assert_eq!(desk.graph.lookup(&connector(), &stream("other"), &ids).await.unwrap(), [None; 4]);

    let other_process = EmbeddedGraph::open_read_only(&desk.path()).unwrap();
    let found = other_process.lookup(&connector(), &stream("tickets"), &[id("1")]).await.unwrap();
    assert_eq!(found, [Some(changed.content_digest)]);
}

/// A changed shape changes the content digest but not the raw bytes: the row takes the new digest, and says it held the bytes.
#[tokio::test]
async fn equal_bytes_under_a_new_shape_take_the_new_digest() {
    let desk = desk().await;
    let one = ticket("1", r#"{"title":"a"}"#);
    commit(&desk.graph, &full(1, vec![one.clone()])).await;
    let reshaped = scion_domain::model::SourceRecord { content_digest: Digest256::from_bytes([9; 32]), ..one };
    let receipt = commit(&desk.graph, &full(2, vec![reshaped])).await;
    assert!(receipt.raw_admissions[0].deduplicated);
    let found = desk.graph.lookup(&connector(), &stream("tickets"), &[id("1")]).await.unwrap();
    assert_eq!(found, [Some(Digest256::from_bytes([9; 32]))]);
}

#[tokio::test]
async fn the_catalogue_counts_what_is_there() {
    let desk = desk().await;
    let mut first = full(1, vec![ticket("1", "{}"), ticket("2", "{}"), ticket("3", "{}")]);
    first.relationships = vec![edge("1", "parent", "tickets", "2"), edge("1", "owner", "people", "ada")];
    commit(&desk.graph, &first).await;
    commit(&desk.graph, &delta(2, vec![], &["3"])).await;
    let overview = desk.graph.streams().await.unwrap();
    assert_eq!(overview.len(), 1, "a stream that only an edge names has not committed");
    let tickets = &overview[0];
    assert_eq!((tickets.batches, tickets.live_records, tickets.withdrawn_records), (2, 2, 1));
    assert_eq!(tickets.relationships, 1, "ada is not there yet");
    assert!(tickets.last_commit_unix_ms.unwrap() > 1_700_000_000_000);
    commit(&desk.graph, &batch("people", IngestMode::Full, 1, vec![record("people", "Person", "ada", "{}")])).await;
    let overview = desk.graph.streams().await.unwrap();
    assert_eq!(overview.iter().map(|s| s.stream.as_str()).collect::<Vec<_>>(), ["people", "tickets"]);
    assert_eq!(overview[1].relationships, 2);
    commit(&desk.graph, &delta(3, vec![], &["1"])).await;
    assert_eq!(desk.graph.streams().await.unwrap()[1].relationships, 0);
}
