use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::canonical::peer_json;
use crate::canonical::tests::{any_json, any_number};
use crate::id::{ConnectorName, MappingReference, RecordId, RelationReference, StreamName};
use crate::json::{Json, JsonNumber, JsonObject, parse};
use crate::model::{
    IngestMode, PackEntry, PackImport, PackServer, Provenance, RelationshipRecord, SourceBatch, SourceRecord,
    Withdrawal,
};
use crate::test_vectors::{load, section, text};

fn from_hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn to_hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut out, byte| {
        write!(out, "{byte:02x}").unwrap();
        out
    })
}

fn present<'v>(value: &'v Json, name: &str) -> Option<&'v Json> {
    value.get(name).filter(|value| !value.is_null())
}

fn optional_text(value: &Json, name: &str) -> Option<String> {
    present(value, name).map(|value| value.as_str().unwrap().to_owned())
}

fn list<'v>(value: &'v Json, name: &str) -> &'v [Json] {
    present(value, name).map_or(&[], |value| value.as_array().unwrap())
}

fn object(value: &Json, name: &str) -> JsonObject {
    present(value, name).map_or_else(JsonObject::new, |value| value.as_object().unwrap().clone())
}

fn read_entity(value: &Json) -> EntityRef {
    EntityRef {
        stream: StreamName::parse(text(value, "stream")).unwrap(),
        record_id: RecordId::parse(text(value, "record_id")).unwrap(),
    }
}

fn read_checkpoint(value: &Json) -> SourceCheckpoint {
    SourceCheckpoint {
        stream: StreamName::parse(text(value, "stream")).unwrap(),
        position: value.get("position").unwrap().clone(),
        content_hash: optional_text(value, "content_hash").map(|hex| Digest256::parse_hex(&hex).unwrap()),
        watermark: optional_text(value, "watermark"),
        pending_watermark: optional_text(value, "pending_watermark"),
    }
}

fn read_provenance(value: &Json) -> Provenance {
    let value = value.get("provenance").unwrap();
    Provenance {
        connector: ConnectorName::parse(text(value, "connector")).unwrap(),
        adapter_kind: text(value, "adapter_kind").to_owned(),
        server: text(value, "server").to_owned(),
        tool: text(value, "tool").to_owned(),
        tool_schema_sha256: Digest256::parse_hex(text(value, "tool_schema_sha256")).unwrap(),
        source_uri: text(value, "source_uri").to_owned(),
    }
}

fn read_record(value: &Json) -> SourceRecord {
    SourceRecord {
        entity: read_entity(value),
        mapping_reference: MappingReference::parse(text(value, "mapping_reference")).unwrap(),
        payload: object(value, "payload"),
        updated_at: optional_text(value, "updated_at"),
        provenance: read_provenance(value),
        content_digest: Digest256::ZERO,
        complete_relations: Arc::from([]),
    }
}

fn read_batch(value: &Json) -> SourceBatch {
    SourceBatch {
        connector: ConnectorName::parse(text(value, "connector")).unwrap(),
        mode: match text(value, "mode") {
            "full" => IngestMode::Full,
            "delta" => IngestMode::Delta,
            _ => IngestMode::Reconcile,
        },
        strict_schema: value.get("strict_schema").unwrap().as_bool().unwrap(),
        records: list(value, "records").iter().map(read_record).collect(),
        relationships: list(value, "relationships")
            .iter()
            .map(|edge| RelationshipRecord {
                source: read_entity(edge.get("source").unwrap()),
                target: read_entity(edge.get("target").unwrap()),
                relation_reference: RelationReference::parse(text(edge, "relation_reference")).unwrap(),
                properties: object(edge, "properties"),
                provenance: read_provenance(edge),
            })
            .collect(),
        provider_checkpoint: read_checkpoint(value.get("provider_checkpoint").unwrap()),
        expected_previous_checkpoint: present(value, "expected_previous_checkpoint").map(read_checkpoint),
        authoritative_live_ids: present(value, "authoritative_live_ids")
            .map(|ids| ids.as_array().unwrap().iter().map(read_entity).collect()),
        empty_authoritative_approval: optional_text(value, "empty_authoritative_approval"),
        withdrawals: list(value, "withdrawals")
            .iter()
            .map(|gone| Withdrawal {
                entity: read_entity(gone.get("entity").unwrap()),
                reason: text(gone, "reason").to_owned(),
            })
            .collect(),
    }
}

