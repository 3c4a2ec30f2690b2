use async_trait::async_trait;
use scion_domain::messaging::{BatchOutcome, ChangeBatch, MessageRefusal, NodeState};

/// Takes changes of nodes into a graph, each at most once.
///
/// Obligations:
/// - **O1** A batch takes effect as a whole or not at all, and is durable when it returns.
/// - **O2** The cursor of a partition is the position of the last draft that took effect. A batch that expects another one is
///   [`MessageRefusal::Stale`], except:
/// - **O3** a batch whose drafts all took effect before is [`BatchOutcome::Replayed`] and adds nothing, whatever batches they
///   came in the first time. One that says something else for a position that was taken is [`MessageRefusal::Rejected`].
/// - **O4** After `Put` a node has exactly the given type and properties, after `Remove` it is not there. Removing a node that is
///   not there has no effect and is no error.
#[async_trait]
pub trait ChangeEnvelopes: Send + Sync {
    /// Applies a batch.
    async fn apply(&self, batch: &ChangeBatch) -> Result<BatchOutcome, MessageRefusal>;

    /// Where a partition of a source stands.
    async fn cursor(&self, source: &str, partition: &str) -> Result<Option<u64>, MessageRefusal>;

    /// A node as it stands.
    async fn node(&self, node: &str) -> Result<Option<NodeState>, MessageRefusal>;
}
