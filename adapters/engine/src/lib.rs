//! The `epistemic-graph` engine behind Scion's ports: its MessagePack protocol, written from `wire/engine-protocol.md`.
//!
//! [`EngineClient`] signs and sends requests, [`EngineSettings`] reads where to and in whose name, and [`EngineKeyValues`] is a
//! port over it. The engine never
//! says which part of a request it rejects, so requests are checked here before they are sent. Its error texts are never
//! kept; its codes are ([`scion_domain::engine`]).

mod body;
mod changes;
mod client;
mod connection;
mod decode;
mod encode;
mod endpoint;
mod envelope;
mod frame;
mod graph;
mod key_value;
mod ledger;
mod messages;
mod reply;
mod settings;
mod shacl;
mod task_queue;
mod tls;
mod value;
mod work;
mod work_admission;

pub use body::{Body, COMMONS};
pub use client::{Call, EngineClient, EngineOptions, Identity, Repeats};
pub use decode::{DecodeLimits, Malformed, decode};
pub use encode::encode;
pub use endpoint::Endpoint;
pub use envelope::{RequestContext, Stamp, anonymous, default_key, detached, persistence_id, sign};
pub use frame::{DEFAULT_FRAME_LIMIT, FRAME_CEILING};
pub use graph::{EngineGraph, store_refusal};
pub use key_value::EngineKeyValues;
pub use ledger::EngineLedger;
pub use messages::EngineMessages;
pub use settings::EngineSettings;
pub use shacl::EngineShapes;
pub use tls::{EngineTls, EngineTlsSettings};
pub use value::Value;
pub use work::EngineWork;
