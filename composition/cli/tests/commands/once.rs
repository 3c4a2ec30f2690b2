//! `connector-sync --once`, end to end.

use crate::support::{Place, desk, ticket};

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R032, SDK-SOURCE-INGEST-R001.3
#[test]
fn a_first_run_fills_the_graph_and_a_second_one_submits_nothing() {
    let place = Place::with_desk(25);
    let (run, first) = place.report();
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(first["success"], true);
    let stages = first["connectors"][0]["cycle"]["run"]["stages"].as_array().unwrap().clone();
    let stream = |name: &str| stages.iter().find(|stage| stage["stage"] == name).unwrap()["stream"].clone();
    assert_eq!(stream("tickets")["submitted"], 25);
    assert_eq!(stream("people")["submitted"], 2);
    assert_eq!(stream("tickets")["batches"].as_array().unwrap().len(), 3, "one page is one batch");
    let batch = &stream("tickets")["batches"][0];
    assert_eq!(batch["contract_iri"], "contract:desk#Ticket");
    assert_ne!(batch["contract_digest"], "0".repeat(64));
    assert_eq!(place.ids("tickets").len(), 25);
    let requesters = place.column("SELECT DISTINCT ?name { ?t desk:requester ?p . ?p desk:name ?name } ORDER BY ?name");
    assert_eq!(requesters, ["Ada", "Björn"]);

    let receipts = place.scion(&["status", "--format", "json"]);
    let (run, second) = place.report();
    assert_eq!(run.code, 0, "{run:?}");
    for stage in second["connectors"][0]["cycle"]["run"]["stages"].as_array().unwrap() {
        assert_eq!(stage["stream"]["submitted"], 0, "{stage}");
        assert_eq!(stage["stream"]["batches"].as_array().unwrap().len(), 0, "{stage}");
        assert_eq!(stage["stream"]["unchanged"], stage["stream"]["seen"], "{stage}");
    }
    let without_age = |text: &str| -> Vec<String> {
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        value["streams"].as_array().unwrap().iter().map(|s| format!("{} {}", s["last_receipt"], s["batches"])).collect()
    };
    let after = place.scion(&["status", "--format", "json"]);
    assert_eq!(without_age(&receipts.out), without_age(&after.out), "nothing was committed");
}

#[test]
fn exactly_the_changed_records_are_submitted() {
    let place = Place::with_desk(25);
    assert_eq!(place.once().code, 0);
    let mut scenario = desk(26);
    scenario["tools"]["list_tickets"]["records"][3]["title"] = "Renamed".into();
    place.write_scenario("desk", &scenario);
    let (_, report) = place.report();
    let stages = report["connectors"][0]["cycle"]["run"]["stages"].as_array().unwrap().clone();
    let tickets = &stages.iter().find(|stage| stage["stage"] == "tickets").unwrap()["stream"];
    assert_eq!((&tickets["submitted"], &tickets["unchanged"]), (&2.into(), &24.into()), "{tickets}");
    assert_eq!(place.ids("tickets").len(), 26);
    assert_eq!(place.column("SELECT ?id { ?t desk:title 'Renamed' ; scion:recordId ?id }"), ["t0004"]);
    assert_eq!(ticket(4)["id"], "t0004");
}

#[test]
fn the_report_is_a_table_and_names_a_next_command_that_works() {
    let place = Place::with_desk(12);
    let run = place.sync(&["--config", "config.yaml", "--once", "--state-dir", "a state"]);
    assert_eq!(run.code, 0, "{run:?}");
    let header = run.out.lines().next().unwrap();
    for column in ["stream", "pages", "records", "accepted", "unchanged", "relations", "withdrawn", "seconds", "state"]
    {
        assert!(header.contains(column), "{header}");
    }
    let tickets: Vec<&str> =
        run.out.lines().find(|line| line.starts_with("desk/tickets")).unwrap().split_whitespace().collect();
    assert_eq!(tickets[1..5], ["2", "12", "12", "0"], "{tickets:?}");
    assert_eq!(tickets.last(), Some(&"complete"));
    assert!(run.out.lines().all(|line| line.trim_end() == line), "{}", run.out);
    let command = run.out.lines().last().unwrap().trim();
    let next = std::process::Command::new("sh").args(["-c", command]).output().unwrap();
    let answer = String::from_utf8(next.stdout).unwrap();
    assert!(
        next.status.success() && answer.contains("desk:Ticket") && answer.contains("(2 rows)"),
        "{command}: {answer}"
    );
}

#[test]
fn a_configuration_without_connectors_is_nothing_to_do() {
    let place = Place::new();
    place.write("config.yaml", "connectors: []\n");
    let run = place.once();
    assert_eq!((run.code, run.out.as_str()), (0, "The configuration names no connector; nothing to do.\n"), "{run:?}");
}

#[test]
fn two_runs_do_not_write_into_one_place() {
    let place = Place::with_desk(25);
    let mut scenario = desk(25);
    scenario["tools"]["list_tickets"]["hang_on_page"] = 2.into();
    place.write_scenario("desk", &scenario);
    let running = place.start(&["--config", "config.yaml"]);
    crate::support::wait_until("a page is asked for", || place.pages("desk", "list_tickets").contains(&2));
    let second = place.once();
    assert_eq!(second.code, 2);
    assert_eq!(second.event("start_failed")["code"], "state_dir_busy");
    running.kill();
}
