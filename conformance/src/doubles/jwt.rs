//! Wrong signers and verifiers.

use std::sync::Arc;

use scion_domain::auth::{JwtAlgorithm, JwtRefusal, UnverifiedJwt};
use scion_domain::json::JsonObject;
use scion_domain::secret::Secret;
use scion_jwt::Jwt;
use scion_ports::{JwtSigner, JwtVerifier, VerifyKey};

use crate::suites::jwt::JwtFixture;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JwtFlaw {
    /// Nothing; the reference.
    None,
    /// Accepts nothing.
    RefusesAll,
    /// Leaves the key id out.
    ForgetsKeyId,
    /// Accepts any signature.
    AcceptsAll,
    /// Takes any text as a shared secret.
    ShortSecrets,
    /// Calls a key of another family a wrong signature.
    ConfusesFamilies,
    /// Puts the key into a refusal.
    Leaks,
}

impl JwtFlaw {
    /// Every flaw.
    pub const ALL: &'static [Self] = &[
        Self::RefusesAll,
        Self::ForgetsKeyId,
        Self::AcceptsAll,
        Self::ShortSecrets,
        Self::ConfusesFamilies,
        Self::Leaks,
    ];
}

/// A signer and verifier with a flaw, and their fixture.
#[derive(Clone, Copy, Debug)]
pub struct FlawedJwt {
    flaw: JwtFlaw,
    inner: Jwt,
}

impl FlawedJwt {
    /// With a flaw.
    pub fn new(flaw: JwtFlaw) -> Self {
        Self { flaw, inner: Jwt::new() }
    }
}

fn padded(secret: &Secret<String>) -> Secret<String> {
    Secret::new(format!("{}{}", secret.expose(), " ".repeat(32)))
}

impl JwtSigner for FlawedJwt {
    fn sign(
        &self,
        algorithm: JwtAlgorithm,
        key_id: Option<&str>,
        claims: &JsonObject,
        key: &Secret<String>,
    ) -> Result<Secret<String>, JwtRefusal> {
        let key_id = key_id.filter(|_| self.flaw != JwtFlaw::ForgetsKeyId);
        match (self.flaw, self.inner.sign(algorithm, key_id, claims, key)) {
            (JwtFlaw::ShortSecrets, Err(_)) if key.expose().len() < 32 => {
                self.inner.sign(algorithm, key_id, claims, &padded(key))
            }
            (JwtFlaw::ConfusesFamilies, Err(_)) => Err(JwtRefusal::Signature),
            (JwtFlaw::Leaks, Err(_)) => Err(JwtRefusal::Key { what: Box::leak(key.expose().clone().into_boxed_str()) }),
            (_, signed) => signed,
        }
    }
}

impl JwtVerifier for FlawedJwt {
    fn verify(&self, token: &UnverifiedJwt<'_>, key: VerifyKey<'_>) -> Result<(), JwtRefusal> {
        match (self.flaw, self.inner.verify(token, key)) {
            (JwtFlaw::AcceptsAll, _) => Ok(()),
            (JwtFlaw::RefusesAll, Ok(())) => Err(JwtRefusal::Signature),
            (_, outcome) => outcome,
        }
    }
}

impl JwtFixture for FlawedJwt {
    fn signer(&self) -> Arc<dyn JwtSigner> {
        Arc::new(*self)
    }

    fn verifier(&self) -> Arc<dyn JwtVerifier> {
        Arc::new(*self)
    }
}
