//! A small connector, `desk`, and batches of it.

use std::sync::Arc;

use scion_domain::digest;
use scion_domain::id::{
    ConnectorName, Digest256, MappingReference, RecordId, RecordType, RelationReference, StreamName,
};
use scion_domain::json::{Json, JsonObject, parse};
use scion_domain::model::{
    EntityRef, IngestMode, PackEntry, PackImport, PackServer, Provenance, RelationshipRecord, SourceBatch,
    SourceCheckpoint, SourceReceipt, SourceRecord, Withdrawal,
};
use scion_domain::query::{QueryAnswer, QueryRequest, Term};
use scion_embedded::EmbeddedGraph;
use scion_ports::{GraphQuery, Sink};
use tempfile::TempDir;

pub(crate) const DECLARATION: &str = r#"{
  "connector": "desk",
  "sources": [
    {"source_id": "tickets", "record_type": "Ticket", "tools": ["list_tickets"], "id_field": "id", "title_field": "title",
     "edges": [{"relationship": "owner", "target_field": "owner", "target_type": "Person", "target_stream": "people"},
               {"relationship": "parent", "target_field": "parent", "target_type": "Ticket", "target_stream": "tickets"}]},
    {"source_id": "people", "record_type": "Person", "tools": ["list_people"], "id_field": "id"}
  ],
  "schema_mappings": {
    "Ticket": {"ontology_class": "Ticket", "fields": {
      "title": "title", "status": "status", "open": "xsd:boolean", "points": "xsd:integer", "age": "xsd:nonNegativeInteger",
      "cost": "xsd:decimal", "tags": "tag", "created": "xsd:dateTime", "size": "https://desk.example/ns#size"}},
    "Person": {"ontology_class": "https://desk.example/ns#Person", "fields": {"name": "name"}},
    "Broken": {"ontology_class": "Broken", "fields": {"a": "x", "b": "x"}}
  },
  "resources": [{"name": "Person", "label": "", "id_prefix": "", "relations": [
    {"name": "manager", "target": "Person", "label": "", "lpg_rel_type": ""}]}],
  "descriptors": []
}"#;

pub(crate) const ONTOLOGY: &str =
    "@prefix : <https://desk.example/ns#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:watches a owl:ObjectProperty .";

pub(crate) struct Desk {
    pub(crate) graph: EmbeddedGraph,
    pub(crate) folder: TempDir,
}

impl Desk {
    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("graph.sqlite")
    }
}

pub(crate) fn empty() -> Desk {
    let folder = tempfile::tempdir().unwrap();
    let graph = EmbeddedGraph::open(&folder.path().join("graph.sqlite")).unwrap();
    Desk { graph, folder }
}

pub(crate) async fn desk() -> Desk {
    let desk = empty();
    desk.graph.import_pack(&pack(DECLARATION)).await.unwrap();
    desk
}

pub(crate) fn connector() -> ConnectorName {
    ConnectorName::parse("desk").unwrap()
}

pub(crate) fn stream(name: &str) -> StreamName {
    StreamName::parse(name).unwrap()
}

pub(crate) fn id(text: &str) -> RecordId {
    RecordId::parse(text).unwrap()
}

pub(crate) fn pack(declaration: &str) -> PackImport {
    let entry = |kind: &str, uri: &str, media_type: &str, body: &str| PackEntry {
        kind: kind.to_owned(),
        uri: uri.to_owned(),
        media_type: media_type.to_owned(),
        body: body.as_bytes().to_vec(),
        ..PackEntry::default()
    };
    PackImport {
        connector: connector(),
        server: PackServer::default(),
        entries: vec![
            entry("resource", "connector://resources", "application/json", declaration),
            entry("ontology", "ontology://desk", "text/turtle", ONTOLOGY),
        ],
        expected_revision: None,
        allow_mass_withdrawal: false,
    }
}

pub(crate) fn object(text: &str) -> JsonObject {
    match parse(text).unwrap() {
        Json::Object(members) => members,
        other => panic!("not an object: {other:?}"),
    }
}

pub(crate) fn provenance(tool: &str, uri_tail: &str) -> Provenance {
    Provenance {
        connector: connector(),
        adapter_kind: "mcp_tool".to_owned(),
        server: "desk".to_owned(),
        tool: tool.to_owned(),
        tool_schema_sha256: Digest256::from_bytes([3; 32]),
        source_uri: format!("mcp-tool://desk/{tool}/{uri_tail}"),
    }
}

