//! A graph in memory: compare-and-swap, replay, admission, tombstones, relation replacement.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use scion_domain::id::{ConnectorName, Digest256, RecordId, StreamName};
use scion_domain::ingest::IngestRefusal;
use scion_domain::json::{Json, JsonObject};
use scion_domain::model::{
    Disposition, PackImport, PackReceipt, PackStatus, RawAdmission, SourceBatch, SourceReceipt, StreamStatus, Tombstone,
};
use scion_domain::sink::{SinkCapabilities, SinkRefusal, StoreRefusal};
use scion_domain::{digest, json};
use scion_ports::{Clock, KeyValueEntry, KeyValueStore, RecordDigests, Sink, async_trait};
use scion_sync::Committer;
use scion_sync::ingest::{IngestBinding, KnowledgeIngest, MediaVault};

type StreamKey = (ConnectorName, StreamName);

#[derive(Default)]
pub(crate) struct State {
    pub(crate) packs: HashMap<ConnectorName, PackStatus>,
    pub(crate) types: Option<BTreeSet<String>>,
    pub(crate) streams: HashMap<StreamKey, StreamStatus>,
    pub(crate) records: BTreeMap<(String, String), JsonObject>,
    pub(crate) digests: HashMap<(StreamKey, RecordId), Digest256>,
    pub(crate) edges: BTreeSet<(String, String, String)>,
    pub(crate) batches: Vec<SourceBatch>,
    pub(crate) receipts: HashMap<Digest256, SourceReceipt>,
    pub(crate) refuse_next: Option<SinkRefusal>,
    /// How often another writer commits nothing just before the next batch.
    pub(crate) overtake: usize,
    pub(crate) values: BTreeMap<String, KeyValueEntry>,
}

#[derive(Default)]
pub(crate) struct Graph(pub(crate) Mutex<State>);

impl Graph {
    pub(crate) fn read<T>(&self, question: impl FnOnce(&State) -> T) -> T {
        question(&self.0.lock().unwrap())
    }

    pub(crate) fn write<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.0.lock().unwrap())
    }

    pub(crate) fn accept(&self, connector: &ConnectorName, digest: Digest256, revision: u64) {
        let status = PackStatus { accepted_digest: Some(digest), revision: Some(revision), declaration_digest: None };
        self.write(|state| state.packs.insert(connector.clone(), status));
    }

    pub(crate) fn batches(&self) -> Vec<SourceBatch> {
        self.read(|state| state.batches.clone())
    }

    pub(crate) fn ids(&self) -> Vec<String> {
        self.read(|state| state.records.keys().map(|(_, id)| id.clone()).collect())
    }

    pub(crate) fn record(&self, id: &str) -> JsonObject {
        let found =
            |state: &State| state.records.iter().find(|((_, key), _)| key == id).map(|(_, record)| record.clone());
        self.read(found).unwrap_or_else(|| panic!("no record {id}"))
    }

    pub(crate) fn edges(&self) -> Vec<(String, String, String)> {
        self.read(|state| state.edges.iter().cloned().collect())
    }

    pub(crate) fn position(&self, binding: &IngestBinding) -> Option<Json> {
        let key = (binding.connector.clone(), binding.stream.clone());
        self.read(|state| Some(state.streams.get(&key)?.accepted_checkpoint.as_ref()?.position.clone()))
    }
}

#[async_trait]
impl Sink for Graph {
    fn capabilities(&self) -> SinkCapabilities {
        SinkCapabilities {
            cross_stream_relationships: true,
            forward_references: true,
            replaces_relations: true,
            max_records: 1024,
            max_relationships: 4096,
            max_live_ids: 16384,
            max_in_flight: 4,
        }
    }

    async fn ready(&self) -> Result<(), SinkRefusal> {
        Ok(())
    }

    async fn import_pack(&self, _import: &PackImport) -> Result<PackReceipt, SinkRefusal> {
        Err(SinkRefusal::Capability { what: "imports" })
    }

    async fn pack_status(&self, connector: &ConnectorName) -> Result<PackStatus, SinkRefusal> {
        Ok(self.read(|state| state.packs.get(connector).cloned().unwrap_or_default()))
    }

    async fn commit(&self, batch: &SourceBatch) -> Result<SourceReceipt, SinkRefusal> {
        self.write(|state| commit(state, batch))
    }

