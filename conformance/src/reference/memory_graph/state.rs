//! The whole state, as plain collections.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use scion_domain::id::{ConnectorName, Digest256, RecordId, RelationReference, StreamName};
use scion_domain::json::JsonObject;
use scion_domain::model::{EntityRef, SourceCheckpoint, SourceReceipt, StreamOverview, StreamStatus};

/// A live record as a test sees it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordView {
    /// The connector.
    pub connector: ConnectorName,
    /// The identity.
    pub entity: EntityRef,
    /// The payload as canonical text.
    pub payload: String,
}

/// An edge as a test sees it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EdgeView {
    /// From.
    pub source: EntityRef,
    /// The relation.
    pub relation: RelationReference,
    /// To.
    pub target: EntityRef,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) packs: BTreeMap<ConnectorName, Accepted>,
    pub(super) streams: BTreeMap<(ConnectorName, StreamName), Stream>,
    pub(super) records: BTreeMap<(ConnectorName, EntityRef), Record>,
    pub(super) edges: BTreeMap<ConnectorName, BTreeSet<(EntityRef, RelationReference, EntityRef)>>,
    pub(super) version: u64,
    pub(super) effects: u64,
}

#[derive(Debug)]
pub(super) struct Accepted {
    pub(super) digest: Digest256,
    pub(super) declaration: Digest256,
    pub(super) revision: u64,
    pub(super) uris: BTreeSet<String>,
    pub(super) record_types: BTreeSet<String>,
    pub(super) relations: BTreeSet<(String, String)>,
}

#[derive(Debug, Default)]
pub(super) struct Stream {
    pub(super) checkpoint: Option<SourceCheckpoint>,
    pub(super) last_batch: Option<Digest256>,
    pub(super) last_receipt: Option<String>,
    pub(super) last_version: Option<u64>,
    pub(super) receipts: HashMap<Digest256, SourceReceipt>,
}

#[derive(Debug)]
pub(super) struct Record {
    pub(super) payload: JsonObject,
    pub(super) content: Digest256,
    pub(super) raw: Digest256,
    pub(super) live: bool,
}

impl State {
    pub(super) fn is_live(&self, connector: &ConnectorName, entity: &EntityRef) -> bool {
        self.records.get(&(connector.clone(), entity.clone())).is_some_and(|record| record.live)
    }

    pub(super) fn status(&self, connector: &ConnectorName, stream: &StreamName) -> StreamStatus {
        let Some(stream) = self.streams.get(&(connector.clone(), stream.clone())) else {
            return StreamStatus::default();
        };
        StreamStatus {
            accepted_checkpoint_digest: stream.checkpoint.as_ref().map(scion_domain::digest::checkpoint),
            accepted_checkpoint: stream.checkpoint.clone(),
            last_batch_digest: stream.last_batch,
            last_receipt_id: stream.last_receipt.clone(),
            committed_graph_version: stream.last_version,
        }
    }

    pub(super) fn content_digests(
        &self,
        connector: &ConnectorName,
        stream: &StreamName,
        ids: &[RecordId],
    ) -> Vec<Option<Digest256>> {
        ids.iter()
            .map(|record_id| {
                let entity = EntityRef { stream: stream.clone(), record_id: record_id.clone() };
                let record = self.records.get(&(connector.clone(), entity))?;
                record.live.then_some(record.content)
            })
            .collect()
    }

    pub(super) fn live_records(&self) -> Vec<RecordView> {
        self.records
            .iter()
            .filter(|(_, record)| record.live)
            .map(|((connector, entity), record)| RecordView {
                connector: connector.clone(),
                entity: entity.clone(),
                payload: scion_domain::canonical::lossless_json(&record.payload.clone().into()),
            })
            .collect()
    }

    pub(super) fn visible_edges(&self) -> Vec<EdgeView> {
        let mut edges = Vec::new();
        for (connector, of_connector) in &self.edges {
            for (source, relation, target) in of_connector {
                if self.is_live(connector, source) && self.is_live(connector, target) {
                    edges.push(EdgeView { source: source.clone(), relation: relation.clone(), target: target.clone() });
                }
            }
        }
        edges
    }

    pub(super) fn overviews(&self) -> Vec<StreamOverview> {
        self.streams
            .iter()
            .map(|((connector, name), stream)| {
                let of_stream = self.records.iter().filter(|((c, e), _)| c == connector && e.stream == *name);
                let live = of_stream.clone().filter(|(_, record)| record.live).count();
                let edges = self.edges.get(connector).into_iter().flatten();
                StreamOverview {
                    connector: connector.clone(),
                    stream: name.clone(),
                    checkpoint: stream.checkpoint.clone(),
                    last_receipt_id: stream.last_receipt.clone(),
                    last_commit_unix_ms: None,
                    batches: stream.receipts.len() as u64,
                    live_records: live as u64,
                    withdrawn_records: (of_stream.count() - live) as u64,
                    relationships: edges.filter(|(source, _, _)| source.stream == *name).count() as u64,
                }
            })
            .collect()
    }
}
