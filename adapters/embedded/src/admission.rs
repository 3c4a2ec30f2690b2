//! Admission: what a batch must satisfy before anything is written, and its form ready for writing.
//!
//! Runs on the caller's task, so that the writer's thread only writes. The contract it used is checked again inside
//! the transaction.

use std::collections::HashMap;
use std::sync::Arc;

use scion_domain::digest;
use scion_domain::id::{Digest256, RecordId, RelationReference, StreamName};
use scion_domain::json::{Json, JsonObject, to_compact};
use scion_domain::model::{IngestMode, Provenance, SourceBatch, SourceCheckpoint, SourceRecord, Withdrawal};
use scion_domain::sink::SinkRefusal;

use crate::contract::{AcceptedContract, Datatype, Mapping};
use crate::intern::ProvenanceKey;
use crate::{iri, payload};

/// Record fields that strict schema does not ask the mapping for.
const EXEMPT: [&str; 2] = ["id", "node_type"];

/// Records between two yields to other tasks.
const SLICE: usize = 256;

/// A record ready for its row.
pub(crate) struct ReadyRecord {
    pub(crate) id: RecordId,
    pub(crate) mapping: i64,
    pub(crate) payload: Vec<u8>,
    pub(crate) updated_at: Option<String>,
    /// Index into [`ReadyBatch::provenances`].
    pub(crate) provenance: usize,
    pub(crate) source_uri: SourceUri,
    /// Content digest, then raw digest.
    pub(crate) digests: [u8; 64],
    pub(crate) complete_relations: Arc<[RelationReference]>,
}

/// An edge ready for its row.
pub(crate) struct ReadyEdge {
    pub(crate) source: RecordId,
    pub(crate) target_stream: StreamName,
    pub(crate) target: RecordId,
    pub(crate) relation: RelationReference,
    pub(crate) provenance: usize,
    pub(crate) properties: Option<String>,
}

/// How a record's `source_uri` is kept: most are their tool's URI and their id, and need no text of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SourceUri {
    /// `mcp-tool://<server>/<tool>/<id>`.
    Plain,
    /// The same with the id percent-encoded.
    Encoded,
    /// Anything else.
    Text(String),
}

/// A batch that was admitted.
pub(crate) struct ReadyBatch {
    pub(crate) connector: scion_domain::id::ConnectorName,
    pub(crate) stream: StreamName,
    pub(crate) mode: IngestMode,
    pub(crate) contract_revision: u64,
    pub(crate) contract_digest: Digest256,
    pub(crate) batch_digest: Digest256,
    pub(crate) checkpoint: SourceCheckpoint,
    pub(crate) checkpoint_digest: Digest256,
    pub(crate) expected_digest: Option<Digest256>,
    pub(crate) records: Vec<ReadyRecord>,
    pub(crate) edges: Vec<ReadyEdge>,
    pub(crate) provenances: Vec<ProvenanceKey>,
    pub(crate) withdrawals: Vec<Withdrawal>,
    pub(crate) live: Option<Vec<RecordId>>,
}

/// The digests the store computes itself.
pub(crate) struct Digests {
    pub(crate) batch: Digest256,
    pub(crate) raw: Vec<Digest256>,
    pub(crate) checkpoint: Digest256,
    pub(crate) expected: Option<Digest256>,
}

impl Digests {
    pub(crate) fn of(batch: &SourceBatch) -> Result<Self, SinkRefusal> {
        let refuse = |_| SinkRefusal::Capability { what: "a canonical form of this batch's payloads or positions" };
        let digests = digest::batch(batch).map_err(refuse)?;
        Ok(Self {
            batch: digests.batch,
            raw: digests.raw,
            checkpoint: digest::checkpoint(&batch.provider_checkpoint),
            expected: batch.expected_previous_checkpoint.as_ref().map(digest::checkpoint),
        })
    }
}

/// Checks a batch against the contract and brings it into its written form.
pub(crate) async fn admit(
    batch: &SourceBatch,
    digests: &Digests,
    contract: &AcceptedContract,
) -> Result<ReadyBatch, SinkRefusal> {
    let mut provenances = Provenances::default();
    let mut records = Vec::with_capacity(batch.records.len());
    for (index, (record, raw)) in batch.records.iter().zip(&digests.raw).enumerate() {
        if index % SLICE == SLICE - 1 {
            tokio::task::yield_now().await;
        }
        records.push(admit_record(batch, index, record, raw, contract, &mut provenances)?);
    }
    let mut edges = Vec::with_capacity(batch.relationships.len());
    for edge in &batch.relationships {
        contract.check_relation(&batch.connector, &edge.relation_reference)?;
        edges.push(ReadyEdge {
            source: edge.source.record_id.clone(),
            target_stream: edge.target.stream.clone(),
            target: edge.target.record_id.clone(),
            relation: edge.relation_reference.clone(),
            provenance: provenances.index(&edge.provenance),
            properties: (!edge.properties.is_empty()).then(|| to_compact(&Json::Object(edge.properties.clone()))),
        });
    }
    Ok(ReadyBatch {
        connector: batch.connector.clone(),
        stream: batch.provider_checkpoint.stream.clone(),
        mode: batch.mode,
        contract_revision: contract.revision,
        contract_digest: contract.digest,
        batch_digest: digests.batch,
        checkpoint: batch.provider_checkpoint.clone(),
        checkpoint_digest: digests.checkpoint,
        expected_digest: digests.expected,
        records,
        edges,
        provenances: provenances.keys,
        withdrawals: batch.withdrawals.clone(),
        live: batch
            .authoritative_live_ids
            .as_ref()
            .map(|live| live.iter().map(|entity| entity.record_id.clone()).collect()),
    })
}

