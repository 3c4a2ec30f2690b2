//! Runs the simulation over many seeds.
//!
//! `simulate [--seeds N] [--from S] [--long] [--plant NAME] [--list]`. Prints the first failing seed with its trace and ends
//! with 1; `--list` names every failing seed in one line instead; `--long` goes on until it is stopped. A seed that failed is
//! run again with `--from S --seeds 1`.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use scion_conformance::simulation::{self, Plant};
use scion_sync::fault::CommitPoint;

struct Options {
    from: u64,
    seeds: u64,
    plant: Plant,
    list: bool,
}

fn options() -> Result<Options, String> {
    let mut options = Options { from: 0, seeds: 20_000, plant: Plant::None, list: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        let mut number =
            || arguments.next().and_then(|value| value.parse().ok()).ok_or(format!("{flag} needs a number"));
        match flag.as_str() {
            "--seeds" => options.seeds = number()?,
            "--from" => options.from = number()?,
            "--list" => options.list = true,
            "--long" => options.seeds = u64::MAX,
            "--plant" => {
                let name = arguments.next().unwrap_or_default();
                let names = || Plant::ALL.iter().map(|plant| plant.name()).collect::<Vec<_>>().join(", ");
                options.plant = Plant::named(&name).ok_or_else(|| format!("--plant takes one of {}", names()))?;
            }
            _ => return Err(format!("unknown option {flag}; there are --seeds, --from, --long, --list and --plant")),
        }
    }
    Ok(options)
}

#[allow(clippy::print_stderr, reason = "this is a command-line program")]
fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("simulate: {problem}");
            return ExitCode::FAILURE;
        }
    };
    let started = Instant::now();
    let mut said = started;
    let mut commits = 0;
    let mut struck: BTreeMap<CommitPoint, u64> = BTreeMap::new();
    let mut failed = 0;
    let last = options.from.saturating_add(options.seeds);
    for seed in options.from..last {
        let outcome = simulation::run(seed, options.plant);
        if let Some(first) = outcome.violations.first() {
            if options.list {
                eprintln!("seed {seed}: invariant {first}");
                failed += 1;
                continue;
            }
            for line in &outcome.trace {
                eprintln!("  {line}");
            }
            eprintln!("seed {seed}: invariant {first}");
            return ExitCode::FAILURE;
        }
        commits += outcome.commits;
        for point in outcome.struck {
            *struck.entry(point).or_default() += 1;
        }
        if said.elapsed() > Duration::from_secs(10) {
            said = Instant::now();
            eprintln!("{} seeds", seed + 1 - options.from);
        }
    }
    if failed > 0 {
        eprintln!("{failed} of {} seeds fail", options.seeds);
        return ExitCode::FAILURE;
    }
    let missing: Vec<_> = CommitPoint::ALL.iter().filter(|point| !struck.contains_key(point)).collect();
    eprintln!(
        "{} seeds from {}: every invariant holds; {commits} batches, {:.1} s, points struck: {struck:?}",
        options.seeds,
        options.from,
        started.elapsed().as_secs_f64()
    );
    if options.seeds >= 1000 && !missing.is_empty() {
        eprintln!("simulate: no fault struck at {missing:?}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
