//! Measures serving against a bare rmcp server that does the same work in the same run, whole processes; see BENCHMARKS.md.
//!
//! `serve-bench [ROUNDS [SECONDS]]`: the two servers take turns for so many rounds of so many seconds; medians are printed as table
//! rows.
//!
//! `serve-bench verify`: how long a listener takes to verify an RS256 token.

#![allow(clippy::print_stdout, reason = "a program for a person at a terminal")]

mod bare;
mod load;
mod ours;
mod server;
mod stdio;
mod verify;

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use load::Figures;
use server::{Make, Server};

/// Tools of the servers whose start, memory and listing are measured.
const MANY: usize = 500;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let Ok(runtime) = tokio::runtime::Builder::new_multi_thread().enable_all().build() else {
        return ExitCode::FAILURE;
    };
    let outcome = match words.as_slice() {
        ["serve", make, way, tools] => {
            let served = runtime.block_on(server::serve(make, way, tools.parse().unwrap_or(1)));
            // A read of standard input cannot be cancelled.
            runtime.shutdown_background();
            served
        }
        ["verify"] => runtime.block_on(verify::measure()),
        rest => {
            let number =
                |index: usize, default: u64| rest.get(index).and_then(|text| text.parse().ok()).unwrap_or(default);
            runtime.block_on(measure(number(0, 5), Duration::from_secs(number(1, 2))))
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn measure(rounds: u64, span: Duration) -> io::Result<()> {
    println!("| tools/call | bare rmcp, calls/s | Scion, calls/s | ratio | bare p99, ms | Scion p99, ms | ratio |");
    println!("|---|---|---|---|---|---|---|");
    for callers in [1, 8, 64] {
        let mut figures = [Vec::new(), Vec::new()];
        for _ in 0..rounds {
            for (make, kept) in Make::BOTH.into_iter().zip(&mut figures) {
                let server = Server::http(make, 1).await?;
                kept.push(load::http(&server.address, callers, span).await?);
            }
        }
        row(&format!("HTTP, {callers} at once"), figures);
    }
    let mut figures = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        for (make, kept) in Make::BOTH.into_iter().zip(&mut figures) {
            kept.push(stdio::Session::start(make, 1)?.calls(span).await?);
        }
    }
    row("stdio, one after the other", figures);

    println!("\n| {MANY} tools | bare rmcp | Scion |\n|---|---|---|");
    let (mut start, mut list, mut memory) =
        ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for _ in 0..rounds.max(5) {
        for (index, make) in Make::BOTH.into_iter().enumerate() {
            let mut session = stdio::Session::start(make, MANY)?;
            start[index].push(session.first_listing().await?);
            list[index].push(session.listing().await?);
            tokio::time::sleep(Duration::from_millis(500)).await;
            memory[index].push(session.resident_mib()?);
        }
    }
    for (name, values) in
        [("start to first tools/list, ms", start), ("tools/list, ms", list), ("idle memory, MiB", memory)]
    {
        let [bare, ours] = values.map(load::median);
        println!("| {name} | {bare:.1} | {ours:.1} |");
    }
    Ok(())
}

fn row(name: &str, figures: [Vec<Figures>; 2]) {
    let [bare, ours] = figures.map(|all| {
        let rates = all.iter().map(|one| one.per_second).collect();
        let worst = all.iter().map(|one| one.p99_ms).collect();
        (load::median(rates), load::median(worst))
    });
    println!(
        "| {name} | {:.0} | {:.0} | {:.2} | {:.2} | {:.2} | {:.2} |",
        bare.0,
        ours.0,
        ours.0 / bare.0,
        bare.1,
        ours.1,
        ours.1 / bare.1
    );
}
