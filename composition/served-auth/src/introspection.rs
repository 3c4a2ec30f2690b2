//! Tokens that only their authority can read (RFC 7662).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use scion_domain::auth::{ClaimRules, check_claims};
use scion_domain::json::Json;
use scion_domain::secret::Secret;
use scion_domain::served_security::{TokenRefusal, VerifiedToken};
use scion_ports::{Clock, TokenIntrospection, TokenVerifier};
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;

/// The most answers that are kept.
const MAX_KEPT: usize = 1024;

/// How long an answer is used, in milliseconds: a token that was revoked is refused after this time at the latest.
const KEPT_MS: i64 = 10_000;

/// The most questions to the authority at a time. Further callers are told to come back.
const MAX_ASKING: usize = 16;

type Kept = HashMap<[u8; 32], (i64, Result<VerifiedToken, TokenRefusal>)>;

/// Asks the authority about each token, at most every 10 s. The answer must name this server as audience and say when the token
/// expires; an `iss` in it must be the expected one.
pub struct IntrospectionVerifier {
    authority: Arc<dyn TokenIntrospection>,
    rules: ClaimRules,
    clock: Arc<dyn Clock>,
    kept: Mutex<Kept>,
    asking: Semaphore,
}

impl std::fmt::Debug for IntrospectionVerifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IntrospectionVerifier").field("issuer", &self.rules.issuer).finish_non_exhaustive()
    }
}

impl IntrospectionVerifier {
    /// Over an authority.
    pub fn new(authority: Arc<dyn TokenIntrospection>, rules: ClaimRules, clock: Arc<dyn Clock>) -> Self {
        Self { authority, rules, clock, kept: Mutex::default(), asking: Semaphore::new(MAX_ASKING) }
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, key: [u8; 32], answer: &Result<VerifiedToken, TokenRefusal>) {
        if matches!(answer, Err(TokenRefusal::Unavailable)) {
            return;
        }
        let now = self.clock.unix_millis();
        let mut kept = self.kept();
        if kept.len() >= MAX_KEPT {
            kept.retain(|_, (at, _)| now.saturating_sub(*at) < KEPT_MS);
        }
        if kept.len() >= MAX_KEPT {
            let oldest = kept.iter().min_by_key(|(_, (at, _))| *at).map(|(key, _)| *key);
            oldest.map(|key| kept.remove(&key));
        }
        kept.insert(key, (now, answer.clone()));
    }

    async fn ask(&self, token: &Secret<String>) -> Result<VerifiedToken, TokenRefusal> {
        let _turn = self.asking.try_acquire().map_err(|_| TokenRefusal::Unavailable)?;
        let mut claims = self.authority.active(token).await?;
        // The answer comes from the authority itself; `iss` is optional in it (RFC 7662, section 2.2).
        claims.entry("iss".to_owned()).or_insert_with(|| Json::from(self.rules.issuer.as_str()));
        check_claims(&claims, &self.rules, crate::seconds(self.clock.as_ref()))?;
        Ok(VerifiedToken::from_claims(claims))
    }
}

#[async_trait]
impl TokenVerifier for IntrospectionVerifier {
    async fn verify(&self, token: &Secret<String>) -> Result<VerifiedToken, TokenRefusal> {
        let key: [u8; 32] = Sha256::digest(token.expose().as_bytes()).into();
        let now = self.clock.unix_millis();
        let known = self.kept().get(&key).filter(|(at, _)| (0..KEPT_MS).contains(&now.saturating_sub(*at))).cloned();
        if let Some((_, answer)) = known {
            return match answer {
                Ok(token) if token.expires_at.is_none_or(|at| at < now.div_euclid(1000)) => Err(TokenRefusal::Expired),
                answer => answer,
            };
        }
        let answer = self.ask(token).await;
        self.keep(key, &answer);
        answer
    }
}
