use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::id::ConnectorName;
use crate::json::{Json, JsonObject, parse};
use crate::mcp::{ToolDescription, ToolHints};
use crate::pack::{
    DeclaredBy, PackRefusal, ReadableForm, ReadableRenderer, SideEffect, ToolContractFacts, ToolFactsRefusal,
    render_readable, render_readable_with, schema_tokens, tool_entry, tool_schema,
};
use crate::test_vectors::{load, text};

fn tool(name: &str, hints: ToolHints, declared: Option<&str>) -> ToolDescription {
    let declared = declared.map(|text| ("eg.annotations".to_owned(), parse(text).unwrap()));
    ToolDescription {
        name: name.into(),
        title: None,
        description: Some("Does it.".into()),
        input_schema: parse(r#"{"type":"object","properties":{"a":{"type":"string"}}}"#).unwrap(),
        output_schema: None,
        hints,
        meta: declared.into_iter().collect(),
    }
}

fn facts(tool: &ToolDescription) -> Result<ToolContractFacts, PackRefusal> {
    let entry = tool_entry(&ConnectorName::parse("c").unwrap(), tool)?;
    Ok(entry.facts.unwrap())
}

fn reads() -> ToolHints {
    ToolHints { read_only: Some(true), ..ToolHints::default() }
}

fn set(effects: &[SideEffect]) -> BTreeSet<SideEffect> {
    effects.iter().copied().collect()
}

/// Proves: SDK-CONNECTOR-CONTROL-R045.1, SDK-CONNECTOR-CONTROL-R045.2
#[test]
fn the_set_of_side_effects_is_closed_and_agrees_with_read_only() {
    let new = |read_only, effects: &[SideEffect]| {
        ToolContractFacts::new(read_only, set(effects), JsonObject::new(), 1, DeclaredBy::Connector)
    };
    assert!(new(true, &[SideEffect::None]).is_ok());
    assert!(new(true, &[SideEffect::Network]).is_ok());
    assert!(new(false, &[SideEffect::ExternalWrite, SideEffect::Network]).is_ok());
    for write in [SideEffect::ExternalWrite, SideEffect::WorkspaceWrite] {
        assert_eq!(new(true, &[write]), Err(ToolFactsRefusal::ReadOnlyWrites));
    }
    assert_eq!(new(false, &[SideEffect::None, SideEffect::Network]), Err(ToolFactsRefusal::NoneBeside));
    assert_eq!(new(false, &[]), Err(ToolFactsRefusal::Empty));
    assert_eq!(SideEffect::ALL.map(SideEffect::as_str), ["none", "workspace_write", "external_write", "network"]);
    assert_eq!(SideEffect::parse("write"), None);
}

/// Proves: SDK-CONNECTOR-CONTROL-R045.3
#[test]
fn schema_tokens_are_the_canonical_body_by_four_rounded_up() {
    assert_eq!(
        [schema_tokens(b""), schema_tokens(b"1"), schema_tokens(b"1234"), schema_tokens(b"12345")],
        [0, 1, 1, 2]
    );
    let entry = tool_entry(&ConnectorName::parse("c").unwrap(), &tool("t", reads(), None)).unwrap();
    assert_eq!(entry.facts.unwrap().schema_tokens(), entry.body.len().div_ceil(4) as u64);
}

/// Proves: SDK-CONNECTOR-CONTROL-R045.4
#[test]
fn an_undeclared_tool_is_one_that_writes_outside() {
    let undeclared = facts(&tool("get_ticket", ToolHints::default(), None)).unwrap();
    assert!(!undeclared.read_only());
    assert_eq!(undeclared.side_effects(), &set(&[SideEffect::ExternalWrite]));
    assert_eq!(undeclared.declared_by(), DeclaredBy::Default);
}

/// Proves: SDK-CONNECTOR-CONTROL-R045.5
#[test]
fn a_read_only_hint_is_kept_as_the_tools_own_claim() {
    let claimed = facts(&tool("get_ticket", reads(), None)).unwrap();
    assert!(claimed.read_only());
    assert_eq!(claimed.declared_by(), DeclaredBy::McpHint);
    assert_eq!(claimed.side_effects(), &set(&[SideEffect::None]));
    let outside = ToolHints { open_world: Some(true), ..reads() };
    assert_eq!(facts(&tool("get", outside, None)).unwrap().side_effects(), &set(&[SideEffect::Network]));
    let contradicted = tool("get_ticket", reads(), Some(r#"{"read_only_hint":false}"#));
    assert!(matches!(facts(&contradicted), Err(PackRefusal::Annotation { .. })));
}

/// Proves: SDK-CONNECTOR-CONTROL-R045.6
#[test]
fn declared_side_effects_are_read_and_kept() {
    let declared = tool("put", ToolHints::default(), Some(r#"{"side_effects":["workspace_write"],"provides":["p"]}"#));
    let entry = tool_entry(&ConnectorName::parse("c").unwrap(), &declared).unwrap();
    assert!(entry.annotations.provides.contains("p"));
    let kept = entry.facts.unwrap();
    assert_eq!(kept.side_effects(), &set(&[SideEffect::WorkspaceWrite]));
    assert!(!kept.read_only());
    assert_eq!(kept.declared_by(), DeclaredBy::Connector);
    assert_eq!(ToolContractFacts::from_json("x", &kept.to_json()).unwrap(), kept);
    for bad in [
        r#"{"side_effects":["write"]}"#,
        r#"{"side_effects":[]}"#,
        r#"{"side_effects":["none","network"]}"#,
        r#"{"side_effects":"none"}"#,
        r#"{"side_effects":["external_write"],"read_only_hint":true}"#,
    ] {
        assert!(facts(&tool("put", ToolHints::default(), Some(bad))).is_err(), "{bad}");
    }
    assert!(facts(&tool("get", reads(), Some(r#"{"side_effects":["external_write"]}"#))).is_err());
}

/// Proves: SDK-CONNECTOR-CONTROL-R045.7
#[test]
fn a_tool_that_destroys_never_only_reads() {
    let destroys = ToolHints { destructive: Some(true), ..ToolHints::default() };
    for (name, hints) in [("purge", destroys), ("delete_ticket", ToolHints::default()), ("delete_ticket", reads())] {
        let known = facts(&tool(name, hints, None)).unwrap();
        assert!(!known.read_only(), "{name}");
        assert!(known.side_effects().iter().any(|effect| effect.writes()), "{name}");
    }
    let word = ToolHints { destructive: Some(false), ..reads() };
    assert!(facts(&tool("delete_preview", word, None)).unwrap().read_only(), "the author's word goes before the name");
    let contradiction = tool("purge", destroys, Some(r#"{"side_effects":["none"]}"#));
    assert!(facts(&contradiction).is_err());
}

/// Proves: SDK-CONNECTOR-CONTROL-R048.1, SDK-CONNECTOR-CONTROL-R048.3
#[test]
fn a_declared_readable_form_is_kept_with_the_facts() {
    let declared = r#"{"readable_form":{"template_id":"fitted-terms","question_set_ref":"questions.json"}}"#;
    let form = facts(&tool("fit", reads(), Some(declared))).unwrap().readable_form().cloned().unwrap();
    assert_eq!((form.max_chars, form.score), (4000, None));
    assert_eq!(form, ReadableForm::fitted_terms(Some("questions.json".into())));
    assert!(facts(&tool("fit", reads(), None)).unwrap().readable_form().is_none());
    for bad in
        [r"{}", r#"{"template_id":"t","max_chars":0}"#, r#"{"template_id":"t","score":{"answered":2,"questions":1}}"#]
    {
        assert!(ReadableForm::from_json("x", &parse(bad).unwrap()).is_err(), "{bad}");
    }
    let scored = parse(r#"{"template_id":"t","score":{"answered":9,"questions":10}}"#).unwrap();
    let form = ReadableForm::from_json("x", &scored).unwrap();
    assert_eq!(ReadableForm::from_json("x", &form.to_json()).unwrap(), form);
}

struct Shout;

impl ReadableRenderer for Shout {
    fn template_id(&self) -> &'static str {
        "shout"
    }

    fn lines(&self, _result: &Json) -> Vec<String> {
        vec!["A\u{7}B".into()]
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R048.2
#[test]
fn a_readable_form_is_bounded_plain_text_one_line_per_term() {
    let result = parse(
        r#"{"terms":[{"name":"age","effect":0.5,"p":0.01},{"term":"dose","estimate":-2}],"fit":{"r2":0.9,"n":40}}"#,
    )
    .unwrap();
    let mut form = ReadableForm::fitted_terms(None);
    let whole = "age: effect 0.5, p 0.01\ndose: effect -2\nfit n: 40\nfit r2: 0.9";
    assert_eq!(render_readable(&result, &form), whole);
    form.max_chars = whole.len() as u64;
    assert_eq!(render_readable(&result, &form), whole);
    form.max_chars = 40;
    assert_eq!(render_readable(&result, &form), "age: effect 0.5, p 0.01\n(3 more)");
    form.max_chars = 3;
    assert_eq!(render_readable(&result, &form), "");
    assert_eq!(render_readable_with(&Shout, &result, &ReadableForm::fitted_terms(None)), "A B");
}

#[test]
fn a_tools_entry_is_that_of_the_vectors() {
    let file = load("pack.json");
    let expected = file.get("pack_of_fixture_connector").and_then(|pack| pack.get("entries")).and_then(Json::as_array);
    let find = |uri: &str| expected.unwrap().iter().find(|entry| text(entry, "uri") == uri).unwrap();
    let served = load("mcp_wire.json");
    let mut tools = Vec::new();
    listed_tools(&served, &mut tools);
    let mut compared = 0;
    for described in tools {
        let entry = tool_entry(&ConnectorName::parse("acme-desk-mcp").unwrap(), &described).unwrap();
        let expected = find(&entry.uri);
        let pin = expected.get("annotations").unwrap().get("sdk_contract_pin").unwrap();
        assert_eq!(entry.annotations.to_json().get("sdk_contract_pin"), Some(pin), "{}", entry.uri);
        let input = expected.get("input_schema").unwrap();
        if !entry.input_schema.as_ref().unwrap().windows(11).any(|part| part == b"<free text>") {
            let digest = crate::digest::sha256(entry.input_schema.as_ref().unwrap()).to_hex();
            assert_eq!(text(input, "sha256"), digest, "{}", entry.uri);
            compared += 1;
        }
    }
    assert!(compared > 3, "{compared}");
}

fn listed_tools(value: &Json, found: &mut Vec<ToolDescription>) {
    match value {
        Json::Object(members) if members.contains_key("inputSchema") && members.contains_key("annotations") => {
            let hints = members["annotations"].clone();
            let flag = |name| hints.get(name).and_then(Json::as_bool);
            found.push(ToolDescription {
                name: text(value, "name").to_owned(),
                title: None,
                description: members.get("description").and_then(Json::as_str).map(str::to_owned),
                input_schema: members["inputSchema"].clone(),
                output_schema: members.get("outputSchema").cloned(),
                hints: ToolHints {
                    read_only: flag("readOnlyHint"),
                    destructive: flag("destructiveHint"),
                    idempotent: flag("idempotentHint"),
                    open_world: flag("openWorldHint"),
                },
                meta: members.get("_meta").and_then(Json::as_object).cloned().unwrap_or_default(),
            });
        }
        Json::Object(members) => members.values().for_each(|value| listed_tools(value, found)),
        Json::Array(items) => items.iter().for_each(|value| listed_tools(value, found)),
        _ => {}
    }
}

#[test]
fn a_packed_schema_loses_defaults_and_nothing_else() {
    let packed = |text: &str| crate::canonical::peer_json(&tool_schema(&parse(text).unwrap()));
    assert_eq!(
        packed(
            r#"{"type":"object","properties":{"default":{"type":"string","default":"x"},"b":{"enum":["z","a"],"const":{"default":1}}},"required":["b","a"]}"#
        ),
        r#"{"properties":{"b":{"const":{"default":1},"enum":["a","z"]},"default":{"type":"string"}},"required":["a","b"],"type":"object"}"#
    );
    assert_eq!(
        packed(r#"{"examples":[["b","a"]],"prefixItems":[{"default":1},{}]}"#),
        r#"{"examples":[["b","a"]],"prefixItems":[{},{}]}"#
    );
}

#[test]
fn a_tool_without_a_usable_name_or_schema_is_refused_by_name() {
    let connector = ConnectorName::parse("c").unwrap();
    let mut bad = tool("t", reads(), None);
    bad.input_schema = parse(r#"{"type":"array"}"#).unwrap();
    assert!(matches!(tool_entry(&connector, &bad), Err(PackRefusal::Malformed { uri, .. }) if uri == "tool://c/t"));
    bad.input_schema = parse("{}").unwrap();
    assert!(tool_entry(&connector, &bad).is_err());
    assert!(tool_entry(&connector, &tool(" ", reads(), None)).is_err());
}

proptest! {
    #[test]
    fn a_readable_form_never_exceeds_its_bound(lines in proptest::collection::vec(".{0,20}", 0..20), max in 1..200_u64) {
        struct Lines(Vec<String>);
        impl ReadableRenderer for Lines {
            fn template_id(&self) -> &'static str { "lines" }
            fn lines(&self, _: &Json) -> Vec<String> { self.0.clone() }
        }
        let form = ReadableForm { max_chars: max, ..ReadableForm::fitted_terms(None) };
        let text = render_readable_with(&Lines(lines), &Json::Null, &form);
        prop_assert!(text.chars().count() as u64 <= max);
        prop_assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
    }
}
