//! What a receipt must repeat, computed from the batch before it is sent.

use scion_domain::id::Digest256;
use scion_domain::model::{SourceBatch, SourceReceipt};
use scion_domain::sync::SyncRefusal;

/// The digests and counts that bind a receipt to one batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) batch: Digest256,
    pub(crate) checkpoint: Digest256,
    pub(crate) raw: Vec<Digest256>,
}

impl Expected {
    pub(crate) fn of(batch: &SourceBatch) -> Result<Self, SyncRefusal> {
        let digests = scion_domain::digest::batch(batch).map_err(|refusal| SyncRefusal::NotCanonical {
            stream: batch.provider_checkpoint.stream.to_string(),
            refusal,
        })?;
        let checkpoint = scion_domain::digest::checkpoint(&batch.provider_checkpoint);
        Ok(Self { batch: digests.batch, checkpoint, raw: digests.raw })
    }

    /// The receipt answers exactly this batch, or the first thing that differs.
    pub(crate) fn verify(&self, batch: &SourceBatch, receipt: &SourceReceipt) -> Result<(), SyncRefusal> {
        let differs =
            |what| Err(SyncRefusal::ReceiptMismatch { stream: batch.provider_checkpoint.stream.to_string(), what });
        if receipt.batch_digest != self.batch {
            return differs("the batch digest");
        }
        if receipt.receipt_id != self.receipt_id() {
            return differs("the receipt id");
        }
        if receipt.mode != batch.mode {
            return differs("the mode");
        }
        if receipt.accepted_checkpoint != batch.provider_checkpoint
            || receipt.accepted_checkpoint_digest != self.checkpoint
        {
            return differs("the checkpoint");
        }
        let admissions = receipt.raw_admissions.iter().map(|raw| (&raw.entity, raw.raw_digest));
        if !admissions.eq(batch.records.iter().map(|record| &record.entity).zip(self.raw.iter().copied())) {
            return differs("a record digest");
        }
        if receipt.relationship_count != batch.relationships.len() as u64
            || receipt.affected_count != (batch.records.len() + batch.relationships.len()) as u64
        {
            return differs("a count");
        }
        Ok(())
    }

    /// `source-ingest:<batch digest>`.
    pub(crate) fn receipt_id(&self) -> String {
        format!("source-ingest:{}", self.batch)
    }
}