pub(crate) fn entity(stream_name: &str, record: &str) -> EntityRef {
    EntityRef { stream: stream(stream_name), record_id: id(record) }
}

pub(crate) fn record(stream_name: &str, record_type: &str, record_id: &str, payload: &str) -> SourceRecord {
    let payload = object(payload);
    SourceRecord {
        entity: entity(stream_name, record_id),
        mapping_reference: MappingReference::of(&connector(), &RecordType::parse(record_type).unwrap()).unwrap(),
        content_digest: digest::record_content(&Digest256::ZERO, &payload),
        payload,
        updated_at: None,
        provenance: provenance("list", record_id),
        complete_relations: Arc::new([]),
    }
}

pub(crate) fn ticket(record_id: &str, payload: &str) -> SourceRecord {
    record("tickets", "Ticket", record_id, payload)
}

pub(crate) fn relation(record_type: &str, name: &str) -> RelationReference {
    RelationReference::of(&connector(), &RecordType::parse(record_type).unwrap(), name).unwrap()
}

pub(crate) fn edge(from: &str, name: &str, to_stream: &str, to: &str) -> RelationshipRecord {
    RelationshipRecord {
        source: entity("tickets", from),
        target: entity(to_stream, to),
        relation_reference: relation("Ticket", name),
        properties: JsonObject::new(),
        provenance: provenance("list", from),
    }
}

/// A checkpoint that stands for step `step` of a stream; step 0 is "nothing accepted".
pub(crate) fn checkpoint(stream_name: &str, step: u64) -> Option<SourceCheckpoint> {
    (step > 0).then(|| SourceCheckpoint {
        position: Json::from([("step", Json::from(step))]),
        ..SourceCheckpoint::start(stream(stream_name))
    })
}

/// A batch that moves a stream from step `step - 1` to `step`.
pub(crate) fn batch(stream_name: &str, mode: IngestMode, step: u64, records: Vec<SourceRecord>) -> SourceBatch {
    SourceBatch {
        connector: connector(),
        mode,
        strict_schema: false,
        records,
        relationships: Vec::new(),
        provider_checkpoint: checkpoint(stream_name, step).unwrap(),
        expected_previous_checkpoint: checkpoint(stream_name, step - 1),
        authoritative_live_ids: None,
        empty_authoritative_approval: None,
        withdrawals: Vec::new(),
    }
}

pub(crate) fn full(step: u64, records: Vec<SourceRecord>) -> SourceBatch {
    batch("tickets", IngestMode::Full, step, records)
}

pub(crate) fn delta(step: u64, records: Vec<SourceRecord>, withdrawn: &[&str]) -> SourceBatch {
    let withdrawals = withdrawn
        .iter()
        .map(|gone| Withdrawal { entity: entity("tickets", gone), reason: format!("{gone} was deleted") })
        .collect();
    SourceBatch { withdrawals, ..batch("tickets", IngestMode::Delta, step, records) }
}

pub(crate) async fn commit(graph: &EmbeddedGraph, batch: &SourceBatch) -> SourceReceipt {
    graph.commit(batch).await.unwrap()
}

pub(crate) async fn query(graph: &EmbeddedGraph, sparql: &str) -> QueryAnswer {
    let request = QueryRequest { sparql: sparql.to_owned(), max_rows: 10_000, timeout_ms: 20_000 };
    graph.query(&request).await.unwrap()
}

/// The rows of a SELECT as text, sorted.
pub(crate) async fn rows(graph: &EmbeddedGraph, sparql: &str) -> Vec<String> {
    let QueryAnswer::Solutions { rows, .. } = query(graph, sparql).await else { panic!("not a SELECT") };
    let mut out: Vec<String> =
        rows.iter().map(|row| row.iter().map(|term| show(term.as_ref())).collect::<Vec<_>>().join(" | ")).collect();
    out.sort();
    out
}

fn show(term: Option<&Term>) -> String {
    match term {
        None => "-".to_owned(),
        Some(Term::Iri(iri)) => iri.clone(),
        Some(Term::Blank(label)) => format!("_:{label}"),
        Some(Term::Literal { value, datatype, .. }) => match datatype {
            None => value.clone(),
            Some(datatype) => format!("{value}^^{}", datatype.rsplit(['#', '/']).next().unwrap_or_default()),
        },
    }
}

/// The live ids of the tickets, through SPARQL.
pub(crate) async fn live(graph: &EmbeddedGraph) -> Vec<String> {
    rows(graph, "SELECT ?id { ?r a desk:Ticket ; scion:recordId ?id }").await
}
