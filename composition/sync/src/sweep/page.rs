//! What one page does to the store.

use std::collections::{BTreeMap, HashSet};

use scion_domain::digest;
use scion_domain::id::{Digest256, RecordId};
use scion_domain::model::{EntityRef, IngestMode, SourceBatch, SourceCheckpoint, SourceRecord, Withdrawal};
use scion_domain::pagination::mark;
use scion_domain::sync::SyncRefusal;

use super::ahead::Prepared;
use super::parts::{Part, cut};
use super::run::Sweep;
use super::shape::stubs_to_send;
use crate::report::BatchEvidence;

/// What the last batch of a page carries beside records.
#[derive(Default)]
struct Extra {
    withdrawals: Vec<Withdrawal>,
    live: Option<Vec<EntityRef>>,
}

impl Sweep<'_> {
    /// Takes one page in: sends what changed, or only moves on in memory.
    pub(super) async fn take(&mut self, page: Prepared) -> Result<(), SyncRefusal> {
        let mode = page.mode;
        self.note_mode(mode);
        self.report.unchanged += page.raw_count.saturating_sub(page.count) as u64;
        let next = self.next_checkpoint(&page);
        let last = page.next_position.is_none();
        let shaped = page.shaped?;
        self.report.unchanged += shaped.unchanged;
        self.report.self_references += shaped.self_references;
        self.live_stubs.extend(shaped.live_stubs);
        let live = page.listed.as_ref().filter(|_| mode == IngestMode::Reconcile);
        let stubs = self.stubs(shaped.stubs, &page.ids, live).await?;
        let parts = cut(shaped.items, stubs, &self.runner.ports.committer.sink.capabilities());
        let mut extra = Extra { withdrawals: self.withdrawals(page.withdrawals).await?, live: None };
        if let Some(live) = live.filter(|_| last) {
            extra.live = self.live_set(live, parts.is_empty());
        }
        self.send(mode, parts, extra, next, last).await
    }

    fn next_checkpoint(&self, page: &Prepared) -> SourceCheckpoint {
        let position = page.next_position.clone();
        let page_ends_sweep = position.is_none();
        let mut next = if self.plan.opaque_watermark {
            mark::advance_opaque(&self.current, page.watermark.clone(), position)
        } else {
            mark::advance_checkpoint(&self.current, &page.changed_at, position)
        };
        if let Some(mark) = self.mark_that_stays() {
            if page_ends_sweep {
                next.watermark = Some(mark);
            } else {
                next.pending_watermark.clone_from(&self.current.pending_watermark);
            }
        }
        next.content_hash = page.content_hash.or(self.current.content_hash);
        next
    }

    /// A full sweep does not say what is gone. Where changes do, its mark is the one of its first page, or the accepted one,
    /// so that whatever goes away while it runs, or went away before it, is among the changes asked for next.
    fn mark_that_stays(&self) -> Option<String> {
        let full = self.plan.withdraws && self.since.is_none();
        let mark = || self.current.watermark.clone().or_else(|| self.current.pending_watermark.clone());
        full.then(mark).flatten()
    }

    async fn stubs(
        &self,
        mut stubs: BTreeMap<RecordId, SourceRecord>,
        real: &HashSet<RecordId>,
        live: Option<&HashSet<RecordId>>,
    ) -> Result<BTreeMap<RecordId, SourceRecord>, SyncRefusal> {
        stubs.retain(|id, _| !real.contains(id));
        let ids: Vec<RecordId> = stubs.keys().cloned().collect();
        let stored = self.runner.stored_digests(self.plan, &ids).await?;
        Ok(stubs_to_send(stubs, &stored, live))
    }

    /// Withdrawals of records that are live. A source that repeats itself at the edge of two deltas is not an error.
    async fn withdrawals(&self, gone: Vec<(RecordId, String)>) -> Result<Vec<Withdrawal>, SyncRefusal> {
        let ids: Vec<RecordId> = gone.iter().map(|(id, _)| id.clone()).collect();
        let stored = self.runner.stored_digests(self.plan, &ids).await?;
        let live = gone.into_iter().zip(stored).filter(|(_, stored)| stored.is_some());
        Ok(live.map(|((id, reason), _)| Withdrawal { entity: self.entity(id), reason }).collect())
    }

    fn entity(&self, record_id: RecordId) -> EntityRef {
        EntityRef { stream: self.plan.stream.clone(), record_id }
    }

    /// The live set of the sweep's last page, when it has to be sent. Only a sweep that was read as a whole knows the stubs
    /// its records need; a resumed one leaves the withdrawals to the next.
    fn live_set(&mut self, listed: &HashSet<RecordId>, nothing_else: bool) -> Option<Vec<EntityRef>> {
        let has_stubs = self.plan.edges.iter().any(|edge| edge.stub_mapping.is_some());
        if has_stubs && !self.from_start {
            return None;
        }
        let mut ids: Vec<RecordId> = listed.union(&self.live_stubs).cloned().collect();
        ids.sort_unstable();
        let live: Vec<EntityRef> = ids.into_iter().map(|id| self.entity(id)).collect();
        let known = self.accepted.as_ref().map(|accepted| reconciled(&live, accepted));
        if nothing_else && known.is_some() && self.progress.live_set == known {
            return None;
        }
        Some(live)
    }

    async fn send(
        &mut self,
        mode: IngestMode,
        parts: Vec<Part>,
        extra: Extra,
        next: SourceCheckpoint,
        last: bool,
    ) -> Result<(), SyncRefusal> {
        let nothing = parts.is_empty() && extra.withdrawals.is_empty() && extra.live.is_none();
        if nothing {
            self.parts_done = 0;
            self.current = next;
            return Ok(());
        }
        self.check_contract(last).await?;
        let mut parts = parts.into_iter();
        let mut part = parts.next().unwrap_or_default();
        for following in parts {
            let mut between = self.current.clone();
            if self.plan.withdraws && self.since.is_none() && self.mark_that_stays().is_none() {
                // The page is read again if the run ends here, and is then not what it was.
                between.pending_watermark = next.pending_watermark.clone().or_else(|| next.watermark.clone());
            }
            let batch_mode = if mode == IngestMode::Delta { mode } else { IngestMode::Full };
            let between = self.marked(between, self.parts_done + 1);
            self.commit(batch_mode, part, Extra::default(), between).await?;
            self.parts_done += 1;
            part = following;
        }
        let batch_mode = match (mode, &extra.live) {
            (_, Some(_)) => IngestMode::Reconcile,
            (IngestMode::Delta, None) => IngestMode::Delta,
            _ => IngestMode::Full,
        };
        self.parts_done = 0;
        self.move_on(batch_mode, part, extra, next).await
    }

    /// Every batch must be one the store has never seen: it takes a batch it knows for a repeated delivery and does
    /// nothing. A record that changes and changes back, or a position saved in every sweep, would make such a batch. So
    /// each checkpoint after the first sweep carries a digest of the one before it.
    fn chained(&self, mut next: SourceCheckpoint) -> SourceCheckpoint {
        if let Some(accepted) = self.accepted.as_ref().filter(|_| self.chained) {
            let before = digest::checkpoint(accepted);
            let mut fields: Vec<&[u8]> = vec![before.as_bytes()];
            fields.extend(next.content_hash.as_ref().map(|hash| hash.as_bytes().as_slice()));
            next.content_hash = Some(digest::framed("scion/checkpoint-chain/v1", &fields));
        }
        next
    }

    pub(super) async fn commit_empty(&mut self, next: SourceCheckpoint) -> Result<(), SyncRefusal> {
        self.move_on(IngestMode::Delta, Part::default(), Extra::default(), next).await
    }

    /// Commits the last batch of a page and stands behind it.
    async fn move_on(
        &mut self,
        mode: IngestMode,
        part: Part,
        extra: Extra,
        mut next: SourceCheckpoint,
    ) -> Result<(), SyncRefusal> {
        let marked = self.marked(next.clone(), 0);
        next.content_hash = self.commit(mode, part, extra, marked).await?;
        self.current = next;
        Ok(())
    }

    async fn commit(
        &mut self,
        mode: IngestMode,
        part: Part,
        extra: Extra,
        next: SourceCheckpoint,
    ) -> Result<Option<Digest256>, SyncRefusal> {
        let next = self.chained(next);
        let empty_live = extra.live.as_ref().is_some_and(Vec::is_empty);
        let batch = SourceBatch {
            connector: self.plan.connector.clone(),
            mode,
            strict_schema: self.plan.strict_schema,
            records: part.records,
            relationships: part.relationships,
            provider_checkpoint: next,
            expected_previous_checkpoint: self.accepted.clone(),
            authoritative_live_ids: extra.live,
            empty_authoritative_approval: self.plan.empty_approval.clone().filter(|_| empty_live),
            withdrawals: extra.withdrawals,
        };
        self.report.cursor_offered = Some(batch.provider_checkpoint.clone());
        let verified = self.runner.ports.committer.commit(&batch).await?;
        let evidence = BatchEvidence::of(&batch, &verified, &self.plan.contract_iri);
        self.report.submitted += evidence.records - part.stubs;
        self.report.stubs += part.stubs;
        self.report.relationships += evidence.relationships;
        self.report.withdrawn += evidence.withdrawn;
        let first = self.report.batches.is_empty();
        self.progress.sequence += 1;
        self.progress.last_receipt = Some(evidence.receipt_id.clone());
        self.report.batches.push(evidence);
        let accepted = batch.provider_checkpoint;
        if let Some(live) = &batch.authoritative_live_ids {
            self.progress.live_set = Some(reconciled(live, &accepted));
        }
        let content_hash = accepted.content_hash;
        self.accepted = Some(accepted);
        self.report.cursor_after.clone_from(&self.accepted);
        // The document follows the first receipt of a cycle, so that the accepted contract is durable with the first batch,
        // and the end of the cycle. In between the store's own status is the authority.
        if first {
            self.save().await?;
        }
        Ok(content_hash)
    }
}

/// What is remembered of a reconciliation: the live set, and the checkpoint it was accepted at. Whatever is committed after
/// it moves the checkpoint, so that the memory holds only while nothing was.
fn reconciled(live: &[EntityRef], accepted: &SourceCheckpoint) -> Digest256 {
    let (live, accepted) = (digest::live_set(live), digest::checkpoint(accepted));
    digest::framed("scion/reconciled/v1", &[live.as_bytes(), accepted.as_bytes()])
}
