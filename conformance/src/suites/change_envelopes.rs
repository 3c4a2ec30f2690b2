//! The suite of [`ChangeEnvelopes`].

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::json::{Json, JsonObject};
use scion_domain::messaging::{BatchOutcome, ChangeBatch, EventEnvelope, MessageRefusal, NodeChange, NodeState};
use scion_ports::ChangeEnvelopes;

use crate::report::Report;
use crate::{ensure, must};

type Checked = Result<(), String>;

/// Makes graphs to test.
#[async_trait]
pub trait ChangeEnvelopesFixture: Send + Sync {
    /// An empty graph.
    async fn open(&self) -> Arc<dyn ChangeEnvelopes>;

    /// The same graph after a restart.
    async fn reopen(&self, graph: Arc<dyn ChangeEnvelopes>) -> Arc<dyn ChangeEnvelopes>;
}

/// Runs every check.
pub async fn run(fixture: &dyn ChangeEnvelopesFixture) -> Report {
    let mut report = Report::new("ChangeEnvelopes");
    report.add("O1", "a_batch_survives_a_restart", restart(fixture).await);
    report.add("O1", "a_refused_batch_changes_nothing", atomic(fixture).await);
    report.add("O2", "a_batch_follows_the_cursor", cursor(fixture).await);
    report.add("O2", "partitions_are_separate", partitions(fixture).await);
    report.add("O2", "one_of_two_writers_wins", race(fixture).await);
    report.add("O3", "a_batch_sent_again_adds_nothing", replay(fixture).await);
    report.add("O3", "other_content_for_a_taken_position_is_refused", contradiction(fixture).await);
    report.add("O4", "a_node_has_what_it_was_given_last", nodes(fixture).await);
    report
}

/// A put of a node with one text.
pub fn put(node: &str, text: &str) -> EventEnvelope {
    let properties: JsonObject = [("text".to_owned(), Json::from(text))].into();
    EventEnvelope { node: node.to_owned(), change: NodeChange::Put { node_type: "Note".to_owned(), properties } }
}

fn remove(node: &str) -> EventEnvelope {
    EventEnvelope { node: node.to_owned(), change: NodeChange::Remove }
}

fn batch(expected: Option<u64>, events: Vec<(u64, EventEnvelope)>) -> Result<ChangeBatch, String> {
    ChangeBatch::new("source", "", expected, events).map_err(|refusal| format!("a batch: {refusal}"))
}

async fn text(graph: &dyn ChangeEnvelopes, node: &str) -> Result<Option<String>, String> {
    let found = must!(graph.node(node).await, "read a node");
    Ok(found.map(|NodeState { properties, .. }| {
        properties.get("text").and_then(Json::as_str).unwrap_or("a node without text").to_owned()
    }))
}

async fn restart(fixture: &dyn ChangeEnvelopesFixture) -> Checked {
    let graph = fixture.open().await;
    let first = batch(None, vec![(0, put("a", "1")), (1, put("b", "2"))])?;
    ensure!(must!(graph.apply(&first).await, "apply") == BatchOutcome::Applied, "the first batch is a replay");
    let graph = fixture.reopen(graph).await;
    ensure!(text(&*graph, "a").await?.as_deref() == Some("1"), "a node is lost");
    ensure!(text(&*graph, "b").await?.as_deref() == Some("2"), "a node is lost");
    ensure!(must!(graph.cursor("source", "").await, "read the cursor") == Some(1), "the cursor is lost");
    ensure!(must!(graph.apply(&first).await, "apply again") == BatchOutcome::Replayed, "what was applied is forgotten");
    Ok(())
}

async fn atomic(fixture: &dyn ChangeEnvelopesFixture) -> Checked {
    let graph = fixture.open().await;
    must!(graph.apply(&batch(None, vec![(0, put("a", "1"))])?).await, "apply");
    let wrong = batch(Some(7), vec![(8, put("b", "2")), (9, put("a", "3"))])?;
    ensure!(graph.apply(&wrong).await.is_err(), "a batch for another cursor was accepted");
    ensure!(text(&*graph, "b").await?.is_none(), "a refused batch made a node");
    ensure!(text(&*graph, "a").await?.as_deref() == Some("1"), "a refused batch changed a node");
    ensure!(must!(graph.cursor("source", "").await, "read the cursor") == Some(0), "a refused batch moved the cursor");
    Ok(())
}

async fn cursor(fixture: &dyn ChangeEnvelopesFixture) -> Checked {
    let graph = fixture.open().await;
    ensure!(must!(graph.cursor("source", "").await, "read the cursor").is_none(), "an empty graph has a cursor");
    must!(graph.apply(&batch(None, vec![(3, put("a", "1"))])?).await, "apply");
    for (expected, at) in [(None, 4), (Some(2), 4), (Some(9), 10)] {
        match graph.apply(&batch(expected, vec![(at, put("a", "x"))])?).await {
            Err(MessageRefusal::Stale { .. }) => {}
            other => return Err(format!("a batch after {expected:?} where the cursor is 3 got {other:?}")),
        }
    }
    must!(graph.apply(&batch(Some(3), vec![(7, put("a", "2"))])?).await, "apply the next");
    ensure!(must!(graph.cursor("source", "").await, "read the cursor") == Some(7), "the cursor did not follow");
    Ok(())
}

