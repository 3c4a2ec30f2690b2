use std::time::Duration;

use async_trait::async_trait;
use scion_domain::work::{StoredTokens, WorkRefusal};

/// Holds an account for one renewer; dropping it lets the next one in.
pub struct AccountGuard(#[expect(dead_code, reason = "held for its drop")] Box<dyn Send + Sync>);

impl AccountGuard {
    /// Wraps what is held.
    pub fn new(held: impl Send + Sync + 'static) -> Self {
        Self(Box::new(held))
    }
}

impl std::fmt::Debug for AccountGuard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AccountGuard")
    }
}

/// Keeps the tokens of accounts, for their owner only.
///
/// Obligations:
/// - **O1** A returned `save` is durable before the tokens it replaces are used up.
/// - **O2** `save` names the version it replaces; another one is [`WorkRefusal::Conflict`].
/// - **O3** Nobody but the owner can read what is stored, and no token appears in a refusal or log.
/// - **O4** `exclusive` is held by one holder at a time, over all processes that share the store; it ends with the guard or the
///   process. Accounts do not hold each other off.
/// - **O5** `exclusive` waits no longer than its limit; [`WorkRefusal::Unreachable`] then.
#[async_trait]
pub trait TokenStore: Send + Sync {
    /// Reads the tokens of an account and their version.
    async fn load(&self, account: &str) -> Result<Option<(u64, StoredTokens)>, WorkRefusal>;

    /// Replaces the tokens of an account; answers the new version.
    async fn save(&self, account: &str, expected: Option<u64>, tokens: &StoredTokens) -> Result<u64, WorkRefusal>;

    /// Forgets an account.
    async fn forget(&self, account: &str) -> Result<(), WorkRefusal>;

    /// Holds an account alone, to renew its tokens. Advisory: `load` and `save` do not ask for it.
    async fn exclusive(&self, account: &str, limit: Duration) -> Result<AccountGuard, WorkRefusal>;
}
