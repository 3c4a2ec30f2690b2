//! A graph in memory: [`Sink`], [`RecordDigests`] and [`StreamCatalog`].

mod commit;
mod packs;
mod state;

use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use scion_domain::id::{ConnectorName, Digest256, RecordId, StreamName};
use scion_domain::model::{
    PackImport, PackReceipt, PackStatus, SourceBatch, SourceReceipt, StreamOverview, StreamStatus,
};
use scion_domain::sink::{SinkCapabilities, SinkRefusal, StoreRefusal};
use scion_ports::{RecordDigests, Sink, StreamCatalog};

use state::State;
pub use state::{EdgeView, RecordView};

/// A graph in memory. Clones share one state, so that a "restart" is another clone.
#[derive(Clone, Debug)]
pub struct MemoryGraph {
    state: Arc<Mutex<State>>,
    capabilities: SinkCapabilities,
}

impl Default for MemoryGraph {
    fn default() -> Self {
        Self::with_capabilities(SinkCapabilities {
            cross_stream_relationships: true,
            forward_references: true,
            replaces_relations: true,
            max_records: 1024,
            max_relationships: 4096,
            max_live_ids: 16_384,
            max_in_flight: 64,
        })
    }
}

impl MemoryGraph {
    /// A graph that declares, and holds to, these capabilities.
    pub fn with_capabilities(capabilities: SinkCapabilities) -> Self {
        Self { state: Arc::default(), capabilities }
    }

    /// All live records, ordered by connector, stream and id.
    pub fn live_records(&self) -> Vec<RecordView> {
        self.lock().live_records()
    }

    /// All edges whose ends are both live, in order.
    pub fn visible_edges(&self) -> Vec<EdgeView> {
        self.lock().visible_edges()
    }

    /// How often a record's effect was applied: every commit that changed its payload, and every withdrawal.
    pub fn effects(&self) -> u64 {
        self.lock().effects
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic in a test while the lock is held must not hide behind a poisoned lock.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[async_trait]
impl Sink for MemoryGraph {
    fn capabilities(&self) -> SinkCapabilities {
        self.capabilities
    }

    async fn ready(&self) -> Result<(), SinkRefusal> {
        Ok(())
    }

    async fn import_pack(&self, import: &PackImport) -> Result<PackReceipt, SinkRefusal> {
        packs::import(&mut self.lock(), import)
    }

    async fn pack_status(&self, connector: &ConnectorName) -> Result<PackStatus, SinkRefusal> {
        Ok(packs::status(&self.lock(), connector))
    }

    async fn commit(&self, batch: &SourceBatch) -> Result<SourceReceipt, SinkRefusal> {
        commit::commit(&mut self.lock(), batch, self.capabilities)
    }

    async fn status(&self, connector: &ConnectorName, stream: &StreamName) -> Result<StreamStatus, SinkRefusal> {
        Ok(self.lock().status(connector, stream))
    }
}

#[async_trait]
impl RecordDigests for MemoryGraph {
    async fn lookup(
        &self,
        connector: &ConnectorName,
        stream: &StreamName,
        ids: &[RecordId],
    ) -> Result<Vec<Option<Digest256>>, StoreRefusal> {
        Ok(self.lock().content_digests(connector, stream, ids))
    }

    async fn accepted(
        &self,
        _connector: &ConnectorName,
        _stream: &StreamName,
        _digests: &[(RecordId, Digest256)],
        _receipt: &SourceReceipt,
    ) -> Result<(), StoreRefusal> {
        // Digests are part of the commit here.
        Ok(())
    }
}

#[async_trait]
impl StreamCatalog for MemoryGraph {
    async fn streams(&self) -> Result<Vec<StreamOverview>, StoreRefusal> {
        Ok(self.lock().overviews())
    }
}
