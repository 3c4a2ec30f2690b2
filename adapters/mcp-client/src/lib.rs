//! MCP client sessions over stdio and streamable HTTP.
//!
//! [`McpClient`] implements the port [`McpConnector`](scion_ports::McpConnector) on the `rmcp` library. It speaks both
//! eras of the protocol: it asks with `server/discover` (2026-07-28) and falls back to the `initialize` handshake
//! (2025-11-25 and older) on any error.
//!
//! What a session guarantees beyond the protocol:
//! - Results reach the domain as their exact text: numbers keep their digits (`wire.rs`, `decode.rs`). Text blocks pass
//!   through untouched; `structuredContent` is read only when a result has no text block. Arguments of a call are
//!   written by `serde_json`, which rounds numbers beyond 64 bits.
//! - A message over [`SessionOptions::max_message_bytes`] is refused without being kept.
//! - A child process that dies, hangs, floods standard error or prints noise ends its calls with a refusal that names
//!   it. Any line on its standard output that is not a JSON-RPC message ends the session.
//! - Error texts of the server go no further than `wire.rs`.
//!
//! Servers behind a URL are reached through the port [`HttpExchange`](scion_ports::HttpExchange) alone; the root gives one
//! whose policy fits the endpoint.
//!
//! A session does not reconnect by itself; whoever owns it calls `connect` again.
//!
//! Where to start: `McpClient::builder(name).credentials(provider).http(exchange).build()`, then `connect` with the endpoint of a
//! configuration.

mod changes;
mod client;
mod credentials;
mod decode;
mod fault;
#[doc(hidden)]
pub mod fuzzing;
mod http;
mod listener;
mod operation;
mod options;
mod pace;
mod peer;
mod scan;
mod session;
mod stdio;
mod subscribe;
mod transport;
mod wire;

pub use client::{McpClient, McpClientBuilder};
pub use options::{Pace, SessionOptions};
pub use transport::transport;
