//! Tokens signed with the keys an issuer publishes.

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::auth::{ClaimRules, JwtAlgorithm};
use scion_domain::secret::Secret;
use scion_domain::served_security::{TokenRefusal, VerifiedToken};
use scion_ports::{SignedTokens, TokenVerifier};

/// Accepts JSON Web Tokens of one issuer under one algorithm. Keys rotate as the issuer likes; unknown key ids ask it at most
/// every 30 s.
pub struct IssuerVerifier {
    tokens: Arc<dyn SignedTokens>,
    algorithm: JwtAlgorithm,
    rules: ClaimRules,
}

impl std::fmt::Debug for IssuerVerifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IssuerVerifier").field("issuer", &self.rules.issuer).finish_non_exhaustive()
    }
}

impl IssuerVerifier {
    /// Over the keys of an issuer.
    pub const fn new(tokens: Arc<dyn SignedTokens>, algorithm: JwtAlgorithm, rules: ClaimRules) -> Self {
        Self { tokens, algorithm, rules }
    }
}

#[async_trait]
impl TokenVerifier for IssuerVerifier {
    async fn verify(&self, token: &Secret<String>) -> Result<VerifiedToken, TokenRefusal> {
        let claims = self.tokens.claims(token, &[self.algorithm], &self.rules).await?;
        Ok(VerifiedToken::from_claims(claims))
    }
}