async fn partitions(fixture: &dyn ChangeEnvelopesFixture) -> Checked {
    let graph = fixture.open().await;
    for (source, partition) in [("source", ""), ("source", "p"), ("other", "")] {
        let batch = must!(ChangeBatch::new(source, partition, None, vec![(5, put(source, partition))]), "a batch");
        must!(graph.apply(&batch).await, "apply to a partition of its own");
    }
    ensure!(must!(graph.cursor("other", "p").await, "read the cursor").is_none(), "partitions share a cursor");
    Ok(())
}

async fn race(fixture: &dyn ChangeEnvelopesFixture) -> Checked {
    let graph = fixture.open().await;
    must!(graph.apply(&batch(None, vec![(0, put("a", "0"))])?).await, "apply");
    let mut writers = Vec::new();
    for writer in 0..6 {
        let (graph, batch) = (graph.clone(), batch(Some(0), vec![(1, put("a", &writer.to_string()))])?);
        writers.push(tokio::spawn(async move { graph.apply(&batch).await == Ok(BatchOutcome::Applied) }));
    }
    let mut winners = Vec::new();
    for (number, writer) in writers.into_iter().enumerate() {
        if writer.await.unwrap_or(false) {
            winners.push(number.to_string());
        }
    }
    ensure!(winners.len() == 1, "{} of 6 writers wrote the same position", winners.len());
    ensure!(text(&*graph, "a").await?.as_ref() == winners.first(), "the node is not the winner's");
    Ok(())
}

async fn replay(fixture: &dyn ChangeEnvelopesFixture) -> Checked {
    let graph = fixture.open().await;
    let first = batch(None, vec![(0, put("a", "1")), (1, put("b", "1"))])?;
    let second = batch(Some(1), vec![(2, put("a", "2"))])?;
    must!(graph.apply(&first).await, "apply");
    must!(graph.apply(&second).await, "apply the next");
    let regrouped = batch(Some(0), vec![(1, put("b", "1")), (2, put("a", "2"))])?;
    for again in [&first, &second, &regrouped] {
        let outcome = must!(graph.apply(again).await, "apply again");
        ensure!(outcome == BatchOutcome::Replayed, "a batch that was applied is {outcome:?}");
    }
    ensure!(text(&*graph, "a").await?.as_deref() == Some("2"), "an older batch sent again took effect");
    ensure!(must!(graph.cursor("source", "").await, "read the cursor") == Some(2), "a replay moved the cursor");
    Ok(())
}

async fn contradiction(fixture: &dyn ChangeEnvelopesFixture) -> Checked {
    let graph = fixture.open().await;
    must!(graph.apply(&batch(None, vec![(0, put("a", "1"))])?).await, "apply");
    match graph.apply(&batch(None, vec![(0, put("a", "else"))])?).await {
        Err(MessageRefusal::Rejected { .. }) => {}
        other => return Err(format!("other content for a taken position got {other:?}")),
    }
    ensure!(text(&*graph, "a").await?.as_deref() == Some("1"), "the taken position was overwritten");
    Ok(())
}

async fn nodes(fixture: &dyn ChangeEnvelopesFixture) -> Checked {
    let graph = fixture.open().await;
    let numbers: JsonObject = [
        ("number".to_owned(), Json::from(7_i64)),
        ("list".to_owned(), Json::Array(vec![Json::Bool(true), Json::Null])),
    ]
    .into();
    let rich = NodeChange::Put { node_type: "Rich".to_owned(), properties: numbers.clone() };
    let events = vec![
        (0, put("a", "1")),
        (1, put("a", "2")),
        (2, put("b", "1")),
        (3, remove("b")),
        (4, remove("never")),
        (5, put("c", "1")),
        (6, remove("c")),
        (7, put("c", "2")),
        (8, EventEnvelope { node: "d".to_owned(), change: rich }),
    ];
    must!(graph.apply(&batch(None, events)?).await, "apply");
    // The same properties at a later position are another version.
    must!(graph.apply(&batch(Some(8), vec![(9, put("a", "2"))])?).await, "apply the same properties again");
    for (node, expected) in [("a", Some("2")), ("b", None), ("never", None), ("c", Some("2"))] {
        let found = text(&*graph, node).await?;
        ensure!(found.as_deref() == expected, "{node} has {found:?}, not {expected:?}");
    }
    let rich = must!(graph.node("d").await, "read a node");
    ensure!(rich == Some(NodeState { node_type: "Rich".to_owned(), properties: numbers }), "the node is {rich:?}");
    Ok(())
}
