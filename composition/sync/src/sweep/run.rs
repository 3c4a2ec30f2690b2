//! One cycle of one stream, page after page.

use std::collections::HashSet;
use std::time::Duration;

use scion_domain::id::{Digest256, RecordId};
use scion_domain::json::{Json, JsonObject};
use scion_domain::mcp::McpRefusal;
use scion_domain::model::{IngestMode, SourceCheckpoint};
use scion_domain::refusal::Retry;
use scion_domain::retry::{Attempt, Decision};
use scion_domain::source::{SourceContract, SourceRefusal};
use scion_domain::sync::SyncRefusal;
use scion_ports::SourceAdapter;
use tokio_util::sync::CancellationToken;

use super::ahead::{Pages, Prepared};
use super::parts::Marks;
use super::plan::StreamPlan;
use super::progress::Progress;
use super::shape::Shaper;
use super::{ContractBinding, SourceSyncRunner};
use crate::deadline::Deadline;
use crate::events;
use crate::fault::CommitPoint;
use crate::report::{SourceSyncReport, SyncState};

/// The state of one cycle.
pub(super) struct Sweep<'a> {
    pub(super) runner: &'a SourceSyncRunner,
    pub(super) plan: &'a StreamPlan,
    pub(super) source: &'a dyn SourceAdapter,
    pub(super) binding: &'a dyn ContractBinding,
    pub(super) cancel: &'a CancellationToken,
    pub(super) report: &'a mut SourceSyncReport,
    pub(super) progress: Progress,
    /// As last read or written, to tell whether there is anything to write.
    pub(super) saved: Progress,
    /// What the store has accepted.
    pub(super) accepted: Option<SourceCheckpoint>,
    /// Where the sweep stands; ahead of `accepted` while pages had nothing to send.
    pub(super) current: SourceCheckpoint,
    /// Parts of the current page that are committed.
    pub(super) parts_done: u64,
    /// The watermark changes are asked for since; `None` in a full sweep.
    pub(super) since: Option<String>,
    /// Positions inside this sweep say that it is a full one.
    pub(super) marks: bool,
    /// Changes announced when the contract was last looked at.
    pub(super) generation: u64,
    /// The stream has completed a sweep before, so checkpoints are chained.
    pub(super) chained: bool,
    /// The sweep began at its first page in this cycle.
    pub(super) from_start: bool,
    /// Stubs referenced by the sweep so far, live although the source does not list them.
    pub(super) live_stubs: HashSet<RecordId>,
}

impl SourceSyncRunner {
    pub(super) async fn run(
        &self,
        plan: &StreamPlan,
        source: &dyn SourceAdapter,
        binding: &dyn ContractBinding,
        cancel: &CancellationToken,
        report: &mut SourceSyncReport,
    ) -> Result<(), SyncRefusal> {
        if cancel.is_cancelled() {
            return Err(SyncRefusal::Cancelled);
        }
        let mut progress = self.load(&plan.connector, &plan.stream).await?;
        self.lift_restored(plan, source, cancel, &mut progress).await?;
        self.respect_hold(plan, &mut progress).await?;
        plan.check_sink(self.ports.committer.sink.capabilities())?;
        let generation = binding.generation();
        binding.check().await?;
        let contract = self.read_contract(source, cancel).await?;
        let saved = progress.clone();
        self.gate(plan, &mut progress, &contract, Digest256::ZERO).await?;
        self.reach(CommitPoint::BeforeStatus).await;
        let status = self.store_call(self.ports.committer.sink.status(&plan.connector, &plan.stream)).await?;
        let accepted = status.accepted_checkpoint;
        report.cursor_before.clone_from(&accepted);
        report.cursor_after.clone_from(&accepted);
        let current = accepted.clone().unwrap_or_else(|| SourceCheckpoint::start(plan.stream.clone()));
        let mut sweep = Sweep {
            runner: self,
            plan,
            source,
            binding,
            cancel,
            report,
            progress,
            saved,
            accepted,
            current,
            parts_done: 0,
            since: None,
            marks: false,
            generation,
            chained: false,
            from_start: true,
            live_stubs: HashSet::new(),
        };
        sweep.resume().await?;
        let since = sweep.since.clone();
        let pages =
            Pages { runner: self, plan, source, cancel, since, shaper: Shaper::new(plan, contract.fingerprint) };
        sweep.pages(pages).await
    }

    /// Reads the live contract under the same retries as a page.
    pub(super) async fn read_contract(
        &self,
        source: &dyn SourceAdapter,
        cancel: &CancellationToken,
    ) -> Result<SourceContract, SyncRefusal> {
        self.with_retries(cancel, "tools/list", || source.contract()).await
    }

