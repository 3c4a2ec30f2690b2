//! Bugs about receipts.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use scion_domain::digest;
use scion_domain::id::{ConnectorName, Digest256, StreamName};
use scion_domain::model::{
    Disposition, PackImport, PackReceipt, PackStatus, RawAdmission, SourceBatch, SourceReceipt, StreamStatus,
};
use scion_domain::sink::{SinkCapabilities, SinkRefusal};
use scion_ports::Sink;

use super::super::world::lock;

/// A receipt that fits a batch, whoever gives it.
fn receipt_of(batch: &SourceBatch) -> Option<SourceReceipt> {
    let digests = digest::batch(batch).ok()?;
    let admissions = batch.records.iter().zip(&digests.raw).map(|(record, raw)| RawAdmission {
        entity: record.entity.clone(),
        raw_digest: *raw,
        deduplicated: false,
    });
    Some(SourceReceipt {
        receipt_id: format!("source-ingest:{}", digests.batch),
        disposition: Disposition::Committed,
        mode: batch.mode,
        batch_digest: digests.batch,
        raw_admissions: admissions.collect(),
        tombstones: Vec::new(),
        accepted_checkpoint: batch.provider_checkpoint.clone(),
        accepted_checkpoint_digest: digest::checkpoint(&batch.provider_checkpoint),
        affected_count: (batch.records.len() + batch.relationships.len()) as u64,
        relationship_count: batch.relationships.len() as u64,
        contract_digest: Digest256::ZERO,
        contract_revision: 1,
        committed_graph_version: 0,
        receipt_digest: Digest256::ZERO,
    })
}

/// Answers at once and writes with the next call; a crash in between loses the batch.
pub(super) struct EarlyAck {
    inner: Arc<dyn Sink>,
    buffer: Mutex<Vec<SourceBatch>>,
}

impl EarlyAck {
    pub(super) fn new(inner: Arc<dyn Sink>) -> Self {
        Self { inner, buffer: Mutex::default() }
    }

    async fn flush(&self) {
        let waiting = std::mem::take(&mut *lock(&self.buffer));
        for batch in waiting {
            let _ = self.inner.commit(&batch).await;
        }
    }
}

#[async_trait]
impl Sink for EarlyAck {
    fn capabilities(&self) -> SinkCapabilities {
        self.inner.capabilities()
    }

    async fn ready(&self) -> Result<(), SinkRefusal> {
        self.inner.ready().await
    }

    async fn import_pack(&self, import: &PackImport) -> Result<PackReceipt, SinkRefusal> {
        self.inner.import_pack(import).await
    }

    async fn pack_status(&self, connector: &ConnectorName) -> Result<PackStatus, SinkRefusal> {
        self.inner.pack_status(connector).await
    }

    async fn commit(&self, batch: &SourceBatch) -> Result<SourceReceipt, SinkRefusal> {
        self.flush().await;
        lock(&self.buffer).push(batch.clone());
        receipt_of(batch).ok_or(SinkRefusal::OutcomeUnknown)
    }

    async fn status(&self, connector: &ConnectorName, stream: &StreamName) -> Result<StreamStatus, SinkRefusal> {
        self.flush().await;
        self.inner.status(connector, stream).await
    }
}

/// Sends a batch again, against whatever checkpoint is accepted now, and takes the answer for that of the first.
pub(super) struct SendsAgain {
    pub(super) inner: Arc<dyn Sink>,
    /// On a conflict; otherwise when the outcome is unknown.
    pub(super) on_conflict: bool,
}

#[async_trait]
impl Sink for SendsAgain {
    fn capabilities(&self) -> SinkCapabilities {
        self.inner.capabilities()
    }

    async fn ready(&self) -> Result<(), SinkRefusal> {
        self.inner.ready().await
    }

    async fn import_pack(&self, import: &PackImport) -> Result<PackReceipt, SinkRefusal> {
        self.inner.import_pack(import).await
    }

    async fn pack_status(&self, connector: &ConnectorName) -> Result<PackStatus, SinkRefusal> {
        self.inner.pack_status(connector).await
    }

    async fn commit(&self, batch: &SourceBatch) -> Result<SourceReceipt, SinkRefusal> {
        let answer = self.inner.commit(batch).await;
        let again = match &answer {
            Err(SinkRefusal::Conflict { .. }) => self.on_conflict,
            Err(SinkRefusal::OutcomeUnknown) => !self.on_conflict,
            _ => false,
        };
        if !again {
            return answer;
        }
        let stream = &batch.provider_checkpoint.stream;
        let mut second = batch.clone();
        second.expected_previous_checkpoint = self.inner.status(&batch.connector, stream).await?.accepted_checkpoint;
        let mark = digest::framed("scion/simulation/again/v1", &[stream.as_str().as_bytes()]);
        second.provider_checkpoint.content_hash = Some(mark);
        self.inner.commit(&second).await?;
        receipt_of(batch).ok_or(SinkRefusal::OutcomeUnknown)
    }

    async fn status(&self, connector: &ConnectorName, stream: &StreamName) -> Result<StreamStatus, SinkRefusal> {
        self.inner.status(connector, stream).await
    }
}
