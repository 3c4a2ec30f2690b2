//! Streams of messages and feeds of changes into a graph: read, map, have the batch accepted, and only then remember the place.
//!
//! A crash between any two steps is repaired by the next run: what the graph has taken is told by its cursor, so that a message
//! read again adds nothing.

use std::sync::Arc;

use scion_domain::messaging::{
    ChangeBatch, ChangePosition, EventEnvelope, GraphChange, MAX_BATCH, Message, MessageRefusal,
};
use scion_ports::{ChangeEnvelopes, ChangeFeedReader, KeyValueStore, MessageStream};

/// Makes an event of a message; `None` when it says nothing the graph wants. The same message always makes the same event.
pub type MapMessage = dyn Fn(&Message) -> Result<Option<EventEnvelope>, MessageRefusal> + Send + Sync;

/// Makes an event of a change of another graph.
pub type MapChange = dyn Fn(&GraphChange) -> Result<Option<EventEnvelope>, MessageRefusal> + Send + Sync;

/// Where the places in feeds are kept.
const NAMESPACE: &str = "stream-adapter";

/// What one step did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamProgress {
    /// Messages or changes read.
    pub read: usize,
    /// Events the graph took now.
    pub applied: usize,
    /// Events the graph had taken before.
    pub replayed: usize,
    /// Messages that were gone before they were read.
    pub lost: u64,
}

/// One group's reading of one stream.
pub struct StreamAdapter {
    stream: Arc<dyn MessageStream>,
    graph: Arc<dyn ChangeEnvelopes>,
    map: Box<MapMessage>,
    name: String,
    group: String,
    limit: usize,
}

impl std::fmt::Debug for StreamAdapter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamAdapter").field("stream", &self.name).field("group", &self.group).finish_non_exhaustive()
    }
}

impl StreamAdapter {
    /// Reads `stream` for `group`, `limit` messages (1 to 1000) at a time.
    pub fn new(
        stream: Arc<dyn MessageStream>,
        graph: Arc<dyn ChangeEnvelopes>,
        name: impl Into<String>,
        group: impl Into<String>,
        limit: usize,
        map: impl Fn(&Message) -> Result<Option<EventEnvelope>, MessageRefusal> + Send + Sync + 'static,
    ) -> Self {
        let limit = limit.clamp(1, MAX_BATCH);
        Self { stream, graph, map: Box::new(map), name: name.into(), group: group.into(), limit }
    }

    /// One batch: read, map, apply, commit the offset. The offset stands when any of them refuses.
    pub async fn step(&self) -> Result<StreamProgress, MessageRefusal> {
        let from = self.stream.committed(&self.name, &self.group).await?.unwrap_or(0);
        let messages = self.stream.read(&self.name, from, self.limit).await?;
        let (Some(first), Some(last)) = (messages.first(), messages.last()) else {
            return Ok(StreamProgress::default());
        };
        let mut progress =
            StreamProgress { read: messages.len(), lost: first.offset.saturating_sub(from), ..Default::default() };
        let events = messages
            .iter()
            .map(|message| Ok((self.map)(message)?.map(|event| (message.offset, event))))
            .filter_map(Result::transpose);
        let events = events.collect::<Result<Vec<_>, MessageRefusal>>()?;
        take(&*self.graph, &format!("stream:{}", self.name), &self.group, events, &mut progress).await?;
        self.stream.commit(&self.name, &self.group, last.offset + 1).await?;
        Ok(progress)
    }

    /// Steps until there is nothing to read; the sum.
    pub async fn drain(&self) -> Result<StreamProgress, MessageRefusal> {
        let mut sum = StreamProgress::default();
        loop {
            let step = self.step().await?;
            if step.read == 0 {
                return Ok(sum);
            }
            sum.read += step.read;
            sum.applied += step.applied;
            sum.replayed += step.replayed;
            sum.lost += step.lost;
        }
    }
}

