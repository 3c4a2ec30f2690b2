//! What moves from a source into a durable graph: records, batches, checkpoints, receipts and packs.
//!
//! The shapes follow the engine's `SourceIngest` request and receipt (`wire/engine-protocol.md` 7.2 to 7.5), so that
//! one batch means the same in the embedded store and in the engine.

mod batch;
mod checkpoint;
mod overview;
mod pack;
mod receipt;
mod record;
mod repair;

pub use batch::{BatchRefusal, IngestMode, SourceBatch, Withdrawal};
pub use checkpoint::{ProgressDocument, SourceCheckpoint, StreamStatus};
pub use overview::{StreamHold, StreamOverview};
pub use pack::{PackEntry, PackImport, PackReceipt, PackReference, PackServer, PackStatus};
pub use receipt::{Disposition, RawAdmission, SourceReceipt, Tombstone};
pub use record::{EntityRef, Provenance, RelationshipRecord, SourceRecord};
pub use repair::RepairDecision;
