//! Streams of messages, the changes of a graph, and the envelopes in which a change enters it
//! (`wire/engine-protocol.md` 9.2, 9.3).

use crate::digest;
use crate::id::Digest256;
use crate::json::JsonObject;
use crate::refusals;
use crate::sink::StoreRefusal;

/// The longest name of a stream, group, source, partition, node or envelope, in bytes.
pub const MAX_NAME: usize = 512;

/// The longest message, in bytes.
pub const MAX_MESSAGE: usize = 256 << 10;

/// The most messages, changes or drafts in one request.
pub const MAX_BATCH: usize = 1000;

/// What a stream keeps. Without a bound it keeps everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamBounds {
    /// The newest so many messages.
    pub max_messages: Option<u64>,
    /// Messages younger than so many milliseconds.
    pub max_age_ms: Option<u64>,
}

/// A message of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its place in the stream, from 0.
    pub offset: u64,
    /// Its bytes.
    pub payload: Vec<u8>,
}

/// A place in the changes of a graph. Sequences of different epochs have nothing to do with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangePosition {
    /// Which feed this is; a store that keeps its feed in memory has another one after each start.
    pub epoch: u64,
    /// The next change to read.
    pub seq: u64,
}

/// What happened to a node or an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// A node came.
    AddNode,
    /// A node has other properties.
    UpdateNode,
    /// A node went.
    RemoveNode,
    /// An edge came.
    AddEdge,
    /// An edge went.
    RemoveEdge,
}

/// One change of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphChange {
    /// Its sequence.
    pub seq: u64,
    /// What happened.
    pub kind: ChangeKind,
    /// The node, or the start of the edge.
    pub node: String,
    /// The end of the edge.
    pub target: Option<String>,
    /// The type of the node or edge.
    pub label: String,
    /// The properties before.
    pub before: Option<JsonObject>,
    /// The properties after.
    pub after: Option<JsonObject>,
}

/// Changes in order, and where to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangePage {
    /// The changes.
    pub changes: Vec<GraphChange>,
    /// Changes between the asked position and this page are lost: only reading the whole graph tells what they were.
    pub gap: bool,
    /// The position after this page; after a gap, the newest one.
    pub next: ChangePosition,
}

/// What an envelope does to its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeChange {
    /// The node has exactly these properties from now on.
    Put {
        /// Its type.
        node_type: String,
        /// Its properties; `type` is not among them.
        properties: JsonObject,
    },
    /// The node is gone.
    Remove,
}

/// An event of a source, as a stream adapter understood it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventEnvelope {
    /// The node it is about.
    pub node: String,
    /// What it does to it.
    pub change: NodeChange,
}

/// A change of one node on its way into a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeDraft {
    /// Its identity; it takes effect at most once.
    pub envelope_id: String,
    /// Its place in the source, growing within the partition.
    pub position: u64,
    /// The event.
    pub event: EventEnvelope,
    /// Digest of what the event says and of where it stood, so that no version replaces itself.
    pub content_digest: Digest256,
}

impl ChangeDraft {
    /// The draft of an event at a position. The same event at the same position always gives the same draft.
    pub fn of(source: &str, partition: &str, position: u64, event: EventEnvelope) -> Self {
        let content = match &event.change {
            NodeChange::Put { node_type, properties } => {
                let properties = crate::json::to_compact(&crate::json::Json::Object(properties.clone()));
                digest::sha256(format!("put\0{position}\0{node_type}\0{properties}").as_bytes())
            }
            NodeChange::Remove => digest::sha256(format!("remove\0{position}").as_bytes()),
        };
        let place = digest::sha256(format!("{source}\0{partition}\0{position}").as_bytes());
        Self { envelope_id: format!("change:{}", place.to_hex()), position, event, content_digest: content }
    }
}

/// Drafts of one partition of a source, in the order of their positions. They are accepted together or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeBatch {
    source: String,
    partition: String,
    expected: Option<u64>,
    drafts: Vec<ChangeDraft>,
}

impl ChangeBatch {
    /// A batch that follows the position `expected`. Refuses names that are empty or too long, an empty or too large batch,
    /// and positions that do not grow from `expected`.
    pub fn new(
        source: &str,
        partition: &str,
        expected: Option<u64>,
        events: Vec<(u64, EventEnvelope)>,
    ) -> Result<Self, MessageRefusal> {
        check_name(source)?;
        if !partition.is_empty() {
            check_name(partition)?;
        }
        if events.is_empty() || events.len() > MAX_BATCH {
            return Err(MessageRefusal::Invalid { what: "a batch holds 1 to 1000 changes" });
        }
        let mut last = expected;
        for (position, event) in &events {
            check_name(&event.node)?;
            if let NodeChange::Put { node_type, properties } = &event.change {
                check_name(node_type)?;
                if properties.get("type").is_some() {
                    return Err(MessageRefusal::Invalid { what: "the type of a node is not one of its properties" });
                }
            }
            if last.is_some_and(|last| *position <= last) {
                return Err(MessageRefusal::Invalid { what: "the positions of a batch do not grow" });
            }
            last = Some(*position);
        }
        let draft = |(position, event)| ChangeDraft::of(source, partition, position, event);
        let drafts = events.into_iter().map(draft).collect();
        Ok(Self { source: source.to_owned(), partition: partition.to_owned(), expected, drafts })
    }