    /// Tries a read until it succeeds, cannot succeed, or the attempts are used up.
    pub(super) async fn with_retries<T, F>(
        &self,
        cancel: &CancellationToken,
        operation: &str,
        mut read: impl FnMut() -> F,
    ) -> Result<T, SyncRefusal>
    where
        F: Future<Output = Result<T, SourceRefusal>>,
    {
        let deadline = Deadline::after(self.clock(), self.budget.page_time);
        let mut number = 1;
        loop {
            // Half of what is left, so that an attempt that hangs leaves time for another.
            let limit = deadline.remaining() / 2;
            let refusal = match deadline.run(limit, read()).await {
                Some(Ok(value)) => return Ok(value),
                Some(Err(refusal)) => refusal,
                None => McpRefusal::Timeout { operation: operation.to_owned(), seconds: limit.as_secs() }.into(),
            };
            let again = refusal.can_retry() && !SyncRefusal::from(refusal.clone()).ends_session();
            let attempt = Attempt {
                number,
                retry: if again { Retry::Later } else { Retry::Never },
                idempotent: true,
                not_sent: false,
                retry_after: None,
                remaining: Some(deadline.remaining()),
            };
            let mut random = [0u8; 8];
            self.ports.entropy.fill(&mut random);
            let Decision::After(wait) = self.budget.retry.decide(&attempt, u64::from_le_bytes(random)) else {
                return Err(refusal.into());
            };
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(SyncRefusal::Cancelled),
                () = self.clock().sleep(wait) => {}
            }
            number += 1;
        }
    }
}

