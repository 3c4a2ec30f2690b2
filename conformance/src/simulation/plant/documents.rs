//! Bugs about progress documents.

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::id::{ConnectorName, StreamName};
use scion_domain::json::Json;
use scion_domain::model::{
    PackImport, PackReceipt, PackStatus, ProgressDocument, SourceBatch, SourceReceipt, StreamStatus,
};
use scion_domain::sink::{SinkCapabilities, SinkRefusal, StoreRefusal};
use scion_ports::{CheckpointStore, Sink};

use super::super::drive::Env;
use super::super::stores::SimCheckpoints;

/// Writes the progress document before it sends the batch.
pub(super) struct WritesFirst {
    pub(super) inner: Arc<dyn Sink>,
    pub(super) env: Arc<Env>,
}

#[async_trait]
impl Sink for WritesFirst {
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
        let stream = &batch.provider_checkpoint.stream;
        let documents = SimCheckpoints { env: self.env.clone(), quiet: true };
        if let (Ok(Some(document)), Ok(digests)) =
            (documents.load(&batch.connector, stream).await, scion_domain::digest::batch(batch))
            && let Json::Object(mut members) = document.body
        {
            members.insert("last_receipt".into(), Json::from(format!("source-ingest:{}", digests.batch)));
            let body = Json::Object(members);
            let _ = documents.advance(&batch.connector, stream, Some(document.version), &body).await;
        }
        self.inner.commit(batch).await
    }

    async fn status(&self, connector: &ConnectorName, stream: &StreamName) -> Result<StreamStatus, SinkRefusal> {
        self.inner.status(connector, stream).await
    }
}

/// Replaces whatever version there is.
pub(super) struct AnyVersion {
    pub(super) inner: Arc<dyn CheckpointStore>,
}

#[async_trait]
impl CheckpointStore for AnyVersion {
    async fn load(
        &self,
        connector: &ConnectorName,
        source: &StreamName,
    ) -> Result<Option<ProgressDocument>, StoreRefusal> {
        self.inner.load(connector, source).await
    }

    async fn advance(
        &self,
        connector: &ConnectorName,
        source: &StreamName,
        _expected: Option<u64>,
        body: &Json,
    ) -> Result<u64, StoreRefusal> {
        let version = self.inner.load(connector, source).await?.map(|document| document.version);
        self.inner.advance(connector, source, version, body).await
    }

    async fn reset(&self, connector: &ConnectorName, source: &StreamName, expected: u64) -> Result<(), StoreRefusal> {
        self.inner.reset(connector, source, expected).await
    }
}

/// Loses the hold of a stream when it reads its document, and takes the held contract for the accepted one.
pub(super) struct Forgets {
    pub(super) inner: Arc<dyn CheckpointStore>,
}

#[async_trait]
impl CheckpointStore for Forgets {
    async fn load(
        &self,
        connector: &ConnectorName,
        source: &StreamName,
    ) -> Result<Option<ProgressDocument>, StoreRefusal> {
        let document = self.inner.load(connector, source).await?;
        Ok(document.map(|mut document| {
            if let Json::Object(members) = &mut document.body
                && members.insert("hold".into(), Json::Null).is_some_and(|hold| !hold.is_null())
                && let Some(contract) = members.insert("held_contract".into(), Json::Null)
            {
                members.insert("accepted_contract".into(), contract);
            }
            document
        }))
    }

    async fn advance(
        &self,
        connector: &ConnectorName,
        source: &StreamName,
        expected: Option<u64>,
        body: &Json,
    ) -> Result<u64, StoreRefusal> {
        self.inner.advance(connector, source, expected, body).await
    }

    async fn reset(&self, connector: &ConnectorName, source: &StreamName, expected: u64) -> Result<(), StoreRefusal> {
        self.inner.reset(connector, source, expected).await
    }
}
