//! A graph in memory that keeps the obligations of `Sink` and `RecordDigests`, and misbehaves on request.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use scion_domain::declaration::{ConnectorDeclaration, DECLARATION_URI};
use scion_domain::digest;
use scion_domain::id::{ConnectorName, Digest256, RecordId, StreamName};
use scion_domain::json::JsonObject;
use scion_domain::model::{
    Disposition, EntityRef, PackImport, PackReceipt, PackStatus, RawAdmission, SourceBatch, SourceReceipt,
    StreamStatus, Tombstone,
};
use scion_domain::sink::{SinkCapabilities, SinkRefusal, StoreRefusal};
use scion_ports::{RecordDigests, Sink, async_trait};

/// What goes wrong with the next commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SinkFault {
    /// Refused; nothing is written.
    Refuse(SinkRefusal),
    /// Written; the answer says nobody knows.
    ReplyLost,
    /// Not written; the answer says nobody knows.
    RequestLost,
    /// Written; the answer never comes.
    HangAfter,
    /// Not written; the answer never comes.
    HangBefore,
    /// Written; the receipt is of another batch.
    WrongReceipt,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRecord {
    pub payload: JsonObject,
    pub mapping: String,
    pub digest: Digest256,
}

type Edge = (RecordId, String, EntityRef);

#[derive(Clone, Debug, Default)]
pub struct StoredStream {
    pub status: StreamStatus,
    pub live: BTreeMap<RecordId, StoredRecord>,
    pub withdrawn: BTreeSet<RecordId>,
    pub edges: BTreeSet<Edge>,
    receipts: HashMap<Digest256, SourceReceipt>,
}

#[derive(Default)]
struct State {
    packs: BTreeMap<ConnectorName, (Digest256, u64, Digest256, ConnectorDeclaration)>,
    streams: BTreeMap<(ConnectorName, StreamName), StoredStream>,
    batches: Vec<SourceBatch>,
    version: u64,
}

pub struct MemorySink {
    state: Mutex<State>,
    faults: Mutex<VecDeque<SinkFault>>,
    pub capabilities: Mutex<SinkCapabilities>,
    pub status_faults: Mutex<VecDeque<SinkRefusal>>,
    under_way: AtomicUsize,
    pub most_under_way: AtomicUsize,
}

impl Default for MemorySink {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            faults: Mutex::default(),
            capabilities: Mutex::new(SinkCapabilities {
                cross_stream_relationships: true,
                forward_references: true,
                replaces_relations: true,
                max_records: 1024,
                max_relationships: 4096,
                max_live_ids: 16384,
                max_in_flight: 4,
            }),
            status_faults: Mutex::default(),
            under_way: AtomicUsize::new(0),
            most_under_way: AtomicUsize::new(0),
        }
    }
}

impl MemorySink {
    pub fn fail_next(&self, fault: SinkFault) {
        self.faults.lock().unwrap().push_back(fault);
    }

    /// Nothing goes wrong any more.
    pub fn heal(&self) {
        self.faults.lock().unwrap().clear();
    }

    /// Every batch that was applied, in order.
    pub fn batches(&self) -> Vec<SourceBatch> {
        self.state.lock().unwrap().batches.clone()
    }

    pub fn stored(&self, connector: &ConnectorName, stream: &StreamName) -> StoredStream {
        let state = self.state.lock().unwrap();
        state.streams.get(&(connector.clone(), stream.clone())).cloned().unwrap_or_default()
    }

    pub fn pack_revision(&self, connector: &ConnectorName) -> Option<u64> {
        self.state.lock().unwrap().packs.get(connector).map(|pack| pack.1)
    }

    /// Applies a batch as another writer would.
    pub fn apply_foreign(&self, batch: &SourceBatch) -> SourceReceipt {
        self.state.lock().unwrap().apply(batch, &self.capabilities()).unwrap()
    }
}

