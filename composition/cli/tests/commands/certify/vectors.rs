//! Every case of `certify.json`, over a real server on standard input and output.

use scion_domain::certification::{REPORT_MEMBER, pretty};
use scion_domain::json::{Json, JsonLimits, parse_with};
use serde_json::{Value, json};

use super::toy::{declaration, server, source, toy};
use crate::support::Place;

/// What we say differently, by case: the exit code. Each is a row of DEVIATIONS.md.
const OURS: [(&str, i32); 1] = [("args-unknown-param", 1)];

fn load() -> Json {
    let path = format!("{}/../../conformance/vectors/certify.json", env!("CARGO_MANIFEST_DIR"));
    parse_with(&std::fs::read(path).unwrap(), JsonLimits::DEFAULT).unwrap()
}

fn scenario(name: &str, place: &Place) -> Value {
    let args = json!({ "params_style": "args" });
    let one = |tool: &str, preset: Value| toy(&declaration(&[source("a", tool, &preset)]));
    let plain = one("ls", args.clone());
    let with_text = |text: &str| {
        let mut server = plain.clone();
        server["resources"]["connector://resources"] = text.into();
        server
    };
    let set = |name: &str, value: Value| {
        let mut server = plain.clone();
        server[name] = value;
        server
    };
    match name {
        "pass" => plain,
        "two-presets-one-tool" => toy(&declaration(&[source("b", "ls", &args), source("a", "ls", &args)])),
        "tool-missing" => one("nope", args),
        "mixed" => toy(&declaration(&[source("b", "nope", &args), source("a", "ls", &args)])),
        "no-preset" => {
            let mut source = source("a", "ls", &args);
            source.as_object_mut().unwrap().remove("preset");
            toy(&declaration(&[source]))
        }
        "two-servers" => {
            let other = json!({ "params_style": "args", "server": "other" });
            toy(&declaration(&[source("a", "ls", &args), source("b", "ls", &other)]))
        }
        "action-enum" => one("lit", json!({ "action": "list" })),
        "action-not-in-enum" => one("lit", json!({ "action": "drop" })),
        "action-free-string" => one("act", json!({ "action": "list" })),
        "args-unknown-param" => one("ls", json!({ "params_style": "args", "params": { "nope": 1 } })),
        "action-on-argless-tool" => one("bare", json!({ "action": "list", "params_style": "args" })),
        "json-style-without-params" => one("ls", json!({ "params_style": "json" })),
        "bad-preset" => one("ls", json!({ "pagination": "sideways" })),
        "not-json" => with_text("{"),
        "unknown-field" => {
            let mut declared = declaration(&[source("a", "ls", &args)]);
            declared["surprise"] = true.into();
            toy(&declared)
        }
        "no-declaration" => set("resources", json!({})),
        "dies" => set("exit", 3.into()),
        "sleeps" => set("sleep", true.into()),
        "env" => set("environment", place.path("environment").display().to_string().into()),
        other => panic!("no server for {other}"),
    }
}

fn arguments(case: &Json, place: &Place) -> Vec<String> {
    let given = case.get("args").and_then(Json::as_array).unwrap().iter().map(|text| text.as_str().unwrap());
    let last = given.clone().next_back().unwrap_or_default().to_owned();
    let named = case.get("args").and_then(Json::as_array).unwrap().iter().any(|text| text.as_str() == Some("<server>"));
    let mut all: Vec<String> =
        given.map(|text| if text == "<server>" { server().display().to_string() } else { text.to_owned() }).collect();
    if named {
        place.write_server(&last, &scenario(&last, place));
    }
    all.splice(0..0, ["--report".to_owned(), place.path("report.json").display().to_string()]);
    all
}

/// Texts for people are ours; the vectors hold a mark in their place.
fn without_texts(report: &Json) -> Json {
    let marked = |text: &Json| if text.as_str() == Some("") { text.clone() } else { Json::from("<free text>") };
    let mut members = report.as_object().unwrap().clone();
    members.insert("reason".to_owned(), marked(&members["reason"]));
    let tools = members["tools"].as_array().unwrap().iter().map(|tool| {
        let mut tool = tool.as_object().unwrap().clone();
        tool.insert("defect".to_owned(), marked(&tool["defect"]));
        Json::Object(tool)
    });
    let tools: Vec<Json> = tools.collect();
    members.insert("tools".to_owned(), tools.into());
    members.into()
}

