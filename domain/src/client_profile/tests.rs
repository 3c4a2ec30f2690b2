use super::*;
use crate::json::{Json, parse};
use crate::mcp::ToolHints;
use crate::refusal::Refusal as _;

fn tool(name: &str, input: &str) -> ToolDescription {
    ToolDescription {
        name: name.to_owned(),
        title: None,
        description: None,
        input_schema: parse(input).unwrap(),
        output_schema: None,
        hints: ToolHints::default(),
        meta: crate::json::JsonObject::new(),
    }
}

fn codes(input: &str) -> Vec<&'static str> {
    ClientProfile::COMMON.check(&tool("t", input)).iter().map(ProfileFinding::code).collect()
}

const EMPTY: &str = r#"{"type":"object","additionalProperties":false}"#;

#[test]
fn a_plain_tool_passes() {
    assert_eq!(codes(EMPTY), [""; 0]);
    let typed = r##"{"type":"object","additionalProperties":false,"required":["id"],"properties":{
        "id":{"type":["integer","string"],"format":"int64"},
        "page":{"type":"integer","format":"int32"},
        "big":{"type":"integer","format":"int64","minimum":0,"maximum":9007199254740991},
        "labels":{"type":"object","additionalProperties":{"type":"string"}},
        "kind":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]},
        "home":{"$ref":"#/$defs/address"}},
        "$defs":{"address":{"type":"object","additionalProperties":false}}}"##;
    assert_eq!(codes(typed), [""; 0]);
}

#[test]
fn names_leave_room_for_a_prefix() {
    let profile = ClientProfile::COMMON;
    assert_eq!(profile.max_tool_name(), 44);
    assert!(profile.check(&tool(&"n".repeat(44), EMPTY)).is_empty());
    let long = profile.check(&tool(&"n".repeat(45), EMPTY));
    assert_eq!(long.iter().map(ProfileFinding::code).collect::<Vec<_>>(), ["profile_name_too_long"]);
    assert_eq!(ClientProfile::for_server("github").max_tool_name(), 64 - "mcp__github__".len());
    assert_eq!(ClientProfile::for_server(&"s".repeat(99)).max_tool_name(), 1);
    for bad in ["", "1a", "a b", "a.b", "é", "_a"] {
        let found = profile.check(&tool(bad, EMPTY));
        assert_eq!(found[0].code(), "profile_name_characters", "{bad}");
    }
}

#[test]
fn each_rule_finds_its_breach() {
    for (code, input) in [
        ("profile_root_not_object", r#"{"type":"string"}"#),
        ("profile_root_not_object", r"{}"),
        ("profile_root_composition", r#"{"type":"object","additionalProperties":false,"oneOf":[]}"#),
        ("profile_open_object", r#"{"type":"object"}"#),
        ("profile_open_object", r#"{"type":"object","additionalProperties":true}"#),
        ("profile_open_object", r#"{"type":"object","additionalProperties":{}}"#),
        (
            "profile_open_object",
            r#"{"type":"object","additionalProperties":false,"properties":{"a":{"type":"array","items":{"properties":{}}}}}"#,
        ),
        (
            "profile_open_reference",
            r##"{"type":"object","additionalProperties":false,"properties":{"a":{"$ref":"#/$defs/a"}}}"##,
        ),
        (
            "profile_open_reference",
            r#"{"type":"object","additionalProperties":false,"properties":{"a":{"$ref":"https://x.example/a"}}}"#,
        ),
        (
            "profile_open_reference",
            r##"{"type":"object","additionalProperties":false,"properties":{"a":{"$ref":"#/properties/a"}}}"##,
        ),
        (
            "profile_wide_integer",
            r#"{"type":"object","additionalProperties":false,"properties":{"a":{"type":"integer","format":"int64"}}}"#,
        ),
        (
            "profile_wide_integer",
            r#"{"type":"object","additionalProperties":false,"properties":{"a":{"enum":[9007199254740993]}}}"#,
        ),
        (
            "profile_argument_name",
            r#"{"type":"object","additionalProperties":false,"properties":{"a b":{"type":"string"}}}"#,
        ),
        ("profile_required_unknown", r#"{"type":"object","additionalProperties":false,"required":["a"]}"#),
        ("profile_not_a_schema", r#"{"type":"object","additionalProperties":false,"properties":{"a":true}}"#),
    ] {
        assert_eq!(codes(input), [code], "{input}");
    }
}

#[test]
fn findings_name_the_place_and_the_fix() {
    let input = r#"{"type":"object","additionalProperties":false,"properties":{"a/b~":{"type":"object"}}}"#;
    let found = ClientProfile::COMMON.check(&tool("t", input));
    let texts: Vec<String> = found.iter().map(|finding| format!("{finding} | {}", finding.next_step())).collect();
    assert!(texts.iter().any(|text| text.contains("/properties/a~1b~0")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("additionalProperties")), "{texts:?}");
}

#[test]
fn a_deep_schema_ends_the_walk_once() {
    let mut schema = Json::from([("type", Json::from("string"))]);
    for _ in 0..60 {
        schema = Json::from([("type", Json::from("array")), ("items", schema)]);
    }
    let properties = Json::from([("a", schema.clone()), ("b", schema)]);
    let root = Json::from([
        ("type", Json::from("object")),
        ("additionalProperties", Json::from(false)),
        ("properties", properties),
    ]);
    let found = ClientProfile::COMMON.check(&ToolDescription { input_schema: root, ..tool("t", EMPTY) });
    assert_eq!(found, [ProfileFinding::TooDeep { tool: "t".into(), limit: 32 }]);
}

#[test]
fn outputs_may_be_open_but_not_rootless() {
    let output = |text: &str| ToolDescription { output_schema: Some(parse(text).unwrap()), ..tool("t", EMPTY) };
    assert!(ClientProfile::COMMON.check(&output(r#"{"type":"object"}"#)).is_empty());
    let found = ClientProfile::COMMON.check(&output(r#"{"type":"array","items":{"$ref":"x"}}"#));
    let codes: Vec<_> = found.iter().map(ProfileFinding::code).collect();
    assert_eq!(codes, ["profile_root_not_object", "profile_open_reference"]);
}

#[test]
fn a_listing_is_ordered_and_has_each_name_once() {
    let listing = ["b", "a", "a", "c"].map(|name| tool(name, EMPTY));
    let codes: Vec<_> = ClientProfile::COMMON
        .check_listing(&listing)
        .iter()
        .map(|finding| (finding.code(), finding.to_string()))
        .collect();
    assert_eq!(codes.iter().map(|(code, _)| *code).collect::<Vec<_>>(), ["profile_order", "profile_name_twice"]);
    assert!(ClientProfile::COMMON.check_listing(&["a", "b"].map(|name| tool(name, EMPTY))).is_empty());
}
