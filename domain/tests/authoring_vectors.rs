//! Declaring sources in code, against the golden vectors.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use scion_domain::declaration::descriptor::{self, Descriptor, OntologyTerms};
use scion_domain::declaration::live::declaration_of_tools;
use scion_domain::declaration::{
    AuthoredSources, ConnectorDeclaration, DeclarationRefusal, DeclaredSource, FieldSets, SOURCE_META_KEY,
    sources_of_meta,
};
use scion_domain::id::ConnectorName;
use scion_domain::json::{Json, JsonObject};
use scion_domain::mcp::{ToolDescription, ToolHints};
use scion_domain::refusal::Refusal as _;
use support::{Vectors, json};

fn connector() -> ConnectorName {
    ConnectorName::parse("acme-desk-mcp").unwrap()
}

fn tool(value: &Json) -> ToolDescription {
    let hint = |name: &str| value.get("annotations")?.get(name)?.as_bool();
    ToolDescription {
        name: value.get("name").unwrap().as_str().unwrap().to_owned(),
        title: None,
        description: None,
        input_schema: value.get("inputSchema").unwrap().clone(),
        output_schema: value.get("outputSchema").cloned(),
        hints: ToolHints {
            read_only: hint("readOnlyHint"),
            destructive: hint("destructiveHint"),
            ..ToolHints::default()
        },
        meta: value.get("_meta").and_then(Json::as_object).cloned().unwrap_or_default(),
    }
}

fn declared_source(input: &JsonObject) -> DeclaredSource {
    let text = |name: &str| input[name].as_str().unwrap();
    let mut source = DeclaredSource::new(text("source_id"), text("record_type"), text("id_field"));
    for (name, value) in input {
        source = match name.as_str() {
            "source_id" | "record_type" | "id_field" => source,
            "ontology_class" => source.ontology_class(value.as_str().unwrap()),
            "fields" => value
                .as_object()
                .unwrap()
                .iter()
                .fold(source, |source, (field, property)| source.field(field, property.as_str().unwrap())),
            "tool" => source.tool(value.as_str().unwrap()),
            _ => source.set(name, value.clone()),
        };
    }
    source
}

/// Proves: SDK-CONNECTOR-CONTROL-R075.2
#[test]
fn every_source_meta_is_equal() {
    let vectors = Vectors::open("declaration");
    assert_eq!(vectors.value("meta_key").as_str(), Some(SOURCE_META_KEY));
    vectors.each("source_meta", |case| {
        let meta = declared_source(case.need("input").as_object().unwrap()).meta();
        if case.fails() {
            meta.expect_err(&case.id);
            return;
        }
        let meta = meta.unwrap_or_else(|refusal| panic!("{}: {refusal}", case.id));
        assert_eq!(&Json::Object(meta.clone()), case.need("ok"), "{}", case.id);
        let back = sources_of_meta(&meta).unwrap();
        assert_eq!(
            back.iter().map(DeclaredSource::to_json).collect::<Vec<_>>(),
            meta[SOURCE_META_KEY].as_array().unwrap()
        );
    });
}

/// Proves: SDK-SOURCE-INGEST-R004.29
#[test]
fn every_field_set_expands_alike() {
    Vectors::open("declaration").each("field_sets", |case| {
        let sets = FieldSets::from_json(case.need("field_sets")).unwrap();
        let expanded = sets.expand(case.need("mapping"));
        if case.fails() {
            assert!(matches!(expanded, Err(DeclarationRefusal::UnknownFieldSet { .. })), "{}", case.id);
            return;
        }
        let expanded = expanded.unwrap();
        let ok = case.need("ok");
        assert_eq!(expanded.ontology_class.as_deref(), ok.get("ontology_class").and_then(Json::as_str));
        let fields: JsonObject =
            expanded.fields.into_iter().map(|(field, property)| (field, property.into())).collect();
        assert_eq!(&Json::Object(fields), ok.get("fields").unwrap(), "{}", case.id);
    });
}

