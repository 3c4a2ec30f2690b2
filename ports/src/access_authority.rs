use async_trait::async_trait;
use scion_domain::credential::access::{AccessDemand, CredentialAccessRefusal, CurrentGrant};

/// Knows which grants are in force. The host implements it; a connector never does.
///
/// It is asked before every resolution of a credential. What it answers is compared with the demand once more
/// ([`CurrentGrant::admits`]), so that a wrong answer resolves nothing.
///
/// Obligations:
/// - **O1** The answer is the grant for exactly this demand: tenant, client, principal, connector, provider, audience, resource,
///   operation, credential and token profile are those of the demand.
/// - **O2** Without such a grant it is a refusal, [`CredentialAccessRefusal::ScopeDenied`] or
///   [`CredentialAccessRefusal::BindingMismatch`], never the grant of another.
/// - **O3** A grant that was taken back since the last answer is not answered as in force: it is
///   [`CredentialAccessRefusal::Revoked`], or its revision is behind.
/// - **O4** A grant that has run out is [`CredentialAccessRefusal::GrantExpired`], or its time is behind.
/// - **O5** An authority that cannot be asked is [`CredentialAccessRefusal::AuthorityUnavailable`] within five seconds, never the
///   last known answer.
#[async_trait]
pub trait AccessAuthority: Send + Sync {
    /// The grant in force for a demand.
    async fn current(&self, demand: &AccessDemand) -> Result<CurrentGrant, CredentialAccessRefusal>;
}
