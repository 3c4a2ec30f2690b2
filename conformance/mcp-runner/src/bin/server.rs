//! `mcp-runner-server`: the test server on standard input and output, or with `--http` on a free port of loopback, whose address it
//! prints.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use scion_domain::refusal::Refusal;
use scion_mcp_runner::http;
use scion_mcp_runner::surface::RunnerSurface;
use scion_mcp_server::{ServeOptions, serve_stdio};
use scion_ports::ToolSurface;
use tokio::net::TcpListener;

fn main() -> ExitCode {
    let surface: Arc<dyn ToolSurface> = match RunnerSurface::new() {
        Ok(surface) => Arc::new(surface),
        Err(refusal) => return fail(&refusal),
    };
    let Ok(runtime) = tokio::runtime::Builder::new_multi_thread().enable_all().build() else {
        return ExitCode::FAILURE;
    };
    if std::env::args().nth(1).as_deref() == Some("--http") {
        return match runtime.block_on(over_http(surface)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "{error}");
                ExitCode::FAILURE
            }
        };
    }
    let served = runtime.block_on(serve_stdio(surface, ServeOptions::default()));
    // A read of standard input cannot be cancelled; waiting for it would keep the process alive.
    runtime.shutdown_background();
    served.map_or_else(|refusal| fail(&refusal), |()| ExitCode::SUCCESS)
}

async fn over_http(surface: Arc<dyn ToolSurface>) -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(std::io::stdout(), "http://{}/mcp", listener.local_addr()?)?;
    http::serve(listener, surface).await
}

fn fail(refusal: &dyn Refusal) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "error[{}]: {refusal}\n  next: {}", refusal.code(), refusal.next_step());
    ExitCode::FAILURE
}
