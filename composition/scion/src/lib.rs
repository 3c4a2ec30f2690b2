//! Scion: a Rust SDK for governed connectors.
//!
//! A connector turns one vendor system into an MCP server with typed tools; a sync runner copies bounded evidence from it
//! into a durable graph, under receipts. This crate is the one a user depends on: it names the parts and, behind one
//! feature each, the adapters that carry them out.
//!
//! - [`domain`] and [`ports`]: models, refusals, and the traits an embedder implements;
//! - [`serve`]: from a connector declared in code to a surface, and [`run_stdio`] to serve it;
//! - [`http`](mod@http): calls to vendor APIs through the governed client;
//! - [`openapi`](mod@openapi): connectors from descriptions of HTTP APIs;
//! - [`content`]: content folders found by convention;
//! - [`sync`]: from a connector's sources to a durable graph;
//! - [`sink`]: durable graphs by name;
//! - [`EndpointExchange`]: the way to an endpoint that an operator configured.
//!
//! Where to start: `examples/desk.rs` of this crate is the smallest connector, `examples/connectors/git-history` of the
//! repository a whole one. To run a sync inside your own program, see [`sync::Supervisor`]; to add a store, [`sink`].

pub mod content;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "http")]
mod machine;
#[cfg(feature = "openapi")]
pub mod openapi;
mod outbound;
#[cfg(feature = "mcp-server")]
mod run;
pub mod sink;

pub use outbound::EndpointExchange;
pub use scion_domain as domain;
pub use scion_local as local;
pub use scion_macros::embed_content;
pub use scion_ports as ports;
pub use scion_serve as serve;
pub use scion_serve::identity;
pub use scion_sync as sync;

#[cfg(feature = "http")]
pub use scion_auth as auth;
#[cfg(feature = "http")]
pub use scion_client as client;
#[cfg(feature = "http")]
pub use scion_credentials as credentials;
#[cfg(feature = "embedded")]
pub use scion_embedded as embedded;
#[cfg(feature = "mcp-client")]
pub use scion_mcp_client as mcp_client;
#[cfg(feature = "mcp-server")]
pub use scion_mcp_server as mcp_server;

#[cfg(feature = "telemetry")]
pub use scion_telemetry as telemetry;

#[cfg(feature = "mcp-server")]
pub use run::{run_stdio, run_stdio_as};
