//! Withdrawals and authoritative batches.

use scion_domain::model::{Disposition, IngestMode, SourceBatch, Tombstone};
use scion_domain::sink::SinkRefusal;
use scion_ports::{RecordDigests, Sink};

use crate::support::*;

fn reconcile(step: u64, live: &[&str]) -> SourceBatch {
    SourceBatch {
        authoritative_live_ids: Some(live.iter().map(|id| entity("tickets", id)).collect()),
        ..batch("tickets", IngestMode::Reconcile, step, vec![])
    }
}

#[tokio::test]
async fn a_reconcile_withdraws_exactly_what_it_does_not_list() {
    let desk = desk().await;
    commit(&desk.graph, &full(1, ["a", "b", "c", "d"].map(|id| ticket(id, r#"{"title":"t"}"#)).to_vec())).await;
    let other = batch("people", IngestMode::Full, 1, vec![record("people", "Person", "a", "{}")]);
    commit(&desk.graph, &other).await;
    let mut batch = reconcile(2, &["b", "d", "e", "never seen"]);
    batch.records = vec![ticket("e", "{}")];
    let receipt = commit(&desk.graph, &batch).await;
    let gone: Vec<&str> = receipt.tombstones.iter().map(|t| t.entity.record_id.as_str()).collect();
    assert_eq!(gone, ["a", "c"]);
    assert_eq!(live(&desk.graph).await, ["b", "d", "e"]);
    assert_eq!(
        rows(&desk.graph, "SELECT ?id { ?r a <https://desk.example/ns#Person> ; scion:recordId ?id }").await,
        ["a"]
    );
    let found = desk.graph.lookup(&connector(), &stream("tickets"), &[id("a"), id("b")]).await.unwrap();
    assert!(found[0].is_none() && found[1].is_some());

    let again = commit(&desk.graph, &batch).await;
    assert_eq!(again.disposition, Disposition::Replayed);
    assert_eq!((again.tombstones, again.receipt_digest), (receipt.tombstones, receipt.receipt_digest));
}

#[tokio::test]
async fn an_empty_live_set_needs_an_approval() {
    let desk = desk().await;
    commit(&desk.graph, &full(1, vec![ticket("a", "{}"), ticket("b", "{}")])).await;
    let refusal = desk.graph.commit(&reconcile(2, &[])).await.unwrap_err();
    assert_eq!(refusal.leaf_code(), "empty_authoritative_snapshot");
    assert_eq!(live(&desk.graph).await, ["a", "b"]);
    let approval = Some("the project was closed".to_owned());
    let receipt =
        commit(&desk.graph, &SourceBatch { empty_authoritative_approval: approval, ..reconcile(2, &[]) }).await;
    assert_eq!(receipt.tombstones.len(), 2);
    assert!(live(&desk.graph).await.is_empty());
}

#[tokio::test]
async fn only_a_live_record_can_be_withdrawn_and_a_withdrawn_one_can_come_back() {
    let desk = desk().await;
    commit(&desk.graph, &full(1, vec![ticket("a", r#"{"title":"old"}"#)])).await;
    for unknown in ["never seen", "b"] {
        let refusal = desk.graph.commit(&delta(2, vec![ticket("b", "{}")], &["a", unknown])).await;
        if unknown == "b" {
            assert_eq!(refusal.unwrap_err().leaf_code(), "batch_observed_and_withdrawn");
        } else {
            assert_eq!(refusal.unwrap_err(), SinkRefusal::WithdrawalUnknown { index: 1 });
        }
        assert_eq!(live(&desk.graph).await, ["a"], "nothing of a refused batch is kept");
    }
    let receipt = commit(&desk.graph, &delta(2, vec![], &["a"])).await;
    assert_eq!(receipt.tombstones, [Tombstone { entity: entity("tickets", "a"), reason: "a was deleted".to_owned() }]);
    let twice = desk.graph.commit(&delta(3, vec![], &["a"])).await.unwrap_err();
    assert_eq!(twice, SinkRefusal::WithdrawalUnknown { index: 0 });
    assert!(rows(&desk.graph, "SELECT ?r { ?r desk:title \"old\" }").await.is_empty());
    commit(&desk.graph, &delta(3, vec![ticket("a", r#"{"title":"new"}"#)], &[])).await;
    assert_eq!(live(&desk.graph).await, ["a"]);
    assert_eq!(rows(&desk.graph, "SELECT ?t { ?r desk:title ?t }").await, ["new"]);
    assert!(rows(&desk.graph, "SELECT ?r { ?r desk:title \"old\" }").await.is_empty());
}
