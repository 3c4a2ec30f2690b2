//! Graphs that take change envelopes wrongly.

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::messaging::{BatchOutcome, ChangeBatch, MessageRefusal, NodeChange, NodeState};
use scion_ports::ChangeEnvelopes;

use crate::reference::MemoryMessages;
use crate::suites::change_envelopes::ChangeEnvelopesFixture;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnvelopeFlaw {
    /// Nothing; the reference.
    None,
    /// Forgets everything at a restart.
    Forgets,
    /// Applies a batch whatever it follows.
    NoCursor,
    /// One cursor for all partitions.
    OnePartition,
    /// Applies a replay again.
    AppliesAgain,
    /// Calls every batch it cannot apply a replay.
    SwallowsContradictions,
    /// Keeps removed nodes.
    NeverRemoves,
    /// Makes the first node of a refused batch all the same.
    HalfApplied,
}

impl EnvelopeFlaw {
    /// Every flaw.
    pub const ALL: &'static [Self] = &[
        Self::Forgets,
        Self::NoCursor,
        Self::OnePartition,
        Self::AppliesAgain,
        Self::SwallowsContradictions,
        Self::NeverRemoves,
        Self::HalfApplied,
    ];
}

#[derive(Debug)]
struct FlawedEnvelopes {
    inner: MemoryMessages,
    flaw: EnvelopeFlaw,
}

impl FlawedEnvelopes {
    /// Applies under whatever cursor the inner graph has.
    async fn force(&self, batch: &ChangeBatch) -> Result<BatchOutcome, MessageRefusal> {
        // A partition of its own has no cursor to be held against.
        let events = batch.drafts().iter().map(|draft| (draft.position, draft.event.clone())).collect();
        let (source, partition) = (batch.source(), batch.partition());
        let forced = ChangeBatch::new(source, &format!("{partition}-forced-{}", batch.last()), None, events)?;
        self.inner.apply(&forced).await
    }
}

#[async_trait]
impl ChangeEnvelopes for FlawedEnvelopes {
    async fn apply(&self, batch: &ChangeBatch) -> Result<BatchOutcome, MessageRefusal> {
        let events = || batch.drafts().iter().map(|draft| (draft.position, draft.event.clone()));
        match self.flaw {
            EnvelopeFlaw::NoCursor => {
                self.force(batch).await?;
                Ok(BatchOutcome::Applied)
            }
            EnvelopeFlaw::OnePartition => {
                let one = ChangeBatch::new("all", "", batch.expected(), events().collect())?;
                self.inner.apply(&one).await
            }
            EnvelopeFlaw::NeverRemoves => {
                let kept = events().filter(|(_, event)| event.change != NodeChange::Remove).collect();
                self.inner.apply(&ChangeBatch::new(batch.source(), batch.partition(), batch.expected(), kept)?).await
            }
            flaw => match (flaw, self.inner.apply(batch).await) {
                (EnvelopeFlaw::AppliesAgain, Ok(BatchOutcome::Replayed)) => {
                    self.force(batch).await?;
                    Ok(BatchOutcome::Replayed)
                }
                (EnvelopeFlaw::SwallowsContradictions, Err(MessageRefusal::Rejected { .. })) => {
                    Ok(BatchOutcome::Replayed)
                }
                (EnvelopeFlaw::HalfApplied, Err(refusal)) => {
                    self.force(batch).await?;
                    Err(refusal)
                }
                (_, outcome) => outcome,
            },
        }
    }

    async fn cursor(&self, source: &str, partition: &str) -> Result<Option<u64>, MessageRefusal> {
        self.inner.cursor(source, partition).await
    }

    async fn node(&self, node: &str) -> Result<Option<NodeState>, MessageRefusal> {
        self.inner.node(node).await
    }
}

/// A fixture of flawed graphs.
#[derive(Clone, Copy, Debug)]
pub struct FlawedEnvelopeGraphs(pub EnvelopeFlaw);

#[async_trait]
impl ChangeEnvelopesFixture for FlawedEnvelopeGraphs {
    async fn open(&self) -> Arc<dyn ChangeEnvelopes> {
        Arc::new(FlawedEnvelopes { inner: MemoryMessages::default(), flaw: self.0 })
    }

    async fn reopen(&self, graph: Arc<dyn ChangeEnvelopes>) -> Arc<dyn ChangeEnvelopes> {
        if self.0 == EnvelopeFlaw::Forgets { self.open().await } else { graph }
    }
}
