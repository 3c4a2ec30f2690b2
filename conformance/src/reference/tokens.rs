//! Tokens in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use scion_domain::work::{StoredTokens, WorkRefusal};
use scion_ports::{AccountGuard, TokenStore};

#[derive(Debug, Default)]
struct Accounts {
    kept: HashMap<String, (u64, StoredTokens)>,
    last: u64,
    locks: HashMap<String, Arc<tokio::sync::Mutex<()>>>,
}

/// A token store in memory. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct MemoryTokens {
    accounts: Arc<Mutex<Accounts>>,
}

impl MemoryTokens {
    fn accounts(&self) -> std::sync::MutexGuard<'_, Accounts> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl TokenStore for MemoryTokens {
    async fn load(&self, account: &str) -> Result<Option<(u64, StoredTokens)>, WorkRefusal> {
        Ok(self.accounts().kept.get(account).cloned())
    }

    async fn save(&self, account: &str, expected: Option<u64>, tokens: &StoredTokens) -> Result<u64, WorkRefusal> {
        let mut accounts = self.accounts();
        if accounts.kept.get(account).map(|(version, _)| *version) != expected {
            return Err(WorkRefusal::Conflict { what: "the account" });
        }
        accounts.last += 1;
        let version = accounts.last;
        accounts.kept.insert(account.to_owned(), (version, tokens.clone()));
        Ok(version)
    }

    async fn forget(&self, account: &str) -> Result<(), WorkRefusal> {
        self.accounts().kept.remove(account);
        Ok(())
    }

    async fn exclusive(&self, account: &str, limit: Duration) -> Result<AccountGuard, WorkRefusal> {
        let lock = self.accounts().locks.entry(account.to_owned()).or_default().clone();
        let late = |_| WorkRefusal::Unreachable { what: "the lock of the account" };
        tokio::time::timeout(limit, lock.lock_owned()).await.map(AccountGuard::new).map_err(late)
    }
}