fn run(case: &Json) {
    let id = case.get("id").and_then(Json::as_str).unwrap();
    let place = Place::new();
    let args = arguments(case, &place);
    let mut command = place.command(super::toy::CONNECTOR_CERTIFY);
    command.env("DESK_REAL", "from-parent").env("LEAKED", "yes").env_remove("DESK_NOT_SET").env("SHELL", "/bin/sh");
    let run = crate::support::Run::of(command.env("TERM", "dumb").args(args).output().unwrap());
    let exit = case.get("exit").and_then(Json::as_number).unwrap().as_i64().unwrap();
    let ours = OURS.iter().find(|(name, _)| *name == id);
    assert_eq!(i64::from(run.code), ours.map_or(exit, |(_, code)| i64::from(*code)), "{id}: {run:?}");
    assert_eq!(run.out, case.get("stdout").and_then(Json::as_str).unwrap(), "{id}");
    assert!(!run.err.is_empty() && !run.err.contains("hunter2") && !run.err.contains('\u{1b}'), "{id}: {}", run.err);
    let path = place.path("report.json");
    let written = case.get("report_written").and_then(Json::as_bool).unwrap();
    assert_eq!(path.exists(), written, "{id}");
    if written {
        let bytes = std::fs::read(path).unwrap();
        let report = parse_with(&bytes, JsonLimits::DEFAULT).unwrap();
        assert_eq!(pretty(&report).as_bytes(), bytes, "{id}: sorted keys, two blanks, one final newline");
        let mut members = report.as_object().unwrap().clone();
        assert!(members.remove(REPORT_MEMBER).is_some(), "{id}");
        if ours.is_none() {
            let (said, expected) = (without_texts(&Json::Object(members)), case.get("report").unwrap());
            assert_eq!(pretty(&said), pretty(&without_texts(expected)), "{id}");
        }
    }
    if let Some(saw) = case.get("child_saw") {
        let seen: Value = serde_json::from_str(&std::fs::read_to_string(place.path("environment")).unwrap()).unwrap();
        for name in ["DESK_KEY", "DESK_TOKEN"] {
            assert_eq!(seen[name].as_str(), saw.get(name).and_then(Json::as_str), "{name}");
        }
        assert!(seen.get("LEAKED").is_none() && seen.get("DESK_REAL").is_none());
        for name in saw.get("inherited").and_then(Json::as_array).unwrap() {
            let name = name.as_str().unwrap();
            assert_eq!(seen[name].as_str(), if name == "TERM" { Some("dumb") } else { seen[name].as_str() }, "{name}");
            assert!(seen[name].is_string() || std::env::var_os(name).is_none(), "{name}");
        }
        let known = ["DESK_KEY", "DESK_TOKEN", "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];
        let more: Vec<_> = seen.as_object().unwrap().keys().filter(|name| !known.contains(&name.as_str())).collect();
        assert!(more.is_empty(), "{more:?}");
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R072, SDK-CONNECTOR-CONTROL-R003, SDK-CENTRALIZED-CAPABILITIES-R029
#[test]
fn every_case() {
    let file = load();
    let cases = file.get("cases").and_then(Json::as_array).unwrap();
    assert_eq!(cases.len(), 31);
    // Each waits for a process of its own, one for a timeout.
    std::thread::scope(|scope| {
        let running: Vec<_> = cases.chunks(8).map(|part| scope.spawn(|| part.iter().for_each(run))).collect();
        for part in running {
            part.join().unwrap();
        }
    });
}

/// The peer's own fixture: three tools of a real connector.
#[test]
fn the_fixture_of_the_peer() {
    let file = load();
    let fixture = file.get("fixture").unwrap();
    let tools: Vec<Value> = fixture
        .get("tools")
        .and_then(Json::as_array)
        .unwrap()
        .iter()
        .map(|tool| serde_json::from_str(&scion_domain::json::to_compact(tool.get("wire_tool").unwrap())).unwrap())
        .collect();
    let args = json!({ "params_style": "args" });
    let named = |source_id: &str, tool: &str| source(source_id, tool, &args);
    let mut details = named("ticket-details", "desk_get_ticket");
    details["for_each"] = json!({ "source": "tickets", "argument": "ticket_id" });
    let sources = [named("tickets", "desk_list_tickets"), details, named("agents", "desk_list_agents")];
    let place = Place::new();
    let declared = json!({ "connector": "acme-desk-mcp", "sources": sources });
    let server = json!({ "server": { "name": "acme-desk-mcp", "version": "1.4.0" }, "tools": tools,
        "resources": { "connector://resources": declared.to_string() } });
    place.write_server("desk", &server);
    let run = place.certify_server("desk", &["--format", "json"]);
    assert_eq!(run.code, 0, "{run:?}");
    let mut members = parse_with(run.out.as_bytes(), JsonLimits::DEFAULT).unwrap().as_object().unwrap().clone();
    members.remove(REPORT_MEMBER);
    assert_eq!(pretty(&Json::Object(members)), pretty(fixture.get("report").unwrap()));
}
