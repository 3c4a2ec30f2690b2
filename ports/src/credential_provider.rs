use async_trait::async_trait;
use scion_domain::credential::{CredentialRefusal, CredentialRequest};
use scion_domain::secret::Secret;

/// Resolves secret references.
///
/// Obligations:
/// - **O1** Scope is checked before anything is resolved: a reference outside the connector's scope is
///   [`CredentialRefusal::OutOfScope`] and the store is not asked.
/// - **O2** An empty or absent value is [`CredentialRefusal::Missing`], never an empty secret.
/// - **O3** "Refused by the store" and "store not reachable" are different refusals.
/// - **O4** The value appears in no refusal, log line or `Debug` text.
/// - **O5** A kind of reference the provider does not know is [`CredentialRefusal::NoProvider`].
#[async_trait]
pub trait CredentialProvider: Send + Sync {
    /// Resolves one reference.
    async fn resolve(&self, request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal>;
}
