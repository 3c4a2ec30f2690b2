//! Serves the history of one git repository over MCP on standard input and output.

use std::io::Write as _;
use std::process::ExitCode;

use git_history::arguments::{Arguments, HELP};
use git_history::{connector, history::History};
use scion::domain::refusal::Refusal;

fn main() -> ExitCode {
    let repository = match Arguments::parse(std::env::args_os().skip(1)) {
        Ok(Arguments::Serve { repository }) => repository,
        Ok(Arguments::Help) => return print(HELP),
        Ok(Arguments::Version) => return print(concat!("git-history ", env!("CARGO_PKG_VERSION"), "\n")),
        Err(refusal) => return fail(&refusal, ExitCode::from(2)),
    };
    let history = match History::open(&repository) {
        Ok(history) => history,
        Err(refusal) => return fail(&refusal, ExitCode::FAILURE),
    };
    match connector::git_history(history).build() {
        Ok(surface) => scion::run_stdio(surface),
        Err(refusal) => fail(&refusal, ExitCode::FAILURE),
    }
}

fn print(text: &str) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn fail(refusal: &dyn Refusal, code: ExitCode) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "error[{}]: {refusal}\n  next: {}", refusal.code(), refusal.next_step());
    code
}
