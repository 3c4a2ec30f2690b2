//! Every reason not to certify, as a person reads it: its code, what it is about, the next step and the exit code.

use serde_json::{Value, json};

use super::toy::{declaration, source, tool, toy};
use crate::support::Place;

/// What the text report says of a server, and its exit code.
fn told(server: &Value, args: &[&str]) -> (String, i32) {
    let place = Place::new();
    place.write_server("toy", server);
    let mut all = vec!["--format", "text"];
    all.extend(args);
    let run = place.certify_server("toy", &all);
    assert!(!run.err.contains("panicked"), "{run:?}");
    (format!("{}{}", run.out, run.err), run.code)
}

fn one(tool: &str, preset: &Value) -> Value {
    toy(&declaration(&[source("a", tool, preset)]))
}

/// A server whose one tool is this.
fn only(tool: &Value) -> Value {
    let mut server = one(tool["name"].as_str().unwrap(), &json!({ "params_style": "args" }));
    server["tools"] = json!([tool]);
    server
}

fn assert_told(server: &Value, args: &[&str], code: &str, about: &str, exit: i32) {
    let (text, found) = told(server, args);
    let line =
        text.lines().find(|line| line.contains(&format!("[{code}]"))).unwrap_or_else(|| panic!("{code}: {text}"));
    assert!(line.contains(about), "{code}: {line}");
    assert!(text.contains("next: "), "{code}: {text}");
    assert_eq!(found, exit, "{code}: {text}");
}

#[test]
fn a_server_that_cannot_be_certified_is_told_apart_from_one_that_fails() {
    let args = json!({ "params_style": "args" });
    let plain = one("ls", &args);
    let set = |name: &str, value: Value| {
        let mut server = plain.clone();
        server[name] = value;
        server
    };
    let mut bare = source("a", "ls", &args);
    bare.as_object_mut().unwrap().remove("preset");
    let other = json!({ "params_style": "args", "server": "other" });
    for (server, code, about) in [
        (set("resources", json!({})), "certify_no_declaration", "connector://resources"),
        (set("resources", json!({ "connector://resources": "{" })), "certify_bad_declaration", "not acceptable"),
        (toy(&declaration(&[bare])), "certify_no_preset", "`toy` declares no source with a preset"),
        (
            toy(&declaration(&[source("a", "ls", &args), source("b", "ls", &other)])),
            "certify_several_servers",
            "name 2 MCP servers",
        ),
        (set("exit", 3.into()), "certify_not_listed", "could not be listed"),
    ] {
        assert_told(&server, &[], code, about, 2);
    }
}

#[test]
fn a_tool_that_is_not_as_declared_fails_by_its_code() {
    let args = json!({ "params_style": "args" });
    let mut writes = tool("t", &json!({}), &[]);
    writes["annotations"] = json!({});
    let mut twice = one("ls", &args);
    let copy = twice["tools"][3].clone();
    twice["tools"].as_array_mut().unwrap().push(copy);
    for (server, code, about) in [
        (one("nope", &args), "certify_tool_missing", "`nope`"),
        (twice, "certify_tool_twice", "lists `ls` 2 times"),
        (only(&writes), "certify_not_read_only", "`t`"),
        (one("ls", &json!({ "params_style": "json" })), "certify_params_argument", "`ls` has no text argument"),
        (one("act", &json!({ "action": "list" })), "certify_action_open", "`action` of `act`"),
        (one("lit", &json!({ "action": "drop" })), "certify_action_unknown", "no action `drop`"),
        (one("bare", &json!({ "action": "list", "params_style": "args" })), "certify_action_argument", "`bare`"),
        (one("ls", &json!({ "params_style": "args", "params": { "nope": 1 } })), "certify_unknown_argument", "`nope`"),
        (
            only(&tool("t", &json!({ "id": { "type": "string" } }), &["id"])),
            "certify_missing_argument",
            "`t` requires `id`",
        ),
    ] {
        assert_told(&server, &[], code, about, 1);
    }
    assert_told(
        &one("ls", &args),
        &["--connector", "desk"],
        "certify_other_connector",
        "declares `toy`, not `desk`",
        1,
    );
}

#[test]
fn a_parameter_the_fingerprint_cannot_see_is_a_warning_and_strictly_a_failure() {
    let server = only(&tool("t", &json!({ "title": { "type": "string" } }), &[]));
    assert_told(&server, &[], "certify_blind_spot", "does not see the parameter", 0);
    assert_told(&server, &["--strict"], "certify_blind_spot", "does not see the parameter", 1);
}

#[test]
fn a_report_that_cannot_be_written_is_said_before_the_end() {
    let place = Place::new();
    place.write_server("toy", &one("ls", &json!({ "params_style": "args" })));
    let run = place.certify_server("toy", &["--report", "nowhere/report.json"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.err.contains("report_unwritable") && run.err.contains("nowhere/report.json"), "{run:?}");
    assert!(!place.path("nowhere").exists());
}