    async fn status(&self, connector: &ConnectorName, stream: &StreamName) -> Result<StreamStatus, SinkRefusal> {
        let key = (connector.clone(), stream.clone());
        Ok(self.read(|state| state.streams.get(&key).cloned().unwrap_or_default()))
    }
}

fn commit(state: &mut State, batch: &SourceBatch) -> Result<SourceReceipt, SinkRefusal> {
    batch.check(true)?;
    if let Some(refusal) = state.refuse_next.take() {
        return Err(refusal);
    }
    let digests = digest::batch(batch).map_err(|_| SinkRefusal::PackInvalid { what: "no digest" })?;
    if let Some(receipt) = state.receipts.get(&digests.batch) {
        return Ok(SourceReceipt { disposition: Disposition::Replayed, ..receipt.clone() });
    }
    let stream = batch.provider_checkpoint.stream.clone();
    let key = (batch.connector.clone(), stream.clone());
    let status = state.streams.entry(key.clone()).or_default();
    if let (1.., Some(checkpoint)) = (state.overtake, &mut status.accepted_checkpoint) {
        state.overtake -= 1;
        let sequence = checkpoint.position.get("sequence").and_then(Json::as_number).unwrap().as_u64().unwrap();
        let mut position = checkpoint.position.as_object().unwrap().clone();
        position.insert("sequence".to_owned(), (sequence + 1).into());
        checkpoint.position = position.into();
    }
    if status.accepted_checkpoint != batch.expected_previous_checkpoint {
        return Err(SinkRefusal::Conflict { stream: stream.to_string() });
    }
    if let Some(types) = &state.types {
        let unknown = batch.records.iter().find(|record| {
            !record.mapping_reference.record_type(&batch.connector).is_some_and(|name| types.contains(name))
        });
        if let Some(record) = unknown {
            return Err(SinkRefusal::UnknownMapping { reference: record.mapping_reference.to_string() });
        }
    }
    let pack = state.packs.get(&batch.connector).cloned().unwrap_or_default();
    let end = |entity: &scion_domain::model::EntityRef| entity.record_id.to_string();
    let place = |entity: &scion_domain::model::EntityRef| (entity.stream.to_string(), entity.record_id.to_string());
    for record in &batch.records {
        for relation in record.complete_relations.iter() {
            let (_, name) = relation.parts(&batch.connector).unwrap();
            let gone = |edge: &(String, String, String)| edge.0 == record.entity.record_id.as_str() && edge.1 == name;
            state.edges.retain(|edge| !gone(edge));
        }
        state.records.insert(place(&record.entity), record.payload.clone());
        state.digests.insert((key.clone(), record.entity.record_id.clone()), record.content_digest);
    }
    for edge in &batch.relationships {
        let (_, name) = edge.relation_reference.parts(&batch.connector).unwrap();
        state.edges.insert((end(&edge.source), name.to_owned(), end(&edge.target)));
    }
    let mut tombstones: Vec<Tombstone> = batch
        .withdrawals
        .iter()
        .map(|gone| Tombstone { entity: gone.entity.clone(), reason: gone.reason.clone() })
        .collect();
    if let Some(live) = &batch.authoritative_live_ids {
        let known = state.records.keys().filter(|(of, _)| of == stream.as_str());
        let gone = known.filter(|(_, id)| !live.iter().any(|entity| entity.record_id.as_str() == id));
        tombstones.extend(gone.map(|(_, id)| Tombstone {
            entity: scion_domain::model::EntityRef { stream: stream.clone(), record_id: RecordId::parse(id).unwrap() },
            reason: "not live".to_owned(),
        }));
    }
    for gone in &tombstones {
        state.records.remove(&place(&gone.entity));
        state.digests.remove(&(key.clone(), gone.entity.record_id.clone()));
    }
    let admissions = batch.records.iter().zip(&digests.raw).map(|(record, raw)| RawAdmission {
        entity: record.entity.clone(),
        raw_digest: *raw,
        deduplicated: false,
    });
    let mut receipt = SourceReceipt {
        receipt_id: format!("source-ingest:{}", digests.batch),
        disposition: Disposition::Committed,
        mode: batch.mode,
        batch_digest: digests.batch,
        raw_admissions: admissions.collect(),
        tombstones,
        accepted_checkpoint: batch.provider_checkpoint.clone(),
        accepted_checkpoint_digest: digest::checkpoint(&batch.provider_checkpoint),
        affected_count: (batch.records.len() + batch.relationships.len()) as u64,
        relationship_count: batch.relationships.len() as u64,
        contract_digest: pack.accepted_digest.unwrap_or(Digest256::ZERO),
        contract_revision: pack.revision.unwrap_or(0),
        committed_graph_version: state.batches.len() as u64 + 1,
        receipt_digest: Digest256::ZERO,
    };
    receipt.receipt_digest = digest::receipt(&receipt);
    let status = state.streams.entry(key).or_default();
    status.accepted_checkpoint = Some(batch.provider_checkpoint.clone());
    status.accepted_checkpoint_digest = Some(receipt.accepted_checkpoint_digest);
    status.last_batch_digest = Some(digests.batch);
    status.last_receipt_id = Some(receipt.receipt_id.clone());
    status.committed_graph_version = Some(receipt.committed_graph_version);
    state.batches.push(batch.clone());
    state.receipts.insert(digests.batch, receipt.clone());
    Ok(receipt)
}

