//! Reading a page and shaping what changed in it, which may go on while the page before it is committed.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use scion_domain::id::{Digest256, RecordId};
use scion_domain::json::Json;
use scion_domain::model::{BatchRefusal, IngestMode, SourceRecord};
use scion_domain::sink::SinkRefusal;
use scion_domain::source::{PageRequest, SourcePage};
use scion_domain::sync::SyncRefusal;
use scion_ports::SourceAdapter;
use tokio_util::sync::CancellationToken;

use super::SourceSyncRunner;
use super::plan::StreamPlan;
use super::shape::{Candidate, Item, Shaper};
use crate::fault::CommitPoint;

/// The pages of one sweep, read and shaped in order.
pub(super) struct Pages<'a> {
    pub(super) runner: &'a SourceSyncRunner,
    pub(super) plan: &'a StreamPlan,
    pub(super) source: &'a dyn SourceAdapter,
    pub(super) cancel: &'a CancellationToken,
    /// The watermark changes are asked for since; `None` in a full sweep.
    pub(super) since: Option<String>,
    pub(super) shaper: Shaper<'a>,
}

/// One page, ready to be committed.
pub(super) struct Prepared {
    pub(super) mode: IngestMode,
    /// Records as the source counts them.
    pub(super) raw_count: usize,
    /// How many of them there are to look at.
    pub(super) count: usize,
    pub(super) ids: Arc<HashSet<RecordId>>,
    /// The change time of each record.
    pub(super) changed_at: Vec<Option<String>>,
    pub(super) next_position: Option<Json>,
    pub(super) watermark: Option<String>,
    pub(super) content_hash: Option<Digest256>,
    pub(super) withdrawals: Vec<(RecordId, String)>,
    /// The complete live list.
    pub(super) listed: Option<HashSet<RecordId>>,
    /// Whether its records could be shaped is told once it is the page's turn.
    pub(super) shaped: Result<Shaped, SyncRefusal>,
    /// Shares records with the page before it, so that what is stored of them is known only after that one.
    waiting: Option<Vec<Candidate>>,
}

/// What a page does to the store.
#[derive(Default)]
pub(super) struct Shaped {
    pub(super) items: Vec<Item>,
    pub(super) unchanged: u64,
    /// Stubs its items lead to.
    pub(super) stubs: BTreeMap<RecordId, SourceRecord>,
    /// Every stub its records lead to, in a reconcile page.
    pub(super) live_stubs: Vec<RecordId>,
    pub(super) self_references: u64,
}

impl Prepared {
    /// Every record and stub the page may write.
    pub(super) fn touched(&self) -> Arc<HashSet<RecordId>> {
        match &self.shaped {
            Ok(shaped) if !shaped.stubs.is_empty() => {
                Arc::new(self.ids.iter().chain(shaped.stubs.keys()).cloned().collect())
            }
            _ => self.ids.clone(),
        }
    }
}

