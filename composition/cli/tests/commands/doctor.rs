//! `scion doctor`.

use serde_json::{Value, json};

use crate::support::{Place, Run, desk};

fn doctor(place: &Place) -> Run {
    place.scion(&["doctor", "--config", "config.yaml"])
}

fn broken(change: impl FnOnce(&mut Value), more: &str) -> Run {
    let place = Place::new();
    let mut scenario = desk(3);
    change(&mut scenario);
    place.write_scenario("desk", &scenario);
    place.write_config(&[("desk", more)]);
    let run = doctor(&place);
    assert!(place.journal("desk").is_empty(), "no tool is called");
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.out.ends_with("checks; 1 thing is wrong.\n"), "{run:?}");
    run
}

#[test]
fn a_sound_configuration_is_called_sound() {
    let place = Place::with_desk(3);
    let run = doctor(&place);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.out.contains("note   graph: nothing was synchronised yet"), "{run:?}");
    assert!(run.out.contains("ok     desk server: desk 1.0 answers, MCP 2025-11-25"), "{run:?}");
    assert!(
        run.out.contains("synchronised: people, tickets") && run.out.ends_with("checks; nothing is wrong.\n"),
        "{run:?}"
    );
    assert!(!place.path("state").exists(), "nothing is made");
    assert_eq!(place.once().code, 0);
    let run = doctor(&place);
    assert!(run.out.contains("ok     desk contract: the graph has accepted this declaration"), "{run:?}");
    assert_eq!(place.scion(&["doctor"]).code, 0, "the graph alone");
}

#[test]
fn every_problem_of_a_file_is_listed_with_its_place() {
    let place = Place::new();
    place.write("config.yaml", "settings: {max_concurency: 2}\nconnectors:\n  - connector: Desk\n");
    let run = doctor(&place);
    assert_eq!(run.code, 1);
    assert!(
        run.out
            .contains("wrong  config.yaml:1:12: settings.max_concurency: unknown key; did you mean `max_concurrency`?"),
        "{run:?}"
    );
    assert!(run.out.contains("[config_bad_name]") && run.out.contains("[config_missing_key]"), "{run:?}");
    assert!(run.out.ends_with("3 things are wrong.\n"), "{run:?}");
}

#[test]
fn what_is_wrong_with_a_server_is_said_with_its_code() {
    assert!(broken(|s| s["noise"] = true.into(), "").out.contains("[server_noise_on_stdout]"));
    assert!(broken(|s| s["exit"] = 2.into(), "").out.contains("[server_exited]"));
    assert!(broken(|s| s["declaration"] = Value::Null, "").out.contains("wrong  desk declaration: "));
    let run = broken(|s| s["tools"]["list_people"]["read_only"] = false.into(), "");
    assert!(run.out.contains("wrong  desk/people: ") && run.out.contains("[not_read_only]"), "{run:?}");
    let run = broken(|s| s["declaration"]["sources"][1]["tools"] = json!(["list_folk"]), "");
    assert!(run.out.contains("[source_tool_missing]"), "{run:?}");
    let run = broken(|s| s["declaration"]["sources"][1]["page_param"] = "pge".into(), "");
    assert!(run.out.contains("it has no parameter `pge`") && run.out.contains("[arguments_refused]"), "{run:?}");
    let run = broken(|_| {}, "presets: [ticket]");
    assert!(run.out.contains("wrong  desk declaration: ") && run.out.contains("tickets"), "{run:?}");
    let run = broken(|_| {}, "provision: false");
    assert!(run.out.contains("wrong  desk contract: ") && run.out.contains("[contract_not_accepted]"), "{run:?}");
}

#[test]
fn references_are_resolved_and_never_shown() {
    let place = Place::with_desk(1);
    let text = std::fs::read_to_string(place.path("config.yaml")).unwrap();
    place.write("config.yaml", &format!("{text}      env: {{A: 'env://PATH', B: 'env://SCION_TEST_ABSENT'}}\n"));
    let run = doctor(&place);
    assert!(run.code == 1 && run.out.contains("wrong  desk endpoint.env.B: "), "{run:?}");
    assert!(!run.out.contains(&std::env::var("PATH").unwrap()), "{run:?}");
}

#[test]
fn a_server_that_cannot_be_reached() {
    let place = Place::new();
    for (url, code) in [("http://127.0.0.1:9/mcp", "[server_unreachable]"), ("ftp://x/mcp", "[config_not_http]")] {
        place.write("config.yaml", &format!("connectors:\n  - connector: desk\n    endpoint: {{url: '{url}'}}\n"));
        let run = doctor(&place);
        assert!(run.code == 1 && run.out.contains(code), "{run:?}");
    }
}
