//! The end of a run: drained by a signal, or killed.

use crate::support::{Place, desk, wait_until};

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R032
#[test]
fn a_signal_drains_in_the_middle_of_a_sweep_and_a_later_run_completes_it() {
    let place = Place::new();
    let mut scenario = desk(60);
    scenario["tools"]["list_tickets"]["delay_ms"] = 150.into();
    place.write_scenario("desk", &scenario);
    place.write_config(&[("desk", "")]);
    let running = place.start(&["--config", "config.yaml"]);
    wait_until("the second page is asked for", || place.pages("desk", "list_tickets").contains(&2));
    running.signal("TERM");
    let run = running.end();
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(run.event("draining")["level"], "INFO");
    run.event("connector_stopped");
    let accepted = place.ids("tickets").len();
    assert!((10..60).contains(&accepted), "{accepted} of 60");

    place.forget_journal("desk");
    assert_eq!(place.once().code, 0);
    assert_eq!(place.ids("tickets").len(), 60);
    let resumed = place.pages("desk", "list_tickets");
    assert!(resumed[0] > 1, "it resumes where it stopped: {resumed:?}");
}

#[test]
fn a_drained_single_cycle_is_not_called_a_success() {
    let place = Place::new();
    let mut scenario = desk(60);
    scenario["tools"]["list_tickets"]["delay_ms"] = 150.into();
    place.write_scenario("desk", &scenario);
    place.write_config(&[("desk", "")]);
    let running = place.start(&["--config", "config.yaml", "--once"]);
    wait_until("the second page is asked for", || place.pages("desk", "list_tickets").contains(&2));
    running.signal("INT");
    let run = running.end();
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.out.contains("stopped"), "{run:?}");
}

#[test]
fn a_second_signal_ends_at_once() {
    let place = Place::new();
    let mut scenario = desk(60);
    scenario["tools"]["list_tickets"]["hang_on_page"] = 2.into();
    place.write_scenario("desk", &scenario);
    place.write_config(&[("desk", "")]);
    let running = place.start(&["--config", "config.yaml"]);
    wait_until("the second page is asked for", || place.pages("desk", "list_tickets").contains(&2));
    running.signal("TERM");
    std::thread::sleep(std::time::Duration::from_millis(200));
    running.signal("TERM");
    assert_eq!(running.end().code, 130);
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R032
#[test]
fn a_broken_edit_keeps_the_last_good_configuration() {
    let place = Place::with_desk(3);
    let good = std::fs::read_to_string(place.path("config.yaml")).unwrap();
    place.write("config.yaml", &format!("settings: {{registry_refresh_seconds: 1}}\n{good}    interval_seconds: 1\n"));
    let running = place.start(&["--config", "config.yaml"]);
    wait_until("it works", || !place.journal("desk").is_empty());
    place.write("config.yaml", "connectors: 7\n");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    place.forget_journal("desk");
    wait_until("it still works", || !place.journal("desk").is_empty());
    running.signal("TERM");
    let run = running.end();
    assert_eq!(run.code, 0, "{run:?}");
    let event = run.event("registry_unreadable");
    assert_eq!((&event["connector"], &event["level"]), (&"".into(), &"ERROR".into()));
    assert!(event["error"].as_str().unwrap().starts_with("config.yaml:1:13: connectors: expected a list"), "{event}");
}