/// Has the events accepted that the graph has not taken yet.
async fn take(
    graph: &dyn ChangeEnvelopes,
    source: &str,
    partition: &str,
    events: Vec<(u64, EventEnvelope)>,
    progress: &mut StreamProgress,
) -> Result<(), MessageRefusal> {
    let cursor = graph.cursor(source, partition).await?;
    let all = events.len();
    let fresh: Vec<_> = events.into_iter().filter(|(at, _)| cursor.is_none_or(|cursor| *at > cursor)).collect();
    progress.replayed = all - fresh.len();
    if fresh.is_empty() {
        return Ok(());
    }
    let count = fresh.len();
    graph.apply(&ChangeBatch::new(source, partition, cursor, fresh)?).await?;
    progress.applied = count;
    Ok(())
}

/// The changes of one graph into another.
pub struct ChangeFeedAdapter {
    feed: Arc<dyn ChangeFeedReader>,
    graph: Arc<dyn ChangeEnvelopes>,
    places: Arc<dyn KeyValueStore>,
    map: Box<MapChange>,
    name: String,
    limit: usize,
}

impl std::fmt::Debug for ChangeFeedAdapter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChangeFeedAdapter").field("feed", &self.name).finish_non_exhaustive()
    }
}

impl ChangeFeedAdapter {
    /// Reads a feed under a name, `limit` changes (1 to 1000) at a time; its place is kept under that name.
    pub fn new(
        feed: Arc<dyn ChangeFeedReader>,
        graph: Arc<dyn ChangeEnvelopes>,
        places: Arc<dyn KeyValueStore>,
        name: impl Into<String>,
        limit: usize,
        map: impl Fn(&GraphChange) -> Result<Option<EventEnvelope>, MessageRefusal> + Send + Sync + 'static,
    ) -> Self {
        let limit = limit.clamp(1, MAX_BATCH);
        Self { feed, graph, places, map: Box::new(map), name: name.into(), limit }
    }

    /// One page: read, map, apply, remember the place. A gap is [`MessageRefusal::Gap`] and the place stands: read the graph as a
    /// whole, then [`Self::resume_at`] the newest position.
    pub async fn step(&self) -> Result<StreamProgress, MessageRefusal> {
        let stored = self.places.get(NAMESPACE, &self.name).await?;
        let from = stored.as_ref().map(|entry| place(&entry.value)).transpose()?;
        let page = self.feed.read(from, self.limit).await?;
        if page.gap {
            return Err(MessageRefusal::Gap { feed: self.name.clone() });
        }
        let mut progress = StreamProgress { read: page.changes.len(), ..Default::default() };
        if progress.read == 0 && from.is_some() {
            return Ok(progress);
        }
        let events = page
            .changes
            .iter()
            .map(|change| Ok((self.map)(change)?.map(|event| (change.seq, event))))
            .filter_map(Result::transpose);
        let events = events.collect::<Result<Vec<_>, MessageRefusal>>()?;
        // Sequences start anew with each epoch, so each has a cursor of its own.
        take(&*self.graph, &format!("feed:{}", self.name), &page.next.epoch.to_string(), events, &mut progress).await?;
        self.remember(stored.map(|entry| entry.version), page.next).await?;
        Ok(progress)
    }

    /// Goes on at a position, after a gap was repaired.
    pub async fn resume_at(&self, position: ChangePosition) -> Result<(), MessageRefusal> {
        let stored = self.places.get(NAMESPACE, &self.name).await?;
        self.remember(stored.map(|entry| entry.version), position).await
    }

    async fn remember(&self, version: Option<u64>, at: ChangePosition) -> Result<(), MessageRefusal> {
        let text = format!("{}:{}", at.epoch, at.seq);
        self.places.compare_and_swap(NAMESPACE, &self.name, version, text.as_bytes()).await?;
        Ok(())
    }
}

fn place(bytes: &[u8]) -> Result<ChangePosition, MessageRefusal> {
    let read = || {
        let (epoch, seq) = std::str::from_utf8(bytes).ok()?.split_once(':')?;
        Some(ChangePosition { epoch: epoch.parse().ok()?, seq: seq.parse().ok()? })
    };
    read().ok_or(MessageRefusal::Invalid { what: "the kept place in the feed cannot be read" })
}