impl State {
    fn apply(&mut self, batch: &SourceBatch, capabilities: &SinkCapabilities) -> Result<SourceReceipt, SinkRefusal> {
        batch.check(capabilities.cross_stream_relationships)?;
        let too_many = |what, count, limit| scion_domain::model::BatchRefusal::TooMany { what, count, limit };
        if batch.records.len() > capabilities.max_records {
            return Err(too_many("records", batch.records.len(), capabilities.max_records).into());
        }
        if batch.relationships.len() > capabilities.max_relationships {
            return Err(too_many("relationships", batch.relationships.len(), capabilities.max_relationships).into());
        }
        let digests = digest::batch(batch).unwrap();
        let stream = batch.provider_checkpoint.stream.clone();
        let (pack_digest, revision) = self.admit(batch)?;
        self.version += 1;
        let version = self.version;
        let stored = self.streams.entry((batch.connector.clone(), stream.clone())).or_default();
        if let Some(known) = stored.receipts.get(&digests.batch) {
            return Ok(SourceReceipt { disposition: Disposition::Replayed, ..known.clone() });
        }
        if stored.status.accepted_checkpoint != batch.expected_previous_checkpoint {
            return Err(SinkRefusal::Conflict { stream: stream.to_string() });
        }
        let unknown = batch.withdrawals.iter().position(|gone| !stored.live.contains_key(&gone.entity.record_id));
        if let Some(index) = unknown {
            return Err(SinkRefusal::WithdrawalUnknown { index });
        }
        let mut tombstones = Vec::new();
        for record in &batch.records {
            let id = record.entity.record_id.clone();
            stored.withdrawn.remove(&id);
            stored.edges.retain(|(from, relation, _)| {
                *from != id || !record.complete_relations.iter().any(|known| known.as_str() == relation)
            });
            let (payload, mapping) = (record.payload.clone(), record.mapping_reference.to_string());
            stored.live.insert(id, StoredRecord { payload, mapping, digest: record.content_digest });
        }
        for edge in &batch.relationships {
            let relation = edge.relation_reference.to_string();
            stored.edges.insert((edge.source.record_id.clone(), relation, edge.target.clone()));
        }
        let gone: Vec<RecordId> = match &batch.authoritative_live_ids {
            Some(live) => {
                let live: BTreeSet<&RecordId> = live.iter().map(|entity| &entity.record_id).collect();
                stored.live.keys().filter(|id| !live.contains(id)).cloned().collect()
            }
            None => batch.withdrawals.iter().map(|gone| gone.entity.record_id.clone()).collect(),
        };
        for id in gone {
            stored.live.remove(&id);
            stored.withdrawn.insert(id.clone());
            let entity = EntityRef { stream: stream.clone(), record_id: id };
            tombstones.push(Tombstone { entity, reason: "gone".into() });
        }
        let admissions = batch.records.iter().zip(&digests.raw).map(|(record, raw)| RawAdmission {
            entity: record.entity.clone(),
            raw_digest: *raw,
            deduplicated: false,
        });
        let checkpoint_digest = digest::checkpoint(&batch.provider_checkpoint);
        let mut receipt = SourceReceipt {
            receipt_id: format!("source-ingest:{}", digests.batch),
            disposition: Disposition::Committed,
            mode: batch.mode,
            batch_digest: digests.batch,
            raw_admissions: admissions.collect(),
            tombstones,
            accepted_checkpoint: batch.provider_checkpoint.clone(),
            accepted_checkpoint_digest: checkpoint_digest,
            affected_count: (batch.records.len() + batch.relationships.len()) as u64,
            relationship_count: batch.relationships.len() as u64,
            contract_digest: pack_digest,
            contract_revision: revision,
            committed_graph_version: version,
            receipt_digest: Digest256::ZERO,
        };
        receipt.receipt_digest = digest::receipt(&receipt);
        stored.status = StreamStatus {
            accepted_checkpoint: Some(batch.provider_checkpoint.clone()),
            accepted_checkpoint_digest: Some(checkpoint_digest),
            last_batch_digest: Some(digests.batch),
            last_receipt_id: Some(receipt.receipt_id.clone()),
            committed_graph_version: Some(version),
        };
        stored.receipts.insert(digests.batch, receipt.clone());
        self.batches.push(batch.clone());
        Ok(receipt)
    }

    fn admit(&self, batch: &SourceBatch) -> Result<(Digest256, u64), SinkRefusal> {
        let pack = self.packs.get(&batch.connector);
        let declared = |name: &str| pack.is_some_and(|(_, _, _, pack)| pack.schema_mappings.contains_key(name));
        for record in &batch.records {
            if !record.mapping_reference.record_type(&batch.connector).is_some_and(declared) {
                return Err(SinkRefusal::UnknownMapping { reference: record.mapping_reference.to_string() });
            }
        }
        for edge in &batch.relationships {
            let known = edge.relation_reference.parts(&batch.connector).is_some_and(|(record_type, name)| {
                pack.is_some_and(|(_, _, _, pack)| {
                    pack.sources.iter().any(|source| {
                        source.record_type == record_type && source.edges.iter().any(|edge| edge.relationship == name)
                    }) || pack.resources.iter().any(|resource| {
                        resource.name == record_type && resource.relations.iter().any(|relation| relation.name == name)
                    })
                })
            });
            if !known {
                return Err(SinkRefusal::UnknownRelation { reference: edge.relation_reference.to_string() });
            }
        }
        Ok(pack.map_or((Digest256::ZERO, 0), |pack| (pack.0, pack.1)))
    }
}

