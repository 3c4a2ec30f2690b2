//! Two sources side by side, one killed after the other has committed.

use serde_json::{Value, json};

use crate::support::{Place, desk, wait_until};

/// Both sources are asked only for what changed since their watermark.
fn incremental() -> Value {
    let mut scenario = desk(40);
    let people: Vec<Value> = (0..25)
        .map(|n| json!({ "id": format!("p{n}"), "name": format!("Person {n}"), "updated": format!("2026-01-01T00:00:{n:02}Z") }))
        .collect();
    scenario["tools"]["list_people"]["records"] = people.into();
    for source in scenario["declaration"]["sources"].as_array_mut().unwrap() {
        source["cursor_field"] = "updated".into();
        source["incremental"] = true.into();
        source["preset"] = json!({ "params_style": "args", "updated_since_param": "since" });
    }
    scenario
}

/// Proves: SDK-SOURCE-INGEST-R001.6
#[test]
fn a_killed_stage_resumes_at_its_own_boundary_and_its_sibling_keeps_what_it_committed() {
    let place = Place::new();
    let mut scenario = incremental();
    scenario["tools"]["list_tickets"]["hang_on_page"] = 3.into();
    scenario["tools"]["list_people"]["delay_ms"] = 100.into();
    scenario["tools"]["list_tickets"]["delay_ms"] = 100.into();
    place.write_scenario("desk", &scenario);
    place.write_config(&[("desk", "")]);
    let running = place.start(&["--config", "config.yaml", "--once"]);
    let state = |stream: &str| -> Value {
        let run = place.scion(&["status", "--format", "json"]);
        let all: Value = serde_json::from_str(&run.out).unwrap_or_default();
        let found = all["streams"].as_array().and_then(|all| all.iter().find(|one| one["stream"] == stream).cloned());
        found.unwrap_or_default()
    };
    wait_until("people are complete and tickets hang on page 3", || {
        state("people")["state"] == "complete" && place.pages("desk", "list_tickets").contains(&3)
    });
    let before = state("people");
    running.kill();

    // Requests of the two stages overlapped.
    let journal = place.journal("desk");
    let position =
        |what: &str, tool: &str| journal.iter().position(|call| call["what"] == what && call["tool"] == tool).unwrap();
    assert!(position("begin", "list_people") < position("end", "list_tickets"));
    assert!(position("begin", "list_tickets") < position("end", "list_people"));
    assert_eq!(place.ids("tickets").len(), 20);
    assert_eq!(place.ids("people").len(), 25);
    assert_eq!(state("people")["last_receipt"], before["last_receipt"]);

    // The restart goes on at page 3 and asks for nothing that was accepted.
    place.write_scenario("desk", &incremental());
    place.forget_journal("desk");
    let (run, report) = place.report();
    assert_eq!(run.code, 0, "{run:?}");
    let tickets = place.pages("desk", "list_tickets");
    assert!(tickets.iter().all(|page| *page >= 3), "pages 1 and 2 are not asked for again: {tickets:?}");
    let since = place.journal("desk").into_iter().find(|call| call["tool"] == "list_people").unwrap();
    assert!(since["arguments"]["since"].is_string(), "people are asked for changes only: {since}");
    let stages = report["connectors"][0]["cycle"]["run"]["stages"].as_array().unwrap().clone();
    let stage = |name: &str| stages.iter().find(|stage| stage["stage"] == name).unwrap().clone();
    assert_eq!(stage("tickets")["stream"]["submitted"], 20);
    assert_eq!(stage("people")["stream"]["submitted"], 0);
    assert_eq!(stage("tickets")["previous"]["position"], json!({ "page": 3 }));

    // Nothing lost, nothing twice.
    let expected: Vec<String> = (1..=40).map(|n| format!("t{n:04}")).collect();
    assert_eq!(place.ids("tickets"), expected);
    assert_eq!(state("people")["last_receipt"], before["last_receipt"]);
    let edges = place.column("SELECT (COUNT(*) AS ?n) { ?t desk:requester ?p }");
    assert_eq!(edges, ["40"]);
}

/// Proves: SDK-SOURCE-INGEST-R001.3
#[test]
fn a_stage_waits_for_the_one_it_depends_on() {
    let place = Place::new();
    let mut scenario = desk(12);
    scenario["declaration"]["sources"][0]["preset"] = json!({ "params_style": "args", "depends_on": ["people"] });
    scenario["tools"]["list_people"]["records"] = json!([{ "name": "without an id" }]);
    place.write_scenario("desk", &scenario);
    place.write_config(&[("desk", "")]);
    let (run, report) = place.report();
    assert_eq!(run.code, 1);
    let stages = report["connectors"][0]["cycle"]["run"]["stages"].as_array().unwrap().clone();
    let tickets = stages.iter().find(|stage| stage["stage"] == "tickets").unwrap();
    assert_eq!(
        (&tickets["state"], &tickets["refusal"]["code"]),
        (&"blocked".into(), &"stage_blocked".into()),
        "{tickets}"
    );
    assert!(place.pages("desk", "list_tickets").is_empty(), "nothing was read for it");
}
