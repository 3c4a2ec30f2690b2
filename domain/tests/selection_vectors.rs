//! What a runner selects and does, against the golden vectors.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::{BTreeMap, HashSet};

use scion_domain::config::{ConnectorConfig, EndpointSpec, EndpointTarget};
use scion_domain::declaration::plan::CyclePlan;
use scion_domain::declaration::{ConnectorDeclaration, MappingChoice, selection};
use scion_domain::id::{ConnectorName, StreamName};
use scion_domain::json::Json;
use scion_domain::mcp::ServerChange;
use scion_domain::refusal::Refusal as _;
use support::Vectors;

fn names(value: Option<&Json>) -> Vec<StreamName> {
    let items = value.and_then(Json::as_array).unwrap_or_default();
    items.iter().map(|name| StreamName::parse(name.as_str().unwrap()).unwrap()).collect()
}

fn config(descriptor: &Json) -> ConnectorConfig {
    let triggers = descriptor.get("data_resources").and_then(Json::as_object).cloned().unwrap_or_default();
    ConnectorConfig {
        connector: ConnectorName::parse("acme-desk-mcp").unwrap(),
        endpoint: EndpointSpec {
            target: EndpointTarget::Command { command: "true".to_owned(), args: Vec::new(), env: BTreeMap::new() },
            timeout: EndpointSpec::DEFAULT_TIMEOUT,
        },
        presets: names(descriptor.get("presets")),
        provision: descriptor.get("provision").and_then(Json::as_bool).unwrap_or(true),
        interval: ConnectorConfig::DEFAULT_INTERVAL,
        data_resources: triggers.iter().map(|(uri, presets)| (uri.clone(), names(Some(presets)))).collect(),
        mapping_reference: descriptor.get("mapping_reference").and_then(Json::as_str).unwrap_or_default().to_owned(),
        empty_authoritative_approval: String::new(),
        max_pages_per_cycle: ConnectorConfig::DEFAULT_MAX_PAGES,
        leave_out_foreign_edges: false,
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R075.6, SDK-CONNECTOR-CONTROL-R075.3
#[test]
fn every_selection_is_a_peers_or_better() {
    Vectors::open("runner").each("selections", |case| {
        let selected = ConnectorDeclaration::from_json(case.need("declaration"))
            .and_then(|declaration| selection::select(&declaration, &config(case.need("descriptor"))));
        let code = match case.id.as_str() {
            "no-mapping" => "mapping_none",
            "exact-absent" => "mapping_reference_unknown",
            "exact-empty" | "foreign" => "mapping_reference_foreign",
            "preset-absent" => "declaration_unknown_preset",
            "trigger-not-selected" => "declaration_trigger_not_selected",
            "other-connector" => "declaration_other_connector",
            "no-presets" => "declaration_no_preset",
            "not-json" => "declaration_wrong_type",
            // Deviation: both record types have their mapping, so nothing is ambiguous.
            "two-mappings" => {
                let names: Vec<_> = selected.unwrap().into_iter().map(|preset| preset.name.to_string()).collect();
                assert_eq!(names, ["agents", "tickets"]);
                return;
            }
            _ => {
                let names = selected.unwrap_or_else(|refusal| panic!("{}: {refusal}", case.id));
                let names: Vec<_> = names.iter().map(|preset| Json::from(preset.name.as_str())).collect();
                assert_eq!(names, case.list("ok"), "{}", case.id);
                return;
            }
        };
        assert!(case.fails());
        assert_eq!(selected.expect_err(&case.id).code(), code, "{}", case.id);
    });
}

fn two_types() -> ConnectorDeclaration {
    ConnectorDeclaration::from_text(
        br#"{"connector":"acme-desk-mcp","schema_mappings":{"Ticket":{},"Agent":{}},"sources":[
            {"source_id":"tickets","record_type":"Ticket","tools":["t"],"id_field":"id","preset":{}},
            {"source_id":"teams","record_type":"Team","tools":["t"],"id_field":"id","preset":{}}]}"#,
    )
    .unwrap()
}

/// Proves: SDK-CONNECTOR-CONTROL-R075.6, SDK-SOURCE-INGEST-R004.25
#[test]
fn records_are_admitted_under_the_mapping_of_their_own_type() {
    let declaration = two_types();
    let presets = declaration.presets().unwrap();
    let connector = &declaration.connector;
    let own = MappingChoice::parse("", connector).unwrap();
    assert_eq!(declaration.record_type_of(&presets[0], &own), Ok(Some("Ticket")));
    assert_eq!(declaration.record_type_of(&presets[1], &own).unwrap_err().code(), "mapping_ambiguous");
    let only = MappingChoice::parse("connector:acme-desk-mcp", connector).unwrap();
    assert_eq!(declaration.record_type_of(&presets[0], &only).unwrap_err().code(), "mapping_ambiguous");
    let exact = MappingChoice::parse("connector:acme-desk-mcp#mappings/Agent", connector).unwrap();
    assert_eq!(declaration.record_type_of(&presets[1], &exact), Ok(Some("Agent")));
    let reference = declaration.mapping_reference("Agent").unwrap();
    assert_eq!(reference.as_str(), "connector:acme-desk-mcp#mappings/Agent");
    assert!(declaration.mapping_reference("Agnet").unwrap_err().to_string().contains("Agent"));
    assert_eq!(declaration.unmapped_record_types(), ["Team"]);
    for foreign in [
        "connector:acme-desk-mcp#relations/a/b",
        "connector:acme-desk-mcp2",
        "pack:x",
        "connector:acme-desk-mcp#mappings/",
    ] {
        assert!(MappingChoice::parse(foreign, connector).is_err(), "{foreign}");
    }
}

#[test]
fn every_plan_is_equal() {
    Vectors::open("runner").each("plans", |case| {
        let provision = case.need("provision").as_bool().unwrap();
        let wanted = CyclePlan { provision, presets: names(case.get("presets")) };
        let Some(descriptor) = case.get("descriptor") else {
            let mut config = config(&support::json("{}"));
            config.provision = provision;
            let mut selected = wanted.presets.clone();
            selected.reverse();
            assert_eq!(CyclePlan::full(&config, &selected), wanted, "{}", case.id);
            return;
        };
        let changes: Vec<_> = case
            .list("events")
            .iter()
            .map(|event| {
                let part = |index: usize| event.as_array().unwrap()[index].as_str().unwrap();
                match part(0) {
                    "tools" => ServerChange::Tools,
                    "prompts" => ServerChange::Prompts,
                    "resources" => ServerChange::Resources,
                    "resource" => ServerChange::Resource(part(1).to_owned()),
                    other => panic!("unknown event {other}"),
                }
            })
            .collect();
        let uris: HashSet<String> = case.list("pack_uris").iter().map(|uri| uri.as_str().unwrap().to_owned()).collect();
        assert_eq!(CyclePlan::after(&config(descriptor), &changes, &uris), wanted, "{}", case.id);
    });
}