fn admit_record(
    batch: &SourceBatch,
    index: usize,
    record: &SourceRecord,
    raw: &Digest256,
    contract: &AcceptedContract,
    provenances: &mut Provenances,
) -> Result<ReadyRecord, SinkRefusal> {
    let mapping = contract.mapping(record.mapping_reference.as_str())?;
    for relation in &*record.complete_relations {
        contract.check_relation(&batch.connector, relation)?;
    }
    let payload = map_payload(mapping, index, &record.payload, batch.strict_schema)?;
    let mut digests = [0; 64];
    digests[..32].copy_from_slice(record.content_digest.as_bytes());
    digests[32..].copy_from_slice(raw.as_bytes());
    Ok(ReadyRecord {
        id: record.entity.record_id.clone(),
        mapping: mapping.id,
        payload,
        updated_at: record.updated_at.clone(),
        provenance: provenances.index(&record.provenance),
        source_uri: SourceUri::of(&record.provenance, record.entity.record_id.as_str()),
        digests,
        complete_relations: Arc::clone(&record.complete_relations),
    })
}

/// The mapped values (`wire/engine-protocol.md` 7.1).
fn map_payload(mapping: &Mapping, index: usize, fields: &JsonObject, strict: bool) -> Result<Vec<u8>, SinkRefusal> {
    let mut out = Vec::with_capacity(256);
    for (name, value) in fields {
        if name == "node_type" && value.as_str() != Some(mapping.record_type.as_str()) {
            return Err(SinkRefusal::Selector { index });
        }
        if let Some(field) = mapping.fields.get(name) {
            if let Some((datatype, declared)) = &field.check
                && !admits(*datatype, value)
            {
                return Err(SinkRefusal::FieldType { index, field: name.clone(), expected: declared.clone() });
            }
            payload::push(&mut out, field.property, value);
        } else if let Some((_, property)) = mapping.always_kept.iter().find(|(kept, _)| kept == name) {
            payload::push(&mut out, *property, value);
        } else if strict && !EXEMPT.contains(&name.as_str()) {
            return Err(SinkRefusal::FieldUnknown { index, field: name.clone() });
        }
    }
    Ok(out)
}

fn admits(datatype: Datatype, value: &Json) -> bool {
    match (datatype, value) {
        (Datatype::Text, Json::String(_))
        | (Datatype::Boolean, Json::Bool(_))
        | (Datatype::Number, Json::Number(_)) => true,
        (Datatype::Integer, Json::Number(number)) => number.is_integer(),
        (Datatype::NonNegative, Json::Number(number)) => {
            number.is_integer() && (!number.as_text().starts_with('-') || number.as_text() == "-0")
        }
        _ => false,
    }
}

impl SourceUri {
    fn of(provenance: &Provenance, id: &str) -> Self {
        let uri = provenance.source_uri.as_str();
        let rest = uri
            .strip_prefix("mcp-tool://")
            .and_then(|rest| rest.strip_prefix(provenance.server.as_str())?.strip_prefix('/'))
            .and_then(|rest| rest.strip_prefix(provenance.tool.as_str())?.strip_prefix('/'));
        match rest {
            Some(rest) if rest == id => Self::Plain,
            Some(rest) if rest == iri::encode(id) => Self::Encoded,
            _ => Self::Text(uri.to_owned()),
        }
    }
}

/// The distinct provenances of a batch; one in nearly all of them.
#[derive(Default)]
struct Provenances {
    keys: Vec<ProvenanceKey>,
    known: HashMap<ProvenanceKey, usize>,
}

impl Provenances {
    fn index(&mut self, provenance: &Provenance) -> usize {
        // Records of a page share theirs, so the last one is nearly always it.
        if let Some(last) = self.keys.last()
            && last.tool == provenance.tool
            && last.server == provenance.server
            && last.adapter_kind == provenance.adapter_kind
            && last.tool_schema == *provenance.tool_schema_sha256.as_bytes()
        {
            return self.keys.len() - 1;
        }
        let key = ProvenanceKey {
            adapter_kind: provenance.adapter_kind.clone(),
            server: provenance.server.clone(),
            tool: provenance.tool.clone(),
            tool_schema: *provenance.tool_schema_sha256.as_bytes(),
        };
        let keys = &mut self.keys;
        *self.known.entry(key.clone()).or_insert_with(|| {
            keys.push(key);
            keys.len() - 1
        })
    }
}
