//! Streams, changes and envelopes in memory.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use scion_domain::id::Digest256;
use scion_domain::messaging::{
    BatchOutcome, ChangeBatch, ChangeKind, ChangePage, ChangePosition, GraphChange, Message, MessageRefusal,
    NodeChange, NodeState, StreamBounds, check_limit, check_message, check_name,
};
use scion_ports::{ChangeEnvelopes, ChangeFeedReader, MessageStream};

#[derive(Clone, Debug, Default)]
struct Stream {
    bounds: StreamBounds,
    next: u64,
    messages: BTreeMap<u64, (i64, Vec<u8>)>,
    groups: HashMap<String, u64>,
}

#[derive(Clone, Debug, Default)]
struct State {
    streams: HashMap<String, Stream>,
    nodes: BTreeMap<String, NodeState>,
    cursors: HashMap<(String, String), u64>,
    taken: HashMap<String, Digest256>,
    changes: Vec<GraphChange>,
    first_change: u64,
    epoch: u64,
}

/// All three ports over one state. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct MemoryMessages {
    state: Arc<Mutex<State>>,
}

impl MemoryMessages {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Lets go all changes before this sequence.
    pub fn forget_changes_before(&self, seq: u64) {
        let mut state = self.lock();
        state.changes.retain(|change| change.seq >= seq);
        state.first_change = seq;
    }
}

#[async_trait]
impl MessageStream for MemoryMessages {
    async fn declare(&self, stream: &str, bounds: StreamBounds) -> Result<(), MessageRefusal> {
        check_name(stream)?;
        self.lock().streams.entry(stream.to_owned()).or_default().bounds = bounds;
        Ok(())
    }

    async fn publish(&self, stream: &str, payload: &[u8], now_ms: i64) -> Result<u64, MessageRefusal> {
        check_name(stream)?;
        check_message(payload)?;
        let mut state = self.lock();
        let stream = state.streams.entry(stream.to_owned()).or_default();
        let offset = stream.next;
        stream.next += 1;
        stream.messages.insert(offset, (now_ms, payload.to_vec()));
        Ok(offset)
    }

    async fn read(&self, stream: &str, from: u64, limit: usize) -> Result<Vec<Message>, MessageRefusal> {
        check_name(stream)?;
        check_limit(limit)?;
        let state = self.lock();
        let Some(stream) = state.streams.get(stream) else { return Ok(Vec::new()) };
        let found = stream.messages.range(from..).take(limit);
        Ok(found.map(|(offset, (_, payload))| Message { offset: *offset, payload: payload.clone() }).collect())
    }

    async fn commit(&self, stream: &str, group: &str, next: u64) -> Result<(), MessageRefusal> {
        check_name(stream)?;
        check_name(group)?;
        let mut state = self.lock();
        let groups = &mut state.streams.entry(stream.to_owned()).or_default().groups;
        let committed = groups.get(group).copied().unwrap_or(0);
        if next < committed {
            return Err(MessageRefusal::Behind { committed, asked: next });
        }
        groups.insert(group.to_owned(), next);
        Ok(())
    }

    async fn committed(&self, stream: &str, group: &str) -> Result<Option<u64>, MessageRefusal> {
        Ok(self.lock().streams.get(stream).and_then(|stream| stream.groups.get(group).copied()))
    }

    async fn trim(&self, stream: &str, now_ms: i64) -> Result<u64, MessageRefusal> {
        let mut state = self.lock();
        let Some(stream) = state.streams.get_mut(stream) else { return Ok(0) };
        let before = stream.messages.len();
        let first = stream.bounds.max_messages.map_or(0, |most| stream.next.saturating_sub(most));
        let bounds = stream.bounds;
        stream.messages.retain(|offset, (published, _)| {
            let age = u64::try_from(now_ms.saturating_sub(*published)).unwrap_or(0);
            *offset >= first && bounds.max_age_ms.is_none_or(|most| age <= most)
        });
        Ok((before - stream.messages.len()) as u64)
    }
}

#[async_trait]
impl ChangeFeedReader for MemoryMessages {
    async fn read(&self, from: Option<ChangePosition>, limit: usize) -> Result<ChangePage, MessageRefusal> {
        check_limit(limit)?;
        let state = self.lock();
        let end = state.first_change + state.changes.len() as u64;
        let from = from.unwrap_or(ChangePosition { epoch: state.epoch, seq: state.first_change });
        if from.epoch != state.epoch || from.seq < state.first_change || from.seq > end {
            let next = ChangePosition { epoch: state.epoch, seq: end };
            return Ok(ChangePage { changes: Vec::new(), gap: true, next });
        }
        let changes: Vec<_> =
            state.changes.iter().filter(|change| change.seq >= from.seq).take(limit).cloned().collect();
        let next = ChangePosition { epoch: state.epoch, seq: from.seq + changes.len() as u64 };
        Ok(ChangePage { changes, gap: false, next })
    }
}

#[async_trait]
impl ChangeEnvelopes for MemoryMessages {
    async fn apply(&self, batch: &ChangeBatch) -> Result<BatchOutcome, MessageRefusal> {
        let mut state = self.lock();
        let place = (batch.source().to_owned(), batch.partition().to_owned());
        if state.cursors.get(&place).copied() != batch.expected() {
            let taken: Vec<_> =
                batch.drafts().iter().map(|draft| (draft, state.taken.get(&draft.envelope_id).copied())).collect();
            if taken.iter().all(|(draft, digest)| *digest == Some(draft.content_digest)) {
                return Ok(BatchOutcome::Replayed);
            }
            if taken.iter().any(|(draft, digest)| digest.is_some_and(|digest| digest != draft.content_digest)) {
                return Err(MessageRefusal::Rejected { what: "a position was taken by another change" });
            }
            return Err(MessageRefusal::Stale { source_name: batch.source().to_owned() });
        }
        for draft in batch.drafts() {
            let before = state.nodes.get(&draft.event.node).cloned();
            let (kind, after) = match &draft.event.change {
                NodeChange::Put { node_type, properties } => {
                    let after = NodeState { node_type: node_type.clone(), properties: properties.clone() };
                    state.nodes.insert(draft.event.node.clone(), after.clone());
                    (if before.is_some() { ChangeKind::UpdateNode } else { ChangeKind::AddNode }, Some(after))
                }
                NodeChange::Remove => {
                    state.nodes.remove(&draft.event.node);
                    (ChangeKind::RemoveNode, None)
                }
            };
            state.taken.insert(draft.envelope_id.clone(), draft.content_digest);
            if before.is_none() && after.is_none() {
                continue;
            }
            let seq = state.first_change + state.changes.len() as u64;
            let label = after.as_ref().or(before.as_ref()).map(|node| node.node_type.clone()).unwrap_or_default();
            let (before, after) = (before.map(|node| node.properties), after.map(|node| node.properties));
            state.changes.push(GraphChange {
                seq,
                kind,
                node: draft.event.node.clone(),
                target: None,
                label,
                before,
                after,
            });
        }
        state.cursors.insert(place, batch.last());
        Ok(BatchOutcome::Applied)
    }

    async fn cursor(&self, source: &str, partition: &str) -> Result<Option<u64>, MessageRefusal> {
        Ok(self.lock().cursors.get(&(source.to_owned(), partition.to_owned())).copied())
    }

    async fn node(&self, node: &str) -> Result<Option<NodeState>, MessageRefusal> {
        Ok(self.lock().nodes.get(node).cloned())
    }
}
