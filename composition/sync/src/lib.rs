//! Use cases: ingest, source synchronisation, stages and supervision.
//!
//! Everything here talks to the outside through the ports of `scion-ports` and names no adapter.

mod commit;
mod deadline;
mod expected;
pub mod fault;
pub mod ingest;
pub mod mapping;
pub mod request;
pub mod stream;
pub mod tools;

pub use commit::{Committer, DEFAULT_COMMIT_DEADLINE, VerifiedReceipt};
