use scion_domain::work::{Settled, WorkRefusal};

/// What a worker does, as it does it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkEvent {
    /// The lane admits workers.
    Admitted {
        /// How many.
        workers: u32,
    },
    /// The lane is full, or nothing is due; the worker asks again later.
    Waits {
        /// In milliseconds.
        after_ms: u64,
    },
    /// A job begins.
    Claimed {
        /// The work.
        work_id: String,
        /// From 1.
        attempt: u32,
    },
    /// A job ended and the queue knows.
    Settled {
        /// The work.
        work_id: String,
        /// What became of it.
        settled: Settled,
        /// Why it failed, if it did.
        code: Option<String>,
    },
    /// A job was given back before it was done.
    GaveBack {
        /// The work.
        work_id: String,
    },
    /// A job was not acknowledged: its lease is lost, or its body died.
    Abandoned {
        /// The work.
        work_id: String,
    },
    /// The queue refused a call; the worker goes on.
    Refused {
        /// The refusal.
        refusal: WorkRefusal,
    },
}

/// Where events go.
pub trait WorkEvents: Send + Sync {
    /// Takes one. Must not block.
    fn emit(&self, event: WorkEvent);
}

/// Nowhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoWorkEvents;

impl WorkEvents for NoWorkEvents {
    fn emit(&self, _event: WorkEvent) {}
}
