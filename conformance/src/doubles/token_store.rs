//! Wrong token stores.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use scion_domain::work::{StoredTokens, WorkRefusal};
use scion_ports::{AccountGuard, TokenStore};

use crate::reference::MemoryTokens;
use crate::suites::token_store::{TOKEN, TokenStoreFixture};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenFlaw {
    /// Nothing; the reference.
    None,
    /// A restart loses everything.
    Forgets,
    /// Takes any version.
    IgnoresVersion,
    /// Reads the version, then writes.
    ChecksTooEarly,
    /// Counts from 1 again after an account was forgotten.
    ReusesVersions,
    /// Puts a token into a refusal.
    Leaks,
    /// Everybody holds.
    NotExclusive,
    /// A guard holds for ever.
    NeverReleases,
    /// One lock for all accounts.
    OneLock,
    /// Waits without limit.
    WaitsForEver,
}

impl TokenFlaw {
    /// Every flaw.
    pub const ALL: &'static [Self] = &[
        Self::Forgets,
        Self::IgnoresVersion,
        Self::ChecksTooEarly,
        Self::ReusesVersions,
        Self::Leaks,
        Self::NotExclusive,
        Self::NeverReleases,
        Self::OneLock,
        Self::WaitsForEver,
    ];
}

#[derive(Clone, Debug)]
struct FlawedTokens {
    inner: MemoryTokens,
    flaw: TokenFlaw,
}

impl FlawedTokens {
    /// Versions as the flaw counts them: the real ones, or their distance to the first of the account.
    fn shown(&self, version: u64) -> u64 {
        if self.flaw == TokenFlaw::ReusesVersions { 1 } else { version }
    }
}

#[async_trait]
impl TokenStore for FlawedTokens {
    async fn load(&self, account: &str) -> Result<Option<(u64, StoredTokens)>, WorkRefusal> {
        let kept = self.inner.load(account).await?;
        Ok(kept.map(|(version, tokens)| (self.shown(version), tokens)))
    }

    async fn save(&self, account: &str, expected: Option<u64>, tokens: &StoredTokens) -> Result<u64, WorkRefusal> {
        let found = self.inner.load(account).await?.map(|(version, _)| version);
        let fits = match self.flaw {
            TokenFlaw::IgnoresVersion => true,
            _ => found.map(|version| self.shown(version)) == expected,
        };
        if !fits {
            let what = if self.flaw == TokenFlaw::Leaks { TOKEN } else { "the account" };
            return Err(WorkRefusal::Conflict { what });
        }
        if self.flaw == TokenFlaw::ChecksTooEarly {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let current = self.inner.load(account).await?.map(|(version, _)| version);
        self.inner.save(account, current, tokens).await.map(|version| self.shown(version))
    }

    async fn forget(&self, account: &str) -> Result<(), WorkRefusal> {
        self.inner.forget(account).await
    }

    async fn exclusive(&self, account: &str, limit: Duration) -> Result<AccountGuard, WorkRefusal> {
        match self.flaw {
            TokenFlaw::NotExclusive => Ok(AccountGuard::new(())),
            TokenFlaw::NeverReleases => {
                let guard = self.inner.exclusive(account, limit).await?;
                std::mem::forget(guard);
                Ok(AccountGuard::new(()))
            }
            TokenFlaw::OneLock => self.inner.exclusive("all", limit).await,
            TokenFlaw::WaitsForEver => self.inner.exclusive(account, limit * 1000).await,
            _ => self.inner.exclusive(account, limit).await,
        }
    }
}

/// A fixture of flawed stores.
#[derive(Debug)]
pub struct FlawedTokenStores {
    flaw: TokenFlaw,
    inner: std::sync::Mutex<MemoryTokens>,
}

impl FlawedTokenStores {
    /// With a flaw.
    pub fn new(flaw: TokenFlaw) -> Self {
        Self { flaw, inner: std::sync::Mutex::default() }
    }

    fn make(&self, fresh: bool) -> Arc<dyn TokenStore> {
        let mut inner = self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if fresh {
            *inner = MemoryTokens::default();
        }
        Arc::new(FlawedTokens { inner: inner.clone(), flaw: self.flaw })
    }
}

#[async_trait]
impl TokenStoreFixture for FlawedTokenStores {
    async fn open(&self) -> Arc<dyn TokenStore> {
        self.make(true)
    }

    async fn reopen(&self, _store: &Arc<dyn TokenStore>) -> Arc<dyn TokenStore> {
        self.make(self.flaw == TokenFlaw::Forgets)
    }
}
