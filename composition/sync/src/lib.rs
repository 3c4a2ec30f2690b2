//! Use cases: ingest, source synchronisation, stages and supervision.
//!
//! Everything here talks to the outside through the ports of `scion-ports` and names no adapter.
//!
//! Where to start: [`Supervisor`] runs many connectors, [`ConnectorWorker`] one cycle of one connector, [`SourceSyncRunner`]
//! one stream, [`Committer`] one batch. A connector that pushes instead of being read goes through
//! [`stream::SourceStream`].

mod commit;
mod deadline;
pub mod events;
mod expected;
pub mod fault;
pub mod health;
pub mod ingest;
pub mod mapping;
mod report;
pub mod request;
mod source;
pub mod stage;
pub mod stream;
pub mod supervisor;
pub mod sweep;
pub mod tools;
pub mod worker;

pub use commit::{Committer, DEFAULT_COMMIT_DEADLINE, VerifiedReceipt};
pub use report::{BatchEvidence, RefusalEvidence, SourceSyncReport, SyncState};
pub use source::{LiveTools, McpToolSource, PageLimits};
pub use supervisor::{Registry, Supervisor, SupervisorParts};
pub use sweep::{ContractBinding, Persistence, SourceSyncRunner, StreamPlan, SyncBudget, SyncPorts};
pub use worker::{ConnectorWorker, CycleReport, WorkerOptions};
