//! The test server over streamable HTTP, on loopback and for tests alone: nobody is asked who calls.

use std::io;
use std::sync::Arc;

use scion_domain::listener::ListenerSettings;
use scion_domain::served_security::ServedSecurityOverride;
use scion_mcp_server::{HttpServeOptions, Security, serve_http};
use scion_ports::ToolSurface;
use tokio::net::TcpListener;

/// Serves at `/mcp` until it is dropped. A request for another host than loopback, or from a page of another, is refused.
pub async fn serve(listener: TcpListener, surface: Arc<dyn ToolSurface>) -> io::Result<()> {
    let port = listener.local_addr()?.port();
    let local = ["localhost", "127.0.0.1", "[::1]"];
    let settings = ListenerSettings {
        allowed_origins: local.iter().map(|host| format!("http://{host}:{port}")).collect(),
        ..ListenerSettings::default()
    };
    let boundary = settings.validate(|_| false).map_err(io::Error::other)?;
    let reason = ServedSecurityOverride::new("a test server on loopback").map_err(io::Error::other)?;
    let mut options = HttpServeOptions::new(boundary, Security::Open(reason));
    // The runner and the benchmark ask as fast as they can.
    options.rate = None;
    serve_http(listener, surface, options).await.map_err(io::Error::other)
}
