//! The declaration against the golden vectors.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use scion_domain::declaration::{ConnectorDeclaration, DeclarationRefusal, SyncPreset};
use scion_domain::id::StreamName;
use scion_domain::json::{Json, JsonObject};
use support::Vectors;

fn with_source(source: &Json) -> Json {
    let parent = support::json(r#"{"source_id":"projects","record_type":"P","tools":["p"],"id_field":"id"}"#);
    Json::from([("connector", "acme-desk-mcp".into()), ("sources", vec![source.clone(), parent].into())])
}

/// The place a peer names in its error, in our notation: `edges.0.relationship` is `sources[0].edges[0].relationship`.
fn place(field: &str, prefix: &str) -> Option<String> {
    let (path, _) = field.rsplit_once(':')?;
    let mut out = prefix.to_owned();
    for part in path.split('.').filter(|part| *part != "(root)") {
        if part.bytes().all(|b| b.is_ascii_digit()) {
            out.extend(["[", part, "]"]);
        } else {
            out.push_str(if out.is_empty() { "" } else { "." });
            out.push_str(part);
        }
    }
    Some(out)
}

fn first_field(case: &support::Case<'_>) -> Option<String> {
    case.need("error").get("fields")?.as_array()?.first()?.as_str().map(str::to_owned)
}

/// `for_each.field` and the optional members of an edge are written only when they are not the default.
fn full(source: &scion_domain::declaration::SourceSpec) -> Json {
    let mut members = source.to_full_json();
    if let Some(for_each) = &source.for_each {
        let field = ("field", for_each.field.as_str().into());
        let pairs =
            [("source", for_each.source.as_str().into()), ("argument", for_each.argument.as_str().into()), field];
        members.insert("for_each".to_owned(), Json::from(pairs));
    }
    let edges: Vec<Json> = source
        .edges
        .iter()
        .map(|edge| {
            let fields: JsonObject = edge.target_fields.iter().map(|(k, v)| (k.clone(), v.as_str().into())).collect();
            Json::from([
                ("relationship", edge.relationship.as_str().into()),
                ("target_field", edge.target_field.as_str().into()),
                ("target_type", edge.target_type.as_str().into()),
                ("target_id_key", edge.target_id_key.as_deref().into()),
                ("target_id_template", edge.target_id_template.as_str().into()),
                ("target_fields", fields.into()),
                ("target_stream", edge.target_stream.as_ref().map(StreamName::as_str).into()),
            ])
        })
        .collect();
    members.insert("edges".to_owned(), edges.into());
    Json::Object(members)
}

/// Proves: SDK-SOURCE-INGEST-R004.19, SDK-SOURCE-INGEST-R004.36, SDK-SOURCE-INGEST-R004.28
#[test]
fn every_source_is_read_or_refused_at_its_place() {
    Vectors::open("declaration").each("source_specs", |case| {
        let read = ConnectorDeclaration::from_json(&with_source(case.need("input")));
        if case.fails() {
            let refusal = read.expect_err(&case.id).to_string();
            let wanted = place(&first_field(case).unwrap(), "sources[0]").unwrap();
            assert!(refusal.contains(&wanted), "{}: {refusal} does not name {wanted}", case.id);
        } else {
            let read = read.unwrap_or_else(|refusal| panic!("{}: {refusal}", case.id));
            assert_eq!(&full(&read.sources[0]), case.need("ok"), "{}", case.id);
            assert_eq!(read.sources[0].to_json(), *case.need("input"), "{}: only what was set is written", case.id);
        }
    });
}

/// Proves: SDK-SOURCE-INGEST-R004.19, SDK-SOURCE-INGEST-R004.28
#[test]
fn every_declaration_is_read_or_refused() {
    Vectors::open("declaration").each("declarations", |case| {
        let read = ConnectorDeclaration::from_json(case.need("input"));
        // Deviation: a connector name is a fleet name here too.
        if case.fails() || case.id == "connector-any-text" {
            let refusal = read.expect_err(&case.id);
            match case.id.as_str() {
                "duplicate-ids" => assert!(matches!(refusal, DeclarationRefusal::DuplicateSource { .. })),
                "for-each-unknown-parent" => assert!(matches!(refusal, DeclarationRefusal::UnknownParent { .. })),
                "for-each-cycle" | "for-each-self" => {
                    assert!(matches!(refusal, DeclarationRefusal::ForEachCycle { .. }));
                }
                _ => assert!(!refusal.to_string().is_empty()),
            }
            return;
        }
        let read = read.unwrap_or_else(|refusal| panic!("{}: {refusal}", case.id));
        let ok = case.need("ok");
        assert_eq!(Some(read.connector.as_str()), ok.get("connector").and_then(Json::as_str));
        assert_eq!(read.sources.iter().map(full).collect::<Vec<_>>(), ok.get("sources").unwrap().as_array().unwrap());
        assert_eq!(read.resources.len(), ok.get("resources").unwrap().as_array().unwrap().len());
        let descriptors: Vec<Json> = read.descriptors.iter().cloned().map(Json::Object).collect();
        assert_eq!(descriptors, ok.get("descriptors").unwrap().as_array().unwrap());
    });
}

/// Proves: SDK-SOURCE-INGEST-R004.21, SDK-CONNECTOR-CONTROL-R075
#[test]
fn the_served_text_is_written_byte_for_byte() {
    let vectors = Vectors::open("declaration");
    let served = vectors.value("served_example");
    let text = served.get("text").unwrap().as_str().unwrap();
    let read = ConnectorDeclaration::from_text(text.as_bytes()).unwrap();
    assert_eq!(read.to_text(), text);
    assert_eq!(&read.to_json(), served.get("document").unwrap());
    let entry = read.pack_entry();
    assert_eq!((entry.kind.as_str(), entry.uri.as_str()), ("resource", vectors.value("uri").as_str().unwrap()));
    assert_eq!((entry.media_type.as_str(), entry.body.as_slice()), ("application/json", text.as_bytes()));
    assert_eq!(read.unmapped_record_types(), Vec::<&str>::new());
}

/// The document with descriptors alone, as a file of a peer holds it.
#[test]
fn a_document_of_descriptors_is_read() {
    let vectors = Vectors::open("declaration");
    let text = vectors.value("resources_document").as_str().unwrap();
    let read = ConnectorDeclaration::from_text(text.as_bytes()).unwrap();
    assert_eq!(read.descriptors.len(), 1);
    assert_eq!(read.to_json(), support::json(text));
}

/// Proves: SDK-CONNECTOR-CONTROL-R075.2
#[test]
fn every_preset_is_read_or_refused() {
    Vectors::open("declaration").each("presets", |case| {
        let name = StreamName::parse("tickets").unwrap();
        let read = SyncPreset::from_object(&name, case.need("input").as_object().unwrap());
        if case.fails() {
            let refusal = read.expect_err(&case.id).to_string();
            if let Some(wanted) = first_field(case).and_then(|field| place(&field, "preset tickets")) {
                assert!(refusal.contains(&wanted), "{}: {refusal}", case.id);
            }
        } else {
            let read = read.unwrap_or_else(|refusal| panic!("{}: {refusal}", case.id));
            assert_eq!(&read.to_json(), case.need("ok"), "{}", case.id);
        }
    });
}

/// Proves: SDK-CONNECTOR-CONTROL-R075.2
#[test]
fn every_runner_contract_is_equal() {
    Vectors::open("declaration").each("runner_contracts", |case| {
        let input = case.need("input");
        let read = match input.as_str() {
            Some(text) => ConnectorDeclaration::from_text(text.as_bytes()),
            None => ConnectorDeclaration::from_json(input),
        };
        let contract = read.and_then(|declaration| declaration.runner_contract());
        if case.fails() {
            contract.expect_err(&case.id);
        } else {
            assert_eq!(&Json::from(contract.unwrap()), case.need("ok"), "{}", case.id);
        }
    });
}

/// Proves: SDK-SOURCE-INGEST-R004.28, SDK-SOURCE-INGEST-R004.36
#[test]
fn the_schema_is_a_peers() {
    let vectors = Vectors::open("declaration");
    assert_eq!(&ConnectorDeclaration::json_schema(), vectors.value("json_schema"));
    assert_eq!(vectors.value("schema_versions"), &support::json("[1,2]"));
}
