//! Streams into graphs: the offset follows acceptance, and a crash at any point is repaired.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use scion_conformance::reference::{MemoryKeyValues, MemoryMessages};
use scion_conformance::suites::change_envelopes::put;
use scion_domain::messaging::{
    BatchOutcome, ChangeBatch, ChangePosition, EventEnvelope, Message, MessageRefusal, NodeState, StreamBounds,
};
use scion_domain::sink::StoreRefusal;
use scion_ports::{ChangeEnvelopes, KeyValueStore as _, MessageStream, async_trait};
use scion_work::{ChangeFeedAdapter, StreamAdapter, StreamProgress};

const MESSAGES: u64 = 10;

/// `node=text`, or nothing to say.
fn map(message: &Message) -> Result<Option<EventEnvelope>, MessageRefusal> {
    let text = std::str::from_utf8(&message.payload).map_err(|_| MessageRefusal::Invalid { what: "no text" })?;
    Ok(text.split_once('=').map(|(node, text)| put(node, text)))
}

async fn filled() -> MemoryMessages {
    let store = MemoryMessages::default();
    for at in 0..MESSAGES {
        let text = if at == 4 { "silence".to_owned() } else { format!("node-{}=text {at}", at % 3) };
        store.publish("orders", text.as_bytes(), 1_000).await.unwrap();
    }
    store
}

fn adapter(stream: &Arc<impl MessageStream + 'static>, graph: &Arc<impl ChangeEnvelopes + 'static>) -> StreamAdapter {
    StreamAdapter::new(stream.clone(), graph.clone(), "orders", "graph", 4, map)
}

/// What is in the graph, and where the group stands.
async fn state(stream: &MemoryMessages, graph: &MemoryMessages) -> (Vec<Option<NodeState>>, Option<u64>, usize) {
    let mut nodes = Vec::new();
    for node in 0..3 {
        nodes.push(graph.node(&format!("node-{node}")).await.unwrap());
    }
    let changes = scion_ports::ChangeFeedReader::read(graph, None, 1000).await.unwrap().changes.len();
    (nodes, stream.committed("orders", "graph").await.unwrap(), changes)
}

/// Proves: SDK-CONNECTOR-CONTROL-R782
#[tokio::test]
async fn the_offset_is_committed_after_acceptance_and_a_replay_adds_nothing() {
    let (stream, graph) = (Arc::new(filled().await), Arc::new(MemoryMessages::default()));
    let first = adapter(&stream, &graph).step().await.unwrap();
    assert_eq!(first, StreamProgress { read: 4, applied: 4, replayed: 0, lost: 0 });
    assert_eq!(stream.committed("orders", "graph").await, Ok(Some(4)));
    let rest = adapter(&stream, &graph).drain().await.unwrap();
    assert_eq!(rest, StreamProgress { read: 6, applied: 5, replayed: 0, lost: 0 });
    let done = state(&stream, &graph).await;
    // The group's offset is lost with the stream's store; the graph knows what it took.
    let again = Arc::new(filled().await);
    let replay = adapter(&again, &graph).drain().await.unwrap();
    assert_eq!(replay, StreamProgress { read: 10, applied: 0, replayed: 9, lost: 0 });
    assert_eq!(state(&again, &graph).await, done);
}

/// A graph that refuses.
#[derive(Debug)]
struct Refusing(MemoryMessages);

#[async_trait]
impl ChangeEnvelopes for Refusing {
    async fn apply(&self, _batch: &ChangeBatch) -> Result<BatchOutcome, MessageRefusal> {
        Err(MessageRefusal::Rejected { what: "a test" })
    }

    async fn cursor(&self, source: &str, partition: &str) -> Result<Option<u64>, MessageRefusal> {
        self.0.cursor(source, partition).await
    }

