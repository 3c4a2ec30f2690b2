//! Digests that are noted before the commit.

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::id::{ConnectorName, Digest256, RecordId, StreamName};
use scion_domain::model::{PackImport, PackReceipt, PackStatus, SourceBatch, SourceReceipt, StreamStatus};
use scion_domain::sink::{SinkCapabilities, SinkRefusal, StoreRefusal};
use scion_ports::{RecordDigests, Sink};

use super::super::drive::Env;
use super::super::world::lock;

/// Notes the digests of a batch, then sends it.
pub(super) struct NotesFirst {
    pub(super) inner: Arc<dyn Sink>,
    pub(super) env: Arc<Env>,
}

#[async_trait]
impl Sink for NotesFirst {
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
        {
            let mut noted = lock(&self.env.noted);
            noted.extend(batch.records.iter().map(|record| (record.entity.clone(), record.content_digest)));
        }
        self.inner.commit(batch).await
    }

    async fn status(&self, connector: &ConnectorName, stream: &StreamName) -> Result<StreamStatus, SinkRefusal> {
        self.inner.status(connector, stream).await
    }
}

/// Answers what was noted.
pub(super) struct Noted {
    pub(super) inner: Arc<dyn RecordDigests>,
    pub(super) env: Arc<Env>,
}

#[async_trait]
impl RecordDigests for Noted {
    async fn lookup(
        &self,
        connector: &ConnectorName,
        stream: &StreamName,
        ids: &[RecordId],
    ) -> Result<Vec<Option<Digest256>>, StoreRefusal> {
        let mut answer = self.inner.lookup(connector, stream, ids).await?;
        let noted = lock(&self.env.noted);
        for (id, known) in ids.iter().zip(&mut answer) {
            let entity = scion_domain::model::EntityRef { stream: stream.clone(), record_id: id.clone() };
            if let Some(digest) = noted.get(&entity) {
                *known = Some(*digest);
            }
        }
        Ok(answer)
    }

    async fn accepted(
        &self,
        connector: &ConnectorName,
        stream: &StreamName,
        digests: &[(RecordId, Digest256)],
        receipt: &SourceReceipt,
    ) -> Result<(), StoreRefusal> {
        self.inner.accepted(connector, stream, digests, receipt).await
    }
}
