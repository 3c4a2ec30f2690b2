//! The commands with a real engine as their graph.
//!
//! The program is `SCION_ENGINE_BIN`; `scripts/lib/engine.sh` fetches it. Without it a test says `skipped`, and fails when
//! `SCION_ENGINE_REQUIRED` is set, as it is in the full test command.
#![allow(clippy::print_stderr, reason = "a skipped test says so")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::support::{CONNECTOR_SYNC, Place, Run, SCION, desk, wait_until};

/// A running engine without authentication; it ends when this is dropped.
struct Engine {
    child: Child,
    program: String,
    folder: PathBuf,
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn launch(program: &str, folder: &Path) -> Child {
    let socket = folder.join("eg.sock");
    let _ = std::fs::remove_file(&socket);
    let mut command = Command::new(program);
    command.arg("--socket-path").arg(&socket).arg("--persist-dir").arg(folder.join("data"));
    command.args(["--auth-mode", "none"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    wait_until("the engine listens", || socket.exists());
    child
}

impl Engine {
    fn start(place: &Place) -> Option<Self> {
        let Some(program) = std::env::var("SCION_ENGINE_BIN").ok().filter(|program| Path::new(program).is_file())
        else {
            assert!(std::env::var_os("SCION_ENGINE_REQUIRED").is_none(), "the engine is not there");
            eprintln!("skipped: no engine (scripts/lib/engine.sh fetches one)");
            return None;
        };
        let folder = place.path("engine");
        std::fs::create_dir_all(&folder).unwrap();
        Some(Self { child: launch(&program, &folder), program, folder })
    }

    fn kill_and_restart(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.child = launch(&self.program, &self.folder);
    }

    fn prepared(&self, place: &Place, program: &str, args: &[&str]) -> Command {
        let mut command = place.command(program);
        command.env("EPISTEMIC_GRAPH_ENDPOINT", format!("unix://{}", self.folder.join("eg.sock").display()));
        command.env("EPISTEMIC_GRAPH_GRAPH", "kg:desk").env("EPISTEMIC_GRAPH_TENANT", "local");
        command.args(args);
        command
    }

    fn command(&self, place: &Place, program: &str, args: &[&str]) -> Run {
        Run::of(self.prepared(place, program, args).output().unwrap())
    }

    fn once(&self, place: &Place) -> Run {
        self.command(place, CONNECTOR_SYNC, &ONCE)
    }

    /// Where each stream stands.
    fn checkpoints(&self, place: &Place) -> String {
        let run = self.command(place, SCION, &["status", "--sink", "engine", "--format", "json"]);
        assert_eq!(run.code, 0, "{run:?}");
        let status: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        let streams = status["streams"].as_array().unwrap().iter();
        let lines = streams.map(|line| format!("{} {} {}", line["stream"], line["checkpoint"], line["live_records"]));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn column(&self, place: &Place, sparql: &str) -> Vec<String> {
        let run =
            self.command(place, SCION, &["query", "--sink", "engine", "--format", "csv", "--limit", "1000", sparql]);
        assert_eq!(run.code, 0, "{run:?}");
        let mut values: Vec<String> = run.out.lines().skip(1).map(str::to_owned).collect();
        values.sort_unstable();
        values
    }
}

const ONCE: [&str; 5] = ["--config", "config.yaml", "--once", "--sink", "engine"];
const TITLES: &str = "PREFIX g: <urn:scion:graph#> SELECT ?title { ?t a g:Ticket ; g:title ?title }";

/// Proves: SDK-SOURCE-INGEST-R004.24, SDK-CONNECTOR-CONTROL-R058, SDK-CENTRALIZED-CAPABILITIES-R018
#[test]
fn a_source_reaches_the_engine_and_what_no_pack_maps_does_not() {
    let place = Place::with_desk(12);
    let Some(mut engine) = Engine::start(&place) else { return };
    let refused = engine.once(&place);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert_eq!(refused.event("stream_failed")["code"], "capability_missing", "the engine has no edges between streams");
    place.write_config(&[("desk", "leave_out_foreign_edges: true")]);
    let run = engine.once(&place);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(engine.column(&place, TITLES).len(), 12);
    let names = engine.column(&place, "PREFIX g: <urn:scion:graph#> SELECT ?n { ?p a g:Person ; g:name ?n }");
    assert_eq!(names, ["Ada", "Björn"]);
    let again = engine.once(&place);
    assert_eq!(again.code, 0, "{again:?}");
    let accepted: Vec<_> = again
        .logs()
        .into_iter()
        .filter(|line| line["event"] == "stream_synced")
        .map(|line| line["accepted"].clone())
        .collect();
    assert_eq!(accepted, [0, 0], "nothing is sent twice: {again:?}");
    let status = engine.command(&place, SCION, &["status", "--sink", "engine", "--format", "json"]);
    assert!(status.out.contains("\"tickets\"") && status.out.contains("\"people\""), "{status:?}");

    engine.kill_and_restart();
    place.write_scenario("desk", &desk(15));
    let more = engine.once(&place);
    assert_eq!(more.code, 0, "{more:?}");
    assert_eq!(engine.column(&place, TITLES).len(), 15, "a killed engine has kept what it accepted");

    // A record of a type that the imported pack does not map: nothing is written, and the checkpoint stays.
    let mut scenario = desk(16);
    let typed = json!({ "params_style": "args", "record_mode": "typed_entities", "node_type_field": "kind" });
    scenario["declaration"]["sources"][0]["preset"] = typed;
    for (at, record) in scenario["tools"]["list_tickets"]["records"].as_array_mut().unwrap().iter_mut().enumerate() {
        record["kind"] = json!(if at == 15 { "Ghost" } else { "Ticket" });
    }
    place.write_scenario("desk", &scenario);
    let refused = engine.once(&place);
    assert_eq!(refused.code, 1, "{refused:?}");
    let failed = refused.event("stream_failed");
    assert_eq!(
        (&failed["stream"], &failed["code"]),
        (&json!("tickets"), &json!("UNKNOWN_MAPPING_REFERENCE")),
        "{refused:?}"
    );
    assert_eq!(engine.column(&place, TITLES).len(), 15, "{refused:?}");
    let standing = engine.checkpoints(&place);
    assert!(standing.contains("tickets"), "{standing}");
    let again = engine.once(&place);
    assert_eq!(again.event("stream_failed")["code"], "UNKNOWN_MAPPING_REFERENCE", "no digest hides it: {again:?}");
    assert_eq!(engine.checkpoints(&place), standing, "the checkpoint has not moved");
}

/// An engine that is not there, and settings that are none: one line, the next step, and nothing made.
#[test]
fn an_engine_that_cannot_be_used_is_said_before_anything_is_read() {
    let place = Place::with_desk(1);
    let missing = place.path("nobody.sock").display().to_string();
    for (endpoint, timeout, code, what) in [
        (format!("unix://{missing}"), "5", "store_unavailable", "no engine answers at the endpoint"),
        ("tcp://10.0.0.1:7000".to_owned(), "5", "store_setting_invalid", "EPISTEMIC_GRAPH_ENDPOINT"),
        (format!("unix://{missing}"), "soon", "store_setting_invalid", "GRAPH_SERVICE_RPC_TIMEOUT"),
    ] {
        let mut command = place.command(CONNECTOR_SYNC);
        command.env("EPISTEMIC_GRAPH_ENDPOINT", &endpoint).env("EPISTEMIC_GRAPH_TENANT", "local");
        command.env("GRAPH_SERVICE_RPC_TIMEOUT", timeout);
        let run = Run::of(command.args(ONCE).output().unwrap());
        let line = run.event("start_failed");
        assert_eq!((run.code, line["code"].as_str()), (2, Some(code)), "{run:?}");
        assert!(line["message"].as_str().unwrap().contains(what) && line["next"].is_string(), "{run:?}");
        assert!(!run.err.contains("10.0.0.1") && !run.err.contains("soon"), "a setting's value is not repeated");
        assert!(place.journal("desk").is_empty(), "the server was not asked for records");
    }
}

/// Kills of each kind.
const KILLS: u64 = 30;

/// Kills the sync, and the engine under a sync, at random moments while new records come in; what is there in the end is what an
/// undisturbed run gives. `SCION_KILL_SEED` repeats the moments, as far as two processes repeat.
#[test]
fn kills_of_the_sync_and_of_the_engine_change_nothing() {
    let place = Place::with_desk(10);
    place.write_config(&[("desk", "leave_out_foreign_edges: true")]);
    let Some(mut engine) = Engine::start(&place) else { return };
    assert_eq!(engine.once(&place).code, 0);
    let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let seed: u64 = std::env::var("SCION_KILL_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or_else(now);
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut moment = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        std::time::Duration::from_millis(10 + random % 700)
    };
    let (mut tickets, mut caught) = (10, 0);
    for kill in 0..2 * KILLS {
        tickets += 5;
        place.write_scenario("desk", &desk(tickets));
        let mut sync = engine.prepared(&place, CONNECTOR_SYNC, &ONCE).spawn().unwrap();
        std::thread::sleep(moment());
        caught += u64::from(sync.try_wait().unwrap().is_none());
        if kill % 2 == 0 {
            sync.kill().unwrap();
        } else {
            engine.kill_and_restart();
            // It goes on or gives up by itself; either is right, and it must end.
            wait_until("the sync ends", || sync.try_wait().unwrap().is_some());
        }
        sync.wait_with_output().unwrap();
    }
    let end = engine.once(&place);
    assert_eq!(end.code, 0, "seed {seed}: {end:?}");
    let mut expected: Vec<String> = (1..=tickets).map(|number| format!("Ticket {number}")).collect();
    expected.sort_unstable();
    assert_eq!(engine.column(&place, TITLES), expected, "seed {seed}: each record once");
    let quiet = engine.once(&place);
    let accepted: u64 = quiet
        .logs()
        .iter()
        .filter(|line| line["event"] == "stream_synced")
        .map(|line| line["accepted"].as_u64().unwrap())
        .sum();
    assert_eq!(accepted, 0, "seed {seed}: {quiet:?}");
    assert!(caught > KILLS / 2, "seed {seed}: only {caught} kills met a running sync");
}
