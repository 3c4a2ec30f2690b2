//! `scion query`.

use serde_json::Value;

use crate::support::{Place, desk, wait_until};

#[test]
fn one_question_in_every_format() {
    let place = Place::with_desk(3);
    assert_eq!(place.once().code, 0);
    let select = "SELECT ?t ?title { ?t a desk:Ticket ; desk:title ?title } ORDER BY ?title";

    let table = place.scion(&["query", select]);
    assert_eq!(table.code, 0, "{table:?}");
    let lines: Vec<&str> = table.out.lines().collect();
    assert_eq!(lines[0].split_whitespace().collect::<Vec<_>>(), ["t", "title"]);
    assert!(lines[2].starts_with("<urn:scion:desk:tickets:t0001>") && lines[2].ends_with("Ticket 1"), "{table:?}");
    assert_eq!(lines.last(), Some(&"(3 rows)"));

    let json = place.scion(&["query", "--format", "json", select]);
    let value: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(value["head"]["vars"], serde_json::json!(["t", "title"]));
    assert_eq!(value["results"]["bindings"][0]["title"], serde_json::json!({"type": "literal", "value": "Ticket 1"}));

    let csv = place.scion(&["query", "--format", "csv", select]);
    assert!(csv.out.starts_with("t,title\r\nurn:scion:desk:tickets:t0001,Ticket 1\r\n"), "{csv:?}");

    let construct = "CONSTRUCT { ?t desk:title ?title } WHERE { ?t desk:title ?title }";
    let turtle = place.scion(&["query", "--format", "turtle", construct]);
    let mut triples: Vec<&str> = turtle.out.lines().collect();
    triples.sort_unstable();
    assert_eq!(triples[0], "<urn:scion:desk:tickets:t0001> <urn:scion:desk#title> \"Ticket 1\" .");

    let classes = place.scion(&["query", "SELECT DISTINCT ?c { ?t a ?c } ORDER BY ?c"]);
    assert!(classes.out.contains("\ndesk:Person\ndesk:Ticket\n"), "{classes:?}");
    assert_eq!(place.scion(&["query", "ASK { ?t a desk:Ticket }"]).out, "yes\n");
    assert_eq!(place.scion(&["query", "--format", "csv", "ASK { ?t a desk:Nothing }"]).out.trim(), "false");
}

#[test]
fn a_cut_is_named_and_never_silent() {
    let place = Place::with_desk(12);
    assert_eq!(place.once().code, 0);
    let select = "SELECT ?t { ?t a desk:Ticket }";
    let table = place.scion(&["query", "--limit", "5", select]);
    assert!(table.out.ends_with("(5 rows, truncated: there are more than 5; raise --limit)\n"), "{table:?}");
    let csv = place.scion(&["query", "--limit", "5", "--format", "csv", select]);
    assert_eq!(csv.out.lines().count(), 6);
    assert_eq!(csv.err, "truncated: only the first 5 are written; raise --limit for more\n");
    assert!(place.scion(&["query", "--limit", "12", select]).out.ends_with("(12 rows)\n"));
}

#[test]
fn questions_come_from_files_and_standard_input_and_other_stores() {
    let place = Place::with_desk(2);
    assert_eq!(place.once().code, 0);
    place.write("q.rq", "SELECT (COUNT(?t) AS ?n) { ?t a desk:Ticket }");
    let run = place.scion(&["query", "--file", "q.rq", "--format", "csv"]);
    assert_eq!(run.out.lines().nth(1), Some("2"), "{run:?}");
    let run = place.scion(&["query", "--store", "state/graph.db", "--file", "q.rq", "--format", "csv"]);
    assert_eq!(run.out.lines().nth(1), Some("2"), "{run:?}");
    assert_eq!(code(&place.scion(&["query", "--file", "absent.rq"])), "query_file_unreadable");
    let empty = place.scion(&["query", "--file", "-"]);
    assert_eq!((empty.code, empty.err.lines().next()), (2, Some("error[usage]: the question is empty")));
}

fn code(run: &crate::support::Run) -> &str {
    assert_eq!(run.code, 1, "{run:?}");
    assert_eq!(run.err.lines().count(), 2, "one line and a next step: {run:?}");
    run.err.strip_prefix("error[").and_then(|rest| rest.split_once(']')).unwrap_or_else(|| panic!("{run:?}")).0
}

#[test]
fn questions_that_have_no_answer() {
    let place = Place::with_desk(2);
    assert_eq!(code(&place.scion(&["query", "ASK {}"])), "store_missing");
    assert_eq!(place.once().code, 0);
    assert_eq!(code(&place.scion(&["query", "SELECT ?x WHERE { ?x"])), "query_syntax");
    assert_eq!(code(&place.scion(&["query", "DELETE WHERE { ?s ?p ?o }"])), "query_unsupported");
    assert_eq!(code(&place.scion(&["query", "--format", "turtle", "SELECT ?x { ?x ?p ?o }"])), "format_unfit");
    assert_eq!(
        code(&place.scion(&["query", "--format", "csv", "DESCRIBE <urn:scion:desk:tickets:t0001>"])),
        "format_unfit"
    );
    assert_eq!(code(&place.scion(&["query", "--sink", "x", "ASK {}"])), "sink_unknown");
    assert_eq!(code(&place.scion(&["query", "--store", "absent.db", "ASK {}"])), "store_missing");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let place = Place::with_desk(40);
    assert_eq!(place.once().code, 0);
    let script = format!("'{}' query --state-dir state 'SELECT ?t {{ ?t ?p ?o }}' | head -1", crate::support::SCION);
    let run = std::process::Command::new("sh").args(["-c", &script]).current_dir(place.path("")).output().unwrap();
    assert!(run.status.success() && run.stderr.is_empty(), "{run:?}");
}

/// Proves: SDK-SOURCE-INGEST-R001.3
#[test]
fn the_graph_answers_while_a_sync_runs() {
    let place = Place::new();
    let mut scenario = desk(30);
    scenario["tools"]["list_tickets"]["hang_on_page"] = 3.into();
    place.write_scenario("desk", &scenario);
    place.write_config(&[("desk", "")]);
    let running = place.start(&["--config", "config.yaml", "--once"]);
    wait_until("the third page is asked for", || place.pages("desk", "list_tickets").contains(&3));
    assert_eq!(place.ids("tickets").len(), 20, "two pages are accepted and visible");
    assert_eq!(place.scion(&["status"]).code, 0);
    running.kill();
}
