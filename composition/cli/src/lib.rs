//! The commands `connector-sync`, `ingest-worker`, `connector-certify` and `scion`, as a library, so that an embedder can build both with sinks of its own:
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     scion_cli::connector_sync(&scion::sink::SinkRegistry::builtin())
//! }
//! ```

mod certify;
mod commands;
mod connectors;
mod doctor;
mod explain;
mod health;
mod logging;
mod new;
mod output;
mod pack;
mod panics;
mod place;
mod query;
mod release;
mod serve;
mod status;
mod sync;
mod table;
mod usage;
mod work;
mod worker;

use std::process::ExitCode;

use scion::sink::SinkRegistry;

/// Everything was done.
const DONE: u8 = 0;
/// Something failed while it ran.
const FAILED: u8 = 1;
/// It could not start.
const NOT_STARTED: u8 = 2;

/// Runs `connector-sync` with the arguments of this process.
pub fn connector_sync(sinks: &SinkRegistry) -> ExitCode {
    panics::one_line("connector-sync");
    sync::main(sinks).into()
}

/// Runs `connector-certify` with the arguments of this process.
pub fn connector_certify() -> ExitCode {
    panics::one_line("connector-certify");
    certify::main().into()
}

/// Runs `ingest-worker` with the arguments of this process.
pub fn ingest_worker(sinks: &SinkRegistry) -> ExitCode {
    panics::one_line("ingest-worker");
    worker::main(sinks).into()
}

/// Runs `scion` with the arguments of this process.
pub fn scion(sinks: &SinkRegistry) -> ExitCode {
    panics::one_line("scion");
    commands::main(sinks).into()
}
