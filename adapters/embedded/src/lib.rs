//! The embedded durable graph: one SQLite file that holds records, edges, tombstones, checkpoints, receipts and packs,
//! and answers SPARQL 1.1 over the same tables.
//!
//! [`EmbeddedGraph`] implements the ports `Sink`, `RecordDigests`, `KeyValueStore`, `CheckpointStore`, `GraphQuery`,
//! `StreamCatalog`, `TaskQueue` and `WorkAdmission`. One thread owns the writing connection; readers have connections of their own, so queries run
//! while a sync runs, from another process too (WAL).
//!
//! Durability: `synchronous=FULL`; when a commit returns, it survives a kill of the process and a loss of power.
//! Receipts are kept for the last [`RECEIPTS_KEPT`] batches of a stream; an older batch sent again is a conflict, not a
//! replay.
//!
//! ```no_run
//! use scion_domain::query::QueryRequest;
//! use scion_embedded::EmbeddedGraph;
//! use scion_ports::GraphQuery as _;
//!
//! # async fn ask() -> Result<(), Box<dyn std::error::Error>> {
//! let graph = EmbeddedGraph::open_read_only("graph.db".as_ref())?;
//! let sparql = "SELECT ?record WHERE { ?record a desk:Ticket }".to_owned();
//! let answer = graph.query(&QueryRequest { sparql, max_rows: 100, timeout_ms: 5_000 }).await?;
//! # drop(answer);
//! # Ok(())
//! # }
//! ```

mod admission;
mod changes;
mod checkpoint_text;
mod commit;
mod connection;
mod contract;
mod edges;
mod failure;
pub mod fault;
mod intern;
mod iri;
mod key_value;
mod ledger;
mod lookup;
mod messages;
mod ontology;
mod options;
mod pack;
mod payload;
mod progress;
mod query;
mod readers;
mod receipt;
mod records;
mod schema;
mod status;
mod store;
mod task_queue;
mod value_index;
mod withdrawal;
mod work_admission;
mod writer;

pub use options::StoreOptions;
pub use receipt::RECEIPTS_KEPT;
pub use schema::{APPLICATION_ID, SCHEMA_VERSION};
pub use store::EmbeddedGraph;
