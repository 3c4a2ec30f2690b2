//! Small batches and packs.

pub mod clock;
pub mod keys;

use std::sync::Arc;

use scion_domain::id::{
    ConnectorName, Digest256, MappingReference, RecordId, RecordType, RelationReference, StreamName,
};
use scion_domain::json::{Json, JsonObject};
use scion_domain::model::{
    EntityRef, IngestMode, PackEntry, PackImport, PackServer, Provenance, RelationshipRecord, SourceBatch,
    SourceCheckpoint, SourceRecord, Withdrawal,
};

/// Parses a fixture identity.
///
/// # Panics
/// On a text that is none: fixtures are constants.
macro_rules! parsed {
    ($type:ident, $text:expr) => {
        $type::parse($text).expect(concat!("a fixture is a valid ", stringify!($type)))
    };
}

/// `desk-mcp`.
pub fn connector() -> ConnectorName {
    parsed!(ConnectorName, "desk-mcp")
}

/// A connector of another name.
pub fn connector_named(name: &str) -> ConnectorName {
    parsed!(ConnectorName, name)
}

/// `tickets`.
pub fn stream() -> StreamName {
    parsed!(StreamName, "tickets")
}

/// A stream of another name.
pub fn stream_named(name: &str) -> StreamName {
    parsed!(StreamName, name)
}

/// A record id.
pub fn id(text: &str) -> RecordId {
    parsed!(RecordId, text)
}

/// An identity in `tickets`.
pub fn entity(record_id: &str) -> EntityRef {
    EntityRef { stream: stream(), record_id: id(record_id) }
}

/// Where fixtures come from.
pub fn provenance(connector: &ConnectorName) -> Provenance {
    Provenance {
        connector: connector.clone(),
        adapter_kind: "mcp_tool".into(),
        server: "desk".into(),
        tool: "desk_list_tickets".into(),
        tool_schema_sha256: Digest256::from_bytes([7; 32]),
        source_uri: "mcp-tool://desk/desk_list_tickets/x".into(),
    }
}

/// A ticket with a subject. Its content digest follows from the subject.
pub fn ticket(record_id: &str, subject: &str) -> SourceRecord {
    ticket_of(&connector(), &stream(), record_id, subject)
}

/// A ticket of another connector or stream.
pub fn ticket_of(connector: &ConnectorName, stream: &StreamName, record_id: &str, subject: &str) -> SourceRecord {
    let payload = JsonObject::from([
        ("id".to_owned(), Json::from(record_id)),
        ("subject".to_owned(), Json::from(subject)),
        ("priority".to_owned(), Json::from(3_i64)),
    ]);
    let mut provenance = provenance(connector);
    provenance.source_uri = format!("mcp-tool://desk/desk_list_tickets/{record_id}");
    SourceRecord {
        entity: EntityRef { stream: stream.clone(), record_id: id(record_id) },
        mapping_reference: parsed!(MappingReference, &format!("connector:{connector}#mappings/Ticket")),
        content_digest: scion_domain::digest::record_content(&Digest256::ZERO, &payload),
        payload,
        updated_at: None,
        provenance,
        complete_relations: Arc::from([]),
    }
}

/// The relation `blocks` between tickets.
///
/// # Panics
/// Never: the texts are constants that parse.
pub fn blocks() -> RelationReference {
    let ticket = parsed!(RecordType, "Ticket");
    RelationReference::of(&connector(), &ticket, "blocks").expect("a fixture is a valid relation")
}

/// An edge `blocks` inside `tickets`.
pub fn edge(source: &str, target: &str) -> RelationshipRecord {
    RelationshipRecord {
        source: entity(source),
        target: entity(target),
        relation_reference: blocks(),
        properties: JsonObject::new(),
        provenance: provenance(&connector()),
    }
}

/// A checkpoint of `tickets` at a page.
pub fn at(page: i64) -> SourceCheckpoint {
    at_of(&stream(), page)
}

/// A checkpoint of another stream at a page.
pub fn at_of(stream: &StreamName, page: i64) -> SourceCheckpoint {
    let mut checkpoint = SourceCheckpoint::start(stream.clone());
    checkpoint.position = Json::from([("page", Json::from(page))]);
    checkpoint
}

/// A batch of `tickets` from one checkpoint to another.
pub fn batch(mode: IngestMode, records: Vec<SourceRecord>, from: Option<i64>, to: i64) -> SourceBatch {
    SourceBatch {
        connector: connector(),
        mode,
        strict_schema: false,
        records,
        relationships: vec![],
        provider_checkpoint: at(to),
        expected_previous_checkpoint: from.map(at),
        authoritative_live_ids: (mode == IngestMode::Reconcile).then(Vec::new),
        empty_authoritative_approval: None,
        withdrawals: vec![],
    }
}

/// A batch of another connector or stream.
pub fn batch_of(connector: &ConnectorName, stream: &StreamName, records: Vec<SourceRecord>) -> SourceBatch {
    SourceBatch {
        connector: connector.clone(),
        provider_checkpoint: at_of(stream, 1),
        ..batch(IngestMode::Full, records, None, 1)
    }
}

/// A withdrawal of a ticket.
pub fn withdrawal(record_id: &str) -> Withdrawal {
    Withdrawal { entity: entity(record_id), reason: "closed at the source".into() }
}

/// The declaration of a connector with tickets and the relation `blocks` between them.
pub fn declaration(connector: &ConnectorName) -> String {
    format!(
        r#"{{"connector":"{connector}","sources":[{{"source_id":"tickets","record_type":"Ticket","tools":["desk_list_tickets"],"id_field":"id","preset":{{}}}}],"schema_mappings":{{"Ticket":{{"ontology_class":"Ticket","fields":{{"subject":"subject","priority":"priority"}}}}}},"resources":[{{"name":"Ticket","label":"Ticket","id_prefix":"ticket","relations":[{{"name":"blocks","target":"Ticket","label":"blocks","lpg_rel_type":"BLOCKS"}}]}}],"descriptors":[]}}"#
    )
}

/// A pack with that declaration and `extra` other entries.
pub fn pack_with(connector: &ConnectorName, extra: usize) -> PackImport {
    let mut entries = vec![PackEntry {
        kind: "resource".into(),
        uri: "connector://resources".into(),
        media_type: "application/json".into(),
        body: declaration(connector).into_bytes(),
        ..PackEntry::default()
    }];
    entries.extend((0..extra).map(|number| PackEntry {
        kind: "resource".into(),
        uri: format!("ui://desk/{number}"),
        media_type: "text/plain".into(),
        body: b"text".to_vec(),
        ..PackEntry::default()
    }));
    PackImport {
        connector: connector.clone(),
        server: PackServer::default(),
        entries,
        expected_revision: None,
        allow_mass_withdrawal: false,
    }
}

/// The pack of `desk-mcp`.
pub fn pack() -> PackImport {
    pack_with(&connector(), 0)
}

/// A mapping that the fixture pack does not declare.
pub fn undeclared_mapping() -> MappingReference {
    parsed!(MappingReference, "connector:desk-mcp#mappings/Nothing")
}

/// A relation that the fixture pack does not declare.
pub fn undeclared_relation() -> RelationReference {
    parsed!(RelationReference, "connector:desk-mcp#relations/Ticket/invents")
}
