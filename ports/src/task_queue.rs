use async_trait::async_trait;
use scion_domain::json::Json;
use scion_domain::work::{ClaimedWork, WorkOutcome, WorkRefusal};

/// A durable queue of work, delivered at least once.
///
/// Obligations:
/// - **O1** `submit` with the same key again answers the same work id.
/// - **O2** A claimed piece is handed to nobody else until its lease ends.
/// - **O3** A claim after a lease ended has a higher fencing token; every call with the older one is [`WorkRefusal::Fenced`].
/// - **O4** `settle` is durable when it returns; settled work is not claimed again unless its failure is to be retried.
#[async_trait]
pub trait TaskQueue: Send + Sync {
    /// Adds work; answers its id.
    async fn submit(&self, kind: &str, key: &str, payload: &Json) -> Result<String, WorkRefusal>;

    /// Claims the next piece of one of the kinds; `None` when there is nothing to do. `now_ms` is the time since the Unix epoch.
    async fn claim(
        &self,
        kinds: &[String],
        worker: &str,
        lease_ms: u64,
        now_ms: i64,
    ) -> Result<Option<ClaimedWork>, WorkRefusal>;

    /// Extends a lease.
    async fn renew(&self, work: &ClaimedWork, lease_ms: u64, now_ms: i64) -> Result<ClaimedWork, WorkRefusal>;

    /// Ends a piece of work.
    async fn settle(&self, work: &ClaimedWork, outcome: &WorkOutcome, now_ms: i64) -> Result<(), WorkRefusal>;
}
