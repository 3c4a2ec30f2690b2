//! The digest of each accepted record, in the engine's key-value store: a trie of small leaves, so that the cost follows the records
//! that are named and not the stream.
//!
//! Before a batch is sent, the stream's note says what it touches; that goes when its digests have been written. So a crash in between
//! leaves a note of what may have changed: those records count as unknown and are submitted once more (O3). What a reconciliation
//! withdrew is known from its receipt alone; if that is lost, all digests of the stream are forgotten.

use scion_domain::digest::BatchDigests;
use scion_domain::id::{ConnectorName, Digest256, RecordId, StreamName};
use scion_domain::model::{IngestMode, SourceBatch, SourceReceipt};
use scion_domain::sink::{SinkRefusal, StoreRefusal};

use super::Inner;
use super::streams::{Pending, StreamNote, record_key};
use super::trie::{Change, Trie};

/// How often a note is written again that another process has changed.
const ATTEMPTS: usize = 8;

fn trie(connector: &ConnectorName, stream: &StreamName, note: &StreamNote) -> Trie {
    Trie::new(format!("digest/{}/{}", StreamNote::id(connector, stream), note.generation))
}

impl Inner {
    /// Notes what a batch touches. What an earlier one may have changed without its digests being noted is forgotten first.
    pub(super) async fn begin(&self, batch: &SourceBatch, digests: &BatchDigests) -> Result<(), SinkRefusal> {
        let (connector, stream) = (&batch.connector, &batch.provider_checkpoint.stream);
        for _ in 0..ATTEMPTS {
            let mut note = StreamNote::load(&self.values, connector, stream).await?;
            match note.pending.take() {
                Some(pending) if pending.batch == digests.batch => return Ok(()),
                Some(pending) => self.forget(connector, stream, &mut note, &pending).await?,
                None => {}
            }
            note.pending = Some(Pending::of(batch, digests.batch));
            match note.save(&self.values).await {
                Err(StoreRefusal::Conflict { .. }) => {}
                other => return Ok(other?),
            }
        }
        Err(SinkRefusal::Conflict { stream: stream.to_string() })
    }

    /// Forgets what a batch touched whose digests were never noted, unless the stream stands where that batch began.
    async fn forget(
        &self,
        connector: &ConnectorName,
        stream: &StreamName,
        note: &mut StreamNote,
        pending: &Pending,
    ) -> Result<(), SinkRefusal> {
        let status = self.stream_status(connector, stream).await?;
        if status.last_batch_digest != Some(pending.batch) && status.accepted_checkpoint_digest == pending.from {
            return Ok(());
        }
        if pending.live.is_some() {
            note.generation += 1;
        } else {
            let gone = pending.touched.iter().map(|key| Change { key: Digest256::from_bytes(*key), digest: None });
            trie(connector, stream, note).apply(&self.values, gone.collect()).await?;
        }
        note.batches += 1;
        Ok(())
    }

    pub(super) async fn lookup(
        &self,
        connector: &ConnectorName,
        stream: &StreamName,
        ids: &[RecordId],
    ) -> Result<Vec<Option<Digest256>>, StoreRefusal> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let note = StreamNote::load(&self.values, connector, stream).await?;
        let keys: Vec<Digest256> = ids.iter().map(record_key).collect();
        let mut found = trie(connector, stream, &note).get(&self.values, &keys).await?;
        if let Some(pending) = &note.pending {
            for (key, digest) in keys.iter().zip(&mut found) {
                *digest = digest.filter(|_| !pending.touches(key));
            }
        }
        Ok(found)
    }

    pub(super) async fn accepted(
        &self,
        connector: &ConnectorName,
        stream: &StreamName,
        digests: &[(RecordId, Digest256)],
        receipt: &SourceReceipt,
    ) -> Result<(), StoreRefusal> {
        let mut conflict = None;
        for _ in 0..ATTEMPTS {
            let mut note = StreamNote::load(&self.values, connector, stream).await?;
            // A receipt that was worked out from the stream's status does not know what a reconciliation withdrew.
            if receipt.receipt_digest == Digest256::ZERO && receipt.mode == IngestMode::Reconcile {
                note.generation += 1;
            }
            let noted = digests.iter().map(|(id, digest)| Change { key: record_key(id), digest: Some(*digest) });
            let gone = receipt.tombstones.iter().filter(|gone| gone.entity.stream == *stream);
            let gone = gone.map(|gone| Change { key: record_key(&gone.entity.record_id), digest: None });
            trie(connector, stream, &note).apply(&self.values, gone.chain(noted).collect()).await?;
            if note.pending.as_ref().is_some_and(|pending| pending.batch != receipt.batch_digest) {
                // Another batch is under way already, and its writer has seen to this one.
                return Ok(());
            }
            note.pending = None;
            note.batches += 1;
            note.last_commit = Some(self.client.clock().unix_millis());
            match note.save(&self.values).await {
                Err(refusal @ StoreRefusal::Conflict { .. }) => conflict = Some(refusal),
                other => return other,
            }
        }
        Err(conflict.unwrap_or(StoreRefusal::Unavailable { what: "the digests of the stream keep changing" }))
    }
}
