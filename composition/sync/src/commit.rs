//! One batch into the graph, exactly once, with proof.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use scion_domain::id::{Digest256, RecordId};
use scion_domain::model::{Disposition, RawAdmission, SourceBatch, SourceReceipt, StreamStatus, Tombstone};
use scion_domain::refusal::{Refusal as _, Retry};
use scion_domain::sink::{SinkRefusal, StoreRefusal};
use scion_domain::sync::SyncRefusal;
use scion_ports::{Clock, RecordDigests, Sink};
use tokio::sync::Semaphore;

use crate::deadline::Deadline;
use crate::expected::Expected;
use crate::fault::{CommitPoint, FaultSeam, NoFaults};

/// The total time of one commit with everything around it, when the caller names none.
pub const DEFAULT_COMMIT_DEADLINE: Duration = Duration::from_mins(2);

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// A receipt that was checked against the batch it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedReceipt {
    /// The receipt.
    pub receipt: SourceReceipt,
    /// The reply was lost and the store's status proved the commit. The store's own words are missing then:
    /// `receipt_digest` is [`Digest256::ZERO`], `deduplicated` is false everywhere and `tombstones` holds the
    /// withdrawals of the batch, not the records a reconcile batch withdrew.
    pub settled_by_readback: bool,
}

/// Commits batches under one total deadline, verifies every receipt, and settles unknown outcomes by reading the stream's
/// status, never by sending blindly again.
#[derive(Clone)]
pub struct Committer {
    /// Where batches go.
    pub sink: Arc<dyn Sink>,
    /// Where accepted record digests are noted.
    pub digests: Arc<dyn RecordDigests>,
    /// The total time of one commit, retries and readback included.
    pub deadline: Duration,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// The seam of the simulation; [`NoFaults`] in real runs.
    pub faults: Arc<dyn FaultSeam>,
    /// Places for as many batches under way as the sink admits, shared by all clones.
    slots: Arc<Semaphore>,
}

enum Settled {
    Committed(Box<StreamStatus>),
    NotCommitted,
    Moved,
}

impl Committer {
    /// A committer with the default deadline and no faults.
    pub fn new(sink: Arc<dyn Sink>, digests: Arc<dyn RecordDigests>, clock: Arc<dyn Clock>) -> Self {
        let slots = Arc::new(Semaphore::new(sink.capabilities().max_in_flight.clamp(1, Semaphore::MAX_PERMITS)));
        Self { sink, digests, deadline: DEFAULT_COMMIT_DEADLINE, clock, faults: Arc::new(NoFaults), slots }
    }

    /// Commits one batch. When this returns a receipt, the batch is durable and its record digests are noted.
    ///
    /// Refuses with the sink's own refusal, [`SyncRefusal::ReceiptMismatch`] when the answer does not bind the batch, or
    /// [`SyncRefusal::CommitUnsettled`] when the deadline passed first; then nothing may be assumed and the next run
    /// starts from the accepted checkpoint. Dropping the future is safe in the same way.
    pub async fn commit(&self, batch: &SourceBatch) -> Result<VerifiedReceipt, SyncRefusal> {
        batch.check(self.sink.capabilities().cross_stream_relationships).map_err(SinkRefusal::from)?;
        let deadline = Deadline::after(&*self.clock, self.deadline);
        let verified = {
            let waiting = deadline.run(deadline.remaining(), self.slots.acquire()).await;
            let _slot = waiting.ok_or_else(|| unsettled(batch))?;
            self.send(batch, &deadline).await?
        };
        self.faults.reach(CommitPoint::BeforeDigests).await;
        self.note_digests(batch, &verified.receipt, &deadline).await?;
        self.faults.reach(CommitPoint::AfterDigests).await;
        Ok(verified)
    }

