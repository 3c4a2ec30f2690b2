//! Walking a vendor's pages with a durable cursor (R004.31, R004.33).

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use scion_domain::cursor::CursorStrategy;
use scion_domain::digest;
use scion_domain::id::Digest256;
use scion_domain::ingest::IngestRefusal;
use scion_domain::json::{Json, to_compact};
use serde::Serialize;

use super::{Answer, Counts, SourceStream};
use crate::ingest::KnowledgeIngest;
use crate::request::Cursor;

/// Pages of one run when the plan names no bound.
pub const DEFAULT_MAX_PAGES: usize = 1000;

/// The longest one page may take when the plan names no bound.
pub const DEFAULT_PAGE_TIMEOUT: Duration = Duration::from_mins(2);

/// One page of a vendor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CursorPage {
    /// Its records.
    pub records: Vec<Json>,
    /// Where the next page starts; `None` when this was the last one. Not read when the plan has a strategy.
    pub next: Option<Json>,
}

impl CursorPage {
    /// A page of a walk whose strategy knows the next cursor.
    pub fn of(records: Vec<Json>) -> Self {
        Self { records, next: None }
    }
}

/// What happens to the accepted cursor when a walk comes to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtEnd {
    /// It stays: the next run reads the last page again and what came after it.
    #[default]
    Keep,
    /// It goes away: the next run reads everything again. For listings whose earlier pages change.
    Restart,
}

/// How a walk goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncPlan {
    /// Gives the cursors; without one each page names its next.
    pub strategy: Option<CursorStrategy>,
    /// The most pages of one run; at least 1.
    pub max_pages: usize,
    /// The longest one page may take.
    pub page_timeout: Duration,
    /// What happens at the end.
    pub at_end: AtEnd,
}

impl Default for SyncPlan {
    fn default() -> Self {
        Self {
            strategy: None,
            max_pages: DEFAULT_MAX_PAGES,
            page_timeout: DEFAULT_PAGE_TIMEOUT,
            at_end: AtEnd::default(),
        }
    }
}

impl SyncPlan {
    /// A plan whose cursors come from a strategy.
    pub fn with_strategy(strategy: impl Into<CursorStrategy>) -> Self {
        Self { strategy: Some(strategy.into()), ..Self::default() }
    }
}

/// Why a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SyncEnd {
    /// There was no further page.
    Exhausted,
    /// A page led to a cursor of this run. Its records are committed; the accepted cursor did not go back.
    Repeated,
    /// The bound on pages was reached; the next run goes on from here.
    MaxPages,
}

/// What one run did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncSummary {
    /// What was committed.
    pub counts: Counts,
    /// Pages read.
    pub pages: usize,
    /// Records of those pages that meant nothing to the mapper.
    pub skipped: usize,
    /// Why it ended.
    pub end: SyncEnd,
    /// The cursor that is accepted now.
    pub cursor: Option<Json>,
}

impl SourceStream {
    /// Walks `fetch_page(cursor)` from the accepted cursor and commits each page with its next cursor.
    ///
    /// A run that stops at any point, by a refusal or by being dropped, goes on from the last committed page. A page
    /// without records commits only when the cursor moves.
    pub async fn sync<F, Fut>(&self, kind: &str, plan: &SyncPlan, fetch_page: F) -> Answer<SyncSummary>
    where
        F: FnMut(Option<Json>) -> Fut + Send,
        Fut: Future<Output = Result<CursorPage, IngestRefusal>> + Send,
    {
        self.settle(self.walk(kind, plan, fetch_page)).await
    }

    async fn walk<F, Fut>(&self, kind: &str, plan: &SyncPlan, mut fetch_page: F) -> Result<SyncSummary, IngestRefusal>
    where
        F: FnMut(Option<Json>) -> Fut + Send,
        Fut: Future<Output = Result<CursorPage, IngestRefusal>> + Send,
    {
        if !self.has_kind(kind) {
            return Err(IngestRefusal::UnknownKind { kind: kind.to_owned() });
        }
        let service: Arc<KnowledgeIngest> = self.service()?;
        let accepted = service.accepted_cursor(self.binding()).await?;
        let mut summary = SyncSummary {
            counts: Counts::default(),
            pages: 0,
            skipped: 0,
            end: SyncEnd::MaxPages,
            cursor: accepted.clone(),
        };
        let first = || plan.strategy.as_ref().and_then(CursorStrategy::first).map(Json::from);
        let mut cursor = accepted.or_else(first);
        let mut seen = HashSet::from([mark(cursor.as_ref())]);
        while summary.pages < plan.max_pages.max(1) {
            let page = service.within(plan.page_timeout, fetch_page(cursor.clone())).await;
            let page = page.ok_or(IngestRefusal::Client { what: "a page did not come in time" })??;
            summary.pages += 1;
            let next = next_cursor(plan, &page, cursor.as_ref())?;
            let end = match &next {
                None => Some(SyncEnd::Exhausted),
                Some(next) if !seen.insert(mark(Some(next))) => Some(SyncEnd::Repeated),
                Some(_) => None,
            };
            let step = match (end, &next) {
                (None, Some(next)) => Cursor::Move(next.clone()),
                (Some(SyncEnd::Exhausted), _) if plan.at_end == AtEnd::Restart && summary.cursor.is_some() => {
                    Cursor::Clear
                }
                _ => Cursor::Keep,
            };
            let moved = match &step {
                Cursor::Keep => summary.cursor.clone(),
                Cursor::Move(next) => Some(next.clone()),
                Cursor::Clear => None,
            };
            let mapped = self.map(kind, &page.records)?;
            summary.skipped += mapped.skipped();
            if !mapped.is_empty() || step != Cursor::Keep {
                summary.counts += self.commit_batched(mapped.into_change_set(), step).await?;
            }
            summary.cursor = moved;
            if let Some(end) = end {
                summary.end = end;
                break;
            }
            cursor = next;
        }
        Ok(summary)
    }
}

fn next_cursor(plan: &SyncPlan, page: &CursorPage, cursor: Option<&Json>) -> Result<Option<Json>, IngestRefusal> {
    let Some(strategy) = &plan.strategy else {
        return Ok(page.next.clone().filter(|next| !next.is_null() && next.as_str() != Some("")));
    };
    let text = match cursor {
        None => None,
        Some(Json::String(text)) => Some(text.as_str()),
        Some(_) => return Err(scion_domain::cursor::CursorRefusal::Unreadable { strategy: "text cursor" }.into()),
    };
    Ok(strategy.next(&page.records, text)?.map(Json::from))
}

/// Cursors of a run are remembered by digest, so that long ones cost no more than short ones.
fn mark(cursor: Option<&Json>) -> Digest256 {
    cursor.map_or(Digest256::ZERO, |cursor| digest::sha256(to_compact(cursor).as_bytes()))
}
