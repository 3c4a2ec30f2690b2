use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::auth::{AuthUrl, ClaimRules, JwtAlgorithm};
use scion_domain::credential::SecretRef;
use scion_domain::json::JsonObject;
use scion_domain::secret::Secret;
use scion_domain::served_security::TokenRefusal;

/// Checks tokens against the keys that an issuer publishes.
///
/// Obligations:
/// - **O1** Signature, issuer, audience and times are checked; only algorithms of `allowed` that need a public key count.
/// - **O2** An issuer that does not answer, or answers with something else than keys, is [`TokenRefusal::Unavailable`].
/// - **O3** Unknown key ids ask the issuer at most once in 30 s.
#[async_trait]
pub trait SignedTokens: Send + Sync {
    /// The claims of a good token.
    async fn claims(
        &self,
        token: &Secret<String>,
        allowed: &[JwtAlgorithm],
        rules: &ClaimRules,
    ) -> Result<JsonObject, TokenRefusal>;
}

/// Asks an authorization server about tokens (RFC 7662).
///
/// Obligations:
/// - **O1** A token that is not active is [`TokenRefusal::Invalid`].
/// - **O2** An authority that does not answer, refuses the client, or answers with something else is
///   [`TokenRefusal::Unavailable`].
#[async_trait]
pub trait TokenIntrospection: Send + Sync {
    /// What the server says about an active token.
    async fn active(&self, token: &Secret<String>) -> Result<JsonObject, TokenRefusal>;
}

/// The authorization servers that a served connector may ask. Opening asks nobody yet.
pub trait TokenAuthorities: Send + Sync {
    /// The keys of an issuer: at a known address, or where its discovery document says.
    fn keys(&self, issuer: &AuthUrl, keys: Option<&AuthUrl>) -> Arc<dyn SignedTokens>;

    /// The introspection endpoint of an issuer, asked as a client with a secret.
    fn introspection(&self, issuer: &AuthUrl, client_id: &str, secret: &SecretRef) -> Arc<dyn TokenIntrospection>;
}
