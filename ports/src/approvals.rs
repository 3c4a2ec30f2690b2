use async_trait::async_trait;
use scion_domain::id::Digest256;
use scion_domain::work::{ApprovalRequest, ApprovalState, WorkRefusal};

/// Asks people for approval.
///
/// Obligations:
/// - **O1** An approval is valid for exactly one digest and used once: the second `spend` is [`WorkRefusal::Settled`].
/// - **O2** Silence is not approval.
/// - **O3** The same request again does not ask twice.
#[async_trait]
pub trait Approvals: Send + Sync {
    /// Asks.
    async fn request(&self, request: &ApprovalRequest) -> Result<ApprovalState, WorkRefusal>;

    /// Where a request stands.
    async fn state(&self, digest: &Digest256) -> Result<ApprovalState, WorkRefusal>;

    /// Uses an approval.
    async fn spend(&self, digest: &Digest256) -> Result<(), WorkRefusal>;
}
