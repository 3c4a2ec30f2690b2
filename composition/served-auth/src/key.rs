//! Tokens signed with one key that the operator knows.

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::auth::{
    ClaimRules, JwtAlgorithm, JwtRefusal, KeyFamily, MIN_HMAC_BYTES, UnverifiedJwt, check_claims,
};
use scion_domain::json::JsonObject;
use scion_domain::secret::Secret;
use scion_domain::served_security::{TokenRefusal, VerifiedToken};
use scion_ports::{Clock, JwtVerifier, TokenVerifier, VerifyKey};

/// The key.
#[derive(Clone, Debug)]
pub enum TokenKey {
    /// A public key as PEM (SPKI).
    Pem(String),
    /// A shared secret of at least 32 bytes.
    Shared(Secret<String>),
}

impl TokenKey {
    fn borrow(&self) -> VerifyKey<'_> {
        match self {
            Self::Pem(pem) => VerifyKey::Pem(pem),
            Self::Shared(secret) => VerifyKey::Shared(secret),
        }
    }
}

/// Accepts JSON Web Tokens that are signed with one key under one algorithm.
pub struct KeyVerifier {
    key: TokenKey,
    algorithm: JwtAlgorithm,
    rules: ClaimRules,
    verifier: Arc<dyn JwtVerifier>,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for KeyVerifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyVerifier").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

impl KeyVerifier {
    /// With a key. One that cannot be read, is of another kind than the algorithm's, or is too short is refused here and not at
    /// the first token.
    pub fn new(
        key: TokenKey,
        algorithm: JwtAlgorithm,
        rules: ClaimRules,
        verifier: Arc<dyn JwtVerifier>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, JwtRefusal> {
        let shared = matches!(key, TokenKey::Shared(_));
        if shared != (algorithm.family() == KeyFamily::Hmac) {
            return Err(JwtRefusal::Key { what: "is not of the kind the algorithm needs" });
        }
        if let TokenKey::Shared(secret) = &key
            && secret.expose().len() < MIN_HMAC_BYTES
        {
            return Err(JwtRefusal::Key { what: "has fewer than 32 bytes" });
        }
        let probe = UnverifiedJwt {
            signed: "e30.e30",
            algorithm,
            key_id: None,
            kind: None,
            claims: JsonObject::new(),
            signature: vec![0; 64],
        };
        match verifier.verify(&probe, key.borrow()) {
            Err(unusable @ JwtRefusal::Key { .. }) => Err(unusable),
            _ => Ok(Self { key, algorithm, rules, verifier, clock }),
        }
    }
}

#[async_trait]
impl TokenVerifier for KeyVerifier {
    async fn verify(&self, token: &Secret<String>) -> Result<VerifiedToken, TokenRefusal> {
        let jwt = UnverifiedJwt::read(token.expose(), &[self.algorithm])?;
        self.verifier.verify(&jwt, self.key.borrow())?;
        check_claims(&jwt.claims, &self.rules, crate::seconds(self.clock.as_ref()))?;
        Ok(VerifiedToken::from_claims(jwt.claims))
    }
}