#[async_trait]
impl RecordDigests for Graph {
    async fn lookup(
        &self,
        connector: &ConnectorName,
        stream: &StreamName,
        ids: &[RecordId],
    ) -> Result<Vec<Option<Digest256>>, StoreRefusal> {
        let key = (connector.clone(), stream.clone());
        Ok(self.read(|state| ids.iter().map(|id| state.digests.get(&(key.clone(), id.clone())).copied()).collect()))
    }

    async fn accepted(
        &self,
        _connector: &ConnectorName,
        _stream: &StreamName,
        _digests: &[(RecordId, Digest256)],
        _receipt: &SourceReceipt,
    ) -> Result<(), StoreRefusal> {
        Ok(())
    }
}

#[async_trait]
impl KeyValueStore for Graph {
    async fn get(&self, namespace: &str, key: &str) -> Result<Option<KeyValueEntry>, StoreRefusal> {
        Ok(self.read(|state| state.values.get(&format!("{namespace} {key}")).cloned()))
    }

    async fn compare_and_swap(
        &self,
        namespace: &str,
        key: &str,
        expected: Option<u64>,
        value: &[u8],
    ) -> Result<u64, StoreRefusal> {
        if value.len() > 1 << 20 {
            return Err(StoreRefusal::BadKey { what: "the value is too long" });
        }
        self.write(|state| {
            let name = format!("{namespace} {key}");
            let version = state.values.get(&name).map(|entry| entry.version);
            if version != expected {
                return Err(StoreRefusal::Conflict { key: key.to_owned() });
            }
            let version = version.unwrap_or(0) + 1;
            state.values.insert(name, KeyValueEntry { version, value: value.to_vec() });
            Ok(version)
        })
    }

    async fn delete(&self, _namespace: &str, _key: &str, _expected: u64) -> Result<(), StoreRefusal> {
        Err(StoreRefusal::ReadOnly)
    }

    async fn scan(
        &self,
        _namespace: &str,
        _prefix: &str,
        _after: Option<&str>,
        _limit: usize,
    ) -> Result<Vec<(String, KeyValueEntry)>, StoreRefusal> {
        Ok(Vec::new())
    }
}

pub(crate) struct RuntimeClock(tokio::time::Instant);

impl RuntimeClock {
    pub(crate) fn new() -> Self {
        Self(tokio::time::Instant::now())
    }
}

#[async_trait]
impl Clock for RuntimeClock {
    fn unix_millis(&self) -> i64 {
        0
    }

    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// A graph that has accepted some contract of `desk`, with the service over it.
pub(crate) fn desk() -> (Arc<Graph>, Arc<KnowledgeIngest>, IngestBinding) {
    let graph = Arc::new(Graph::default());
    let binding = IngestBinding::for_connector("desk".parse().unwrap(), "tickets".parse().unwrap());
    graph.accept(&binding.connector, Digest256::from_bytes([7; 32]), 3);
    let clock = Arc::new(RuntimeClock::new());
    let committer = Committer::new(graph.clone(), graph.clone(), clock);
    let service = KnowledgeIngest::new(committer).with_media(MediaVault::new(graph.clone()));
    (graph, Arc::new(service), binding)
}

pub(crate) fn object(text: &str) -> JsonObject {
    json::parse(text).unwrap().as_object().unwrap().clone()
}

pub(crate) fn list(text: &str) -> Vec<Json> {
    json::parse(text).unwrap().as_array().unwrap().to_vec()
}

/// The code a caller sees.
pub(crate) fn code<T: std::fmt::Debug>(answer: Result<T, IngestRefusal>) -> &'static str {
    answer.unwrap_err().leaf_code()
}
