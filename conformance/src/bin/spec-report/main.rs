//! Computes the state of every requirement from commits and tests.
//!
//! `spec-report` writes `specs/<SPEC>/status.json` and `specs/index.html`; `spec-report --check` writes nothing and fails
//! when one of them is stale. Both fail on a test or a commit trailer that names an unknown id. Commit ids are left out
//! of the comparison, because a status file cannot name the commit that contains it.

mod evidence;
mod page;
mod register;
mod status;

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut check = false;
    let mut root = PathBuf::from(".");
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--check" => check = true,
            "--help" => {
                report("spec-report [--check] [ROOT]: state of every requirement from commits and tests");
                return ExitCode::SUCCESS;
            }
            path if !path.starts_with('-') => root = PathBuf::from(path),
            other => {
                report(&format!("unknown option {other}; use --check or a path"));
                return ExitCode::from(2);
            }
        }
    }
    match run(&root, check) {
        Ok(summary) => {
            report(&summary);
            ExitCode::SUCCESS
        }
        Err(problems) => {
            for problem in problems {
                report(&problem);
            }
            ExitCode::FAILURE
        }
    }
}

#[allow(clippy::print_stderr, reason = "this is a command-line program")]
fn report(line: &str) {
    eprintln!("{line}");
}

fn run(root: &std::path::Path, check: bool) -> Result<String, Vec<String>> {
    let register = register::Register::read(root).map_err(|problem| vec![problem])?;
    let evidence = evidence::Evidence::collect(root).map_err(|problem| vec![problem])?;
    let unknown = evidence.unknown_ids(&register);
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let specs = status::compute(&register, &evidence);
    let stale = if check { status::stale(root, &specs) } else { status::write(root, &specs) };
    if !stale.is_empty() {
        return Err(stale);
    }
    Ok(status::summary(&specs))
}
