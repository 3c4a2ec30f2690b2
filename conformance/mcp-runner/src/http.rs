//! The test server over streamable HTTP, on loopback and for tests alone: nobody is asked who calls.

use std::io;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use scion_mcp_server::{ServeOptions, handler};
use scion_ports::ToolSurface;
use tokio::net::TcpListener;

/// Serves until it is dropped. Every path is the endpoint; a request for another host than loopback, or from a page of another, is
/// refused.
pub async fn serve(listener: TcpListener, surface: Arc<dyn ToolSurface>) -> io::Result<()> {
    let local = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
    let config = StreamableHttpServerConfig::default().with_allowed_origins(local);
    let handler = move || Ok(handler(Arc::clone(&surface), ServeOptions::default()));
    let service = StreamableHttpService::new(handler, Arc::new(LocalSessionManager::default()), config);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            // A client that breaks its connection off has only gone away.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
