//! How a command line, a configuration and a sink end: the exits of the vectors.

use serde_json::Value;

use crate::support::{Place, Run};

fn vectors(section: &str) -> Vec<Value> {
    let text = include_str!("../../../../conformance/vectors/runner.json");
    let all: Value = serde_json::from_str(text).unwrap();
    let cases = all[section].as_array().unwrap().clone();
    assert!(!cases.is_empty());
    cases
}

/// The peer's default sink cannot start by itself, so that each of its runs ends with 2. Ours starts: the runs with a good
/// configuration end with 0, or go on until a signal (`conformance/vectors/DEVIATIONS.md`).
/// Proves: SDK-CENTRALIZED-CAPABILITIES-R032
#[test]
fn every_exit_of_the_vectors() {
    for case in vectors("exits") {
        let place = Place::with_desk(1);
        std::fs::rename(place.path("config.yaml"), place.path("good.yml")).unwrap();
        place.write("bad.yml", "connectors: 7\n");
        let args: Vec<&str> = case["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
        assert_eq!(case["exit"], 2);
        match args.as_slice() {
            ["--config", "good.yml"] => {
                let running = place.start(&args);
                crate::support::wait_until("it synchronises", || !place.journal("desk").is_empty());
                running.signal("TERM");
                assert_eq!(running.end().code, 0);
            }
            ["--config", "good.yml", "--once"] | ["--config", "good.yml", "--log-format", "text", "--once"] => {
                let run = place.sync(&args);
                assert_eq!(run.code, 0, "{run:?}");
            }
            _ => {
                let run = place.sync(&args);
                assert_eq!(run.code, 2, "{args:?} {run:?}");
                if case["log"].is_null() {
                    assert!(run.err.starts_with("error[usage]: "), "{run:?}");
                } else {
                    let line = run.event("start_failed");
                    assert_eq!(line["level"], case["log"]["level"]);
                    assert_eq!(line["logger"], "connector_sync.cli");
                    assert!(line["code"].is_string() && line["next"].is_string() && line["time"].is_string(), "{line}");
                }
            }
        }
    }
}

fn usage(run: &Run) -> &str {
    assert_eq!(run.code, 2, "{run:?}");
    let line = run.err.lines().next().unwrap();
    assert_eq!(run.err.lines().nth(1), Some("  next: see --help"), "{run:?}");
    line.strip_prefix("error[usage]: ").unwrap_or_else(|| panic!("{run:?}"))
}

#[test]
fn a_mistyped_flag_is_refused_with_the_closest_one() {
    let place = Place::new();
    assert_eq!(usage(&place.sync(&["--config", "x", "--onse"])), "unknown option `--onse`; did you mean `--once`?");
    assert_eq!(
        usage(&place.sync(&["--config", "x", "--health-adr=1"])),
        "unknown option `--health-adr`; did you mean `--health-addr`?"
    );
    assert_eq!(usage(&place.sync(&[])), "missing --config <FILE>");
    assert_eq!(
        usage(&place.sync(&["--config", "x", "--log-format", "xml"])),
        "`xml` is not a value of `--log-format <FORMAT>`; known: json, text"
    );
    assert!(usage(&place.sync(&["--config", "x", "--once", "--health-addr", "1"])).contains("exclude each other"));
    assert_eq!(usage(&place.scion(&["quer"])), "unknown command `quer`; did you mean `query`?");
    assert_eq!(
        usage(&place.scion(&["query", "ASK {}", "--limit", "0"])),
        "`0` is not a value of `--limit <N>`: 0 is not in 1..=4294967295"
    );
    assert_eq!(usage(&place.sync(&["--config", "x", "extra"])), "unknown argument `extra`");
    let run = place.scion(&[]);
    assert!(run.code == 2 && run.err.contains("Usage: scion"), "{run:?}");
}

#[test]
fn help_and_version_are_results() {
    let place = Place::new();
    for args in [vec!["--help"], vec!["query", "--help"], vec!["--version"], vec!["help", "status"]] {
        let run = place.scion(&args);
        assert!(run.code == 0 && run.err.is_empty() && !run.out.is_empty(), "{args:?} {run:?}");
    }
    assert!(place.sync(&["--help"]).out.contains("Exit codes:"));
}

#[test]
fn a_wrong_configuration_points_at_line_column_and_closest_key() {
    let place = Place::new();
    place.write(
        "config.yaml",
        "connectors:\n  - connector: desk\n    intervall_seconds: 5\n    endpoint: {url: 'https://d/mcp'}\n    presets: 7\n",
    );
    let run = place.sync(&["--config", "config.yaml", "--once", "--log-format", "text"]);
    assert_eq!(run.code, 2);
    let lines: Vec<&str> = run.err.lines().collect();
    assert_eq!(lines.len(), 4, "{run:?}");
    assert_eq!(
        lines[0],
        "error[config_unknown_key]: config.yaml:3:5: connectors.0.intervall_seconds: unknown key; did you mean \
         `interval_seconds`?"
    );
    assert!(lines[2].starts_with("error[config_wrong_type]: config.yaml:5:14: connectors.0.presets: "), "{run:?}");
    assert!(lines[1].starts_with("  next: ") && lines[3].starts_with("  next: "), "{run:?}");
    let line = &place.once().logs()[0];
    assert_eq!((&line["line"], &line["column"], &line["code"]), (&3.into(), &5.into(), &"config_unknown_key".into()));
    assert!(!place.path("state").exists(), "nothing is made before the configuration is read");
}

/// Documents of the vectors through the command: what they refuse ends with 2, and no value is repeated.
#[test]
fn every_raw_document_of_the_vectors() {
    for case in vectors("raw_documents") {
        let place = Place::new();
        let text = case["text"].as_str().unwrap();
        let bytes = match text {
            "<1048577 bytes>" => vec![b'#'; 1_048_577],
            "<1048576 bytes>" => vec![b'#'; 1_048_576],
            "<4 bytes>" => b"a: \xe4".to_vec(),
            text => text.as_bytes().to_vec(),
        };
        std::fs::write(place.path("config.yaml"), bytes).unwrap();
        let run = place.scion(&["doctor", "--config", "config.yaml"]);
        let refused = run.out.contains("wrong  config.yaml");
        // A duplicate key is refused by us, see the deviations.
        let expected = case.get("error").is_some() || case["id"] == "duplicate-key";
        assert_eq!(refused, expected, "{} {run:?}", case["id"]);
        if expected {
            assert!(run.code == 1 && run.out.contains(" [config_"), "{run:?}");
            let sync = place.once();
            assert_eq!(sync.code, 2, "{sync:?}");
            assert!(sync.event("start_failed")["code"].as_str().unwrap().starts_with("config_"));
        }
    }
}

#[test]
fn a_sink_is_found_by_name() {
    let place = Place::with_desk(1);
    let run = place.sync(&["--config", "config.yaml", "--once", "--sink", "nope"]);
    assert_eq!(run.code, 2);
    let line = run.event("start_failed");
    assert_eq!(
        (&line["code"], &line["message"]),
        (&"sink_unknown".into(), &"there is no sink `nope`; known: embedded, engine, ephemeral".into())
    );
    assert_eq!(place.sync(&["--config", "config.yaml", "--once", "--sink", "embedded"]).code, 0);
}

/// Durability is a choice of its own, and nothing but a connector is needed to start.
///
/// Proves: SDK-CONNECTOR-CONTROL-R058
#[test]
fn what_is_kept_is_what_was_asked_to_be_kept() {
    let accepted = |place: &Place, sink: &[&str]| -> u64 {
        let run = place.sync(&[&["--config", "config.yaml", "--once"], sink].concat());
        assert_eq!(run.code, 0, "{run:?}");
        let lines = run.logs().into_iter().filter(|line| line["event"] == "stream_synced");
        lines.map(|line| line["accepted"].as_u64().unwrap()).sum()
    };
    let place = Place::with_desk(3);
    let first = accepted(&place, &["--sink", "ephemeral"]);
    assert!(first > 0 && accepted(&place, &["--sink", "ephemeral"]) == first, "nothing was kept");
    assert!(!place.path("state").join(scion_conformance::STORE_FILE).exists());
    let asked = place.scion(&["query", "--sink", "ephemeral", "ASK { ?s ?p ?o }"]);
    assert!(asked.code != 0 && asked.err.contains("ends with the process that made it"), "{asked:?}");
    assert_eq!(accepted(&place, &[]), first, "the default keeps one file");
    assert_eq!(accepted(&place, &[]), 0);
}

#[test]
fn a_state_directory_that_cannot_be() {
    let place = Place::with_desk(1);
    place.write("file", "");
    let run = place.sync(&["--config", "config.yaml", "--once", "--state-dir", "file/x"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert_eq!(run.event("start_failed")["code"], "state_dir_unusable");
    let broken = place.path("state");
    std::fs::create_dir(&broken).unwrap();
    place.write("state/graph.db", "this is not a store, and long enough to be sure of it");
    let run = place.once();
    assert_eq!(run.code, 2, "{run:?}");
    assert_eq!(run.event("start_failed")["code"], "store_corrupt");
}