fn texts<'v>(value: &'v Json, name: &str) -> Vec<&'v str> {
    list(value, name).iter().map(|item| item.as_str().unwrap()).collect()
}

#[test]
fn every_engine_vector() {
    let file = load("engine-digests.json");
    for case in section(&file, "digest_vectors") {
        let name = text(case, "name");
        let input = case.get("input").unwrap();
        let output = || text(case, "output").to_owned();
        if name.starts_with("framed") {
            let fields: Vec<_> = list(input, "fields_hex").iter().map(|hex| from_hex(hex.as_str().unwrap())).collect();
            let fields: Vec<&[u8]> = fields.iter().map(Vec::as_slice).collect();
            assert_eq!(framed(text(input, "domain"), &fields).to_hex(), output());
        } else if name.starts_with("principal") {
            let principal = input.as_str().unwrap();
            assert_eq!(format!("principal:sha256:{}", sha256(principal.as_bytes())), output());
        } else if name.starts_with("default idempotency") {
            let id = input.get("id").unwrap().as_number().unwrap();
            let parts =
                [id.as_text(), text(input, "graph"), text(input, "method"), text(input, "body_sha256")].join("\0");
            assert_eq!(format!("rpc:sha256:{}", sha256(parts.as_bytes())), output());
        } else if name.starts_with("canonical JSON") {
            let output = case.get("output").unwrap();
            assert_eq!(peer_json(input), text(output, "text"));
            assert_eq!(sha256(peer_json(input).as_bytes()).to_hex(), text(output, "sha256").to_owned());
        } else if name.starts_with("source checkpoint") {
            assert_eq!(checkpoint(&read_checkpoint(input)).to_hex(), output());
        } else if name.starts_with("source batch") {
            let output = case.get("output").unwrap();
            let read = read_batch(input);
            for form in [NumberForm::EngineOnly, NumberForm::Lossless] {
                assert_eq!(to_hex(&encode_batch(&read, form).unwrap()), text(output, "msgpack_hex"), "{name}");
                let digests = batch_with(&read, form).unwrap();
                assert_eq!(digests.batch.to_hex(), text(output, "digest"));
                let key = format!("source-ingest:{}:{}", read.connector, digests.batch);
                assert_eq!(key, text(output, "idempotency_key"));
            }
        } else if name.starts_with("raw record") {
            let mut whole = minimal_batch();
            whole.records = vec![read_record(input)];
            assert_eq!(batch(&whole).unwrap().raw[0].to_hex(), output());
        } else if name.starts_with("live set") {
            let mut ids: Vec<_> = input.as_array().unwrap().iter().map(read_entity).collect();
            assert_eq!(live_set(&ids).to_hex(), output());
            ids.reverse();
            ids.push(ids[0].clone());
            assert_eq!(live_set(&ids).to_hex(), output());
        } else if name == "source change-set digest" {
            assert_eq!(change_set(input.as_object().unwrap()).unwrap().to_hex(), output());
        } else if name == "source change-set patch digest" {
            let digest = change_set_patch(&texts(input, "field_scope"), &object(input, "desired_patch")).unwrap();
            assert_eq!(digest.to_hex(), output());
        } else if name.starts_with("change-envelope") {
            let mut keys: Vec<_> = input.as_array().unwrap().iter().map(|key| key.as_str().unwrap()).collect();
            keys.sort_unstable();
            assert_eq!(format!("change-batch:sha256:{}", sha256(keys.join("\0").as_bytes())), output());
        } else if name.starts_with("self-served") {
            assert_eq!(sha256(peer_json(input).as_bytes()).to_hex(), output());
        } else {
            panic!("a vector nobody runs: {name}");
        }
    }
}

