//! Refresh tokens with rotation, shared with other processes through the token store.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use scion_domain::auth::{AuthRefusal, Grant, SKEW_MS};
use scion_domain::credential::SecretSource;
use scion_domain::refusal::Refusal as _;
use scion_domain::secret::Secret;
use scion_domain::work::{StoredTokens, WorkRefusal};
use scion_ports::TokenStore;

use crate::cached::{Mint, Minted};
use crate::endpoint::TokenEndpoint;

/// How long another process may take to renew the same account: its whole exchange with the authority, and a little more.
const LOCK_LIMIT: Duration = Duration::from_secs(25);

pub(crate) struct RefreshMint {
    pub endpoint: TokenEndpoint,
    pub scope: String,
    /// The first refresh token; a login in a browser has none.
    pub seed: Option<SecretSource>,
    pub store: Option<Arc<dyn TokenStore>>,
    pub account: String,
    /// The newest tokens, kept here too: a store that fails must not lose a rotated token.
    pub newest: Mutex<Option<Newest>>,
}

/// The tokens this process got or took over last.
#[derive(Clone)]
pub(crate) struct Newest {
    tokens: StoredTokens,
    /// The version of the store that goes with them: theirs, or the one they could not replace.
    version: Option<u64>,
}

pub(crate) fn store_refused(account: &str, refusal: &WorkRefusal) -> AuthRefusal {
    AuthRefusal::Credential { reference: account.to_owned(), code: refusal.code() }
}

impl RefreshMint {
    fn newest(&self) -> Option<Newest> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn remember(&self, tokens: &StoredTokens, version: Option<u64>) {
        let newest = Newest { tokens: tokens.clone(), version };
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = Some(newest);
    }

    /// Exchanges the candidates one after the other until one is accepted.
    async fn exchange(&self, candidates: &[Secret<String>]) -> Result<StoredTokens, AuthRefusal> {
        let mut last = AuthRefusal::Credential { reference: self.account.clone(), code: "credential_missing" };
        for (index, token) in candidates.iter().enumerate() {
            if candidates[..index].iter().any(|before| before.expose() == token.expose()) {
                continue;
            }
            match self.endpoint.request(&Grant::Refresh { token, resource: "", scope: &self.scope }).await {
                Ok(response) => {
                    let ttl = i64::try_from(response.ttl_ms).unwrap_or(i64::MAX);
                    return Ok(StoredTokens {
                        access: response.access,
                        // No new one: the old one stays good (RFC 6749, section 6).
                        refresh: Some(response.refresh.unwrap_or_else(|| token.clone())),
                        expires_at_ms: self.endpoint.clock.unix_millis().saturating_add(ttl),
                    });
                }
                Err(refusal @ AuthRefusal::Rejected { .. }) => last = refusal,
                Err(refusal) => return Err(refusal),
            }
        }
        Err(last)
    }

    /// Before anybody gets to use them. A store that fails is tried again at the next renewal; until then they live here. Answers
    /// which version of the store goes with them.
    async fn keep(&self, store: &dyn TokenStore, version: Option<u64>, tokens: &StoredTokens) -> Option<u64> {
        let mut expected = version;
        for _ in 0..3 {
            match store.save(&self.account, expected, tokens).await {
                Ok(version) => return Some(version),
                // Somebody who does not take the lock wrote meanwhile. What was just rotated is newer.
                Err(WorkRefusal::Conflict { .. }) => {
                    expected = store.load(&self.account).await.ok().flatten().map(|(version, _)| version);
                }
                Err(refusal) => {
                    tracing::warn!(code = refusal.code(), "rotated tokens are not stored; they are kept in memory");
                    return expected;
                }
            }
        }
        tracing::warn!(code = "work_conflict", "rotated tokens are not stored; they are kept in memory");
        expected
    }
}

fn minted(tokens: &StoredTokens) -> Minted {
    Minted { value: tokens.access.clone(), expires_at_ms: tokens.expires_at_ms }
}

#[async_trait]
impl Mint for RefreshMint {
    async fn mint(&self, held: Option<&Secret<String>>) -> Result<Minted, AuthRefusal> {
        let mut candidates = Vec::with_capacity(3);
        let newest = self.newest();
        let mut guard = None;
        let mut version = None;
        if let Some(store) = &self.store {
            let refused = |refusal: WorkRefusal| store_refused(&self.account, &refusal);
            guard = Some(store.exclusive(&self.account, LOCK_LIMIT).await.map_err(|refusal| match refusal {
                WorkRefusal::Unreachable { .. } => AuthRefusal::Unreachable { authority: self.account.clone() },
                other => refused(other),
            })?);
            if let Some((at, stored)) = store.load(&self.account).await.map_err(refused)? {
                version = Some(at);
                let current = stored.expires_at_ms.saturating_sub(SKEW_MS) > self.endpoint.clock.unix_millis();
                // Another process renewed while this one waited, or before it started.
                if current && held.is_none_or(|held| held.expose() != stored.access.expose()) {
                    self.remember(&stored, version);
                    return Ok(minted(&stored));
                }
                candidates.extend(stored.refresh);
            }
        }
        // What this process rotated last comes first, unless somebody else wrote since: then it is used up, and a server that sees a
        // used token revokes every token that came of it (RFC 9700, section 4.14.2).
        if let Some(Newest { tokens, version: written }) = newest
            && let Some(token) = tokens.refresh
            && (candidates.is_empty() || written == version)
        {
            candidates.insert(0, token);
        }
        if let Some(seed) = &self.seed {
            match self.endpoint.secrets.resolve(seed).await {
                Ok(token) => candidates.push(token),
                Err(refusal) if candidates.is_empty() => return Err(refusal),
                Err(_) => {}
            }
        }
        let tokens = self.exchange(&candidates).await?;
        self.remember(&tokens, version);
        if let Some(store) = &self.store {
            let version = self.keep(store.as_ref(), version, &tokens).await;
            self.remember(&tokens, version);
        }
        drop(guard);
        Ok(minted(&tokens))
    }
}
