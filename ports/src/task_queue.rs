use async_trait::async_trait;
use scion_domain::work::{Claim, ClaimedWork, NewWork, Settled, WorkCapabilities, WorkOutcome, WorkRefusal, WorkView};

/// A durable queue of work, delivered at least once.
///
/// `now_ms` is the time since the Unix epoch by the caller's clock. A refusal [`WorkRefusal::Unreachable`] or
/// [`WorkRefusal::Store`] of a writing call leaves its outcome unknown; every writing call but `claim` may be made again.
///
/// Obligations:
/// - **O1** `submit` with the same kind and key again answers the same work id; with other content it is [`WorkRefusal::Conflict`].
/// - **O2** A claimed piece is handed to nobody else until its lease ends, whoever asks at the same time. Claims go by
///   priority, then by age, and only over the kinds asked for.
/// - **O3** A claim after a lease ended has a higher fencing token; every call with the older one is [`WorkRefusal::Fenced`]. So is
///   a call after the own lease ended. A lease that ends counts as an attempt.
/// - **O4** `settle` is durable when it returns; settled work is not claimed again. The same call again gives the same answer.
/// - **O5** A failure that may be retried comes back later with the next attempt, until the attempts are used up; any other ends it.
/// - **O6** `defer` gives work back until a time and does not count as an attempt.
/// - **O7** `cancel` ends work that nobody has; work under way is [`WorkRefusal::InFlight`], work that ended [`WorkRefusal::Settled`].
/// - **O8** `read` and `list` tell where work stands; what a queue does not keep is absent and declared in `capabilities`.
/// - **O9** What is out of bounds is [`WorkRefusal::Invalid`] and changes nothing.
#[async_trait]
pub trait TaskQueue: Send + Sync {
    /// What this queue does beyond the obligations.
    fn capabilities(&self) -> WorkCapabilities;

    /// Whether the queue answers and serves every method of this port: [`WorkRefusal::MethodNotServed`] names the first missing.
    async fn ready(&self) -> Result<(), WorkRefusal>;

    /// Adds work; answers its id.
    async fn submit(&self, work: &NewWork, now_ms: i64) -> Result<String, WorkRefusal>;

    /// Claims the next piece of one of the kinds (1 to 16 of them) for `lease_ms`.
    async fn claim(&self, kinds: &[String], worker: &str, lease_ms: u64, now_ms: i64) -> Result<Claim, WorkRefusal>;

    /// Extends a lease to `lease_ms` from now; answers when it ends.
    async fn renew(&self, work: &ClaimedWork, lease_ms: u64, now_ms: i64) -> Result<i64, WorkRefusal>;

    /// Ends an attempt.
    async fn settle(&self, work: &ClaimedWork, outcome: &WorkOutcome, now_ms: i64) -> Result<Settled, WorkRefusal>;

    /// Gives work back until `until_ms`.
    async fn defer(&self, work: &ClaimedWork, until_ms: i64, now_ms: i64) -> Result<(), WorkRefusal>;

    /// Ends work that nobody has.
    async fn cancel(&self, work_id: &str, now_ms: i64) -> Result<(), WorkRefusal>;

    /// Reads one piece of work.
    async fn read(&self, work_id: &str) -> Result<Option<WorkView>, WorkRefusal>;

    /// Reads work in a stable order, at most `limit` (1 to 1000) after a work id.
    async fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<WorkView>, WorkRefusal>;
}
