use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::canonical::tests::any_json;
use crate::json::parse;
use crate::test_vectors::{load, section, text};

fn tool(case: &Json) -> ToolShape<'_> {
    ToolShape::from_json(case.get("tool").unwrap()).unwrap()
}

/// Proves: SDK-CONNECTOR-CONTROL-R067.3
#[test]
fn every_fingerprint_has_the_algorithm_id_of_connector_sdks() {
    let tool = ToolShape { name: "t", input_schema: &parse(r#"{"type":"object"}"#).unwrap(), output_schema: None };
    let payload = compatibility_payload(tool).unwrap();
    let under = |id: &str| sha256(format!("{id}\0{payload}").as_bytes());
    assert_eq!(compatibility(tool), Ok(under("agent-connector-sdk:mcp-tool-contract-compat:v2")));
    assert_eq!(exact(tool), Ok(under("agent-connector-sdk:mcp-tool-contract:v2")));
    assert_ne!(compatibility(tool), Ok(under("agent-utilities:mcp-tool-schema-compat:v1")));
}

#[test]
fn every_vector() {
    let file = load("fingerprints.json");
    let cases = section(&file, "vectors");
    assert_eq!(cases.len(), 52);
    let mut by_id = HashMap::new();
    for case in cases {
        let id = text(case, "id");
        let tool = tool(case);
        let fingerprint = compatibility(tool).unwrap().to_hex();
        assert_eq!(compatibility_payload(tool).unwrap(), text(case, "payload"), "{id}");
        assert_eq!(fingerprint, text(case, "fingerprint"), "{id}");
        assert_eq!(exact(tool).unwrap().to_hex(), text(case, "exact_fingerprint"), "{id}");
        assert_eq!(output_schema(tool.output_schema).to_hex(), text(case, "output_schema_sha256"), "{id}");
        if let Some(other) = case.get("same_as").and_then(Json::as_str) {
            assert_eq!(by_id[other], fingerprint, "{id}");
        }
        by_id.insert(id, fingerprint);
    }
}

#[test]
fn every_refusal() {
    let file = load("fingerprints.json");
    for case in section(&file, "refusals") {
        let id = text(case, "id");
        let outcome = ToolShape::from_json(case.get("tool").unwrap()).and_then(|tool| {
            let exact = exact(tool);
            let compatibility = compatibility(tool);
            assert_eq!(exact.is_ok(), compatibility.is_ok(), "{id}");
            compatibility
        });
        match (&outcome, case.get("error")) {
            (Ok(digest), None) => assert_eq!(digest.to_hex(), text(case, "ok"), "{id}"),
            (Err(refusal), Some(error)) => {
                let empty = matches!(refusal, FingerprintRefusal::EmptyInput { .. });
                assert_eq!(empty, text(error, "type") == "EmptyToolSchemaError", "{id}: {refusal}");
            }
            other => panic!("{id}: {other:?}"),
        }
    }
}

#[test]
fn pins_of_empty_schemas_are_known() {
    let file = load("fingerprints.json");
    for case in section(&file, "legacy_pins") {
        let name = text(case, "name");
        for pin in ["legacy_v1_empty", "v2_empty"] {
            assert!(is_empty_pin(name, &Digest256::parse_hex(text(case, pin)).unwrap()), "{name} {pin}");
        }
        assert!(!is_empty_pin(name, &Digest256::ZERO));
    }
}

#[test]
fn parameters_the_fingerprint_cannot_see_are_named() {
    let file = load("fingerprints.json");
    let mut seen = 0;
    for case in section(&file, "vectors") {
        let id = text(case, "id");
        let spots = blind_spots(tool(case).input_schema);
        let expected = id.strip_prefix("property-named-").filter(|rest| !rest.ends_with("absent"));
        if let Some(rest) = expected {
            let name = rest.split('-').next().unwrap();
            assert_eq!(spots, [format!("/properties/{name}")], "{id}");
            seen += 1;
        } else {
            assert!(spots.is_empty(), "{id}: {spots:?}");
        }
    }
    assert!(seen >= 4);
    let nested = parse(
        r#"{"title":"T","properties":{"filter":{"description":"d","properties":{"a/b":{},"title":{}}},
            "list":{"items":[{"properties":{"default":{}}}]}},"$defs":{"examples":{}}}"#,
    );
    assert_eq!(
        blind_spots(&nested.unwrap()),
        ["/$defs/examples", "/properties/filter/properties/title", "/properties/list/items/0/properties/default"]
    );
}

/// Adds presentation members everywhere an object allows it, and reverses lists of texts.
fn decorated(value: &Json) -> Json {
    match value {
        Json::Array(items) if items.iter().all(|item| item.as_str().is_some()) => {
            Json::Array(items.iter().rev().cloned().collect())
        }
        Json::Array(items) => Json::Array(items.iter().map(decorated).collect()),
        Json::Object(members) => {
            let mut members: JsonObject = members.iter().map(|(key, item)| (key.clone(), decorated(item))).collect();
            for name in PRESENTATION {
                members.insert(name.to_owned(), Json::from("something else"));
            }
            Json::Object(members)
        }
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn order_and_presentation_do_not_count(input in any_json(), output in any_json()) {
        let schema = |body: &Json| Json::from([("type", Json::from("object")), ("x", body.clone())]);
        let (input, output) = (schema(&input), schema(&output));
        let plain = ToolShape { name: "t", input_schema: &input, output_schema: Some(&output) };
        let (other_in, other_out) = (decorated(&input), decorated(&output));
        let dressed = ToolShape { name: "t", input_schema: &other_in, output_schema: Some(&other_out) };
        prop_assert_eq!(compatibility(plain).unwrap(), compatibility(dressed).unwrap());
        prop_assert_ne!(exact(plain).unwrap(), exact(dressed).unwrap());
        let renamed = ToolShape { name: "u", ..plain };
        prop_assert_ne!(compatibility(plain).unwrap(), compatibility(renamed).unwrap());
    }
}
