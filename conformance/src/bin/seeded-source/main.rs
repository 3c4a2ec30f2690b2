//! A deterministic MCP server over stdio for benchmarks and fault tests.
//!
//! It serves one tool, `items_list(page, page_size)`, over `--records` records of ten fields and about 500 bytes, made from
//! `--seed`. It answers by hand-written JSON-RPC lines rather than through a library, so that the source is never
//! the slower side of a measurement. `--random-ids` scatters the ids, `--touch N` gives every N-th record other contents, `--edges` adds a reference
//! from each record to an owner, `--delay-ms` waits before each page, `--log FILE` appends one line per page asked for.

mod options;
mod records;
mod rpc;

use std::io::{BufRead, BufWriter, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let options = match options::Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            complain(&problem);
            return ExitCode::from(2);
        }
    };
    let stdin = std::io::stdin().lock();
    let mut stdout = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
    let mut server = rpc::Server::new(options);
    for line in stdin.lines() {
        let Ok(line) = line else { break };
        if let Some(answer) = server.answer(&line) {
            let written = stdout.write_all(answer.as_bytes()).and_then(|()| stdout.write_all(b"\n"));
            if written.and_then(|()| stdout.flush()).is_err() {
                break;
            }
        }
    }
    ExitCode::SUCCESS
}

#[allow(clippy::print_stderr, reason = "this is a command-line program")]
fn complain(problem: &str) {
    eprintln!("seeded-source: {problem}");
}
