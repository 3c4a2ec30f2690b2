//! Wrong feeds of changes.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use scion_domain::messaging::{ChangeBatch, ChangePage, ChangePosition, MessageRefusal};
use scion_ports::{ChangeEnvelopes as _, ChangeFeedReader};

use crate::reference::MemoryMessages;
use crate::suites::change_envelopes::put;
use crate::suites::change_feed_reader::ChangeFeedFixture;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedFlaw {
    /// Nothing; the reference.
    None,
    /// Gives the last change of a page again.
    Repeats,
    /// Shows a change one read later.
    Late,
    /// Starts at the newest change when it cannot go on.
    HidesGaps,
    /// Takes a sequence of any epoch.
    AnyEpoch,
    /// Has no bounds.
    Unbounded,
}

impl FeedFlaw {
    /// Every flaw.
    pub const ALL: &'static [Self] = &[Self::Repeats, Self::Late, Self::HidesGaps, Self::AnyEpoch, Self::Unbounded];
}

#[derive(Debug)]
struct FlawedFeed {
    inner: MemoryMessages,
    flaw: FeedFlaw,
}

#[async_trait]
impl ChangeFeedReader for FlawedFeed {
    async fn read(&self, from: Option<ChangePosition>, limit: usize) -> Result<ChangePage, MessageRefusal> {
        let bounded = if self.flaw == FeedFlaw::Unbounded { limit.clamp(1, 1000) } else { limit };
        let from = from.map(|at| if self.flaw == FeedFlaw::AnyEpoch { ChangePosition { epoch: 0, ..at } } else { at });
        let mut page = self.inner.read(from, bounded).await?;
        match self.flaw {
            FeedFlaw::Repeats if !page.changes.is_empty() => page.next.seq -= 1,
            FeedFlaw::Late => {
                page.next.seq -= page.changes.pop().map_or(0, |_| 1);
            }
            FeedFlaw::HidesGaps => page.gap = false,
            _ => {}
        }
        Ok(page)
    }
}

/// A fixture of flawed feeds.
#[derive(Debug)]
pub struct FlawedFeeds {
    flaw: FeedFlaw,
    opened: Mutex<(MemoryMessages, u64)>,
}

impl FlawedFeeds {
    /// A fixture.
    pub fn new(flaw: FeedFlaw) -> Self {
        Self { flaw, opened: Mutex::default() }
    }
}

#[async_trait]
impl ChangeFeedFixture for FlawedFeeds {
    async fn open(&self) -> Arc<dyn ChangeFeedReader> {
        let inner = MemoryMessages::default();
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = (inner.clone(), 0);
        Arc::new(FlawedFeed { inner, flaw: self.flaw })
    }

    async fn add(&self, node: &str) {
        let (graph, at) = {
            let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
            opened.1 += 1;
            (opened.0.clone(), opened.1)
        };
        let expected = (at > 1).then(|| at - 1);
        if let Ok(batch) = ChangeBatch::new("test", "", expected, vec![(at, put(node, "text"))]) {
            let applied = graph.apply(&batch).await;
            debug_assert!(applied.is_ok());
        }
    }

    async fn lose(&self) -> Arc<dyn ChangeFeedReader> {
        let (inner, at) = self.opened.lock().unwrap_or_else(PoisonError::into_inner).clone();
        inner.forget_changes_before(at);
        Arc::new(FlawedFeed { inner, flaw: self.flaw })
    }
}
