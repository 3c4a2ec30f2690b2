//! The command `connector-sync`.

use std::process::ExitCode;

use scion::sink::SinkRegistry;

fn main() -> ExitCode {
    scion_cli::connector_sync(&SinkRegistry::builtin())
}
