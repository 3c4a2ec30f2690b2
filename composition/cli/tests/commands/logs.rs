//! Log lines of a run.

use serde_json::Value;

use crate::support::Place;

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R032
#[test]
fn every_line_of_standard_error_is_a_json_object_in_the_form_of_the_vectors() {
    let place = Place::with_desk(12);
    let run = place.once();
    assert!(run.err.lines().count() >= 3, "{run:?}");
    for (line, value) in run.err.lines().zip(run.logs()) {
        let members = value.as_object().unwrap();
        for name in ["time", "level", "logger", "message"] {
            assert!(members[name].is_string(), "{line}");
        }
        let shape = members["time"].as_str().unwrap().replace(|c: char| c.is_ascii_digit(), "0");
        assert_eq!(shape, "0000-00-00T00:00:00+0000");
        assert!(line.is_ascii());
        // Sorted keys, and a blank after each colon and comma.
        let keys: Vec<&String> = members.keys().collect();
        let places: Vec<usize> = keys.iter().map(|key| line.find(&format!("\"{key}\": ")).unwrap()).collect();
        let mut sorted: Vec<_> = keys.iter().zip(&places).collect();
        sorted.sort();
        assert!(sorted.windows(2).all(|pair| pair[0].1 < pair[1].1), "{line}");
    }
    let synced = run.logs().into_iter().find(|line| line["event"] == "stream_synced" && line["stream"] == "tickets");
    let synced = synced.unwrap();
    assert_eq!(synced["connector"], "desk");
    assert_eq!(
        (&synced["pages"], &synced["records"], &synced["accepted"], &synced["exhausted"]),
        (&Value::from(2), &Value::from(12), &Value::from(12), &Value::from(true))
    );
    run.event("pack_imported");
    place.once().event("pack_unchanged");
}

#[test]
fn text_lines_are_for_people() {
    let place = Place::with_desk(2);
    let run = place.sync(&["--config", "config.yaml", "--once", "--log-format", "text"]);
    assert_eq!(run.code, 0);
    assert!(run.err.lines().all(|line| line.contains(" INFO connector_sync.runner ")), "{run:?}");
    assert!(run.out.starts_with("stream "), "the report goes to standard output: {run:?}");
}
