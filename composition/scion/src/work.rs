//! Queued work: put in, claimed, done and settled.
//!
//! [`run_ingest_worker`] does jobs as the queue's lane admits them; [`JobBody`] is what a job is. The command `ingest-worker` is both
//! with source syncs for jobs. The queue is a [`TaskQueue`](crate::ports::TaskQueue): the embedded graph and the engine are one.

pub use scion_work::{
    JobBody, JobResult, NoWorkEvents, WorkEvent, WorkEvents, WorkerOptions, WorkerParts, WorkerReport,
    run_ingest_worker,
};

/// The queue in the embedded graph of a state directory. [`Access::Write`](crate::sink::Access::Write) makes the file when it is
/// missing.
#[cfg(feature = "embedded")]
pub async fn open_embedded(
    state_dir: &std::path::Path,
    access: crate::sink::Access,
) -> Result<std::sync::Arc<scion_embedded::EmbeddedGraph>, scion_domain::sink::StoreRefusal> {
    use crate::sink::Access;
    use scion_domain::sink::StoreRefusal;
    use scion_embedded::EmbeddedGraph;

    let path = state_dir.join(crate::sink::STORE_FILE);
    let open = move || match access {
        Access::Read => EmbeddedGraph::open_read_only(&path),
        Access::Write => EmbeddedGraph::open(&path),
    };
    let opened = tokio::task::spawn_blocking(open).await;
    opened.map_err(|_| StoreRefusal::Unavailable { what: "opening it did not end in order" })?.map(std::sync::Arc::new)
}
