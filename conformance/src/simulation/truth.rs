//! The durable graph of a run, and what must hold at every commit.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use scion_domain::id::{ConnectorName, Digest256, StreamName};
use scion_domain::json::{Json, JsonObject};
use scion_domain::model::{
    Disposition, EntityRef, PackImport, PackReceipt, PackStatus, SourceBatch, SourceReceipt, StreamStatus,
};
use scion_domain::sink::{SinkCapabilities, SinkRefusal};
use scion_ports::Sink;

use super::world::{World, lock};
use crate::reference::MemoryGraph;

/// What the graph has seen, beside what it holds.
#[derive(Default)]
struct Ledger {
    receipts: HashSet<String>,
    checkpoints: HashMap<StreamName, HashSet<Digest256>>,
    written: HashSet<(EntityRef, Digest256)>,
    newest: BTreeMap<EntityRef, u64>,
    held: BTreeSet<StreamName>,
    commits: u64,
}

/// The graph that survives every crash.
pub(super) struct Truth {
    pub(super) graph: MemoryGraph,
    world: Arc<World>,
    ledger: Mutex<Ledger>,
}

/// The version a payload carries; `None` for stubs.
pub(super) fn version(payload: &JsonObject) -> Option<u64> {
    payload.get("seq").and_then(Json::as_number)?.as_u64()
}

impl Truth {
    pub(super) fn new(world: Arc<World>, capabilities: SinkCapabilities) -> Self {
        Self { graph: MemoryGraph::with_capabilities(capabilities), world, ledger: Mutex::default() }
    }

    /// Batches accepted so far.
    pub(super) fn commits(&self) -> u64 {
        lock(&self.ledger).commits
    }

    /// Whether a receipt is durable.
    pub(super) fn holds(&self, receipt: &str) -> bool {
        lock(&self.ledger).receipts.contains(receipt)
    }

    /// Whether a stream was ever at a checkpoint.
    pub(super) fn was_at(&self, stream: &StreamName, checkpoint: Digest256) -> bool {
        lock(&self.ledger).checkpoints.get(stream).is_some_and(|known| known.contains(&checkpoint))
    }

    /// The streams that are held as a cycle starts.
    pub(super) fn hold(&self, held: BTreeSet<StreamName>) {
        lock(&self.ledger).held = held;
    }

    fn record(&self, batch: &SourceBatch, receipt: &SourceReceipt) {
        let mut ledger = lock(&self.ledger);
        let stream = batch.provider_checkpoint.stream.clone();
        ledger.commits += 1;
        ledger.receipts.insert(receipt.receipt_id.clone());
        ledger.checkpoints.entry(stream.clone()).or_default().insert(receipt.accepted_checkpoint_digest);
        if ledger.held.contains(&stream) {
            self.world.broken(format!("I6 the held stream {stream} accepted a batch"));
        }
        for record in &batch.records {
            let Some(version) = version(&record.payload) else { continue };
            let (id, newest) = (&record.entity.record_id, ledger.newest.get(&record.entity).copied());
            if !ledger.written.insert((record.entity.clone(), record.content_digest)) {
                self.world.broken(format!("I2 version {version} of {stream}/{id} was written twice"));
            }
            if newest.is_some_and(|newest| newest > version) {
                self.world.broken(format!("I2 version {version} of {stream}/{id} was written over a newer one"));
            }
            ledger.newest.insert(record.entity.clone(), version);
        }
    }
}

#[async_trait]
impl Sink for Truth {
    fn capabilities(&self) -> SinkCapabilities {
        self.graph.capabilities()
    }

    async fn ready(&self) -> Result<(), SinkRefusal> {
        self.graph.ready().await
    }

    async fn import_pack(&self, import: &PackImport) -> Result<PackReceipt, SinkRefusal> {
        self.graph.import_pack(import).await
    }

    async fn pack_status(&self, connector: &ConnectorName) -> Result<PackStatus, SinkRefusal> {
        self.graph.pack_status(connector).await
    }

    async fn commit(&self, batch: &SourceBatch) -> Result<SourceReceipt, SinkRefusal> {
        let answer = self.graph.commit(batch).await;
        if let Ok(receipt) = answer.as_ref()
            && receipt.disposition == Disposition::Committed
        {
            self.record(batch, receipt);
        }
        answer
    }

    async fn status(&self, connector: &ConnectorName, stream: &StreamName) -> Result<StreamStatus, SinkRefusal> {
        self.graph.status(connector, stream).await
    }
}
