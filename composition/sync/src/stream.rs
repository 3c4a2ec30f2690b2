//! The one ingest entry of a connector (R004.31 to R004.34).

mod batches;
mod client;
mod counts;
mod options;
mod projection;
mod split;
mod submit;
mod sync;

use std::collections::BTreeMap;
use std::sync::Arc;

use scion_domain::ingest::{ChangeSet, Document, Entity, IngestRefusal, MediaAsset, Relationship};
use scion_domain::json::Json;

use crate::ingest::{IngestBinding, KnowledgeIngest};
use crate::mapping::{Mapped, RecordMapper};
use crate::request::Cursor;

pub use client::{ClientFactory, FnClient, open_client};
pub use counts::Counts;
pub use projection::{Projection, rewrite_ids};
pub use sync::{AtEnd, CursorPage, DEFAULT_MAX_PAGES, DEFAULT_PAGE_TIMEOUT, SyncEnd, SyncPlan, SyncSummary};

/// Stops a commit, or lets it pass, by what would be committed.
pub type SubmitGuard = dyn Fn(&IngestBinding, &ChangeSet) -> Result<(), IngestRefusal> + Send + Sync;

/// The stream of one connector: its binding, its mappers and its rules. Cheap to clone.
///
/// Every method submits through one path: nested values are taken apart, the projection rewrites, the size limit and the
/// guard look at every part before the first one is committed. Each answers how many nodes and edges were committed.
/// With [`best_effort`](SourceStream::best_effort) a refusal is logged by its code and answered as `Ok(None)`.
#[derive(Clone)]
pub struct SourceStream {
    binding: IngestBinding,
    document_binding: Option<IngestBinding>,
    mappers: BTreeMap<String, Arc<dyn RecordMapper>>,
    ingest: Option<Arc<KnowledgeIngest>>,
    best_effort: bool,
    batch_size: Option<usize>,
    max_records: Option<usize>,
    projection: Option<Arc<dyn Projection>>,
    guard: Option<Arc<SubmitGuard>>,
}

/// What a method of a stream answers: `None` only on a best-effort stream.
pub type Answer<T = Counts> = Result<Option<T>, IngestRefusal>;

impl SourceStream {
    /// Commits entities.
    pub async fn entities(&self, entities: Vec<Entity>) -> Answer {
        self.settle(async {
            refuse_empty(&entities, "entities")?;
            self.commit(ChangeSet { entities, ..ChangeSet::default() }).await
        })
        .await
    }

    /// Commits documents, on the document stream when there is one. Refuses one without an id or a text.
    pub async fn documents(&self, documents: Vec<Document>) -> Answer {
        self.settle(async {
            refuse_empty(&documents, "documents")?;
            self.commit(ChangeSet { documents, ..ChangeSet::default() }).await
        })
        .await
    }

    /// Commits what a mapper filled, in batches when the stream has a batch size.
    pub async fn mapped(&self, mapped: Mapped) -> Answer {
        self.settle(async {
            if mapped.is_empty() {
                return Err(IngestRefusal::Empty { what: "mapped records" });
            }
            self.commit_batched(mapped.into_change_set(), Cursor::Keep).await
        })
        .await
    }

    /// Maps records of a kind and commits the result. Refuses an unknown kind, no records, and records that all mean
    /// nothing.
    pub async fn records(&self, kind: &str, records: &[Json]) -> Answer {
        self.settle(async {
            let mapped = self.map(kind, records)?;
            if mapped.is_empty() {
                return Err(IngestRefusal::Empty { what: "records" });
            }
            self.commit_batched(mapped.into_change_set(), Cursor::Keep).await
        })
        .await
    }

    /// Commits one mixed change set.
    pub async fn batch(
        &self,
        entities: Vec<Entity>,
        relationships: Vec<Relationship>,
        documents: Vec<Document>,
    ) -> Answer {
        self.settle(self.commit(ChangeSet { entities, relationships, documents, ..ChangeSet::default() })).await
    }

    /// Keeps bytes and commits the record that describes them. Refuses no bytes.
    pub async fn media(&self, asset: MediaAsset) -> Answer {
        self.settle(async {
            refuse_empty(&asset.data, "bytes of media")?;
            self.commit(ChangeSet { media: vec![asset], ..ChangeSet::default() }).await
        })
        .await
    }

    /// Maps records of a kind without committing.
    pub fn map(&self, kind: &str, records: &[Json]) -> Result<Mapped, IngestRefusal> {
        let mapper = self.mappers.get(kind).ok_or_else(|| IngestRefusal::UnknownKind { kind: kind.to_owned() })?;
        let mut mapped = Mapped::new();
        for (index, record) in records.iter().enumerate() {
            let record = record.as_object().ok_or(IngestRefusal::NotAnObject { index })?;
            mapper.map(record, &mut mapped)?;
        }
        Ok(mapped)
    }

    async fn settle<T>(&self, work: impl Future<Output = Result<T, IngestRefusal>>) -> Answer<T> {
        match work.await {
            Ok(answer) => Ok(Some(answer)),
            Err(refusal) if self.best_effort => {
                tracing::warn!(
                    connector = %self.binding.connector,
                    stream = %self.binding.stream,
                    code = refusal.leaf_code(),
                    "best-effort ingest did not commit"
                );
                Ok(None)
            }
            Err(refusal) => Err(refusal),
        }
    }
}

fn refuse_empty<T>(items: &[T], what: &'static str) -> Result<(), IngestRefusal> {
    if items.is_empty() { Err(IngestRefusal::Empty { what }) } else { Ok(()) }
}
