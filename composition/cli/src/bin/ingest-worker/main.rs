//! The command `ingest-worker`.

use std::process::ExitCode;

use scion::sink::SinkRegistry;

fn main() -> ExitCode {
    scion_cli::ingest_worker(&SinkRegistry::builtin())
}
