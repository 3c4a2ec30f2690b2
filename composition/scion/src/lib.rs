//! Scion: a Rust SDK for governed connectors.
//!
//! A connector turns one vendor system into an MCP server with typed tools; a sync runner copies bounded evidence from it
//! into a durable graph, under receipts. This crate is the one a user depends on: it names the parts and, behind one
//! feature each, the adapters that carry them out.
//!
//! - [`domain`] and [`ports`]: models, refusals, and the traits an embedder implements;
//! - [`operations`](macro@operations) and [`connector!`]: a connector as its author writes it, and [`run`] to serve it;
//! - [`serve`]: the same without macros, from tools written by hand to a surface, and [`run_stdio`] to serve it;
//! - [`http`](mod@http): calls to vendor APIs through the governed client;
//! - [`openapi`](mod@openapi): connectors from descriptions of HTTP APIs;
//! - [`content`]: content folders found by convention;
//! - [`sync`]: from a connector's sources to a durable graph;
//! - [`sink`]: durable graphs by name;
//! - [`EndpointExchange`]: the way to an endpoint that an operator configured.
//!
//! Where to start: `examples/desk.rs` of this crate is the smallest connector, `examples/connectors/git-history` of the
//! repository a whole one. To run a sync inside your own program, see [`sync::Supervisor`]; to add a store, [`sink`].

#[cfg(all(feature = "http", feature = "mcp-server"))]
mod admission;
pub mod content;
#[cfg(feature = "http")]
mod declare;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "http")]
mod machine;
#[cfg(feature = "openapi")]
pub mod openapi;
mod outbound;
pub mod prelude;
#[cfg(feature = "mcp-server")]
mod run;
mod signer;
pub mod sink;
pub mod testing;
mod transports;
#[cfg(feature = "mcp-server")]
#[doc(hidden)]
pub mod usage;
pub mod work;

#[cfg(all(feature = "http", feature = "mcp-server"))]
pub use admission::served_security;
pub use outbound::EndpointExchange;
pub use scion_certify as certify;
pub use scion_domain as domain;
pub use scion_domain::time::Timestamp;
pub use scion_local as local;
pub use scion_macros::{embed_content, model, operations};
pub use scion_pack as pack;
pub use scion_ports as ports;
pub use scion_serve as serve;
/// What an operation answers when it says no. `?` makes one of every declared refusal, those of the governed client included;
/// no text of a vendor's error has a way in.
pub use scion_serve::ToolRefusal as ApiError;
pub use scion_serve::{Page, identity};
pub use scion_sync as sync;
pub use signer::datapoint_signer;
pub use transports::transports;

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

#[cfg(all(feature = "http", feature = "mcp-server"))]
pub use scion_served_auth as served_auth;
#[cfg(any(feature = "telemetry", feature = "mcp-server"))]
pub use scion_telemetry as telemetry;

#[cfg(feature = "http")]
pub use declare::{Api, ConnectorDeclaration, NotStarted};
#[cfg(all(feature = "http", feature = "mcp-server"))]
pub use run::{over_environment, run, serve_surface, with_serve_options};
#[cfg(feature = "mcp-server")]
pub use run::{run_stdio, run_stdio_as};

/// Declares a connector: a function `connector()` with its [`ConnectorDeclaration`], and a `main` that serves it.
///
/// ```
/// # mod server {
/// # pub struct GitHub { client: scion::http::GovernedClient }
/// # impl scion::Api for GitHub {
/// #     fn new(client: scion::http::GovernedClient) -> Self { Self { client } }
/// # }
/// # #[scion::operations(prefix = "github")]
/// # impl GitHub {
/// #     /// Lists nothing.
/// #     #[operation(get = "/user/repos")]
/// #     async fn list_repos(&self) -> Result<Vec<String>, scion::ApiError> {
/// #         Ok(self.client.get("/user/repos").json().await?)
/// #     }
/// # }
/// scion::connector! {
///     name: "github-mcp",                        // the one declared name; the version is the package's
///     api: GitHub,                               // with #[scion::operations] and `impl scion::Api`
///     auth: Bearer::env("GITHUB_TOKEN"),         // how the vendor knows us; names secrets, holds none
///     base_url: "https://api.github.com",        // unless GITHUB_BASE_URL says otherwise
///     rate_limit: per_second(10),                // unless GITHUB_RATE_LIMIT says otherwise
/// }
/// # }
/// # let _ = server::connector();
/// ```
///
/// `name` and `api` must be there. The other keys call the method of [`ConnectorDeclaration`] of the same name: `auth`, `base_url`,
/// `rate_limit`, `title`, `instructions`, `client`, `configure`. `content: "content/"` puts that folder of the package into the
/// binary ([`embed_content!`]) and serves it.
#[cfg(all(feature = "http", feature = "mcp-server"))]
#[macro_export]
macro_rules! connector {
    ($($declared:tt)*) => { $crate::__private::declare_connector! { $($declared)* } };
}

/// Declares a connector. This build of `scion` lacks a feature it needs.
#[cfg(not(all(feature = "http", feature = "mcp-server")))]
#[macro_export]
macro_rules! connector {
    ($($declared:tt)*) => {
        ::core::compile_error!(
            "`scion::connector!` serves over MCP and calls an API: enable the features `mcp-server` and `http` of the crate `scion`"
        );
    };
}

/// For the code that macros write.
#[doc(hidden)]
pub mod __private {
    pub use scion_macros::declare_connector;
    pub use scion_serve::__private::{schemars, serde};

    /// What stands at hand in `connector!`.
    pub mod words {
        #[cfg(feature = "http")]
        pub use crate::http::{
            ApiKey, Basic, Bearer, ClientCredentials, NoAuth, Pkce, Rate, RefreshToken, SessionLogin, TokenExchange,
            per_minute, per_second,
        };
    }
}