    /// The source.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The partition; empty for a source without any.
    pub fn partition(&self) -> &str {
        &self.partition
    }

    /// The position the batch follows.
    pub const fn expected(&self) -> Option<u64> {
        self.expected
    }

    /// The drafts.
    pub fn drafts(&self) -> &[ChangeDraft] {
        &self.drafts
    }

    /// The position after the batch.
    pub fn last(&self) -> u64 {
        // A batch is never empty.
        self.drafts.last().map_or(0, |draft| draft.position)
    }
}

/// What became of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchOutcome {
    /// Every draft took effect now.
    Applied,
    /// Every draft had taken effect before; nothing was added.
    Replayed,
}

/// A node as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeState {
    /// Its type.
    pub node_type: String,
    /// Its properties without `type`.
    pub properties: JsonObject,
}

/// Refuses a name that is empty, too long or holds control characters.
pub fn check_name(name: &str) -> Result<(), MessageRefusal> {
    if name.is_empty() || name.len() > MAX_NAME || name.chars().any(char::is_control) {
        return Err(MessageRefusal::Invalid { what: "a name is 1 to 512 bytes without control characters" });
    }
    Ok(())
}

/// Refuses a message that is too long.
pub fn check_message(payload: &[u8]) -> Result<(), MessageRefusal> {
    if payload.len() > MAX_MESSAGE {
        return Err(MessageRefusal::Invalid { what: "a message has at most 256 KiB" });
    }
    Ok(())
}

/// Refuses a page of no or more than 1000 entries.
pub fn check_limit(limit: usize) -> Result<(), MessageRefusal> {
    if limit == 0 || limit > MAX_BATCH {
        return Err(MessageRefusal::Invalid { what: "a page has 1 to 1000 entries" });
    }
    Ok(())
}

refusals! {
    /// Why a stream or a change was not taken.
    pub enum MessageRefusal {
        /// An input is not acceptable.
        Invalid { what: &'static str } => "message_invalid", CallerMistake, Never,
            "{what}", "fix the request";
        /// A group stands further on already.
        Behind { committed: u64, asked: u64 } => "stream_offset_behind", CallerMistake, Never,
            "the group stands at {committed}, after {asked}", "read the committed offset and go on from there; run one consumer per group";
        /// A source stands elsewhere than the batch expects.
        Stale { source_name: String } => "change_cursor_stale", Unavailable, AfterReadback,
            "{source_name} has moved since it was read", "read its cursor and go on from there; run one writer per source";
        /// The graph does not accept the batch.
        Rejected { what: &'static str } => "change_rejected", Denied, Never,
            "the graph rejects the batch: {what}", "fix the mapping; nothing was written and the offset stands";
        /// Changes were lost before they were read.
        Gap { feed: String } => "change_feed_gap", Unavailable, Never,
            "changes of {feed} are lost", "read the graph as a whole, then go on at the newest position";
        /// Nobody knows whether it happened.
        OutcomeUnknown { what: &'static str } => "message_outcome_unknown", Unavailable, AfterReadback,
            "it is not known whether {what} happened", "read the state; it tells";
        /// The store cannot do this.
        MethodNotServed { method: &'static str } => "message_method_not_served", CallerMistake, Never,
            "the store does not offer {method}", "use a store that does";
        /// The store itself refuses.
        Store { refusal: StoreRefusal } => "message_store", Unavailable, Later,
            "{refusal}", "see the store's own refusal";
    }
}

impl From<StoreRefusal> for MessageRefusal {
    fn from(refusal: StoreRefusal) -> Self {
        Self::Store { refusal }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(node: &str) -> EventEnvelope {
        let change = NodeChange::Put { node_type: "Note".to_owned(), properties: JsonObject::new() };
        EventEnvelope { node: node.to_owned(), change }
    }

    #[test]
    fn a_batch_grows_from_where_it_is_expected() {
        let batch = |expected, positions: &[u64]| {
            ChangeBatch::new("s", "", expected, positions.iter().map(|at| (*at, put("n"))).collect())
        };
        assert_eq!(batch(None, &[0, 1, 5]).map(|batch| batch.last()), Ok(5));
        assert!(batch(Some(3), &[4]).is_ok());
        for (expected, positions) in [(Some(3), [3, 4].as_slice()), (None, &[2, 1]), (None, &[1, 1]), (None, &[])] {
            assert!(batch(expected, positions).is_err());
        }
    }

    #[test]
    fn the_same_event_at_the_same_place_is_the_same_draft() {
        let draft = |at, node| ChangeDraft::of("s", "p", at, put(node));
        assert_eq!(draft(1, "n"), draft(1, "n"));
        assert_ne!(draft(1, "n").content_digest, draft(2, "n").content_digest);
        assert_eq!(draft(1, "n").envelope_id, draft(1, "other").envelope_id);
    }
}
