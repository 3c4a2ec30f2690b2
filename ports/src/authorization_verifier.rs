use async_trait::async_trait;
use scion_domain::writeback::{Authorization, ChangeRequest, WriteBackRefusal};

/// Decides whether a recorded authorization covers a change. A proposal of a decision service never does.
///
/// Obligations:
/// - **O1** Only an authorization recorded for exactly this change-set digest, tenant and connector passes.
/// - **O2** An expired, revoked or spent authorization is refused.
/// - **O3** When the authority does not answer, the answer is a refusal.
#[async_trait]
pub trait AuthorizationVerifier: Send + Sync {
    /// Verifies. `now_ms` is the time since the Unix epoch.
    async fn verify(&self, change: &ChangeRequest, now_ms: i64) -> Result<Authorization, WriteBackRefusal>;
}
