//! Serves a [`ToolSurface`] over MCP: on standard input and output, or on any pair of byte streams.
//!
//! Both eras of the protocol are spoken, the handshake era up to 2025-11-25 and the enveloped 2026-07-28; the client's
//! first request decides. Standard output carries protocol bytes only: [`serve_stdio`] takes it away from the rest of the
//! process, so that a stray `println!` in a connector lands on standard error.
//!
//! It uses the port [`ToolSurface`] rather than implementing one; `scion_serve::ConnectorBuilder::build` makes a surface.
//! [`ServeOptions`] bounds requests, answers, calls at once and their time.

mod changes;
mod channel;
mod config;
mod error;
mod filtering;
mod handler;
mod http;
mod stdio;
mod wire;
mod wire_content;

use std::sync::Arc;

use rmcp::service::{QuitReason, serve_server};
use rmcp::transport::async_rw::AsyncRwTransport;
use scion_domain::surface::{CallerIdentity, TransportRefusal};
use scion_domain::tool_surface::ListingPolicy;
use scion_ports::ToolSurface;
use tokio::io::{AsyncRead, AsyncWrite};

pub use config::ServeOptions;
pub use http::{HttpServeOptions, Security, serve_http, tls_config};

/// Serves one client on standard input and output until it closes its side.
///
/// Logs belong on standard error. Must be called once per process, before anything else reads standard input.
pub async fn serve_stdio(surface: Arc<dyn ToolSurface>, options: ServeOptions) -> Result<(), TransportRefusal> {
    serve_stdio_as(None, surface, options).await
}

/// Like [`serve_stdio`], for a host that knows who its peer is: every call is made by this caller. The host verified it; nothing
/// the client sends changes it.
pub async fn serve_stdio_as(
    caller: Option<CallerIdentity>,
    surface: Arc<dyn ToolSurface>,
    options: ServeOptions,
) -> Result<(), TransportRefusal> {
    let (read, write) = stdio::take()?;
    serve_io_as(caller, surface, read, write, options).await
}

/// Like [`serve_stdio`], showing only what a policy of the operator lets be listed.
pub async fn serve_stdio_under(
    policy: ListingPolicy,
    surface: Arc<dyn ToolSurface>,
    options: ServeOptions,
) -> Result<(), TransportRefusal> {
    let (read, write) = stdio::take()?;
    let handler = handler::Handler::new(surface, options, None).with_policy(Arc::new(policy));
    serve_handler(handler, read, write, options).await
}

/// Serves one client on a pair of byte streams until it closes its side. Dropping the future ends the conversation and
/// cancels every call under way.
pub async fn serve_io<R, W>(
    surface: Arc<dyn ToolSurface>,
    read: R,
    write: W,
    options: ServeOptions,
) -> Result<(), TransportRefusal>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    serve_io_as(None, surface, read, write, options).await
}

/// Like [`serve_io`], for a host that verified who is at the other end.
pub async fn serve_io_as<R, W>(
    caller: Option<CallerIdentity>,
    surface: Arc<dyn ToolSurface>,
    read: R,
    write: W,
    options: ServeOptions,
) -> Result<(), TransportRefusal>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    serve_handler(handler::Handler::new(surface, options, caller), read, write, options).await
}

async fn serve_handler<R, W>(
    handler: handler::Handler,
    read: R,
    write: W,
    options: ServeOptions,
) -> Result<(), TransportRefusal>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let transport = AsyncRwTransport::new_server(read, write).with_max_line_length(options.max_request_bytes);
    let service = match serve_server(handler, transport).await {
        Ok(service) => service,
        Err(failure) => return error::opening(&failure),
    };
    match service.waiting().await {
        Ok(QuitReason::Closed | QuitReason::Cancelled) => Ok(()),
        _ => Err(TransportRefusal::Broken),
    }
}
