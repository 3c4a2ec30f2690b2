use async_trait::async_trait;
use scion_domain::mcp::{McpRefusal, ServerChange};

/// A feed of change notifications.
///
/// Obligations:
/// - **O1** `next` waits; it answers `Ok(None)` once the session has ended in order, a refusal if it broke.
/// - **O2** Changes that arrive faster than they are taken are merged, never dropped and never queued without bound.
/// - **O3** Dropping the feed ends the subscription.
#[async_trait]
pub trait ChangeFeed: Send {
    /// The next change.
    async fn next(&mut self) -> Result<Option<ServerChange>, McpRefusal>;
}
