use async_trait::async_trait;
use scion_domain::messaging::{ChangePage, ChangePosition, MessageRefusal};

/// Reads what changed in a graph. Which writes it reports is the store's business; each says so.
///
/// Obligations:
/// - **O1** From `None` it starts at the oldest change it still has; following `next` gives every change once, in order,
///   at most `limit` at a time.
/// - **O2** A change that is committed before a read shows in it.
/// - **O3** A position of another epoch, one whose changes are gone, and one in the future answer a page without changes with
///   `gap` set and `next` at the newest position. A gap is never filled silently.
/// - **O4** `limit` is 1 to 1000; otherwise [`MessageRefusal::Invalid`].
#[async_trait]
pub trait ChangeFeedReader: Send + Sync {
    /// Reads a page.
    async fn read(&self, from: Option<ChangePosition>, limit: usize) -> Result<ChangePage, MessageRefusal>;
}
