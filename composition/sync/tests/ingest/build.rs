use std::collections::HashSet;

use scion_domain::ingest::{ChangeSet, Document, Entity, Relationship};
use scion_domain::json::Json;
use scion_domain::model::{IngestMode, SourceCheckpoint};
use scion_sync::ingest::{ContractIri, IngestBinding, NestedMapping};
use scion_sync::request::{Cursor, build, cursor_of};

use crate::graph::{code, object};

fn binding() -> IngestBinding {
    IngestBinding::for_connector("desk".parse().unwrap(), "tickets".parse().unwrap())
}

fn entities(entities: Vec<Entity>) -> ChangeSet {
    ChangeSet { entities, ..ChangeSet::default() }
}

/// Proves: SDK-SOURCE-INGEST-R004.26
#[test]
fn a_cited_public_url_survives_and_nothing_else() {
    let urls = [
        "https://example.org/page",
        "http://127.0.0.1/x",
        "http://10.0.0.8/x",
        "https://user:secret@example.org/x",
        "ftp://example.org/x",
        "file:///etc/passwd",
        "not a url",
    ];
    let citing = binding().citing(["source_uri"]);
    for (index, url) in urls.iter().enumerate() {
        let record = Entity::new("Page", "p1").with("source_uri", *url).with("web_url", "https://example.org/page");
        let kept = |binding: &IngestBinding| {
            let batch = build(binding, entities(vec![record.clone()]), None, Cursor::Keep).unwrap();
            batch.records[0].payload.clone()
        };
        let cited = kept(&citing);
        assert_eq!(cited["source_uri"] == Json::from(*url), index == 0, "{url}: {:?}", cited["source_uri"]);
        assert_ne!(cited["web_url"], Json::from("https://example.org/page"), "an uncited location field is redacted");
        assert_ne!(kept(&binding())["source_uri"], Json::from(*url), "a default binding redacts");
    }
}

/// Proves: SDK-SOURCE-INGEST-R017.1
#[test]
fn a_binding_carries_the_contract_iri_and_revision() {
    let mut binding = binding();
    binding.contract_revision = Some(4);
    assert_eq!(binding.contract, "contract:desk");
    let iri = binding.contract_iri(&"Ticket".parse().unwrap());
    assert_eq!(iri.as_str(), "contract:desk#Ticket");
    let batch = build(&binding, entities(vec![Entity::new("Ticket", "1")]), None, Cursor::Keep).unwrap();
    let reference = &batch.records[0].mapping_reference;
    assert_eq!(
        ContractIri::of_mapping(&binding.connector, reference),
        Some(iri),
        "one for one with the wire reference"
    );
    assert_eq!(reference.as_str(), "connector:desk#mappings/Ticket");
}

/// Proves: SDK-SOURCE-INGEST-R017.2
#[test]
fn nested_values_become_relationships() {
    let owner = NestedMapping::new("ownedBy", "User").unwrap();
    let mut address = NestedMapping::new("livesAt", "Address").unwrap();
    address.id_key = "ref".to_owned();
    address.fields.insert("town".to_owned(), "city".to_owned());
    let binding = binding().nested("Ticket", "owner", owner).nested("User", "address", address);
    let ticket = Entity {
        properties: object(
            r#"{"title": "x", "owner": [{"id": 5, "name": "Ann", "address": {"ref": "a1", "city": "Ulm", "zip": 1}},
                {"id": 6}, null, {}]}"#,
        ),
        ..Entity::new("Ticket", "t1")
    };
    let batch = build(&binding, entities(vec![ticket]), None, Cursor::Keep).unwrap();
    let ids: Vec<&str> = batch.records.iter().map(|record| record.entity.record_id.as_str()).collect();
    assert_eq!(ids, ["t1", "User:5", "User:6", "Address:a1"]);
    assert!(batch.records.iter().flat_map(|record| record.payload.values()).all(|value| value.as_object().is_none()));
    assert_eq!(batch.records[3].payload["town"], Json::from("Ulm"));
    assert!(!batch.records[3].payload.contains_key("zip"));
    let edges: Vec<(&str, &str, &str)> = batch
        .relationships
        .iter()
        .map(|edge| {
            let name = edge.relation_reference.as_str().rsplit_once('/').unwrap().1;
            (edge.source.record_id.as_str(), name, edge.target.record_id.as_str())
        })
        .collect();
    assert_eq!(edges, [("t1", "ownedBy", "User:5"), ("t1", "ownedBy", "User:6"), ("User:5", "livesAt", "Address:a1")]);
    assert_eq!(batch.relationships[0].relation_reference.as_str(), "connector:desk#relations/Ticket/ownedBy");
    assert_eq!(batch.records[0].complete_relations.len(), 1, "an owner that goes away takes its edge along");
}

