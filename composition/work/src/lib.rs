//! Use case: claim queued work, do it, and settle it.
//!
//! [`run_ingest_worker`] holds no scheduling policy. How many workers there are, how long a lease lasts, how often it is renewed
//! and how long to wait come from the lane's answer ([`scion_ports::WorkAdmission`]); what is tried again and when is the queue's
//! affair ([`scion_ports::TaskQueue`]). A lane that does not answer stops the worker, it does not make it choose.
//!
//! Work is delivered at least once. Its effect happens once because the body names it by the work's id and finds it done, and
//! because a worker that lost its lease is refused by its token.

mod events;
mod job;
mod slot;
mod worker;

pub use events::{NoWorkEvents, WorkEvent, WorkEvents};
pub use job::{JobBody, JobResult};
pub use worker::{WorkerOptions, WorkerParts, WorkerReport, run_ingest_worker};

mod streams;

pub use streams::{ChangeFeedAdapter, MapChange, MapMessage, StreamAdapter, StreamProgress};
