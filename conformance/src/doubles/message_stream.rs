//! Wrong message streams.

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::messaging::{Message, MessageRefusal, StreamBounds};
use scion_ports::MessageStream;

use crate::reference::MemoryMessages;
use crate::suites::message_stream::MessageStreamFixture;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamFlaw {
    /// Nothing; the reference.
    None,
    /// Reads from behind the asked offset.
    SkipsOne,
    /// Reads the newest first.
    Unordered,
    /// One stream for all.
    OneStream,
    /// Drops a message published beside another.
    Drops,
    /// Forgets everything at a restart.
    Forgets,
    /// One offset for all groups.
    OneGroup,
    /// Lets a group go back.
    GoesBack,
    /// Keeps everything.
    NeverTrims,
    /// Trims one message more than it should.
    TrimsTooMuch,
    /// Has no bounds.
    Unbounded,
}

impl StreamFlaw {
    /// Every flaw.
    pub const ALL: &'static [Self] = &[
        Self::SkipsOne,
        Self::Unordered,
        Self::OneStream,
        Self::Drops,
        Self::Forgets,
        Self::OneGroup,
        Self::GoesBack,
        Self::NeverTrims,
        Self::TrimsTooMuch,
        Self::Unbounded,
    ];
}

/// Streams with a flaw over the reference.
#[derive(Debug)]
pub struct FlawedStream {
    inner: MemoryMessages,
    flaw: StreamFlaw,
}

impl FlawedStream {
    fn name<'a>(&self, stream: &'a str) -> &'a str {
        if self.flaw == StreamFlaw::OneStream { "all" } else { stream }
    }

    fn group<'a>(&self, group: &'a str) -> &'a str {
        if self.flaw == StreamFlaw::OneGroup { "all" } else { group }
    }
}

#[async_trait]
impl MessageStream for FlawedStream {
    async fn declare(&self, stream: &str, bounds: StreamBounds) -> Result<(), MessageRefusal> {
        let tight = StreamBounds { max_messages: bounds.max_messages.map(|most| most.saturating_sub(1)), ..bounds };
        let bounds = if self.flaw == StreamFlaw::TrimsTooMuch { tight } else { bounds };
        self.inner.declare(self.name(stream), bounds).await
    }

    async fn publish(&self, stream: &str, payload: &[u8], now_ms: i64) -> Result<u64, MessageRefusal> {
        let bad = stream.is_empty() || stream.len() > 512 || payload.len() > 256 << 10;
        if self.flaw == StreamFlaw::Unbounded && bad {
            return Ok(0);
        }
        if self.flaw == StreamFlaw::Drops && payload == [9] {
            return Ok(9);
        }
        self.inner.publish(self.name(stream), payload, now_ms).await
    }

    async fn read(&self, stream: &str, from: u64, limit: usize) -> Result<Vec<Message>, MessageRefusal> {
        let from = if self.flaw == StreamFlaw::SkipsOne { from.saturating_add(1) } else { from };
        let mut found = self.inner.read(self.name(stream), from, limit).await?;
        if self.flaw == StreamFlaw::Unordered {
            found.reverse();
        }
        Ok(found)
    }

    async fn commit(&self, stream: &str, group: &str, next: u64) -> Result<(), MessageRefusal> {
        let (stream, group) = (self.name(stream), self.group(group));
        match self.inner.commit(stream, group, next).await {
            Err(MessageRefusal::Behind { .. }) if self.flaw == StreamFlaw::GoesBack => Ok(()),
            other => other,
        }
    }

    async fn committed(&self, stream: &str, group: &str) -> Result<Option<u64>, MessageRefusal> {
        self.inner.committed(self.name(stream), self.group(group)).await
    }

    async fn trim(&self, stream: &str, now_ms: i64) -> Result<u64, MessageRefusal> {
        if self.flaw == StreamFlaw::NeverTrims {
            return Ok(0);
        }
        self.inner.trim(self.name(stream), now_ms).await
    }
}

/// A fixture of flawed streams.
#[derive(Clone, Copy, Debug)]
pub struct FlawedStreams(pub StreamFlaw);

#[async_trait]
impl MessageStreamFixture for FlawedStreams {
    async fn open(&self) -> Arc<dyn MessageStream> {
        Arc::new(FlawedStream { inner: MemoryMessages::default(), flaw: self.0 })
    }

    async fn reopen(&self, store: Arc<dyn MessageStream>) -> Arc<dyn MessageStream> {
        if self.0 == StreamFlaw::Forgets { self.open().await } else { store }
    }
}