    async fn node(&self, node: &str) -> Result<Option<NodeState>, MessageRefusal> {
        self.0.node(node).await
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R782
#[tokio::test]
async fn a_rejected_batch_leaves_the_offset() {
    let stream = Arc::new(filled().await);
    let refusing = Arc::new(Refusing(MemoryMessages::default()));
    assert!(matches!(adapter(&stream, &refusing).step().await, Err(MessageRefusal::Rejected { .. })));
    assert_eq!(stream.committed("orders", "graph").await, Ok(None));
    // So does a message that cannot be mapped, whatever stands before it.
    let graph = Arc::new(MemoryMessages::default());
    let broken = Arc::new(MemoryMessages::default());
    broken.publish("orders", b"a=1", 1_000).await.unwrap();
    broken.publish("orders", b"\xff", 1_000).await.unwrap();
    assert!(matches!(adapter(&broken, &graph).step().await, Err(MessageRefusal::Invalid { .. })));
    assert_eq!(broken.committed("orders", "graph").await, Ok(None));
    assert_eq!(graph.node("a").await, Ok(None));
}

/// Breaks at one call, before or after its effect.
struct Breaking {
    inner: MemoryMessages,
    calls: Arc<AtomicUsize>,
    at: usize,
    after: bool,
}

impl Breaking {
    async fn call<T>(&self, call: impl Future<Output = Result<T, MessageRefusal>>) -> Result<T, MessageRefusal> {
        let broken = MessageRefusal::from(StoreRefusal::Unavailable { what: "the process died" });
        let now = self.calls.fetch_add(1, Ordering::SeqCst);
        if now > self.at || (now == self.at && !self.after) {
            return Err(broken);
        }
        let answer = call.await;
        if now == self.at { Err(broken) } else { answer }
    }
}

#[async_trait]
impl MessageStream for Breaking {
    async fn declare(&self, stream: &str, bounds: StreamBounds) -> Result<(), MessageRefusal> {
        self.call(self.inner.declare(stream, bounds)).await
    }

    async fn publish(&self, stream: &str, payload: &[u8], now_ms: i64) -> Result<u64, MessageRefusal> {
        self.call(self.inner.publish(stream, payload, now_ms)).await
    }

    async fn read(&self, stream: &str, from: u64, limit: usize) -> Result<Vec<Message>, MessageRefusal> {
        self.call(MessageStream::read(&self.inner, stream, from, limit)).await
    }

    async fn commit(&self, stream: &str, group: &str, next: u64) -> Result<(), MessageRefusal> {
        self.call(self.inner.commit(stream, group, next)).await
    }

    async fn committed(&self, stream: &str, group: &str) -> Result<Option<u64>, MessageRefusal> {
        self.call(self.inner.committed(stream, group)).await
    }

    async fn trim(&self, stream: &str, now_ms: i64) -> Result<u64, MessageRefusal> {
        self.call(self.inner.trim(stream, now_ms)).await
    }
}

#[async_trait]
impl ChangeEnvelopes for Breaking {
    async fn apply(&self, batch: &ChangeBatch) -> Result<BatchOutcome, MessageRefusal> {
        self.call(self.inner.apply(batch)).await
    }

    async fn cursor(&self, source: &str, partition: &str) -> Result<Option<u64>, MessageRefusal> {
        self.call(self.inner.cursor(source, partition)).await
    }

    async fn node(&self, node: &str) -> Result<Option<NodeState>, MessageRefusal> {
        self.inner.node(node).await
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R782
#[tokio::test]
async fn a_crash_at_any_point_ends_as_an_undisturbed_run() {
    let (stream, graph) = (Arc::new(filled().await), Arc::new(MemoryMessages::default()));
    adapter(&stream, &graph).drain().await.unwrap();
    let undisturbed = state(&stream, &graph).await;
    let mut crashes = 0;
    for at in 0.. {
        let mut broke = false;
        for after in [false, true] {
            let (stream, graph) = (Arc::new(filled().await), Arc::new(MemoryMessages::default()));
            let calls = Arc::new(AtomicUsize::new(0));
            let breaking = |inner: &Arc<MemoryMessages>| {
                Arc::new(Breaking { inner: (**inner).clone(), calls: calls.clone(), at, after })
            };
            broke = adapter(&breaking(&stream), &breaking(&graph)).drain().await.is_err();
            crashes += usize::from(broke);
            // Another batch size, as another configuration would have.
            StreamAdapter::new(stream.clone(), graph.clone(), "orders", "graph", 3, map).drain().await.unwrap();
            assert_eq!(state(&stream, &graph).await, undisturbed, "after a crash at call {at}");
        }
        if !broke {
            break;
        }
    }
    assert!(crashes > 20, "{crashes} crashes");
}

#[tokio::test]
async fn messages_that_were_gone_are_counted() {
    let stream = Arc::new(filled().await);
    stream.declare("orders", StreamBounds { max_messages: Some(2), max_age_ms: None }).await.unwrap();
    stream.trim("orders", 1_000).await.unwrap();
    let progress = adapter(&stream, &Arc::new(MemoryMessages::default())).drain().await.unwrap();
    assert_eq!(progress, StreamProgress { read: 2, applied: 2, replayed: 0, lost: 8 });
}

/// Proves: SDK-CONNECTOR-CONTROL-R782
#[tokio::test]
async fn changes_of_a_graph_follow_into_another_and_a_gap_stops() {
    let (from, to) = (Arc::new(filled().await), Arc::new(MemoryMessages::default()));
    adapter(&from, &from).drain().await.unwrap();
    let places = MemoryKeyValues::default();
    let follow = |limit| {
        ChangeFeedAdapter::new(from.clone(), to.clone(), Arc::new(places.clone()), "copy", limit, |change| {
            let Some(text) = change.after.as_ref().and_then(|after| after["text"].as_str()) else { return Ok(None) };
            Ok(Some(put(&change.node, text)))
        })
    };
    while follow(2).step().await.unwrap().read > 0 {}
    for node in ["node-0", "node-1", "node-2"] {
        assert_eq!(from.node(node).await, to.node(node).await);
    }
    // The place is lost; what was taken is not taken again.
    let stored = places.get("stream-adapter", "copy").await.unwrap().unwrap();
    places.delete("stream-adapter", "copy", stored.version).await.unwrap();
    let again = follow(100).step().await.unwrap();
    assert_eq!((again.applied, again.replayed), (0, 9));
    let head = scion_ports::ChangeFeedReader::read(&*from, None, 1000).await.unwrap().next;
    follow(2).resume_at(ChangePosition { seq: 0, ..head }).await.unwrap();
    from.forget_changes_before(5);
    assert_eq!(follow(2).step().await, Err(MessageRefusal::Gap { feed: "copy".to_owned() }));
    follow(2).resume_at(head).await.unwrap();
    assert_eq!(follow(2).step().await.unwrap().read, 0);
}
