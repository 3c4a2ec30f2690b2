//! One change set of a connector becomes one governed commit (R019, R017).
//!
//! [`IngestBinding`] says under which connector, stream, contract and policies a change set is admitted;
//! [`KnowledgeIngest`] carries it out. A connector needs neither a checkpoint store nor a commit loop of its own.

mod binding;
mod contract;
mod media;
mod nested_mapping;
mod outcome;
mod process;
mod service;

pub use binding::{ContractIri, IngestBinding};
pub use media::{MAX_MEDIA_BYTES, MediaVault};
pub use nested_mapping::NestedMapping;
pub use outcome::{ContractEvidence, IngestOutcome};
pub use process::{install, installed};
pub use scion_domain::ingest::{ChangeSet, Document, Entity, IngestRefusal, MediaAsset, Relationship};
pub use service::KnowledgeIngest;
