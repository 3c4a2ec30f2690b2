use super::*;
use crate::json::parse;
use crate::mcp::{ServerIdentity, ToolDescription, ToolHints};

fn tool(name: &str, input: &str) -> ToolDescription {
    ToolDescription {
        name: name.into(),
        title: None,
        description: None,
        input_schema: parse(input).unwrap(),
        output_schema: None,
        hints: ToolHints { read_only: Some(true), ..ToolHints::default() },
        meta: crate::json::JsonObject::new(),
    }
}

fn report(tools: &[ToolDescription], preset: &str) -> CertificationReport {
    let declared = format!(
        r#"{{"connector":"toy","sources":[{{"source_id":"a","record_type":"T","tools":["t"],"id_field":"id","preset":{preset}}}]}}"#
    );
    let server = ServerIdentity {
        name: "toy".into(),
        version: "1".into(),
        protocol_version: "2025-11-25".into(),
        list_changed: false,
        subscribe: false,
    };
    judge(&CertificationSubject { server: &server, tools, declaration: declared.as_bytes() })
}

fn codes(tools: &[ToolDescription], preset: &str) -> Vec<&'static str> {
    match &report(tools, preset).tools[0].outcome {
        Ok(_) => Vec::new(),
        Err(found) => found.iter().map(|one| Problem::from(one.clone()).code).collect(),
    }
}

#[test]
fn actions_are_read_through_references_and_optional_forms() {
    let action = |schema: &str| {
        let input = format!(
            r##"{{"type":"object","properties":{{"action":{schema}}},"$defs":{{"A":{{"enum":["list"],"type":"string"}},
                "loop":{{"$ref":"#/$defs/loop"}}}}}}"##
        );
        codes(&[tool("t", &input)], r#"{"params_style":"args","action":"list"}"#)
    };
    for good in [
        r##"{"$ref":"#/$defs/A"}"##,
        r#"{"const":"list"}"#,
        r##"{"anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}]}"##,
        r#"{"anyOf":[{"const":"get"},{"const":"list"}]}"#,
    ] {
        assert!(action(good).is_empty(), "{good}");
    }
    for (bad, code) in [
        (r#"{"type":"string"}"#, "certify_action_open"),
        (r#"{"anyOf":[{"enum":["list"]},{"type":"string"}]}"#, "certify_action_open"),
        (r#"{"enum":["get"]}"#, "certify_action_unknown"),
        (r#"{"enum":[1]}"#, "certify_action_argument"),
        (r#"{"type":"integer"}"#, "certify_action_argument"),
        (r##"{"$ref":"#/$defs/loop"}"##, "certify_action_argument"),
        (r#"{"$ref":"https://elsewhere.example/x"}"#, "certify_action_argument"),
    ] {
        assert_eq!(action(bad), [code], "{bad}");
    }
}

#[test]
fn a_failed_check_takes_the_pin_away() {
    let good = tool("t", r#"{"type":"object","properties":{}}"#);
    let mut report = report(&[good], r#"{"params_style":"args"}"#);
    assert!(report.passed() && report.pins().count() == 1);
    let finding = CertificationFinding::PinGone { tool: "t".into() };
    report.add([Check::warned("x", "t", finding.clone())], false);
    assert!(report.passed(), "a warning is no failure");
    report.add([Check::warned("x", "t", finding)], true);
    assert!(!report.passed() && report.pins().count() == 0 && report.exit_code() == 1);
    let told = report.to_json();
    let entry = &told.get("tools").unwrap().as_array().unwrap()[0];
    assert_eq!(entry.get("status").unwrap().as_str(), Some("tool_unavailable"));
    assert_eq!(entry.get("live").unwrap().as_str(), Some(""));
}

#[test]
fn recorded_pins_are_read_strictly() {
    let read = |text: &str| RecordedPins::from_report(&parse(text).unwrap());
    assert_eq!(read(r#"{"passed":false,"tools":[]}"#), Err(PinRefusal::NotPassed));
    for bad in [r"[]", r#"{"passed":true}"#, r#"{"passed":true,"tools":[{"tool":"t","live":"xx"}]}"#] {
        assert!(matches!(read(bad), Err(PinRefusal::NotAReport { .. })), "{bad}");
    }
    let report = report(&[tool("t", r#"{"type":"object","properties":{}}"#)], r#"{"params_style":"args"}"#);
    let pins = RecordedPins::from_report(&report.to_json()).unwrap();
    let (_, pin) = report.pins().next().unwrap();
    assert_eq!(pins.differs("t", pin), None);
}
