//! Kills the real `connector-sync` on a real store, over and over, and compares what is left with an undisturbed run.
//!
//! `kill-test [--kills N] [--records N] [--seed N]`. The binaries `connector-sync` and `seeded-source` are expected beside this
//! one. Each round starts the sync over a source whose records changed since the last round, kills it with `SIGKILL` at a random
//! moment, and starts it again, until it gets through. At the end, one clean run over the last state of the source must leave
//! exactly the graph that a single run into an empty store leaves, and a further run must submit nothing.

mod graph;
mod sync;

use std::path::Path;
use std::process::ExitCode;

use scion_conformance::reference::SeededEntropy;

struct Options {
    kills: u64,
    records: u64,
    seed: u64,
}

fn options() -> Result<Options, String> {
    let mut options = Options { kills: 200, records: 20_000, seed: 1 };
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        let value = arguments.next().and_then(|value| value.parse().ok());
        let value = value.ok_or_else(|| format!("{flag} needs a number"))?;
        match flag.as_str() {
            "--kills" => options.kills = value,
            "--records" => options.records = value,
            "--seed" => options.seed = value,
            _ => return Err(format!("unknown option {flag}")),
        }
    }
    Ok(options)
}

#[allow(clippy::print_stderr, reason = "this is a command-line program")]
fn main() -> ExitCode {
    let outcome = options().and_then(|options| run(&options));
    match outcome {
        Ok(summary) => {
            eprintln!("{summary}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("kill test: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let entropy = SeededEntropy::new(options.seed);
    let disturbed = sync::Sync::prepare(&folder.path().join("disturbed"))?;
    let mut kills = 0;
    let mut rounds = 0;
    let mut touch = 0;
    let mut longest_ms = 400;
    while kills < options.kills {
        rounds += 1;
        touch = 2 + rounds % 7;
        disturbed.configure(options.records, touch)?;
        loop {
            let after_ms = 5 + entropy.below(longest_ms);
            match disturbed.run_and_kill(after_ms)? {
                sync::Ended::Killed => kills += 1,
                sync::Ended::Finished(took_ms) => {
                    // Aim inside the run: kills after its end prove nothing.
                    longest_ms = took_ms.max(20);
                    break;
                }
            }
            if kills >= options.kills {
                break;
            }
        }
        if rounds > options.kills * 4 {
            return Err(format!("only {kills} kills hit a running sync in {rounds} rounds"));
        }
    }
    disturbed.finish()?;
    let undisturbed = sync::Sync::prepare(&folder.path().join("undisturbed"))?;
    undisturbed.configure(options.records, touch)?;
    undisturbed.finish()?;
    compare(disturbed.store(), undisturbed.store())?;
    let batches = graph::batches(disturbed.store())?;
    disturbed.finish()?;
    if graph::batches(disturbed.store())? != batches {
        return Err("a run over an unchanged source submitted something".into());
    }
    Ok(format!(
        "{kills} kills in {rounds} rounds over {} records: the graph equals an undisturbed one",
        options.records
    ))
}

fn compare(disturbed: &Path, undisturbed: &Path) -> Result<(), String> {
    let (left, right) = (graph::triples(disturbed)?, graph::triples(undisturbed)?);
    if left.is_empty() {
        return Err("the graph is empty".into());
    }
    let lost = right.difference(&left).next();
    let extra = left.difference(&right).next();
    match (lost, extra) {
        (None, None) => Ok(()),
        (lost, extra) => Err(format!(
            "the graphs differ: {} triples against {}; lost {lost:?}, extra {extra:?}",
            left.len(),
            right.len()
        )),
    }
}