impl Pages<'_> {
    /// Reads one page. `resumed` when a part of it was committed in an earlier run; `before` is what the page that is being
    /// committed meanwhile may write.
    pub(super) async fn read(
        &mut self,
        position: Json,
        resumed: bool,
        before: Option<Arc<HashSet<RecordId>>>,
    ) -> Result<Prepared, SyncRefusal> {
        let request = PageRequest { position, watermark: self.since.clone() };
        let (runner, source, request) = (self.runner, self.source, &request);
        let page = runner
            .with_retries(self.cancel, &self.plan.tool, || async move {
                runner.reach(CommitPoint::BeforeFetch).await;
                let page = source.read_page(request).await;
                runner.reach(CommitPoint::AfterFetch).await;
                page
            })
            .await?;
        let SourcePage { mode, records, relationships, withdrawals, live_ids, next_position, .. } = page;
        let mode = mode.unwrap_or(IngestMode::Full);
        let mut prepared = Prepared {
            mode,
            raw_count: page.raw_count,
            count: records.len(),
            ids: Arc::new(records.iter().map(|record| record.id.clone()).collect()),
            changed_at: records.iter().map(|record| record.updated_at.clone()).collect(),
            next_position,
            watermark: page.watermark,
            content_hash: page.content_hash,
            withdrawals,
            listed: live_ids.map(|live| live.into_iter().collect()),
            shaped: Ok(Shaped::default()),
            waiting: None,
        };
        let shared = before.is_some_and(|before| before.iter().any(|id| prepared.ids.contains(id)));
        prepared.shaped = async {
            check(&prepared)?;
            let candidates = self.shaper.candidates(records, relationships);
            let live_stubs = self.want(&candidates, &prepared, resumed)?;
            if shared {
                prepared.waiting = Some(candidates);
                return Ok(Shaped { live_stubs, ..Shaped::default() });
            }
            self.changed(candidates, live_stubs).await
        }
        .await;
        Ok(prepared)
    }

    /// Shapes a page that had to wait for the one before it.
    pub(super) async fn catch_up(&mut self, page: &mut Prepared) {
        if let (Some(candidates), Ok(shaped)) = (page.waiting.take(), &mut page.shaped) {
            let live_stubs = std::mem::take(&mut shaped.live_stubs);
            page.shaped = self.changed(candidates, live_stubs).await;
        }
    }

    /// Wants the stubs of targets that are not there, changed or not; answers every stub of a reconcile page.
    fn want(&mut self, candidates: &[Candidate], page: &Prepared, resumed: bool) -> Result<Vec<RecordId>, SyncRefusal> {
        let mut live_stubs = Vec::new();
        if let Some(listed) = page.listed.as_ref().filter(|_| page.mode == IngestMode::Reconcile) {
            for candidate in candidates {
                live_stubs.extend(self.shaper.stub_ids(&candidate.raw.payload)?);
                self.shaper.want_missing(&candidate.raw, listed)?;
            }
        }
        if resumed {
            // The page was longer when its first part was sent: a record that part leads to may have gone before its turn.
            for candidate in candidates {
                self.shaper.want_missing(&candidate.raw, &page.ids)?;
            }
        }
        Ok(live_stubs)
    }

    /// Shapes the records whose content is not what the store has.
    async fn changed(&mut self, candidates: Vec<Candidate>, live_stubs: Vec<RecordId>) -> Result<Shaped, SyncRefusal> {
        let ids: Vec<RecordId> = candidates.iter().map(|candidate| candidate.raw.id.clone()).collect();
        let stored = self.runner.stored_digests(self.plan, &ids).await?;
        let mut shaped = Shaped { live_stubs, ..Shaped::default() };
        for (candidate, stored) in candidates.into_iter().zip(stored) {
            if stored == Some(candidate.digest) {
                shaped.unchanged += 1;
            } else {
                shaped.items.push(self.shaper.item(candidate)?);
            }
        }
        shaped.stubs = self.shaper.take_stubs();
        shaped.self_references = std::mem::take(&mut self.shaper.self_references);
        Ok(shaped)
    }
}

impl SourceSyncRunner {
    /// The content digest the store has of each record.
    pub(super) async fn stored_digests(
        &self,
        plan: &StreamPlan,
        ids: &[RecordId],
    ) -> Result<Vec<Option<Digest256>>, SyncRefusal> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.store_call(self.ports.committer.digests.lookup(&plan.connector, &plan.stream, ids)).await
    }
}

fn check(page: &Prepared) -> Result<(), SyncRefusal> {
    let refuse = |refusal: BatchRefusal| Err(SinkRefusal::from(refusal).into());
    if page.mode != IngestMode::Delta && !page.withdrawals.is_empty() {
        return refuse(BatchRefusal::NotInMode { what: "a withdrawal", mode: page.mode.as_str() });
    }
    if let Some(index) = page.withdrawals.iter().position(|(id, _)| page.ids.contains(id)) {
        return refuse(BatchRefusal::ObservedAndWithdrawn { index });
    }
    match (page.mode, &page.listed) {
        (IngestMode::Reconcile, None) => refuse(BatchRefusal::LiveSetMissing),
        (IngestMode::Reconcile, Some(listed)) if !page.ids.is_subset(listed) => {
            refuse(BatchRefusal::NotLive { index: 0 })
        }
        _ => Ok(()),
    }
}