/// Proves: SDK-SOURCE-INGEST-R004.29
#[test]
fn declarations_are_data() {
    let version_1 = json(
        r#"{"SOURCES":[{"source_id":"a","record_type":"T","id_field":"id","tool":"t"}],
            "SCHEMA_MAPPINGS":{"T":{"fields":{"x":"x"}}}}"#,
    );
    assert_eq!(AuthoredSources::from_json(&version_1).unwrap().schema_mappings["T"].fields["x"], "x");
    let version_2 = json(
        r#"{"SCHEMA_VERSION":2,"FIELD_SETS":{"common":{"x":"shared","y":"shared"}},
            "SCHEMA_MAPPINGS":{"T":{"field_sets":["common"],"fields":{"x":"inline"}},"U":{"field_sets":["common"]}}}"#,
    );
    let read = AuthoredSources::from_json(&version_2).unwrap();
    assert_eq!(
        (read.schema_mappings["T"].fields["x"].as_str(), read.schema_mappings["U"].fields["x"].as_str()),
        ("inline", "shared")
    );
    for (bad, code) in [
        (r#"{"SCHEMA_VERSION":3}"#, "declaration_schema_version"),
        (r#"{"SCHEMA_VERSION":"2"}"#, "declaration_schema_version"),
        (r#"{"SCHEMA_VERSION":2,"SCHEMA_MAPPINGS":{"T":{"field_sets":["nope"]}}}"#, "declaration_unknown_field_set"),
        (r#"{"SCHEMA_MAPPINGS":{"T":{"field_sets":["x"]}}}"#, "declaration_unknown_member"),
        (r#"{"FIELD_SETS":{}}"#, "declaration_bad_value"),
        (r#"{"declaration":1}"#, "declaration_unknown_member"),
    ] {
        assert_eq!(AuthoredSources::from_json(&json(bad)).unwrap_err().code(), code, "{bad}");
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R075.1, SDK-CONNECTOR-CONTROL-R075.2
#[test]
fn the_served_declaration_comes_from_the_tools_alone() {
    let vectors = Vectors::open("declaration");
    let served = vectors.value("served_example");
    let tools: Vec<_> = served.get("tools").unwrap().as_array().unwrap().iter().map(tool).collect();
    let people = DeclaredSource::new("people", "Person", "id")
        .records_path("items")
        .tool("desk_list_people")
        .ontology_class("https://desk.example/ns#Person")
        .field("name", "name");
    let authored = AuthoredSources {
        sources: vec![people],
        resources: ConnectorDeclaration::from_json(served.get("document").unwrap()).unwrap().resources,
        ..AuthoredSources::default()
    };
    let descriptors = served.get("document").unwrap().get("descriptors").unwrap().as_array().unwrap();
    let descriptors: Vec<_> = descriptors.iter().map(|item| item.as_object().unwrap().clone()).collect();
    let built = declaration_of_tools(&connector(), &tools, &authored, descriptors.clone()).unwrap();
    assert_eq!(built.to_text(), served.get("text").unwrap().as_str().unwrap());

    // A name that no registered tool has.
    let lost = AuthoredSources {
        sources: vec![DeclaredSource::new("people", "Person", "id").tool("desk_list_peple")],
        ..AuthoredSources::default()
    };
    let refusal = declaration_of_tools(&connector(), &tools, &lost, Vec::new()).unwrap_err();
    assert_eq!(refusal.code(), "declaration_unknown_tool");
    assert!(refusal.to_string().contains("desk_list_people"), "{refusal}");

    // A tool that writes.
    let mut writing = tools.clone();
    writing[0].hints.read_only = None;
    let refusal = declaration_of_tools(&connector(), &writing, &authored, Vec::new()).unwrap_err();
    assert_eq!(refusal.code(), "declaration_tool_not_read_only");

    // One record type, mapped twice in different ways.
    let twice = AuthoredSources {
        sources: vec![DeclaredSource::new("more", "Ticket", "id").tool("desk_list_people").field("subject", "other")],
        ..AuthoredSources::default()
    };
    let refusal = declaration_of_tools(&connector(), &tools, &twice, Vec::new()).unwrap_err();
    assert_eq!(refusal.code(), "declaration_mapping_conflict");
}

fn derivation(vectors: &Vectors) -> (OntologyTerms, Vec<Descriptor>) {
    let section = vectors.value("descriptor_derivation");
    let iris = |name: &str| {
        let members = section.get(name).unwrap().as_object().unwrap();
        members.values().map(|iri| iri.as_str().unwrap()).collect::<Vec<_>>()
    };
    let terms = OntologyTerms::from_iris(iris("classes"), iris("properties"));
    let names = |name: &str| section.get(name).unwrap().as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(terms.classes.keys().cloned().collect::<Vec<_>>(), names("classes"));
    assert_eq!(terms.properties.keys().cloned().collect::<Vec<_>>(), names("properties"));
    let tools: Vec<_> = section.get("tools").unwrap().as_array().unwrap().iter().map(tool).collect();
    let derived = descriptor::derive(&connector(), &tools, &terms);
    (terms, derived)
}

/// Descriptors with their fields in name order: the order of a peer's is that of its schema text, which carries no
/// meaning and is not kept here (a deviation).
fn sorted(descriptors: &[Json]) -> Vec<Json> {
    descriptors
        .iter()
        .map(|descriptor| {
            let mut members = descriptor.as_object().unwrap().clone();
            let mut fields = members["fields"].as_array().unwrap().to_vec();
            fields.sort_by(|a, b| a.get("name").unwrap().as_str().cmp(&b.get("name").unwrap().as_str()));
            members.insert("fields".to_owned(), fields.into());
            Json::Object(members)
        })
        .collect()
}

fn documents(descriptors: &[Descriptor]) -> Vec<Json> {
    descriptors.iter().map(|descriptor| Json::Object(descriptor.to_json())).collect()
}

#[test]
fn descriptors_are_derived_alike() {
    let vectors = Vectors::open("declaration");
    let (_, derived) = derivation(&vectors);
    let wanted = vectors.value("descriptor_derivation").get("descriptors").unwrap().as_array().unwrap();
    assert_eq!(sorted(&documents(&derived)), sorted(wanted));
}

/// A wrapper that carries the cursor is what a peer overlooks.
#[test]
fn a_cursor_in_the_wrapper_is_noticed() {
    let value = json(
        r#"{"name":"desk_list_notes","annotations":{"readOnlyHint":true},"inputSchema":{"properties":{"page":{}}},
            "outputSchema":{"type":"object","properties":{"next_cursor":{"type":"string"},
              "items":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"}}}}}}}"#,
    );
    let derived = descriptor::derive(&connector(), &[tool(&value)], &OntologyTerms::default());
    assert_eq!((derived[0].pagination.as_str(), derived[0].pagination_param.as_deref()), ("cursor", Some("page")));
}

fn declared(case: &support::Case<'_>) -> Vec<JsonObject> {
    case.list("declared").iter().map(|item| item.as_object().unwrap().clone()).collect()
}

#[test]
fn descriptors_merge_alike() {
    let vectors = Vectors::open("declaration");
    let (terms, derived) = derivation(&vectors);
    vectors.each("descriptor_merges", |case| {
        let terms = Some(&terms).filter(|_| case.need("classes_checked").as_bool() == Some(true));
        match descriptor::merge(&connector(), &derived, &declared(case), terms) {
            Ok(merged) => assert_eq!(sorted(&documents(&merged)), sorted(case.list("ok")), "{}", case.id),
            Err(refusal) => {
                let code = case.need("error").get("code").unwrap().as_str().unwrap();
                assert_eq!(refusal.code(), code, "{}", case.id);
            }
        }
    });
}

#[test]
fn declared_descriptors_are_checked_alike() {
    let vectors = Vectors::open("declaration");
    let (terms, _) = derivation(&vectors);
    vectors.each("descriptor_checks", |case| {
        let terms = Some(&terms).filter(|_| case.need("classes_checked").as_bool() == Some(true));
        let answer = descriptor::check(&declared(case), terms).map_err(|refusal| refusal.code());
        let code = case.get("error").map(|error| error.get("code").unwrap().as_str().unwrap());
        assert_eq!(answer, code.map_or(Ok(()), Err), "{}", case.id);
    });
}
