//! A graph of the engine as Scion's durable graph.

mod accepted;
mod blob;
mod catalog;
mod commit;
mod digests;
mod import;
mod index;
mod progress;
mod receipt;
mod refused;
mod relations;
mod sparql;
mod streams;
mod trie;
mod visible;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use scion_domain::engine::EngineRefusal;
use scion_domain::id::{ConnectorName, Digest256, RecordId, StreamName};
use scion_domain::json::Json;
use scion_domain::model::{
    PackImport, PackReceipt, PackStatus, ProgressDocument, SourceBatch, SourceReceipt, StreamOverview, StreamStatus,
};
use scion_domain::query::{QueryAnswer, QueryRefusal, QueryRequest};
use scion_domain::sink::{SinkCapabilities, SinkRefusal, StoreRefusal};
use scion_ports::{CheckpointStore, GraphQuery, KeyValueStore, RecordDigests, Sink, StreamCatalog, async_trait};

use crate::client::{Call, EngineClient, Repeats};
use crate::{Body, COMMONS, EngineKeyValues, Value};
use accepted::Accepted;
pub use refused::store as store_refusal;

/// The namespace of everything Scion keeps in the engine's key-value store, the peer's own (`wire/engine-protocol.md` 7.7).
pub(crate) const NAMESPACE: &str = "agent-connector-sdk";

/// What the engine takes in one batch (`wire/engine-protocol.md` 7.2). One batch may be under way in a graph: a second one is refused
/// as stale.
const CAPABILITIES: SinkCapabilities = SinkCapabilities {
    cross_stream_relationships: false,
    forward_references: false,
    replaces_relations: false,
    max_records: 1024,
    max_relationships: 4096,
    max_live_ids: 16_384,
    max_in_flight: 1,
};

/// A graph of an engine: it accepts packs and batches, remembers progress and record digests in the engine's key-value store, and
/// answers SPARQL. Cheap to clone.
///
/// Relations between streams do not exist in the engine and are refused before anything is sent. A commit whose reply is lost is
/// never sent again blindly: [`Sink::status`] tells what became of it.
#[derive(Clone)]
pub struct EngineGraph {
    inner: Arc<Inner>,
}

struct Inner {
    client: EngineClient,
    graph: String,
    values: EngineKeyValues,
    /// Notes on packs: a tenant's packs belong to all its graphs.
    notes: EngineKeyValues,
    /// What is known of accepted packs, so that a commit needs no question more.
    packs: std::sync::Mutex<BTreeMap<ConnectorName, Arc<Accepted>>>,
    /// Held over a commit: the engine takes one batch of a graph at a time.
    writing: tokio::sync::Mutex<()>,
}

impl std::fmt::Debug for EngineGraph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineGraph").field("graph", &self.inner.graph).finish_non_exhaustive()
    }
}

impl EngineGraph {
    /// The graph of this name. Nothing is asked yet.
    pub fn new(client: EngineClient, graph: impl Into<String>) -> Self {
        let graph = graph.into();
        let values = EngineKeyValues::new(client.clone(), graph.clone());
        let notes = EngineKeyValues::new(client.clone(), COMMONS);
        let (packs, writing) = (std::sync::Mutex::default(), tokio::sync::Mutex::default());
        Self { inner: Arc::new(Inner { client, graph, values, notes, packs, writing }) }
    }

    /// Makes the graph where it does not exist. A graph that does is left alone.
    pub async fn create(&self) -> Result<(), EngineRefusal> {
        let body = Body::with(
            "CreateGraph",
            [("graph_name", self.inner.graph.as_str().into()), ("graph_type", "Global".into())],
        );
        let call = Call { graph: COMMONS, body, idempotency_key: None, repeats: Repeats::ByKey };
        match self.inner.client.call(call).await {
            // The engine has one code for a name that is taken and a name that is none; asking tells them apart.
            Err(EngineRefusal::Refused { code, .. }) if code.as_str() == "INVALID_ARGUMENT" => self.inner.load().await,
            other => other.map(|_| ()),
        }
    }

    /// Small values beside the graph.
    pub fn key_values(&self) -> EngineKeyValues {
        self.inner.values.clone()
    }

    /// The client.
    pub fn client(&self) -> &EngineClient {
        &self.inner.client
    }

    /// The name of the graph.
    pub fn name(&self) -> &str {
        &self.inner.graph
    }
}

