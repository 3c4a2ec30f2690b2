use async_trait::async_trait;
use scion_domain::secret::Secret;
use scion_domain::tool_context::DelegationRefusal;

/// Gets tokens in the name of a caller (RFC 8693).
///
/// Obligations:
/// - **O1** A token is given to the caller whose token was exchanged, and to no other.
/// - **O2** An authority that says no is [`DelegationRefusal::Refused`]; one that does not answer is
///   [`DelegationRefusal::Unavailable`].
/// - **O3** No token appears in a refusal or `Debug` text.
#[async_trait]
pub trait TokenDelegation: Send + Sync {
    /// A token for `scope` (words separated by blanks; empty for the configured ones) in the name of the caller of this token,
    /// which was verified before.
    async fn exchange(&self, caller: &Secret<String>, scope: &str) -> Result<Secret<String>, DelegationRefusal>;
}
