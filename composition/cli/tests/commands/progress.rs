//! Progress lines: on a terminal, and nowhere else.

use crate::support::{CONNECTOR_SYNC, Place, Run, desk};

/// A source slow enough for a line to be drawn.
fn slow() -> Place {
    let place = Place::new();
    let mut scenario = desk(25);
    scenario["tools"]["list_tickets"]["delay_ms"] = 300.into();
    place.write_scenario("desk", &scenario);
    place.write_config(&[("desk", "")]);
    place
}

/// Runs once with standard error on a pseudo-terminal and standard output in a file; answers what the terminal got.
fn on_a_terminal(place: &Place, more: &str) -> (Run, String) {
    let command = format!("'{CONNECTOR_SYNC}' --config config.yaml --once {more} >report.txt");
    let mut script = place.command("script");
    script.env("TERM", "xterm").args(["-q", "-e", "-c", &command, "/dev/null"]);
    // Part of the base system of Linux distributions (util-linux).
    let run = Run::of(script.output().expect("`script` of util-linux makes the terminal"));
    (run, std::fs::read_to_string(place.path("report.txt")).unwrap())
}

fn has_lines(text: &str) -> bool {
    text.contains("desk/tickets") && text.contains("records") && text.contains('\u{1b}')
}

#[test]
fn progress_is_drawn_on_a_terminal_only_and_on_standard_error_only() {
    let place = slow();
    let (run, report) = on_a_terminal(&place, "");
    assert_eq!(run.code, 0, "{run:?}");
    assert!(has_lines(&run.out), "the terminal shows it: {run:?}");
    assert!(report.starts_with("stream") && !report.contains('\u{1b}'), "{report}");

    let (run, _) = on_a_terminal(&slow(), "--no-progress");
    assert_eq!((run.code, has_lines(&run.out)), (0, false), "{run:?}");

    let run = slow().once();
    assert_eq!(run.code, 0, "{run:?}");
    assert!(!run.err.contains('\u{1b}') && !run.err.contains("waiting for the first page"), "{run:?}");
    assert!(!run.out.contains('\u{1b}'), "{run:?}");
}
