//! The server of the `declaration` vectors on standard input and output, for interoperability tests and for trying a runner by
//! hand.

use std::process::ExitCode;
use std::sync::Arc;

use scion_conformance::served_example::ServedExample;
use scion_mcp_server::{ServeOptions, serve_stdio};

#[tokio::main]
async fn main() -> ExitCode {
    match serve_stdio(Arc::new(ServedExample::new()), ServeOptions::default()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
