//! The command `connector-certify`.

use std::process::ExitCode;

fn main() -> ExitCode {
    scion_cli::connector_certify()
}
