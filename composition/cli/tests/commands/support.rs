//! A workplace for one test: a directory with a scenario, a configuration and a state directory.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const CONNECTOR_SYNC: &str = env!("CARGO_BIN_EXE_connector-sync");
pub(crate) const INGEST_WORKER: &str = env!("CARGO_BIN_EXE_ingest-worker");
pub(crate) const SCION: &str = env!("CARGO_BIN_EXE_scion");

/// The scripted server, built once: cargo builds examples for a whole test run, but not for a single test target.
pub(crate) fn server() -> &'static Path {
    static SERVER: OnceLock<PathBuf> = OnceLock::new();
    SERVER.get_or_init(|| build_example("scion-cli", "scripted_source"))
}

/// The server of the declaration vectors, built once.
pub(crate) fn served_example() -> &'static Path {
    static SERVER: OnceLock<PathBuf> = OnceLock::new();
    SERVER.get_or_init(|| build_example("scion-mcp-server", "served-example"))
}

pub(crate) fn build_example(package: &str, example: &str) -> PathBuf {
    let path = Path::new(SCION).with_file_name("examples").join(example);
    // A run of the whole workspace has just built every example; building it again with fewer features costs a minute.
    if std::env::var_os("SCION_EXAMPLES_BUILT").is_some() && path.is_file() {
        return path;
    }
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--package", package, "--example", example]);
    build.current_dir(env!("CARGO_MANIFEST_DIR"));
    // Build scripts that look at these would run again, since they are set for a test and not for a build.
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")) {
            build.env_remove(name);
        }
    }
    assert!(build.status().unwrap().success());
    path
}

/// One test's files.
pub(crate) struct Place {
    dir: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    /// A place with the scenario of [`desk`] and a configuration for it.
    pub(crate) fn with_desk(tickets: usize) -> Self {
        let place = Self::new();
        place.write_scenario("desk", &desk(tickets));
        place.write_config(&[("desk", "")]);
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Writes `<name>.json`, with a journal beside it.
    pub(crate) fn write_scenario(&self, name: &str, scenario: &Value) {
        let mut scenario = scenario.clone();
        scenario["journal"] = json!(self.path(&format!("{name}.journal")));
        self.write(&format!("{name}.json"), &scenario.to_string());
    }

    /// Writes `config.yaml` for some scenarios, each with further YAML lines of its connector.
    pub(crate) fn write_config(&self, connectors: &[(&str, &str)]) {
        let mut text = "connectors:\n".to_owned();
        for (name, more) in connectors {
            let (server, scenario) = (server().display(), self.path(&format!("{name}.json")));
            text.push_str(&format!(
                "  - connector: {name}\n    endpoint:\n      command: \"{server}\"\n      args: [\"{}\"]\n",
                scenario.display()
            ));
            for line in more.lines() {
                text.push_str(&format!("    {line}\n"));
            }
        }
        self.write("config.yaml", &text);
    }

    /// The calls a scenario's server noted, in order.
    pub(crate) fn journal(&self, name: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path(&format!("{name}.journal"))).unwrap_or_default();
        // A server that is at work, or was killed, may have left half a line.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The pages a tool was begun to be asked for, in order.
    pub(crate) fn pages(&self, name: &str, tool: &str) -> Vec<u64> {
        let begun = self.journal(name).into_iter().filter(|call| call["what"] == "begin" && call["tool"] == tool);
        begun.map(|call| call["arguments"]["page"].as_u64().unwrap()).collect()
    }

    pub(crate) fn forget_journal(&self, name: &str) {
        std::fs::remove_file(self.path(&format!("{name}.journal"))).unwrap();
    }

    /// Every row that says what was accepted: records with their digests, edges, tombstones, checkpoints and receipts.
    pub(crate) fn accepted(&self) -> Vec<String> {
        let store = rusqlite::Connection::open(self.path("state").join(scion_conformance::STORE_FILE)).unwrap();
        let mut all = Vec::new();
        for table in ["stream", "record", "edge", "tombstone", "receipt", "indexed_value", "pack"] {
            let mut rows = store.prepare(&format!("SELECT * FROM {table}")).unwrap();
            let columns = rows.column_count();
            let text = |row: &rusqlite::Row<'_>| {
                let values = (0..columns).map(|column| row.get::<_, rusqlite::types::Value>(column));
                Ok(format!("{table} {:?}", values.collect::<Result<Vec<_>, _>>()?))
            };
            all.extend(rows.query_map([], text).unwrap().map(|row| row.unwrap()));
        }
        assert!(!all.is_empty());
        all
    }

    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_remove("RUNNER_HEALTH_ADDR").env("CONNECTOR_DATA_DIR", self.path("state")).current_dir(&self.dir);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs `connector-sync`.
    pub(crate) fn sync(&self, args: &[&str]) -> Run {
        Run::of(self.command(CONNECTOR_SYNC).args(args).output().unwrap())
    }

    /// Runs `connector-sync --once` on the place's configuration.
    pub(crate) fn once(&self) -> Run {
        self.sync(&["--config", "config.yaml", "--once"])
    }

    /// Runs `connector-sync --once --log-format json` and reads its report.
    pub(crate) fn report(&self) -> (Run, Value) {
        let run = self.sync(&["--config", "config.yaml", "--once", "--log-format", "json"]);
        let report = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{run:?}"));
        (run, report)
    }

