//! Whole-process measurements against the limit, in one run: `bench [--sizes 10000,100000] [--rounds 3]`.
//!
//! For each size: a bare read of all pages over stdio, the real `connector-sync` into an empty embedded store, an unchanged
//! second run, and a raw SQLite loop that writes the same rows into the same schema with the same settings. Peak memory is the
//! `VmHWM` of the sync process. Then SPARQL over the largest store. Prints one Markdown table row per measurement; each
//! number is the median of the rounds.

mod measure;
mod queries;
mod raw_sqlite;
mod read_only;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

struct Options {
    sizes: Vec<u64>,
    rounds: usize,
}

fn options() -> Result<Options, String> {
    let mut options = Options { sizes: vec![10_000, 100_000], rounds: 3 };
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--sizes" => {
                let sizes: Result<Vec<u64>, _> = value.split(',').map(str::parse).collect();
                options.sizes = sizes.map_err(|_| "--sizes needs numbers".to_owned())?;
            }
            "--rounds" => options.rounds = value.parse().map_err(|_| "--rounds needs a number".to_owned())?,
            _ => return Err(format!("unknown option {flag}")),
        }
    }
    Ok(options)
}

#[allow(clippy::print_stderr, reason = "this is a command-line program")]
fn main() -> ExitCode {
    match options().and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("bench: {problem}");
            ExitCode::FAILURE
        }
    }
}

#[allow(clippy::print_stdout, reason = "this is a command-line program")]
fn row(what: &str, records: u64, seconds: f64, peak_mib: Option<f64>) {
    #[allow(clippy::cast_precision_loss, reason = "counts of records are far below 2^52")]
    let (rate, cost) = (records as f64 / seconds, seconds * 1e6 / records as f64);
    let peak = peak_mib.map_or_else(|| "–".to_owned(), |peak| format!("{peak:.0}"));
    println!("| {what} | {records} | {seconds:.2} | {rate:.0} | {cost:.1} | {peak} |");
}

#[allow(clippy::print_stdout, reason = "this is a command-line program")]
fn run(options: &Options) -> Result<(), String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let binaries = own.parent().ok_or("this program has no folder")?.to_owned();
    println!("| what | records | seconds | records/s | µs/record | peak MiB |\n|---|---|---|---|---|---|");
    for (number, size) in options.sizes.iter().enumerate() {
        let mut reads = Vec::new();
        let (mut firsts, mut seconds, mut raws) = (Vec::new(), Vec::new(), Vec::new());
        let (mut peak_first, mut peak_second) = (0.0_f64, 0.0_f64);
        let mut last = None;
        for _ in 0..options.rounds.max(1) {
            let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
            reads.push(read_only::all_pages(&binaries, *size)?);
            let (time, peak) = sync(&binaries, folder.path(), *size)?;
            firsts.push(time);
            peak_first = peak_first.max(peak);
            let (time, peak) = sync(&binaries, folder.path(), *size)?;
            seconds.push(time);
            peak_second = peak_second.max(peak);
            raws.push(raw_sqlite::same_rows(&store(folder.path()), &folder.path().join("raw.db"))?);
            last = Some(folder);
        }
        row("bare stdio read", *size, measure::median(&mut reads), None);
        row("raw SQLite, same rows", *size, measure::median(&mut raws), None);
        row("connector-sync, first", *size, measure::median(&mut firsts), Some(peak_first));
        row("connector-sync, unchanged", *size, measure::median(&mut seconds), Some(peak_second));
        if number + 1 == options.sizes.len()
            && let Some(folder) = last
        {
            queries::run(&store(folder.path()))?;
        }
    }
    Ok(())
}

fn store(folder: &Path) -> PathBuf {
    folder.join("state").join(scion_conformance::STORE_FILE)
}

fn sync(binaries: &Path, folder: &Path, records: u64) -> Result<(f64, f64), String> {
    let config = folder.join("config.yaml");
    let server = binaries.join("seeded-source");
    let text = format!(
        "connectors:\n- connector: seeded-source\n  endpoint:\n    command: {}\n    args: [\"--records\", \"{records}\"]\n  max_pages_per_cycle: 1000000\n",
        server.display()
    );
    std::fs::write(&config, text).map_err(|error| error.to_string())?;
    let mut command = std::process::Command::new(binaries.join("connector-sync"));
    command.arg("--once").arg("--config").arg(&config).arg("--state-dir").arg(folder.join("state"));
    measure::process(command)
}