/// Proves: SDK-SOURCE-INGEST-R017.4
#[test]
fn an_undeclared_nested_value_is_refused() {
    for properties in
        [r#"{"owner": {"id": 5}}"#, r#"{"owner": {}}"#, r#"{"owner": [[{"id": 5}]]}"#, r#"{"owner": [1, {}]}"#]
    {
        let ticket = Entity { properties: object(properties), ..Entity::new("Ticket", "t1") };
        assert_eq!(code(build(&binding(), entities(vec![ticket]), None, Cursor::Keep)), "undeclared_nested_value");
        let mut page = Document::new("d", "t", "x");
        page.properties = object(properties);
        let change_set = ChangeSet { documents: vec![page], ..ChangeSet::default() };
        assert_eq!(code(build(&binding(), change_set, None, Cursor::Keep)), "undeclared_nested_value");
    }
    let declared = binding().nested("Ticket", "owner", NestedMapping::new("ownedBy", "User").unwrap());
    let ticket = Entity { properties: object(r#"{"owner": {"name": "x"}}"#), ..Entity::new("Ticket", "t1") };
    assert_eq!(code(build(&declared, entities(vec![ticket]), None, Cursor::Keep)), "ingest_nested_value_without_id");
}

/// Proves: SDK-SOURCE-INGEST-R017.2
#[test]
fn a_real_record_wins_over_a_nested_value() {
    let mut owner = NestedMapping::new("ownedBy", "User").unwrap();
    owner.id_template = scion_sync::mapping::IdTemplate::parse("{id}").unwrap();
    let binding = binding().nested("Ticket", "owner", owner);
    let ticket = Entity { properties: object(r#"{"owner": {"id": "u", "n": "stub"}}"#), ..Entity::new("Ticket", "t") };
    for both in [
        [ticket.clone(), Entity::new("User", "u").with("n", "real")],
        [Entity::new("User", "u").with("n", "real"), ticket],
    ] {
        let batch = build(&binding, entities(both.to_vec()), None, Cursor::Keep).unwrap();
        let user = batch.records.iter().find(|record| record.entity.record_id.as_str() == "u").unwrap();
        assert_eq!((batch.records.len(), &user.payload["n"]), (2, &Json::from("real")));
    }
}

/// Proves: SDK-SOURCE-INGEST-R017.2
#[test]
fn access_properties_follow_the_policy_and_are_quarantined_by_default() {
    let batch =
        build(&binding(), entities(vec![Entity::new("Ticket", "1").with("access_public", true)]), None, Cursor::Keep);
    let payload = batch.unwrap().records[0].payload.clone();
    assert_eq!(payload["access_public"], Json::Bool(false), "a property of the vendor cannot open a record");
    assert_eq!(payload["access_markings"], Json::Array(vec!["connector-unconfigured-acl".into()]));
}

/// Proves: SDK-SOURCE-INGEST-R017.2
#[test]
fn the_checkpoint_counts_names_its_batch_and_the_cursor_policy() {
    let mut binding = binding();
    binding.cursor_policy = Some("https://desk.example/policy#tickets".to_owned());
    let first = build(&binding, entities(vec![Entity::new("T", "1")]), None, Cursor::Move("c1".into())).unwrap();
    let position = |checkpoint: &SourceCheckpoint, member: &str| checkpoint.position.get(member).cloned();
    let accepted = first.provider_checkpoint;
    assert_eq!(position(&accepted, "sequence"), Some(1u64.into()));
    assert_eq!(position(&accepted, "cursor_policy"), Some("https://desk.example/policy#tickets".into()));
    assert_eq!(position(&accepted, "batch").unwrap().as_str().unwrap().len(), 64);
    let second = build(&binding, entities(vec![Entity::new("T", "1")]), Some(&accepted), Cursor::Keep).unwrap();
    assert_eq!(second.expected_previous_checkpoint.as_ref(), Some(&accepted));
    let second = second.provider_checkpoint;
    assert_eq!(position(&second, "sequence"), Some(2u64.into()));
    assert_eq!(position(&second, "batch"), position(&accepted, "batch"), "the same content has the same digest");
    assert_eq!(
        cursor_of(&binding, Some(&second)).unwrap(),
        Some("c1".into()),
        "a submission without a cursor keeps it"
    );
    let third = build(&binding, ChangeSet::default(), Some(&second), Cursor::Clear).unwrap().provider_checkpoint;
    assert_eq!(cursor_of(&binding, Some(&third)).unwrap(), None);
}

#[test]
fn the_position_of_another_writer_is_not_overwritten() {
    let mut foreign = binding().start();
    for position in
        [r#"{"page": 3}"#, r#"{"sequence": "1"}"#, r#"{"sequence": -1}"#, r#"{"sequence": 18446744073709551615}"#]
    {
        foreign.position = object(position).into();
        let answer = build(&binding(), entities(vec![Entity::new("T", "1")]), Some(&foreign), Cursor::Keep);
        assert_eq!(code(answer), "ingest_foreign_position", "{position}");
    }
}

/// Proves: SDK-SOURCE-INGEST-R017.3
#[test]
fn every_record_and_relationship_has_provenance() {
    let change_set = ChangeSet {
        entities: vec![Entity::new("T", "a b/c"), Entity::new("T", "é".repeat(4000))],
        documents: vec![Document::new("d", "t", "x")],
        relationships: vec![Relationship::new("a b/c", "r", "d")],
        ..ChangeSet::default()
    };
    let batch = build(&binding(), change_set, None, Cursor::Keep).unwrap();
    assert_eq!(batch.records[0].provenance.source_uri, "ingest://desk/tickets/a%20b%2Fc");
    assert!(batch.records[1].provenance.source_uri.starts_with("ingest://desk/tickets/sha256:"));
    assert_eq!(batch.relationships[0].provenance.source_uri, "ingest://desk/tickets/a%20b%2Fc");
    let all = batch.records.iter().map(|r| &r.provenance).chain(batch.relationships.iter().map(|r| &r.provenance));
    assert!(all.clone().all(|p| p.connector == batch.connector && p.adapter_kind == "connector_ingest"));
    assert_eq!(all.count(), 4);
}

#[test]
fn what_is_not_well_formed_is_refused_with_its_reason() {
    let one = |entity: Entity| entities(vec![entity]);
    let edge = |edge: Relationship| ChangeSet { relationships: vec![edge], ..one(Entity::new("T", "1")) };
    let unanchored = Relationship::new("elsewhere", "r", "1");
    let anchored = Relationship { source_type: Some("T".to_owned()), ..unanchored.clone() };
    let mut reconcile = one(Entity::new("T", "1"));
    reconcile.mode = IngestMode::Reconcile;
    let cases = [
        (one(Entity::new("T", "")), "ingest_entity_without_id"),
        (one(Entity::new("", "1")), "ingest_entity_without_type"),
        (one(Entity::new("T", "a\0b")), "id_bad_character"),
        (one(Entity::new("T", "x".repeat(10_000))), "id_too_long"),
        (entities(vec![Entity::new("T", "1"), Entity::new("T", "1").with("a", 1u64)]), "batch_duplicate_record"),
        (edge(Relationship::new("1", "r", "1")), "batch_self_relationship"),
        (edge(Relationship::new("1", "", "2")), "ingest_relationship_incomplete"),
        (edge(Relationship::new("", "r", "2")), "ingest_relationship_incomplete"),
        (edge(unanchored), "ingest_relationship_unanchored"),
        (reconcile, "batch_live_set_missing"),
    ];
    for (change_set, expected) in cases {
        assert_eq!(code(build(&binding(), change_set, None, Cursor::Keep)), expected);
    }
    assert!(build(&binding(), edge(anchored), None, Cursor::Keep).is_ok());
    let twice = entities(vec![Entity::new("T", "1"), Entity::new("T", "1")]);
    assert_eq!(build(&binding(), twice, None, Cursor::Keep).unwrap().records.len(), 1, "equal entities are one");
}

#[test]
fn a_changed_binding_makes_every_record_new() {
    let digest = |binding: &IngestBinding| {
        build(binding, entities(vec![Entity::new("T", "1")]), None, Cursor::Keep).unwrap().records[0].content_digest
    };
    let mut revised = binding();
    revised.contract_digest = Some(scion_domain::id::Digest256::from_bytes([1; 32]));
    let digests: HashSet<_> = [
        binding(),
        binding().citing(["url"]),
        binding().nested("T", "x", NestedMapping::new("r", "U").unwrap()),
        revised,
    ]
    .iter()
    .map(digest)
    .collect();
    assert_eq!(digests.len(), 4);
    assert_eq!(digest(&binding()), digest(&binding()));
}