impl Sweep<'_> {
    /// Decides where the sweep goes on and whether changes only are wanted: what the accepted position says of its sweep
    /// holds, whatever the progress document says.
    ///
    /// A changed shape needs a full sweep from its first page, because neither a delta nor the rest of a sweep under
    /// another shape would ever read the old records again. That the older shape no longer holds is durable before the
    /// first page, so that going back to it is a changed shape too.
    async fn resume(&mut self) -> Result<(), SyncRefusal> {
        let shape = self.plan.shape;
        let shape_known = self.progress.shape == Some(shape);
        let marks = Marks::take(&mut self.current.position);
        self.from_start = !self.current.is_mid_sweep() && marks.parts == 0;
        self.parts_done = marks.parts;
        // Only the very first sweep has no mark of its own; the document says under which shape it was begun.
        let first_sweep = self.current.watermark.is_none() && self.progress.first_shape == Some(shape);
        let goes_on = match &marks.full {
            Some(marked) => *marked == shape.to_hex(),
            None => shape_known || (first_sweep && !self.from_start),
        };
        self.marks = self.accepted.is_some() && (self.from_start || marks.full.is_some() || !goes_on);
        if !goes_on {
            self.current.position = Json::Object(JsonObject::new());
            if !self.plan.withdraws {
                self.current.pending_watermark = None;
            }
            self.from_start = true;
            self.parts_done = 0;
        } else if marks.full.is_none() {
            self.since.clone_from(&self.current.watermark);
        }
        self.chained =
            self.accepted.as_ref().is_some_and(|accepted| self.from_start || accepted.content_hash.is_some());
        let before = (self.progress.shape, self.progress.first_shape);
        if !(goes_on && shape_known) {
            self.progress.shape = None;
        }
        if self.accepted.is_none() {
            self.progress.first_shape = Some(shape);
        }
        if before != (self.progress.shape, self.progress.first_shape) {
            self.save().await?;
        }
        Ok(())
    }

    /// A checkpoint as it is offered: its position says what sweep it stands in.
    pub(super) fn marked(&self, mut checkpoint: SourceCheckpoint, parts: u64) -> SourceCheckpoint {
        let full = (self.marks && self.since.is_none()).then(|| self.plan.shape.to_hex());
        Marks { parts, full }.put(&mut checkpoint.position);
        checkpoint
    }

    /// Takes page after page. While one is committed the next is read and shaped; it is used only once the one before it is
    /// durable, and dropped otherwise, so progress follows receipts as if pages were read one by one.
    async fn pages(&mut self, mut pages: Pages<'_>) -> Result<(), SyncRefusal> {
        let started = self.runner.clock().monotonic();
        let mut ahead: Option<Result<Prepared, SyncRefusal>> = None;
        loop {
            if self.cancel.is_cancelled() {
                return self.stop(SyncState::Cancelled).await;
            }
            if !self.may_read(started) {
                return self.stop(SyncState::Partial).await;
            }
            let read = match ahead.take() {
                Some(read) => read,
                None => pages.read(self.current.position.clone(), self.parts_done > 0, None).await,
            };
            let mut page = match read {
                Err(SyncRefusal::Cancelled) => return self.stop(SyncState::Cancelled).await,
                other => other?,
            };
            pages.catch_up(&mut page).await;
            self.report.pages += 1;
            self.report.seen += page.raw_count as u64;
            match page.next_position.clone() {
                Some(next) if self.may_read(started) && !self.cancel.is_cancelled() => {
                    ahead = self.take_and_read(page, &mut pages, next).await?;
                }
                Some(_) => self.take(page).await?,
                None => {
                    self.take(page).await?;
                    self.report.exhausted = true;
                }
            }
            self.runner.ports.events.emit(events::page_done(self.report));
            if self.report.exhausted {
                return self.stop(SyncState::Complete).await;
            }
        }
    }

    fn may_read(&self, started: Duration) -> bool {
        let elapsed = self.runner.clock().monotonic().saturating_sub(started);
        self.runner.budget.allows(self.report.pages, self.report.seen, elapsed)
    }

    /// Takes one page and meanwhile reads the one after it; `None` when the cycle was cancelled before that one came.
    async fn take_and_read(
        &mut self,
        page: Prepared,
        pages: &mut Pages<'_>,
        next: Json,
    ) -> Result<Option<Result<Prepared, SyncRefusal>>, SyncRefusal> {
        let cancel = self.cancel;
        let before = page.touched();
        let mut following = std::pin::pin!(pages.read(next, false, Some(before)));
        let mut taken = std::pin::pin!(self.take(page));
        let mut read = None;
        loop {
            tokio::select! {
                biased;
                done = &mut taken => {
                    done?;
                    break;
                }
                page = &mut following, if read.is_none() => read = Some(page),
            }
        }
        if read.is_none() && !cancel.is_cancelled() {
            read = Some(following.await);
        }
        Ok(read)
    }

    /// Ends the cycle in order: progress that pages without changes made in memory becomes durable, then the document.
    async fn stop(&mut self, state: SyncState) -> Result<(), SyncRefusal> {
        let start = SourceCheckpoint::start(self.plan.stream.clone());
        let accepted = self.accepted.as_ref().unwrap_or(&start);
        if self.parts_done == 0 && !same_place(accepted, &self.marked(self.current.clone(), 0)) {
            self.check_contract(true).await?;
            let next = self.current.clone();
            self.commit_empty(next).await?;
        }
        if state == SyncState::Complete && self.since.is_none() {
            self.progress.shape = Some(self.plan.shape);
            self.progress.first_shape = None;
        }
        self.report.state = state;
        self.progress.mode = Some(self.report.mode);
        self.progress.last_state = Some(state_word(state).to_owned());
        if self.progress != self.saved {
            self.save().await?;
        }
        Ok(())
    }

    pub(super) async fn save(&mut self) -> Result<(), SyncRefusal> {
        self.runner.save(&mut self.progress, &self.plan.connector, &self.plan.stream).await?;
        self.saved = self.progress.clone();
        Ok(())
    }

    /// Looks at the contract again: when the server announced a change, and before the last commit of a sweep, because
    /// not every server announces.
    pub(super) async fn check_contract(&mut self, last: bool) -> Result<(), SyncRefusal> {
        let generation = self.binding.generation();
        if !last && generation == self.generation {
            return Ok(());
        }
        self.binding.check().await?;
        let live = self.runner.read_contract(self.source, self.cancel).await?;
        let runner = self.runner;
        runner.gate(self.plan, &mut self.progress, &live, Digest256::ZERO).await?;
        self.generation = generation;
        Ok(())
    }

    pub(super) fn note_mode(&mut self, mode: IngestMode) {
        if self.report.pages == 1 || mode == IngestMode::Reconcile {
            self.report.mode = mode;
        }
    }
}

/// Whether two checkpoints stand at the same place; their content hashes do not matter to that.
fn same_place(a: &SourceCheckpoint, b: &SourceCheckpoint) -> bool {
    (&a.position, &a.watermark, &a.pending_watermark) == (&b.position, &b.watermark, &b.pending_watermark)
}

const fn state_word(state: SyncState) -> &'static str {
    match state {
        SyncState::Complete => "complete",
        SyncState::Partial => "partial",
        SyncState::Failed => "failed",
        SyncState::Blocked => "blocked",
        SyncState::Cancelled => "cancelled",
        SyncState::Quarantined => "quarantined",
        SyncState::Paused => "paused",
    }
}