#[test]
fn every_peer_message_pack_text() {
    let file = load("canonical.json");
    for case in section(&file, "msgpack") {
        let value = parse(text(case, "value_json")).unwrap();
        for form in [NumberForm::EngineOnly, NumberForm::Lossless] {
            assert_eq!(to_hex(&encode_json(&value, form).unwrap()), text(case, "hex"));
        }
    }
}

#[test]
fn every_peer_ingestion_request() {
    let file = load("canonical.json");
    let mut ran = 0;
    for case in section(&file, "ingestion_requests") {
        // The others are refused while the request is built, which is not the digest's business.
        let Some(ok) = case.get("ok") else { continue };
        let digests = batch(&read_batch(ok.get("request").unwrap())).unwrap();
        assert_eq!(digests.batch.to_hex(), text(ok, "canonical_digest"), "{}", text(case, "id"));
        ran += 1;
    }
    assert_eq!(ran, 12);
}

#[test]
fn every_peer_change_set() {
    let file = load("canonical.json");
    for case in section(&file, "change_sets") {
        let id = text(case, "id");
        let members = case.get("change_set").unwrap().as_object().unwrap();
        let scope = texts(case.get("change_set").unwrap(), "field_scope");
        let patch = change_set_patch(&scope, &object(case.get("change_set").unwrap(), "desired_patch")).unwrap();
        assert_eq!(patch.to_hex(), text(case, "patch_digest"), "{id}");
        // The peer hashes `field_provenance` in insertion order; the engine and we sort it (DEVIATIONS.md).
        let inserted = if id == "provenance-key-order" { ["priority", "subject"] } else { ["subject", "priority"] };
        let peer = change_set::change_set_in_order(members, Some(&inserted)).unwrap();
        assert_eq!(peer.to_hex(), text(case, "canonical_digest"), "{id}");
        let ours = change_set(members).unwrap();
        assert_eq!(ours == peer, id == "provenance-key-order", "{id}");
    }
}

#[test]
fn every_peer_record_and_payload_digest() {
    let file = load("canonical.json");
    for (name, member) in [("record_digests", "record"), ("event_payload_digests", "payload")] {
        for case in section(&file, name) {
            let digest = sha256(peer_json(case.get(member).unwrap()).as_bytes());
            assert_eq!(digest.to_hex(), text(case, "digest"), "{name}");
        }
    }
    for case in section(&file, "binding_identities") {
        let binding = case.get("binding").unwrap();
        let digest = push_identity(text(binding, "connector"), text(binding, "server"), text(binding, "tool"));
        assert_eq!(digest.to_hex(), text(case, "digest"));
    }
    for case in section(&file, "document_hashes") {
        assert_eq!(sha256(text(case, "text").as_bytes()).to_hex(), text(case, "content_hash"));
    }
    assert_eq!(text(&file, "checkpoint_key"), "ingest-source/acme-desk-mcp/tickets");
}

fn minimal_batch() -> SourceBatch {
    let stream = StreamName::parse("s").unwrap();
    SourceBatch {
        connector: ConnectorName::parse("c").unwrap(),
        mode: IngestMode::Delta,
        strict_schema: false,
        records: Vec::new(),
        relationships: Vec::new(),
        provider_checkpoint: SourceCheckpoint::start(stream),
        expected_previous_checkpoint: None,
        authoritative_live_ids: None,
        empty_authoritative_approval: None,
        withdrawals: Vec::new(),
    }
}

fn record(payload: &str) -> SourceRecord {
    SourceRecord {
        entity: EntityRef { stream: StreamName::parse("s").unwrap(), record_id: RecordId::parse("1").unwrap() },
        mapping_reference: MappingReference::parse("connector:c#mappings/T").unwrap(),
        payload: parse(payload).unwrap().as_object().unwrap().clone(),
        updated_at: None,
        provenance: Provenance {
            connector: ConnectorName::parse("c").unwrap(),
            adapter_kind: "k".into(),
            server: String::new(),
            tool: "t".into(),
            tool_schema_sha256: Digest256::ZERO,
            source_uri: "u".into(),
        },
        content_digest: Digest256::ZERO,
        complete_relations: Arc::from([]),
    }
}

