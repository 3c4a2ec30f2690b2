//! Progress documents and repair proposals in memory.

use std::collections::BTreeMap;
use std::sync::Mutex;

use scion_domain::drift::RepairProposal;
use scion_domain::id::{ConnectorName, Digest256, StreamName};
use scion_domain::json::Json;
use scion_domain::model::{ProgressDocument, RepairDecision};
use scion_domain::sink::StoreRefusal;
use scion_ports::{CheckpointStore, RepairProposals, async_trait};

type Key = (ConnectorName, StreamName);

#[derive(Default)]
pub struct MemoryCheckpoints {
    documents: Mutex<BTreeMap<Key, ProgressDocument>>,
    next_version: Mutex<u64>,
    pub writes: Mutex<usize>,
}

impl MemoryCheckpoints {
    pub fn document(&self, connector: &ConnectorName, stream: &StreamName) -> Option<ProgressDocument> {
        self.documents.lock().unwrap().get(&(connector.clone(), stream.clone())).cloned()
    }

    pub fn write_count(&self) -> usize {
        *self.writes.lock().unwrap()
    }
}

#[async_trait]
impl CheckpointStore for MemoryCheckpoints {
    async fn load(
        &self,
        connector: &ConnectorName,
        source: &StreamName,
    ) -> Result<Option<ProgressDocument>, StoreRefusal> {
        Ok(self.document(connector, source))
    }

    async fn advance(
        &self,
        connector: &ConnectorName,
        source: &StreamName,
        expected: Option<u64>,
        body: &Json,
    ) -> Result<u64, StoreRefusal> {
        let mut documents = self.documents.lock().unwrap();
        let key = (connector.clone(), source.clone());
        if documents.get(&key).map(|document| document.version) != expected {
            return Err(StoreRefusal::Conflict { key: format!("ingest-source/{connector}/{source}") });
        }
        let mut next = self.next_version.lock().unwrap();
        *next += 1;
        *self.writes.lock().unwrap() += 1;
        documents.insert(key, ProgressDocument { version: *next, body: body.clone() });
        Ok(*next)
    }

    async fn reset(&self, connector: &ConnectorName, source: &StreamName, expected: u64) -> Result<(), StoreRefusal> {
        let mut documents = self.documents.lock().unwrap();
        let key = (connector.clone(), source.clone());
        if documents.get(&key).map(|document| document.version) != Some(expected) {
            return Err(StoreRefusal::Conflict { key: format!("ingest-source/{connector}/{source}") });
        }
        documents.remove(&key);
        Ok(())
    }
}

#[derive(Default)]
pub struct MemoryRepairs {
    proposals: Mutex<BTreeMap<Digest256, RepairDecision>>,
}

impl MemoryRepairs {
    pub fn decide(&self, proposal: Digest256, decision: RepairDecision) {
        self.proposals.lock().unwrap().insert(proposal, decision);
    }

    pub fn count(&self) -> usize {
        self.proposals.lock().unwrap().len()
    }
}

#[async_trait]
impl RepairProposals for MemoryRepairs {
    async fn propose(&self, proposal: &RepairProposal) -> Result<(), StoreRefusal> {
        self.proposals.lock().unwrap().entry(proposal.digest()).or_insert(RepairDecision::Pending);
        Ok(())
    }

    async fn decision(
        &self,
        _connector: &ConnectorName,
        _stream: &StreamName,
        proposal: Digest256,
    ) -> Result<RepairDecision, StoreRefusal> {
        Ok(self.proposals.lock().unwrap().get(&proposal).copied().unwrap_or(RepairDecision::Unknown))
    }
}
