use async_trait::async_trait;
use scion_domain::credential::access::{CredentialAccessRefusal, CredentialEvidence};

/// Keeps the evidence about demanded credentials.
///
/// Obligations:
/// - **O1** A returned `record` is durable: a restart does not lose it.
/// - **O2** Entries keep their order, and each is kept once for each call.
/// - **O3** What cannot be kept is [`CredentialAccessRefusal::AuthorityUnavailable`]; nothing is resolved then.
#[async_trait]
pub trait CredentialRecorder: Send + Sync {
    /// Keeps one entry.
    async fn record(&self, evidence: &CredentialEvidence) -> Result<(), CredentialAccessRefusal>;
}
