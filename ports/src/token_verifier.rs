use async_trait::async_trait;
use scion_domain::secret::Secret;
use scion_domain::served_security::{TokenRefusal, VerifiedToken};

/// Decides whether a bearer token that a client presents to a served connector is good.
///
/// Obligations:
/// - **O1** A token that is expired, for another audience, from another issuer, or not signed as configured is refused. There is
///   no way to configure a token without an expiry or an audience into acceptance.
/// - **O2** When the authority behind it does not answer, the answer is [`TokenRefusal::Unavailable`], never acceptance.
/// - **O3** Neither the token nor any claim text appears in a refusal or `Debug` text.
/// - **O4** A storm of tokens with unknown keys does not become a storm of requests to the authority.
#[async_trait]
pub trait TokenVerifier: Send + Sync {
    /// Verifies one token. The caller bounds its length to 16 KiB before.
    async fn verify(&self, token: &Secret<String>) -> Result<VerifiedToken, TokenRefusal>;
}