    /// Starts `connector-sync` and leaves it running.
    pub(crate) fn start(&self, args: &[&str]) -> Running {
        Running { child: Some(self.command(CONNECTOR_SYNC).args(args).spawn().unwrap()) }
    }

    /// Starts `ingest-worker` with these variables besides and leaves it running.
    pub(crate) fn work(&self, args: &[&str], variables: &[(&str, &str)]) -> Running {
        let mut command = self.command(INGEST_WORKER);
        command.args(["--config", "config.yaml", "--log-format", "json"]).args(args).envs(variables.iter().copied());
        Running { child: Some(command.spawn().unwrap()) }
    }

    /// The same for long work: what it says is not kept, so that it never waits for a reader.
    pub(crate) fn work_unheard(&self, args: &[&str], variables: &[(&str, &str)]) -> Running {
        let mut command = self.command(INGEST_WORKER);
        command.args(["--config", "config.yaml"]).args(args).envs(variables.iter().copied());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Running { child: Some(command.spawn().unwrap()) }
    }

    /// Runs `scion`.
    pub(crate) fn scion(&self, args: &[&str]) -> Run {
        Run::of(self.command(SCION).args(args).output().unwrap())
    }

    /// Asks for one column of text.
    pub(crate) fn column(&self, sparql: &str) -> Vec<String> {
        let run = self.scion(&["query", "--format", "csv", "--limit", "100000", sparql]);
        assert_eq!(run.code, 0, "{run:?}");
        run.out.lines().skip(1).map(str::to_owned).collect()
    }

    /// All record ids of a stream, sorted.
    pub(crate) fn ids(&self, stream: &str) -> Vec<String> {
        self.column(&format!("SELECT ?id {{ ?r scion:recordId ?id ; scion:stream '{stream}' }} ORDER BY ?id"))
    }
}

/// How a process ended and what it said.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Standard error as JSON log lines.
    pub(crate) fn logs(&self) -> Vec<Value> {
        self.err.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
    }

    /// The first log line of an event.
    pub(crate) fn event(&self, name: &str) -> Value {
        let found = self.logs().into_iter().find(|line| line["event"] == name);
        found.unwrap_or_else(|| panic!("no event {name} in {self:?}"))
    }
}

/// A running `connector-sync`; killed when a test gives it up.
pub(crate) struct Running {
    /// `None` once it has ended.
    child: Option<Child>,
}

impl Running {
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success());
    }

    /// Kills it with no chance to tidy up.
    pub(crate) fn kill(self) {
        drop(self);
    }

    /// Waits for its end, at most half a minute.
    pub(crate) fn end(self) -> Run {
        self.end_within(Duration::from_secs(30))
    }

    /// Waits for its end so long. What it says meanwhile must fit into a pipe.
    pub(crate) fn end_within(mut self, limit: Duration) -> Run {
        let child = self.child.as_mut().unwrap();
        wait_within(limit, "the process ends", || child.try_wait().unwrap().is_some());
        Run::of(self.child.take().unwrap().wait_with_output().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Waits, at most half a minute.
pub(crate) fn wait_until(what: &str, holds: impl FnMut() -> bool) {
    wait_within(Duration::from_secs(30), what, holds);
}

fn wait_within(limit: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < limit, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A connector with tickets that have a requester, ten a page.
pub(crate) fn desk(tickets: usize) -> Value {
    let records: Vec<Value> = (1..=tickets).map(ticket).collect();
    json!({
        "connector": "desk",
        "tools": {
            "list_tickets": { "records": records, "output_schema": ticket_schema() },
            "list_people": { "records": [{ "id": "p0", "name": "Ada" }, { "id": "p1", "name": "Björn" }] },
        },
        "declaration": {
            "connector": "desk",
            "descriptors": [],
            "schema_mappings": {
                "Ticket": { "ontology_class": "Ticket", "fields": { "title": "title", "state": "state", "updated": "updated" } },
                "Person": { "ontology_class": "Person", "fields": { "name": "name" } },
            },
            "sources": [source("tickets", "Ticket", "list_tickets", true), source("people", "Person", "list_people", false)],
        },
    })
}

/// One source of a declaration, paged by number from 1, ten records a page; a shorter page is the last one.
pub(crate) fn source(name: &str, record_type: &str, tool: &str, edges: bool) -> Value {
    let mut source = json!({
        "source_id": name,
        "record_type": record_type,
        "tools": [tool],
        "id_field": "id",
        "pagination": "page",
        "page_param": "page",
        "page_size": 10,
        "arguments": { "page_size": 10 },
        "start_page": 1,
        "preset": { "params_style": "args" },
    });
    if edges {
        source["edges"] = json!([{ "relationship": "requester", "target_field": "person", "target_type": "Person", "target_stream": "people", "target_id_template": "{id}" }]);
    }
    source
}

pub(crate) fn ticket(number: usize) -> Value {
    json!({
        "id": format!("t{number:04}"),
        "title": format!("Ticket {number}"),
        "state": if number.is_multiple_of(2) { "open" } else { "closed" },
        "updated": format!("2026-01-01T00:{:02}:{:02}Z", number / 60 % 60, number % 60),
        "person": format!("p{}", number % 2),
    })
}

pub(crate) fn ticket_schema() -> Value {
    let text = json!({ "type": "string" });
    json!({ "type": "object", "properties": { "result": { "type": "array", "items": { "type": "object", "properties": {
        "id": text, "title": text, "state": text, "updated": text, "person": text,
    } } } } })
}
