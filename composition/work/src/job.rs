use async_trait::async_trait;
use scion_domain::id::Digest256;
use scion_domain::work::ClaimedWork;
use tokio_util::sync::CancellationToken;

/// How a body ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobResult {
    /// The effect is durable.
    Done {
        /// Digest of it.
        effect_digest: Digest256,
    },
    /// It could not be done.
    Failed {
        /// A refusal code.
        code: String,
        /// Whether another try may help. The queue decides.
        retryable: bool,
    },
    /// It stopped because it was asked to.
    Cancelled,
}

/// What is done for a piece of work.
///
/// The effect is durable when [`JobResult::Done`] is returned, and running again for the same [`ClaimedWork::work_id`] changes
/// nothing that is done already. The future may be dropped at any await point; what it did by then is done, the rest is not.
#[async_trait]
pub trait JobBody: Send + Sync {
    /// Does it. After `stop` it ends at the next point where nothing is half done.
    async fn run(&self, work: &ClaimedWork, stop: &CancellationToken) -> JobResult;
}
