use scion_domain::ingest::IngestRefusal;
use scion_domain::json::{Json, JsonObject};
use scion_sync::mapping::{
    EdgeMap, Mapped, RecordMap, RecordMapper, document_from_record, entity_from_record, ext_id, read_field, records_of,
    relationship_from_record, slug,
};

use crate::graph::{code, list, object};

fn tickets() -> RecordMap {
    RecordMap::new("Ticket", "ticket:{id}")
        .unwrap()
        .id_keys(["id", "number"])
        .fields([("title", "fields.summary"), ("state", "state")])
        .external_id("number")
        .updated_field("changed")
        .constant("system", "desk")
        .edge(
            EdgeMap::new("assignee", "fields.assignee", "user:{id}")
                .unwrap()
                .id_key("value")
                .target_type("User")
                .target_field("name", "display"),
        )
        .edge(EdgeMap::new("label", "labels", "label:{id}").unwrap())
}

fn map(mapper: &dyn RecordMapper, records: &str) -> Result<Mapped, IngestRefusal> {
    let mut mapped = Mapped::new();
    for record in list(records) {
        mapper.map(record.as_object().unwrap(), &mut mapped)?;
    }
    Ok(mapped)
}

/// Proves: SDK-SOURCE-INGEST-R004.30
#[test]
fn a_declared_kind_keeps_fields_external_id_constants_and_edges() {
    let mapped = map(
        &tickets(),
        r#"[{"id": 7, "number": "T-7", "state": null, "changed": "2026-01-02", "labels": ["red", "", "red"],
             "fields": {"summary": "Broken", "assignee": {"value": "u1", "display": "Ann"}}},
            {"number": "T-8", "fields": {"summary": "Slow", "assignee": {"value": "u1", "display": "Ann"}}},
            {"number": "T-9", "fields": {"assignee": null}}, {"number": "T-10", "fields": {"assignee": ""}}]"#,
    )
    .unwrap();
    let ids: Vec<&str> = mapped.entities().iter().map(|entity| entity.id.as_str()).collect();
    assert_eq!(
        ids,
        ["ticket:7", "user:u1", "ticket:T-8", "ticket:T-9", "ticket:T-10"],
        "the shared target stands once"
    );
    let ticket = &mapped.entities()[0];
    assert_eq!(
        ticket.properties,
        object(r#"{"title": "Broken", "externalToolId": "T-7", "system": "desk"}"#),
        "a null is left out"
    );
    assert_eq!(ticket.updated_at.as_deref(), Some("2026-01-02"));
    assert_eq!(mapped.entities()[1].properties, object(r#"{"name": "Ann"}"#));
    let edges: Vec<(&str, &str, &str)> = mapped
        .relationships()
        .iter()
        .map(|edge| (edge.source.as_str(), edge.relation.as_str(), edge.target.as_str()))
        .collect();
    assert_eq!(
        edges,
        [
            ("ticket:7", "assignee", "user:u1"),
            ("ticket:7", "label", "label:red"),
            ("ticket:T-8", "assignee", "user:u1")
        ],
        "empty targets and repeated edges are skipped"
    );
}

/// Proves: SDK-SOURCE-INGEST-R004.30
#[test]
fn a_record_without_an_id_is_skipped_and_when_strict_refused() {
    for record in [r#"[{"state": "open"}]"#, r#"[{"id": "", "number": null}]"#, r#"[{"id": [1], "number": " "}]"#] {
        let mapped = map(&tickets(), record).unwrap();
        assert!(mapped.is_empty() && mapped.skipped() == 1, "{record}");
        assert_eq!(code(map(&tickets().strict(), record)), "ingest_entity_without_id");
    }
}

/// Proves: SDK-SOURCE-INGEST-R004.30
#[test]
fn a_required_field_is_refused_when_missing_empty_or_mistyped() {
    let record = object(
        r#"{"a": {"b": "x", "n": 12345678901234567890123, "e": " "}, "null": null, "list": [], "dotted.key": 1}"#,
    );
    assert_eq!(read_field::<&str>(&record, "a.b").unwrap(), "x");
    assert_eq!(read_field::<i64>(&record, "dotted.key").unwrap(), 1);
    for missing in ["z", "a.z", "null", "a.b.c"] {
        assert_eq!(code(read_field::<&str>(&record, missing)), "ingest_field_missing", "{missing}");
    }
    assert_eq!(code(read_field::<&str>(&record, "a.e")), "ingest_field_empty");
    assert_eq!(code(read_field::<&[Json]>(&record, "list")), "ingest_field_empty");
    assert_eq!(code(read_field::<bool>(&record, "a.b")), "ingest_field_type");
    assert_eq!(code(read_field::<i64>(&record, "a.n")), "ingest_field_type");
    assert_eq!(code(read_field::<&JsonObject>(&record, "a.b")), "ingest_field_type");
    let refusal = read_field::<bool>(&record, "a.b").unwrap_err();
    assert_eq!(refusal.to_string(), "the field `a.b` of a record is a text, not a boolean");
}

/// Proves: SDK-SOURCE-INGEST-R004.30
#[test]
fn loose_objects_become_typed_parts() {
    let entity = entity_from_record(&object(
        r#"{"id": 5, "type": "User", "name": "Ann", "properties": {"name": "Anna", "age": 3}, "updated_at": "2026"}"#,
    ))
    .unwrap();
    assert_eq!(
        (entity.id.as_str(), entity.node_type.as_str(), entity.updated_at.as_deref()),
        ("5", "User", Some("2026"))
    );
    assert_eq!(entity.properties, object(r#"{"name": "Anna", "age": 3}"#));
    let edge =
        relationship_from_record(&object(r#"{"source": "a", "target": 2, "type": "owns", "since": 1}"#)).unwrap();
    assert_eq!((edge.source.as_str(), edge.relation.as_str(), edge.target.as_str()), ("a", "owns", "2"));
    assert_eq!(edge.properties, object(r#"{"since": 1}"#));
    let document =
        document_from_record(&object(r#"{"id": "d", "text": "t", "title": null, "doc_type": "Page", "lang": "de"}"#))
            .unwrap();
    assert_eq!((document.doc_type.as_str(), document.title.as_str(), document.text.as_str()), ("Page", "", "t"));
    assert_eq!(document.properties, object(r#"{"lang": "de"}"#));
    assert_eq!(code(entity_from_record(&object(r#"{"type": "User"}"#))), "ingest_field_missing");
    assert_eq!(code(entity_from_record(&object(r#"{"id": "1"}"#))), "ingest_field_missing");
    assert_eq!(code(entity_from_record(&object(r#"{"id": "1", "type": "U", "properties": 3}"#))), "ingest_field_type");
    assert_eq!(code(relationship_from_record(&object(r#"{"source": "a", "type": "x"}"#))), "ingest_field_missing");
    assert_eq!(code(document_from_record(&object(r#"{"id": "a", "text": ""}"#))), "ingest_field_empty");
}

/// Proves: SDK-SOURCE-INGEST-R004.30
#[test]
fn the_small_helpers() {
    let result =
        scion_domain::json::parse(r#"{"data": {"items": [{"id": 1}], "one": {"id": 2}, "bad": [1]}}"#).unwrap();
    assert_eq!(records_of(&result, "data.items").unwrap().len(), 1);
    assert_eq!(records_of(&result, "data.one").unwrap().len(), 1, "one object is a list of one");
    assert_eq!(code(records_of(&result, "data.bad")), "ingest_record_not_object");
    assert_eq!(code(records_of(&result, "data.none")), "ingest_records_missing");
    let record = object(r#"{"a": "", "b": {"c": 12345678901234567890123}}"#);
    assert_eq!(ext_id(&record, &["a", "b.c"]).as_deref(), Some("12345678901234567890123"));
    assert_eq!(ext_id(&record, &["a", "b"]), None);
    assert_eq!(slug("  Über die Brücke!! v2 "), "über-die-brücke-v2");
    assert_eq!(slug("—"), "");
}

/// Proves: SDK-SOURCE-INGEST-R004.30
#[test]
fn a_mapper_may_be_a_function_and_an_entity_is_kept_once() {
    let people = |record: &JsonObject, mapped: &mut Mapped| -> Result<(), IngestRefusal> {
        let id: &str = read_field(record, "id")?;
        mapped.entity(scion_domain::ingest::Entity::new("User", id).with("n", mapped.entities().len() as u64));
        Ok(())
    };
    let mapped = map(&people, r#"[{"id": "a"}, {"id": "b"}, {"id": "a"}]"#).unwrap();
    assert_eq!(mapped.entities().len(), 2);
    assert_eq!(mapped.entities()[0].properties, object(r#"{"n": 0}"#), "the first is kept");
    assert_eq!(code(map(&people, r#"[{"id": ""}]"#)), "ingest_field_empty");
}

#[test]
fn a_real_record_takes_the_place_of_a_target() {
    let mut mapped =
        map(&tickets(), r#"[{"id": 1, "fields": {"assignee": {"value": "u1", "display": "Ann"}}}]"#).unwrap();
    mapped.entity(scion_domain::ingest::Entity::new("User", "user:u1").with("name", "Ann Real"));
    mapped.target(scion_domain::ingest::Entity::new("User", "user:u1"));
    assert_eq!(mapped.entities()[1].properties, object(r#"{"name": "Ann Real"}"#));
    assert_eq!(mapped.entities().len(), 2);
}

#[test]
fn an_edge_to_itself_is_left_out_and_counted() {
    let map_parent = RecordMap::new("Ticket", "{id}").unwrap().edge(EdgeMap::new("parent", "parent", "{id}").unwrap());
    let mapped = map(&map_parent, r#"[{"id": "1", "parent": "1"}, {"id": "2", "parent": ["1", "2"]}]"#).unwrap();
    assert_eq!((mapped.relationships().len(), mapped.skipped()), (1, 2));
}

#[test]
fn declarations_that_cannot_work_are_refused() {
    assert_eq!(code(RecordMap::new("", "{id}")), "id_empty");
    assert_eq!(code(RecordMap::new("T", "fixed")), "ingest_declaration");
    assert_eq!(code(EdgeMap::new("", "x", "{id}")), "ingest_declaration");
    assert_eq!(code(EdgeMap::new("r", "x", "{name}")), "ingest_declaration");
}