#[test]
fn a_number_the_engine_cannot_hold_is_committable_here_and_refused_there() {
    for number in [
        "18446744073709551616",
        "-9223372036854775809",
        "1e400",
        "1e-400",
        "0.1234567890123456789012345678901234567890",
    ] {
        let mut whole = minimal_batch();
        whole.records = vec![record("{}"), record(&format!("{{\"a\":[{{\"b/c\":{number}}}]}}"))];
        let refusal = batch_with(&whole, NumberForm::EngineOnly).unwrap_err();
        assert_eq!(refusal, DigestRefusal::Number { pointer: "/records/1/payload/a/0/b~1c".into() });
        let lossless = batch(&whole).unwrap();
        assert_eq!(lossless.raw.len(), 2);
        let value = parse(number).unwrap();
        assert_eq!(encode_json(&value, NumberForm::Lossless), encode_json(&Json::from(number), NumberForm::Lossless));
        let content = |value| record_content(&Digest256::ZERO, &JsonObject::from([("a".to_owned(), value)]));
        assert_ne!(content(value), content(Json::from(number)));
    }
    let mut whole = minimal_batch();
    whole.provider_checkpoint.position = parse("{\"next\":1e400}").unwrap();
    let refusal = batch_with(&whole, NumberForm::EngineOnly).unwrap_err();
    assert_eq!(refusal, DigestRefusal::Number { pointer: "/provider_checkpoint/position/next".into() });
}

#[test]
fn positions_that_differ_beyond_a_double_have_different_digests() {
    let at = |position: &str| {
        let mut here = SourceCheckpoint::start(StreamName::parse("s").unwrap());
        here.position = parse(position).unwrap();
        checkpoint(&here)
    };
    assert_ne!(at("0.10000000000000000001"), at("0.1"));
    assert_ne!(at("1e400"), at("1e401"));
    assert_ne!(at("9007199254740993"), at("9007199254740992"));
    assert_eq!(at("1.50"), at("1.5"));
}

#[test]
fn a_change_set_with_a_missing_or_unknown_member_is_refused() {
    let file = load("canonical.json");
    let good = object(&section(&file, "change_sets")[0], "change_set");
    let mut less = good.clone();
    less.remove("actor");
    assert_eq!(change_set(&less), Err(DigestRefusal::ChangeSetMember { member: "actor" }));
    let mut more = good.clone();
    more.insert("extra".into(), Json::Null);
    assert_eq!(change_set(&more), Err(DigestRefusal::ChangeSetUnknown { member: "extra".into() }));
    let mut wrong = good;
    wrong.insert("authorization".into(), Json::from("yes"));
    assert_eq!(change_set(&wrong), Err(DigestRefusal::ChangeSetMember { member: "authorization" }));
}

fn pack_of(entries: &[(&str, &str)]) -> PackImport {
    PackImport {
        connector: ConnectorName::parse("c").unwrap(),
        server: PackServer::default(),
        entries: entries
            .iter()
            .map(|(uri, body)| PackEntry {
                kind: "resource".into(),
                uri: (*uri).into(),
                media_type: "text/plain".into(),
                body: body.as_bytes().to_vec(),
                ..PackEntry::default()
            })
            .collect(),
        expected_revision: None,
        allow_mass_withdrawal: false,
    }
}

#[test]
fn a_pack_digest_covers_content_only() {
    let one = pack(&pack_of(&[("a:1", "x"), ("b:2", "y")]));
    let mut other = pack_of(&[("b:2", "y"), ("a:1", "x")]);
    other.expected_revision = Some(3);
    other.allow_mass_withdrawal = true;
    assert_eq!(pack(&other), one);
    assert_ne!(pack(&pack_of(&[("a:1", "xy"), ("b:2", "")])), one);
    assert_ne!(pack(&pack_of(&[("a:1", "x")])), one);
}