#[async_trait]
impl Sink for MemorySink {
    fn capabilities(&self) -> SinkCapabilities {
        *self.capabilities.lock().unwrap()
    }

    async fn ready(&self) -> Result<(), SinkRefusal> {
        Ok(())
    }

    async fn import_pack(&self, import: &PackImport) -> Result<PackReceipt, SinkRefusal> {
        let mut state = self.state.lock().unwrap();
        let entry = import.entries.iter().find(|entry| entry.uri == DECLARATION_URI);
        let entry = entry.ok_or(SinkRefusal::PackInvalid { what: "no declaration" })?;
        let declaration = ConnectorDeclaration::from_text(&entry.body)
            .map_err(|_| SinkRefusal::PackInvalid { what: "the declaration cannot be read" })?;
        let pack_digest = digest::pack(import);
        let known = state.packs.get(&import.connector).map(|pack| (pack.0, pack.1));
        if import.expected_revision != known.map(|(_, revision)| revision) {
            return Err(SinkRefusal::PackConflict { connector: import.connector.to_string() });
        }
        if let Some((_, revision)) = known.filter(|(digest, _)| *digest == pack_digest) {
            return Ok(PackReceipt { pack_digest, revision, unchanged: true });
        }
        let revision = known.map_or(1, |(_, revision)| revision + 1);
        state.packs.insert(import.connector.clone(), (pack_digest, revision, digest::sha256(&entry.body), declaration));
        Ok(PackReceipt { pack_digest, revision, unchanged: false })
    }

    async fn pack_status(&self, connector: &ConnectorName) -> Result<PackStatus, SinkRefusal> {
        let state = self.state.lock().unwrap();
        let known = state.packs.get(connector);
        Ok(PackStatus {
            accepted_digest: known.map(|pack| pack.0),
            revision: known.map(|pack| pack.1),
            declaration_digest: known.map(|pack| pack.2),
        })
    }

    async fn commit(&self, batch: &SourceBatch) -> Result<SourceReceipt, SinkRefusal> {
        let now = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_under_way.fetch_max(now, Ordering::SeqCst);
        let answer = self.commit_with_faults(batch).await;
        self.under_way.fetch_sub(1, Ordering::SeqCst);
        answer
    }

    async fn status(&self, connector: &ConnectorName, stream: &StreamName) -> Result<StreamStatus, SinkRefusal> {
        if let Some(refusal) = self.status_faults.lock().unwrap().pop_front() {
            return Err(refusal);
        }
        Ok(self.stored(connector, stream).status)
    }
}

impl MemorySink {
    async fn commit_with_faults(&self, batch: &SourceBatch) -> Result<SourceReceipt, SinkRefusal> {
        tokio::task::yield_now().await;
        let fault = self.faults.lock().unwrap().pop_front();
        let apply = || self.state.lock().unwrap().apply(batch, &self.capabilities());
        match fault {
            None => apply(),
            Some(SinkFault::Refuse(refusal)) => Err(refusal),
            Some(SinkFault::RequestLost) => Err(SinkRefusal::OutcomeUnknown),
            Some(SinkFault::ReplyLost) => apply().and(Err(SinkRefusal::OutcomeUnknown)),
            Some(SinkFault::HangBefore) => std::future::pending().await,
            Some(SinkFault::HangAfter) => {
                apply()?;
                std::future::pending().await
            }
            Some(SinkFault::WrongReceipt) => {
                let receipt = apply()?;
                Ok(SourceReceipt { batch_digest: Digest256::from_bytes([9; 32]), ..receipt })
            }
        }
    }
}

#[async_trait]
impl RecordDigests for MemorySink {
    async fn lookup(
        &self,
        connector: &ConnectorName,
        stream: &StreamName,
        ids: &[RecordId],
    ) -> Result<Vec<Option<Digest256>>, StoreRefusal> {
        let stored = self.stored(connector, stream);
        Ok(ids.iter().map(|id| stored.live.get(id).map(|record| record.digest)).collect())
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
