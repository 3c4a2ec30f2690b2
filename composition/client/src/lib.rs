//! The governed HTTP client and what is built on it.
//!
//! A connector author names a base URL, a way to authenticate and a rate, and makes calls. Everything that makes a call safe and
//! patient happens here, once for all connectors: egress policy, credentials, one total deadline, retries within a budget,
//! pacing, bounded answers, typed refusals.
//!
//! - [`GovernedClient`] and [`ClientBuilder`]: a client for one base URL; [`ClientPorts`] is what it works with;
//! - [`Request`] and [`Response`]: one call;
//! - [`pages`]: lists over many pages, as a stream;
//! - [`Envelope`]: `{status_code, data, rate_limit}`;
//! - [`safe_post_json`] and [`safe_get_json`]: one call to a place that is not the client's own;
//! - [`Runner`]: retry, fallback and deadline for any operation;
//! - [`GraphQlClient`]: operations, cost and connections of a GraphQL endpoint;
//! - [`EmbeddingModels`]: vectors of texts;
//! - [`Payments`]: what a server asks for with 402, within a budget and after approval;
//! - [`AirGap`]: a dialer that reaches named hosts only.
//!
//! The crate is a use case: it knows ports, never an adapter. The facade `scion` supplies the system's ports, so that there
//! `GovernedClient::builder("github").base_url("https://api.github.com")?.build().await?` is all.

mod air_gap;
mod builder;
mod client;
mod embedding;
mod envelope;
mod graphql;
mod no_auth;
mod once;
mod pacing;
pub mod pages;
mod payments;
mod refusal;
mod request;
mod response;
mod runner;
mod segment;
mod send;
mod transports;

pub use air_gap::AirGap;
pub use builder::{ClientBuilder, ClientPorts};
pub use client::GovernedClient;
pub use embedding::{EmbeddingFailure, EmbeddingModel, EmbeddingModels};
pub use envelope::Envelope;
pub use graphql::{ConnectionRead, GraphQlCall, GraphQlClient, GraphQlFailure, GraphQlPages};
pub use no_auth::NoAuthOnly;
pub use once::{SafeCall, safe_get_json, safe_post_json};
pub use pacing::{Pacing, Turn};
pub use pages::{Cursor, LinkHeader, NextUrl, Offset, PageNumber, Paged, SinceId};
pub use payments::{PAYMENT_OPERATION, PaymentContext, PaymentPorts, Payments, StoredPayments};
pub use refusal::ClientRefusal;
pub use request::Request;
pub use response::Response;
pub use runner::{RunFailure, Runner};
pub use segment::segment;
pub use transports::transports;

pub use scion_domain::http::{Rate, RateSnapshot, per_minute, per_second};