impl Inner {
    async fn read(&self, body: Body) -> Result<Value, EngineRefusal> {
        self.client.call(Call { graph: &self.graph, body, idempotency_key: None, repeats: Repeats::Freely }).await
    }

    /// Asks something that only a graph that exists answers, under the scope of a connector.
    async fn load(&self) -> Result<(), EngineRefusal> {
        let asked = [("connector", "scion".into()), ("stream", "ready".into())];
        self.read(Body::with("SourceIngestStatus", asked)).await.map(|_| ())
    }

    fn known(&self, connector: &ConnectorName) -> Option<Arc<Accepted>> {
        self.packs.lock().unwrap_or_else(PoisonError::into_inner).get(connector).cloned()
    }

    fn remember(&self, connector: &ConnectorName, accepted: Accepted) -> Arc<Accepted> {
        let accepted = Arc::new(accepted);
        let mut packs = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
        packs.insert(connector.clone(), Arc::clone(&accepted));
        accepted
    }
}

#[async_trait]
impl Sink for EngineGraph {
    fn capabilities(&self) -> SinkCapabilities {
        CAPABILITIES
    }

    async fn ready(&self) -> Result<(), SinkRefusal> {
        self.inner.load().await.map_err(|no| refused::store(&no).into())
    }

    async fn import_pack(&self, import: &PackImport) -> Result<PackReceipt, SinkRefusal> {
        self.inner.import_pack(import).await
    }

    async fn pack_status(&self, connector: &ConnectorName) -> Result<PackStatus, SinkRefusal> {
        self.inner.pack_status(connector).await
    }

    async fn commit(&self, batch: &SourceBatch) -> Result<SourceReceipt, SinkRefusal> {
        self.inner.commit(batch).await
    }

    async fn status(&self, connector: &ConnectorName, stream: &StreamName) -> Result<StreamStatus, SinkRefusal> {
        self.inner.stream_status(connector, stream).await
    }
}

#[async_trait]
impl RecordDigests for EngineGraph {
    async fn lookup(
        &self,
        connector: &ConnectorName,
        stream: &StreamName,
        ids: &[RecordId],
    ) -> Result<Vec<Option<Digest256>>, StoreRefusal> {
        self.inner.lookup(connector, stream, ids).await
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

#[async_trait]
impl KeyValueStore for EngineGraph {
    async fn get(&self, namespace: &str, key: &str) -> Result<Option<scion_ports::KeyValueEntry>, StoreRefusal> {
        self.inner.values.get(namespace, key).await
    }

    async fn compare_and_swap(
        &self,
        namespace: &str,
        key: &str,
        expected: Option<u64>,
        value: &[u8],
    ) -> Result<u64, StoreRefusal> {
        self.inner.values.compare_and_swap(namespace, key, expected, value).await
    }

    async fn delete(&self, namespace: &str, key: &str, expected: u64) -> Result<(), StoreRefusal> {
        self.inner.values.delete(namespace, key, expected).await
    }

    async fn scan(
        &self,
        namespace: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, scion_ports::KeyValueEntry)>, StoreRefusal> {
        self.inner.values.scan(namespace, prefix, after, limit).await
    }
}

#[async_trait]
impl CheckpointStore for EngineGraph {
    async fn load(
        &self,
        connector: &ConnectorName,
        source: &StreamName,
    ) -> Result<Option<ProgressDocument>, StoreRefusal> {
        progress::load(&self.inner.values, connector, source).await
    }

    async fn advance(
        &self,
        connector: &ConnectorName,
        source: &StreamName,
        expected: Option<u64>,
        body: &Json,
    ) -> Result<u64, StoreRefusal> {
        progress::advance(&self.inner.values, connector, source, expected, body).await
    }

    async fn reset(&self, connector: &ConnectorName, source: &StreamName, expected: u64) -> Result<(), StoreRefusal> {
        progress::reset(&self.inner.values, connector, source, expected).await
    }
}

#[async_trait]
impl StreamCatalog for EngineGraph {
    async fn streams(&self) -> Result<Vec<StreamOverview>, StoreRefusal> {
        self.inner.streams().await
    }
}

#[async_trait]
impl GraphQuery for EngineGraph {
    async fn query(&self, request: &QueryRequest) -> Result<QueryAnswer, QueryRefusal> {
        self.inner.query(request).await
    }
}
