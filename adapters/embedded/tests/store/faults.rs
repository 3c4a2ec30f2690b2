//! Crashes at every commit point: all of the batch or none of it, and a second try that ends the same either way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use scion_domain::model::Disposition;
use scion_domain::sink::SinkRefusal;
use scion_embedded::fault::{CommitPoint, Fault, FaultPlan};
use scion_embedded::{EmbeddedGraph, StoreOptions};
use scion_ports::Sink;

use crate::support::*;

struct Once {
    point: CommitPoint,
    armed: AtomicBool,
}

impl FaultPlan for Once {
    fn reach(&self, point: CommitPoint) -> Fault {
        if point == self.point && self.armed.swap(false, Ordering::SeqCst) { Fault::Crash } else { Fault::None }
    }
}

#[tokio::test]
async fn a_crash_at_any_point_leaves_all_or_nothing() {
    for point in CommitPoint::ALL {
        for reopen in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("graph.sqlite");
            let plan = Arc::new(Once { point, armed: AtomicBool::new(false) });
            let options = StoreOptions { faults: Some(plan.clone()), ..StoreOptions::default() };
            let mut graph = EmbeddedGraph::open_with(&path, options).unwrap();
            graph.import_pack(&pack(DECLARATION)).await.unwrap();
            commit(&graph, &full(1, vec![ticket("1", r#"{"title":"a"}"#), ticket("2", "{}")])).await;
            let before = graph.status(&connector(), &stream("tickets")).await.unwrap();

            plan.armed.store(true, Ordering::SeqCst);
            let mut next = delta(2, vec![ticket("1", r#"{"title":"b"}"#), ticket("3", "{}")], &["2"]);
            next.relationships = vec![edge("1", "owner", "people", "new person"), edge("1", "parent", "tickets", "3")];
            assert_eq!(graph.commit(&next).await, Err(SinkRefusal::OutcomeUnknown), "{}", point.name());
            if reopen {
                drop(graph);
                graph = EmbeddedGraph::open(&path).unwrap();
            }
            let durable = point == CommitPoint::AfterCommit;
            let status = graph.status(&connector(), &stream("tickets")).await.unwrap();
            assert_eq!(status == before, !durable, "{}", point.name());
            let (title, ids): (&str, &[&str]) = if durable { ("b", &["1", "3"]) } else { ("a", &["1", "2"]) };
            assert_eq!(rows(&graph, "SELECT ?t { ?r desk:title ?t }").await, [title]);
            assert_eq!(live(&graph).await, ids);

            let receipt = commit(&graph, &next).await;
            let expected = if durable { Disposition::Replayed } else { Disposition::Committed };
            assert_eq!(receipt.disposition, expected, "{}", point.name());
            assert_eq!(live(&graph).await, ["1", "3"]);
            assert_eq!(rows(&graph, "SELECT ?b { ?a desk:parent ?b }").await.len(), 1);
        }
    }
}

struct PanicOnce(CommitPoint, AtomicBool);

impl FaultPlan for PanicOnce {
    fn reach(&self, point: CommitPoint) -> Fault {
        assert!(point != self.0 || !self.1.swap(false, Ordering::SeqCst), "a planted panic");
        Fault::None
    }
}

/// A bug that panics inside a commit takes neither the store nor the certainty about the outcome with it.
#[tokio::test]
async fn a_panic_inside_a_commit_is_an_unknown_outcome_and_the_store_goes_on() {
    for point in [CommitPoint::AfterRecords, CommitPoint::AfterCommit] {
        let folder = tempfile::tempdir().unwrap();
        let plan = Arc::new(PanicOnce(point, AtomicBool::new(true)));
        let options = StoreOptions { faults: Some(plan), ..StoreOptions::default() };
        let graph = EmbeddedGraph::open_with(&folder.path().join("graph.sqlite"), options).unwrap();
        graph.import_pack(&pack(DECLARATION)).await.unwrap();
        let batch = full(1, vec![ticket("1", "{}")]);
        assert_eq!(graph.commit(&batch).await, Err(SinkRefusal::OutcomeUnknown));
        let durable = point == CommitPoint::AfterCommit;
        assert_eq!(live(&graph).await.len(), usize::from(durable));
        let expected = if durable { Disposition::Replayed } else { Disposition::Committed };
        assert_eq!(commit(&graph, &batch).await.disposition, expected);
    }
}

/// A caller that stops waiting leaves either nothing or the whole batch, and the store goes on.
#[tokio::test]
async fn a_dropped_commit_is_whole_or_absent() {
    let desk = desk().await;
    for step in 1..=20 {
        let next = full(step, vec![ticket(&step.to_string(), "{}")]);
        let abandoned =
            tokio::time::timeout(std::time::Duration::from_micros(step * 40), desk.graph.commit(&next)).await;
        let settled = desk.graph.commit(&next).await.unwrap();
        if let Ok(first) = abandoned {
            assert_eq!(first.unwrap().receipt_digest, settled.receipt_digest);
        }
        assert_eq!(live(&desk.graph).await.len() as u64, step);
    }
}
