//! Running a connector's server process.

#[cfg(feature = "http")]
mod declared;
#[cfg(feature = "http")]
mod flags;
#[cfg(feature = "http")]
mod network;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use scion_domain::refusal::Refusal;
use scion_domain::surface::{CallerIdentity, TransportRefusal};
use scion_mcp_server::ServeOptions;
use scion_serve::ServedSurface;

#[cfg(feature = "http")]
pub use declared::{run, serve_surface};
#[cfg(feature = "http")]
pub use flags::{over_environment, with_serve_options};

/// Serves a connector on standard input and output until the client closes its side, and gives the exit code: 0 after an
/// orderly end, 1 with one explaining line on standard error otherwise. It owns its runtime: call it from `fn main`.
pub fn run_stdio(surface: ServedSurface) -> ExitCode {
    serve(None, surface)
}

/// Like [`run_stdio`], in a host that verified who its client is: tools find this caller in their context.
pub fn run_stdio_as(caller: CallerIdentity, surface: ServedSurface) -> ExitCode {
    serve(Some(caller), surface)
}

fn serve(caller: Option<CallerIdentity>, surface: ServedSurface) -> ExitCode {
    let Some(runtime) = runtime() else {
        return fail(&TransportRefusal::Broken);
    };
    let served = runtime.block_on(scion_mcp_server::serve_stdio_as(caller, Arc::new(surface), ServeOptions::default()));
    // A read of standard input cannot be cancelled; waiting for it would keep the process alive.
    runtime.shutdown_background();
    served.map_or_else(|refusal| fail(&refusal), |()| ExitCode::SUCCESS)
}

fn runtime() -> Option<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().ok()
}

fn fail(refusal: &dyn Refusal) -> ExitCode {
    told(refusal, 1)
}

/// Tells a refusal on standard error and gives the exit code.
fn told(refusal: &dyn Refusal, code: u8) -> ExitCode {
    tell(&format!("error[{}]: {refusal}\n  next: {}", refusal.code(), refusal.next_step()));
    ExitCode::from(code)
}

fn tell(line: &str) {
    // If standard error is gone too, there is nobody left to tell.
    let _ = writeln!(std::io::stderr(), "{line}");
}