    async fn send(&self, batch: &SourceBatch, deadline: &Deadline<'_>) -> Result<VerifiedReceipt, SyncRefusal> {
        let mut pause = FIRST_PAUSE;
        let mut known: Option<Expected> = None;
        // Why the last offer was refused, when that alone is known to have changed nothing.
        let mut away: Option<SinkRefusal> = None;
        while !deadline.has_passed() {
            // Half of what is left: the other half must be enough to read the outcome back.
            let mut answer = std::pin::pin!(deadline.run(deadline.remaining() / 2, self.offer(batch)));
            let mut early = None;
            if known.is_none() {
                // What the receipt must say is worked out while the sink writes.
                early = std::future::poll_fn(|task| Poll::Ready(ready(answer.as_mut().poll(task)))).await;
                known = Some(Expected::of(batch)?);
            }
            let answer = match early {
                Some(answer) => answer,
                None => answer.await,
            };
            let Some(expected) = &known else { break };
            let refusal = match answer {
                Some(Ok(receipt)) => {
                    expected.verify(batch, &receipt)?;
                    return Ok(VerifiedReceipt { receipt, settled_by_readback: false });
                }
                // A refused batch changed nothing (Sink O1), so these are simply offered again.
                Some(Err(
                    refusal @ SinkRefusal::Store {
                        refusal: StoreRefusal::Locked { .. } | StoreRefusal::Unavailable { .. },
                    },
                )) => {
                    away = Some(refusal);
                    None
                }
                Some(Err(SinkRefusal::OutcomeUnknown)) | None => Some(SinkRefusal::OutcomeUnknown),
                Some(Err(conflict @ SinkRefusal::Conflict { .. })) => Some(conflict),
                Some(Err(other)) => return Err(other.into()),
            };
            if let Some(refusal) = refusal {
                away = None;
                match self.settle(batch, expected, deadline).await? {
                    Settled::Committed(status) => return self.recover(batch, expected, *status, deadline).await,
                    Settled::NotCommitted if matches!(refusal, SinkRefusal::OutcomeUnknown) => {}
                    Settled::NotCommitted | Settled::Moved => return Err(conflict(batch).into()),
                }
            }
            deadline.pause(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        Err(away.map_or_else(|| unsettled(batch), SyncRefusal::from))
    }

    async fn offer(&self, batch: &SourceBatch) -> Result<SourceReceipt, SinkRefusal> {
        self.faults.reach(CommitPoint::BeforeCommit).await;
        let answer = self.sink.commit(batch).await;
        self.faults.reach(CommitPoint::AfterCommit).await;
        answer
    }

    /// Reads what the store has of the stream until it answers or the deadline passes.
    async fn settle(
        &self,
        batch: &SourceBatch,
        expected: &Expected,
        deadline: &Deadline<'_>,
    ) -> Result<Settled, SyncRefusal> {
        let mut pause = FIRST_PAUSE;
        while !deadline.has_passed() {
            self.faults.reach(CommitPoint::BeforeReadback).await;
            let reading = self.sink.status(&batch.connector, &batch.provider_checkpoint.stream);
            match deadline.run(deadline.remaining() / 2, reading).await {
                Some(Ok(status)) => return Ok(judge(batch, expected, status)),
                Some(Err(refusal)) if refusal.retry() == Retry::Never => return Err(refusal.into()),
                Some(Err(_)) | None => {}
            }
            deadline.pause(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        Err(unsettled(batch))
    }

    /// Rebuilds the receipt of a batch whose commit the status has proved.
    async fn recover(
        &self,
        batch: &SourceBatch,
        expected: &Expected,
        status: StreamStatus,
        deadline: &Deadline<'_>,
    ) -> Result<VerifiedReceipt, SyncRefusal> {
        if status.accepted_checkpoint_digest != Some(expected.checkpoint) {
            let stream = batch.provider_checkpoint.stream.to_string();
            return Err(SyncRefusal::ReceiptMismatch { stream, what: "the checkpoint" });
        }
        let pack = deadline.run(deadline.remaining(), self.sink.pack_status(&batch.connector)).await;
        let pack = pack.ok_or_else(|| unsettled(batch))??;
        let raw_admissions = batch.records.iter().zip(&expected.raw).map(|(record, raw)| RawAdmission {
            entity: record.entity.clone(),
            raw_digest: *raw,
            deduplicated: false,
        });
        let tombstones =
            batch.withdrawals.iter().map(|gone| Tombstone { entity: gone.entity.clone(), reason: gone.reason.clone() });
        let receipt = SourceReceipt {
            receipt_id: status.last_receipt_id.unwrap_or_else(|| expected.receipt_id()),
            disposition: Disposition::Replayed,
            mode: batch.mode,
            batch_digest: expected.batch,
            raw_admissions: raw_admissions.collect(),
            tombstones: tombstones.collect(),
            accepted_checkpoint: batch.provider_checkpoint.clone(),
            accepted_checkpoint_digest: expected.checkpoint,
            affected_count: (batch.records.len() + batch.relationships.len()) as u64,
            relationship_count: batch.relationships.len() as u64,
            contract_digest: pack.accepted_digest.unwrap_or(Digest256::ZERO),
            contract_revision: pack.revision.unwrap_or(0),
            committed_graph_version: status.committed_graph_version.unwrap_or(0),
            receipt_digest: Digest256::ZERO,
        };
        expected.verify(batch, &receipt)?;
        Ok(VerifiedReceipt { receipt, settled_by_readback: true })
    }

    async fn note_digests(
        &self,
        batch: &SourceBatch,
        receipt: &SourceReceipt,
        deadline: &Deadline<'_>,
    ) -> Result<(), SyncRefusal> {
        let digests: Vec<(RecordId, Digest256)> =
            batch.records.iter().map(|record| (record.entity.record_id.clone(), record.content_digest)).collect();
        let stream = &batch.provider_checkpoint.stream;
        let noting = self.digests.accepted(&batch.connector, stream, &digests, receipt);
        // Without this note the records are at worst submitted once more (RecordDigests O3).
        deadline.run(deadline.remaining(), noting).await.ok_or_else(|| unsettled(batch))?.map_err(SyncRefusal::from)
    }
}

fn ready<T>(poll: Poll<T>) -> Option<T> {
    match poll {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

fn judge(batch: &SourceBatch, expected: &Expected, status: StreamStatus) -> Settled {
    if status.last_batch_digest == Some(expected.batch) {
        Settled::Committed(Box::new(status))
    } else if status.accepted_checkpoint == batch.expected_previous_checkpoint {
        Settled::NotCommitted
    } else {
        Settled::Moved
    }
}

fn conflict(batch: &SourceBatch) -> SinkRefusal {
    SinkRefusal::Conflict { stream: batch.provider_checkpoint.stream.to_string() }
}

fn unsettled(batch: &SourceBatch) -> SyncRefusal {
    SyncRefusal::CommitUnsettled { stream: batch.provider_checkpoint.stream.to_string() }
}
