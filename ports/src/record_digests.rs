use async_trait::async_trait;
use scion_domain::id::{ConnectorName, Digest256, RecordId, StreamName};
use scion_domain::model::SourceReceipt;
use scion_domain::sink::StoreRefusal;

/// The content digest last accepted of each record, without a bound on their number.
///
/// Obligations:
/// - **O1** `lookup` answers one entry per id, in order; `None` for a record that was never accepted or was withdrawn.
/// - **O2** `accepted` is called only after the receipt of the batch. A store that keeps digests inside the commit does
///   nothing here. After it returns, `lookup` answers the new digests, also in another process.
/// - **O3** A crash between commit and `accepted` at worst submits the records again; it never hides a change.
/// - **O4** The cost of both is proportional to the ids named, not to the stream.
#[async_trait]
pub trait RecordDigests: Send + Sync {
    /// Reads digests.
    async fn lookup(
        &self,
        connector: &ConnectorName,
        stream: &StreamName,
        ids: &[RecordId],
    ) -> Result<Vec<Option<Digest256>>, StoreRefusal>;

    /// Notes the digests of an accepted batch and forgets those of withdrawn records.
    async fn accepted(
        &self,
        connector: &ConnectorName,
        stream: &StreamName,
        digests: &[(RecordId, Digest256)],
        receipt: &SourceReceipt,
    ) -> Result<(), StoreRefusal>;
}
