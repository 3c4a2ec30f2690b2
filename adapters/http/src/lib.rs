//! The one outbound HTTP client of Scion: every byte that leaves over HTTP goes through [`Dialer`].
//!
//! It implements [`HttpDialer`](scion_ports::HttpDialer) and [`HttpExchange`](scion_ports::HttpExchange). Below the connection pool
//! of hyper lies a connector of its own: it resolves a name, checks every answer against the egress policy, dials only what passed
//! and compares the peer with it, and speaks TLS with the profile of the client. There is no second way to a socket, no switch that
//! turns verification off, and no environment variable that names a proxy.
//!
//! ```no_run
//! # async fn example() -> Result<(), scion_domain::http::HttpRefusal> {
//! use scion_domain::http::{HttpProfile, Method, OutboundRequest, Url};
//! use scion_http::Dialer;
//! use scion_ports::HttpDialer;
//!
//! let dialer = Dialer::builder().build();
//! let client = dialer.open(&HttpProfile::default()).await?;
//! let url = Url::parse("https://api.example.com/status").expect("a literal URL");
//! let mut answer = client.send(OutboundRequest::new(Method::GET, url)).await?;
//! let body = answer.bytes().await?;
//! # Ok(())
//! # }
//! ```

mod body;
mod connector;
mod dialer;
mod exchange;
mod failure;
mod head;
mod interim;
mod material;
mod proxy;
mod race;
mod redirect;
mod resolve;
mod stream;
mod tls;

pub use dialer::{Dialer, DialerBuilder};
pub use resolve::{Resolve, SystemResolver};
pub use tls::{ResolvedTlsProfile, TlsStatus};
