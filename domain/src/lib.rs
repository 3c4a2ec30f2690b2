//! The pure heart of Scion: models that cannot be wrong, refusal codes, canonical forms and state machines.
//!
//! Nothing here opens a socket or a file, reads a clock, an environment variable or a random source. Time and
//! randomness come in as values. Every other crate depends on this one; this one depends on none of them.
//!
//! Where to start: [`json`] and [`id`] are the values everything is made of; [`refusal`] is how a "no" is declared;
//! [`model`] holds batches, checkpoints and receipts; [`declaration`] what a server says may be copied; [`pagination`],
//! [`cursor`], [`drift`] and [`retry`] decide; [`digest`] and [`canonical`] make bytes that others agree with.

pub mod access;
pub mod access_check;
pub mod access_contract;
pub mod api_curation;
pub mod auth;
pub mod base64;
pub mod call;
pub mod canonical;
pub mod catalogue;
pub mod certification;
pub mod client_profile;
pub mod command;
pub mod config;
pub mod confirmation;
pub mod content;
pub mod credential;
pub mod current_plan;
pub mod cursor;
pub mod declaration;
pub mod digest;
pub mod drift;
pub mod egress;
pub mod embedding;
pub mod engine;
pub mod entitlement;
pub mod extension;
pub mod fingerprint;
pub mod graphql;
pub mod http;
pub mod id;
pub mod identifier;
pub mod ingest;
pub mod integrity;
pub mod json;
pub mod listener;
pub mod mcp;
pub mod messaging;
pub mod model;
pub mod openapi;
pub mod outbound;
pub mod pack;
pub mod pack_declaration;
pub mod pagination;
pub mod paths;
pub mod payment;
pub mod privacy;
pub mod proxy;
pub mod pseudonym;
pub mod query;
pub mod rate_bucket;
pub mod redaction;
pub mod refusal;
pub mod resource_descriptor;
pub mod retry;
pub mod secret;
pub mod seed_graph;
pub mod semantic_coverage;
pub mod served_route;
pub mod served_security;
pub mod settings;
pub mod shapes;
pub mod signing;
pub mod sink;
pub mod source;
pub mod surface;
pub mod sync;
#[cfg(test)]
pub(crate) mod test_vectors;
pub mod time;
pub mod tls;
pub mod tool_context;
pub mod tool_surface;
pub mod transport_contract;
mod turtle;
pub mod values;
mod words;
pub mod work;
pub mod writeback;
