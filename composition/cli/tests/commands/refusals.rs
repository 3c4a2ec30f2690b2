//! Every way a server can be wrong has its own code, and a run that failed ends with 1.

use serde_json::{Value, json};

use crate::support::{Place, desk, source};

/// Runs a scenario once and answers the code and the exit code.
fn code_of(scenario: &Value, more: &str) -> (String, i32) {
    let place = Place::new();
    place.write_scenario("desk", scenario);
    place.write_config(&[("desk", more)]);
    let (run, report) = place.report();
    let cycle = &report["connectors"][0];
    let stages = cycle["cycle"]["run"]["stages"].as_array().cloned().unwrap_or_default();
    let of_stage = stages.iter().find_map(|stage| stage["refusal"]["code"].as_str().map(str::to_owned));
    let code = of_stage.or_else(|| cycle["refusal"]["code"].as_str().map(str::to_owned)).unwrap_or_default();
    let logged = run.logs().into_iter().any(|line| line["code"] == code.as_str() && line["next"].is_string());
    assert!(code.is_empty() || logged, "{code} is not in the log: {run:?}");
    assert!(!run.err.contains("panicked") && !run.err.contains("RUST_BACKTRACE"), "{run:?}");
    (code, run.code)
}

fn with(change: impl FnOnce(&mut Value)) -> Value {
    let mut scenario = desk(15);
    change(&mut scenario);
    scenario
}

#[test]
fn a_server_that_prints_on_standard_output() {
    assert_eq!(code_of(&with(|s| s["noise"] = true.into()), ""), ("server_noise_on_stdout".into(), 1));
}

#[test]
fn a_server_that_dies_at_once() {
    assert_eq!(code_of(&with(|s| s["exit"] = 3.into()), ""), ("server_exited".into(), 1));
}

#[test]
fn a_server_that_dies_in_the_middle() {
    let dying = with(|s| s["tools"]["list_tickets"]["die_on_page"] = 2.into());
    let (code, exit) = code_of(&dying, "");
    assert!(["server_exited", "session_closed"].contains(&code.as_str()), "{code}");
    assert_eq!(exit, 1);
}

#[test]
fn a_server_that_does_not_exist_or_does_not_answer() {
    let place = Place::new();
    let config = |endpoint: &str| format!("connectors:\n  - connector: desk\n    endpoint: {{{endpoint}}}\n");
    for (endpoint, code) in [
        ("command: /nonexistent/server", "server_start_failed"),
        ("url: 'http://127.0.0.1:9/mcp', timeout_seconds: 5", "server_unreachable"),
        ("command: sleep, args: ['60'], timeout_seconds: 0.5", "server_timeout"),
    ] {
        place.write("config.yaml", &config(endpoint));
        let run = place.once();
        assert_eq!(run.code, 1, "{run:?}");
        let event = run.event("connector_failed");
        assert_eq!(event["code"], code, "{event}");
        assert!(event.get("retry_in").is_none(), "{event}");
        assert!(run.out.contains(&format!("error[{code}]")) && run.out.contains("next: "), "{}", run.out);
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R075.3
#[test]
fn the_live_declaration_decides_what_is_synced() {
    let other = with(|s| s["declaration"]["connector"] = "other".into());
    assert_eq!(code_of(&other, "").1, 1);
    assert_ne!(code_of(&other, "").0, "");
    let none = with(|s| {
        for source in s["declaration"]["sources"].as_array_mut().unwrap() {
            source.as_object_mut().unwrap().remove("preset");
        }
    });
    let (no_preset, exit) = code_of(&none, "");
    assert_eq!(exit, 1);
    let (undeclared, exit) = code_of(&desk(1), "presets: [nothing]");
    assert_eq!(exit, 1);
    let (absent, exit) = code_of(&with(|s| s["declaration"] = Value::Null), "");
    assert_eq!((absent.as_str(), exit), ("unknown_resource", 1));
    let (not_json, exit) = code_of(&with(|s| s["declaration"] = "nope".into()), "");
    assert_eq!(exit, 1);
    let codes = [code_of(&other, "").0, no_preset, undeclared, absent, not_json];
    let mut distinct = codes.to_vec();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), codes.len(), "each has its own code: {codes:?}");
}

#[test]
fn a_tool_that_is_not_read_only_is_not_called() {
    let place = Place::new();
    place.write_scenario("desk", &with(|s| s["tools"]["list_people"]["read_only"] = false.into()));
    place.write_config(&[("desk", "")]);
    let run = place.once();
    assert_eq!(run.code, 1);
    assert_eq!(run.event("stream_failed")["code"], "not_read_only");
    assert!(place.journal("desk").iter().all(|call| call["tool"] != "list_people"));
    assert_eq!(place.ids("tickets").len(), 15, "its sibling is synchronised all the same");
}

#[test]
fn a_tool_that_is_not_there_and_records_that_are_none() {
    let missing = with(|s| s["declaration"]["sources"][1]["tools"] = json!(["list_nobody"]));
    assert_eq!(code_of(&missing, ""), ("source_tool_missing".into(), 1));
    let text = with(|s| s["tools"]["list_people"]["records"] = json!(["x"]));
    assert_eq!(code_of(&text, ""), ("source_record_not_object".into(), 1));
    let without_id = with(|s| s["tools"]["list_people"]["records"] = json!([{ "name": "x" }]));
    assert_eq!(code_of(&without_id, ""), ("source_record_without_id".into(), 1));
    let twice = with(|s| s["tools"]["list_people"]["records"] = json!([{ "id": "a" }, { "id": "a" }]));
    assert_eq!(code_of(&twice, ""), ("source_duplicate_id".into(), 1));
}

#[test]
fn a_secret_that_is_not_there() {
    let place = Place::with_desk(1);
    let text = std::fs::read_to_string(place.path("config.yaml")).unwrap();
    place.write("config.yaml", &format!("{text}      env: {{DESK_TOKEN: 'env://SCION_TEST_ABSENT'}}\n"));
    let run = place.once();
    assert_eq!(run.code, 1, "{run:?}");
    let event = run.event("connector_failed");
    assert!(event["code"].as_str().unwrap().contains("credential"), "{event}");
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R032
#[test]
fn one_connector_that_fails_does_not_keep_the_others_from_their_work() {
    let place = Place::with_desk(12);
    let mut broken = desk(1);
    broken["connector"] = "broken".into();
    broken["exit"] = 1.into();
    place.write_scenario("broken", &broken);
    place.write_config(&[("broken", ""), ("desk", "")]);
    let run = place.once();
    assert_eq!(run.code, 1, "{run:?}");
    assert_eq!(place.ids("tickets").len(), 12);
    assert!(run.out.contains("\nbroken: error[server_exited]"), "{}", run.out);
    assert_eq!(source("x", "X", "x", false)["source_id"], "x");
}
