//! A bounded, seeded mutation run over every target: `fuzz-smoke [--seconds N] [--seed N] [TARGET…]`.
//!
//! A panic ends the run with the target, the seed and the input in hexadecimal.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use scion_fuzz_harness::{Mutator, TARGETS, corpus};

#[allow(clippy::print_stderr, reason = "this is a command-line program")]
fn main() -> ExitCode {
    let mut seconds = 5;
    let mut seed = 1;
    let mut names = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--seconds" => seconds = arguments.next().and_then(|value| value.parse().ok()).unwrap_or(seconds),
            "--seed" => seed = arguments.next().and_then(|value| value.parse().ok()).unwrap_or(seed),
            _ => names.push(argument),
        }
    }
    let chosen: Vec<_> =
        TARGETS.iter().filter(|target| names.is_empty() || names.iter().any(|name| name == target.name)).collect();
    if chosen.is_empty() {
        eprintln!("no such target");
        return ExitCode::from(2);
    }
    for target in chosen {
        let entries = corpus(target.name);
        let mut mutator = Mutator::new(seed);
        let end = Instant::now() + Duration::from_secs(seconds);
        let mut runs = 0_u64;
        while Instant::now() < end {
            let input = mutator.variant(&entries);
            if std::panic::catch_unwind(|| (target.run)(&input)).is_err() {
                let hex = input.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
                eprintln!("{} panics with seed {seed} in run {runs} on {hex}", target.name);
                return ExitCode::FAILURE;
            }
            runs += 1;
        }
        eprintln!("{}: {runs} inputs from {} corpus entries", target.name, entries.len());
    }
    ExitCode::SUCCESS
}
