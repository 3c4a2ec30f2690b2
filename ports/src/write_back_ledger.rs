use async_trait::async_trait;
use scion_domain::id::Digest256;
use scion_domain::writeback::{ChangeRequest, LedgerEntry, WriteBackRefusal};

/// The durable memory of changes and what came of them.
///
/// Obligations:
/// - **O1** `create` is idempotent for the same digest; the same id with another digest is [`WriteBackRefusal::KeyReused`].
/// - **O2** A returned `record` is durable and never changes; entries of a change are numbered from 1 without gaps.
/// - **O3** An application without a preview before it is [`WriteBackRefusal::NotPreviewed`]; after an uncertain outcome only a
///   reconciliation (an entry that says applied or no effect) is accepted, anything else is [`WriteBackRefusal::Uncertain`].
/// - **O4** After an application that was applied or rejected nothing is accepted: [`WriteBackRefusal::Settled`]. The rules are those of
///   [`LedgerState`](scion_domain::writeback::LedgerState); what is refused leaves no entry.
/// - **O5** `record` for a change that was not created is [`WriteBackRefusal::UnknownChange`], and one that carries another key
///   than the change is [`WriteBackRefusal::KeyReused`].
#[async_trait]
pub trait WriteBackLedger: Send + Sync {
    /// Stores a change.
    async fn create(&self, change: &ChangeRequest) -> Result<(), WriteBackRefusal>;

    /// Reads a change.
    async fn get(&self, change_set_digest: &Digest256) -> Result<Option<ChangeRequest>, WriteBackRefusal>;

    /// Appends an entry; its sequence is assigned by the ledger and answered.
    async fn record(&self, entry: &LedgerEntry) -> Result<u64, WriteBackRefusal>;

    /// Entries of a change after a sequence, in order, at most `limit`.
    async fn entries(
        &self,
        change_set_digest: &Digest256,
        after: u64,
        limit: usize,
    ) -> Result<Vec<LedgerEntry>, WriteBackRefusal>;
}
