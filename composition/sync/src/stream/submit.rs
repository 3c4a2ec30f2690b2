//! The one commit path of a stream.

use scion_domain::ingest::{ChangeSet, IngestRefusal};
use scion_domain::model::IngestMode;
use scion_domain::sink::SinkCapabilities;

use super::counts::Tally;
use super::{Answer, Counts, SourceStream, batches, split};
use crate::ingest::{IngestBinding, IngestOutcome};
use crate::request::{self, Cursor};

/// One commit that is planned.
struct Part {
    binding: IngestBinding,
    change_set: ChangeSet,
    cursor: Cursor,
}

impl SourceStream {
    /// Commits any change set as one, a reconcile for example, under another binding when one is given.
    pub async fn submit(&self, change_set: ChangeSet, binding: Option<&IngestBinding>) -> Answer {
        self.settle(async {
            let outcomes = self.submit_parts(change_set, binding).await?;
            Ok(Tally::of(&outcomes).counts())
        })
        .await
    }

    /// Commits any change set as one and answers the proof of it. A change set with documents for a document stream of their
    /// own is two commits; then the last proof is that of the stream itself.
    pub async fn submit_receipt(
        &self,
        change_set: ChangeSet,
        binding: Option<&IngestBinding>,
    ) -> Answer<Vec<IngestOutcome>> {
        self.settle(self.submit_parts(change_set, binding)).await
    }

    async fn submit_parts(
        &self,
        change_set: ChangeSet,
        binding: Option<&IngestBinding>,
    ) -> Result<Vec<IngestOutcome>, IngestRefusal> {
        let parts = self.plan(change_set, binding, Cursor::Keep, false)?;
        self.carry_out(parts).await
    }

    pub(super) async fn commit(&self, change_set: ChangeSet) -> Result<Counts, IngestRefusal> {
        self.run(self.plan(change_set, None, Cursor::Keep, false)?).await
    }

    pub(super) async fn commit_batched(&self, change_set: ChangeSet, cursor: Cursor) -> Result<Counts, IngestRefusal> {
        self.run(self.plan(change_set, None, cursor, true)?).await
    }

    async fn run(&self, parts: Vec<Part>) -> Result<Counts, IngestRefusal> {
        Ok(Tally::of(&self.carry_out(parts).await?).counts())
    }

    async fn carry_out(&self, parts: Vec<Part>) -> Result<Vec<IngestOutcome>, IngestRefusal> {
        let service = self.service()?;
        let mut outcomes = Vec::with_capacity(parts.len());
        for part in parts {
            outcomes.push(service.submit(&part.binding, part.change_set, part.cursor).await?);
        }
        Ok(outcomes)
    }

    /// Everything that can be refused without the sink is refused here, before the first commit. The cursor moves with the
    /// last part, so that a run that ends between two parts reads the page again.
    fn plan(
        &self,
        change_set: ChangeSet,
        binding: Option<&IngestBinding>,
        cursor: Cursor,
        in_batches: bool,
    ) -> Result<Vec<Part>, IngestRefusal> {
        let main = binding.unwrap_or(&self.binding);
        if change_set.is_empty() && cursor == Cursor::Keep {
            return Err(IngestRefusal::Empty { what: "changes" });
        }
        request::check_identities(&change_set)?;
        let mut change_set = request::flatten(main, change_set)?;
        if let Some(projection) = &self.projection {
            change_set = projection.project(change_set)?;
            request::check_identities(&change_set)?;
        }
        let sink = self.service()?.capabilities();
        let mut parts = Vec::new();
        let mut add = |binding: &IngestBinding, change_set: ChangeSet| {
            let pieces = match self.piece_size(&change_set, sink).filter(|_| in_batches) {
                Some(size) => batches::split(change_set, size),
                None => vec![change_set],
            };
            parts.extend(pieces.into_iter().map(|change_set| Part {
                binding: binding.clone(),
                change_set,
                cursor: Cursor::Keep,
            }));
        };
        let apart = self.document_binding.as_ref().filter(|documents| documents.stream != main.stream);
        match apart.filter(|_| binding.is_none() && !change_set.documents.is_empty()) {
            Some(documents) if change_set.mode == IngestMode::Delta => {
                let (rest, with_documents) = split::split_documents(change_set, main, documents);
                add(documents, with_documents);
                if !rest.is_empty() || cursor != Cursor::Keep {
                    add(main, rest);
                }
            }
            _ => add(main, change_set),
        }
        for part in &parts {
            self.allow(part)?;
        }
        if let Some(last) = parts.last_mut() {
            last.cursor = cursor;
        }
        Ok(parts)
    }

    /// The stream's batch size, and without one what the sink takes at most, when the change set is larger.
    fn piece_size(&self, change_set: &ChangeSet, sink: SinkCapabilities) -> Option<usize> {
        let most = sink.max_records.min(sink.max_relationships).max(1);
        let too_large =
            change_set.record_count() > sink.max_records || change_set.relationships.len() > sink.max_relationships;
        self.batch_size.map(|size| size.min(most)).or(too_large.then_some(most))
    }

    fn allow(&self, part: &Part) -> Result<(), IngestRefusal> {
        let count = part.change_set.record_count();
        if let Some(limit) = self.max_records.filter(|limit| count > *limit) {
            return Err(IngestRefusal::TooLarge { what: "records", count, limit });
        }
        self.guard.as_ref().map_or(Ok(()), |guard| guard(&part.binding, &part.change_set))
    }
}
