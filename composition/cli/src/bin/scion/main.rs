//! The command `scion`.

use std::process::ExitCode;

use scion::sink::SinkRegistry;

fn main() -> ExitCode {
    scion_cli::scion(&SinkRegistry::builtin())
}
