//! `scion status`, `scion release` and `scion explain`.

use serde_json::{Value, json};

use crate::support::{Place, Run, desk};

fn streams(place: &Place) -> Vec<Value> {
    let run = place.scion(&["status", "--format", "json"]);
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str::<Value>(&run.out).unwrap()["streams"].as_array().unwrap().clone()
}

#[test]
fn every_stream_is_shown_with_progress_counts_and_age() {
    let place = Place::with_desk(12);
    assert_eq!(place.scion(&["status"]).code, 1, "there is no store yet");
    assert_eq!(place.once().code, 0);
    let all = streams(&place);
    assert_eq!(all.len(), 2);
    let tickets = all.iter().find(|one| one["stream"] == "tickets").unwrap();
    assert_eq!((&tickets["live_records"], &tickets["relationships"]), (&12.into(), &12.into()), "{tickets}");
    assert_eq!((&tickets["batches"], &tickets["state"]), (&2.into(), &"complete".into()), "{tickets}");
    assert!(tickets["age_ms"].as_u64().unwrap() < 60_000 && tickets["hold"].is_null(), "{tickets}");
    assert!(tickets["last_receipt"].is_string(), "{tickets}");
    let table = place.scion(&["status"]);
    let row = table.out.lines().find(|line| line.starts_with("desk/tickets")).unwrap();
    assert!(row.contains("complete") && row.contains(" s ago"), "{row}");
}

/// A place whose `list_tickets` has changed the type of a field since it was accepted.
fn quarantined() -> Place {
    let place = Place::with_desk(12);
    assert_eq!(place.once().code, 0);
    let mut scenario = desk(13);
    scenario["tools"]["list_tickets"]["output_schema"]["properties"]["result"]["items"]["properties"]["title"] =
        json!({ "type": "integer" });
    place.write_scenario("desk", &scenario);
    place
}

#[test]
fn a_quarantined_stream_says_why_and_a_release_lets_it_go_on() {
    let place = quarantined();
    let run = place.once();
    assert_eq!(run.code, 1, "{run:?}");
    assert_eq!(run.event("schema_drift_quarantined")["stream"], "tickets");
    assert_eq!(place.ids("tickets").len(), 12, "nothing was submitted");
    let all = streams(&place);
    let held = all.iter().find(|one| one["stream"] == "tickets").unwrap();
    assert_eq!(
        (&held["state"], &held["hold"]["classification"]),
        (&"quarantined".into(), &"BREAKING".into()),
        "{held}"
    );
    let table = place.scion(&["status"]);
    assert!(
        table.out.contains("desk/tickets: quarantined") && table.out.contains("scion release desk tickets"),
        "{table:?}"
    );
    let again = place.once();
    assert!(again.code == 1 && again.out.contains("error[stream_quarantined]"), "{again:?}");

    let release = place.scion(&["release", "desk", "tickets"]);
    assert_eq!(release.code, 0, "{release:?}");
    assert!(release.out.starts_with("desk/tickets is released."), "{release:?}");
    assert_eq!(place.once().code, 0);
    assert_eq!(place.ids("tickets").len(), 13);
    assert_eq!(code(&place.scion(&["release", "desk", "tickets"])), "stream_not_held");
}

fn code(run: &Run) -> &str {
    assert_eq!(run.code, 1, "{run:?}");
    run.err.strip_prefix("error[").and_then(|rest| rest.split_once(']')).unwrap_or_else(|| panic!("{run:?}")).0
}

#[test]
fn only_what_is_there_can_be_released() {
    let place = Place::with_desk(1);
    assert_eq!(code(&place.scion(&["release", "desk", "tickets"])), "store_missing");
    assert!(!place.path("state").exists(), "a refused release makes nothing");
    assert_eq!(place.once().code, 0);
    let run = place.scion(&["release", "desk", "tickkets"]);
    assert_eq!(code(&run), "stream_unknown");
    assert!(run.err.contains("known: people, tickets"), "{run:?}");
    assert_eq!(place.scion(&["release", "Not A Name", "x"]).code, 1);
}

#[test]
fn a_code_is_explained_and_a_mistyped_one_finds_the_closest() {
    let place = Place::new();
    let run = place.scion(&["explain", "not_read_only"]);
    assert!(run.code == 0 && run.out.starts_with("not_read_only\n") && run.out.contains("next:"), "{run:?}");
    let run = place.scion(&["explain", "not_readonly"]);
    assert_eq!(code(&run), "code_unknown");
    assert!(run.err.contains("did you mean `not_read_only`?"), "{run:?}");
}