#[test]
fn a_receipt_digest_is_the_same_when_replayed_and_differs_otherwise() {
    use crate::model::{Disposition, RawAdmission, SourceReceipt};
    let entity = record("{}").entity;
    let first = SourceReceipt {
        receipt_id: "source-ingest:0".into(),
        disposition: Disposition::Committed,
        mode: IngestMode::Full,
        batch_digest: Digest256::ZERO,
        raw_admissions: vec![RawAdmission { entity: entity.clone(), raw_digest: Digest256::ZERO, deduplicated: false }],
        tombstones: Vec::new(),
        accepted_checkpoint: SourceCheckpoint::start(entity.stream.clone()),
        accepted_checkpoint_digest: Digest256::ZERO,
        affected_count: 1,
        relationship_count: 0,
        contract_digest: Digest256::ZERO,
        contract_revision: 1,
        committed_graph_version: 7,
        receipt_digest: Digest256::ZERO,
    };
    let digest = receipt(&first);
    let again = SourceReceipt { disposition: Disposition::Replayed, receipt_digest: digest, ..first.clone() };
    assert_eq!(receipt(&again), digest);
    let mut other = first.clone();
    other.accepted_checkpoint.watermark = Some("w".into());
    assert_ne!(receipt(&other), digest);
    let mut other = first.clone();
    other.raw_admissions[0].deduplicated = true;
    assert_ne!(receipt(&other), digest);
    assert_ne!(receipt(&SourceReceipt { affected_count: 0, relationship_count: 1, ..first }), digest);
}

proptest! {
    #[test]
    fn framing_keeps_field_boundaries(
        a in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4), 0..4),
        b in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4), 0..4),
        domain in "[a-c]{0,2}", other in "[a-c]{0,2}",
    ) {
        let digest = |domain: &str, fields: &[Vec<u8>]| framed(domain, &fields.iter().map(Vec::as_slice).collect::<Vec<_>>());
        prop_assert_eq!(digest(&domain, &a) == digest(&other, &b), (&domain, &a) == (&other, &b));
    }

    #[test]
    fn moving_bytes_between_fields_changes_the_digest(bytes in prop::collection::vec(any::<u8>(), 1..20), a in 0usize..20, b in 0usize..20) {
        let (a, b) = (a % bytes.len(), b % bytes.len());
        let digest = |at: usize| framed("d", &[&bytes[..at], &bytes[at..]]);
        prop_assert_eq!(digest(a) == digest(b), a == b);
    }

    #[test]
    fn content_differs_exactly_when_the_value_does(a in any_number(), b in any_number(), shape in any::<[u8; 32]>()) {
        let shape = Digest256::from_bytes(shape);
        let one = |text: &str| JsonObject::from([("n".to_owned(), Json::Number(JsonNumber::from_text(text).unwrap()))]);
        let same = record_content(&shape, &one(&a)) == record_content(&shape, &one(&b));
        let exact = |text: &str| crate::canonical::lossless_json(&parse(text).unwrap());
        prop_assert_eq!(same, exact(&a) == exact(&b));
        prop_assert_ne!(record_content(&shape, &one(&a)), record_content(&Digest256::ZERO, &one(&a)));
    }

    #[test]
    fn a_reused_hasher_gives_the_same_digests(values in prop::collection::vec(any_json(), 1..5)) {
        let mut hasher = ContentHasher::new(Digest256::ZERO);
        for value in values {
            let payload = JsonObject::from([("v".to_owned(), value)]);
            prop_assert_eq!(hasher.digest(&payload), record_content(&Digest256::ZERO, &payload));
        }
    }

    #[test]
    fn every_value_encodes_without_loss_of_commitability(value in any_json()) {
        prop_assert!(encode_json(&value, NumberForm::Lossless).is_ok());
    }
}
