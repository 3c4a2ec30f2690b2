use async_trait::async_trait;
use scion_domain::work::{StoredTokens, WorkRefusal};

/// Keeps the tokens of accounts, for their owner only.
///
/// Obligations:
/// - **O1** A returned `save` is durable before the tokens it replaces are used up.
/// - **O2** `save` names the version it replaces; another one is [`WorkRefusal::Conflict`].
/// - **O3** Nobody but the owner can read what is stored, and no token appears in a refusal or log.
#[async_trait]
pub trait TokenStore: Send + Sync {
    /// Reads the tokens of an account and their version.
    async fn load(&self, account: &str) -> Result<Option<(u64, StoredTokens)>, WorkRefusal>;

    /// Replaces the tokens of an account; answers the new version.
    async fn save(&self, account: &str, expected: Option<u64>, tokens: &StoredTokens) -> Result<u64, WorkRefusal>;

    /// Forgets an account.
    async fn forget(&self, account: &str) -> Result<(), WorkRefusal>;
}
