use async_trait::async_trait;
use scion_domain::id::{ConnectorName, StreamName};
use scion_domain::model::{PackImport, PackReceipt, PackStatus, SourceBatch, SourceReceipt, StreamStatus};
use scion_domain::sink::{SinkCapabilities, SinkRefusal};

/// A durable graph that accepts source batches under receipts.
///
/// Obligations:
/// - **O1** `commit` is one transaction: records, relationships, tombstones, checkpoint and receipt become durable
///   together or not at all. A refused batch changes nothing.
/// - **O2** When `commit` returns a receipt, the batch is durable: it survives a kill of the process at once.
/// - **O3** The same batch again answers [`Disposition::Replayed`](scion_domain::model::Disposition::Replayed) with the
///   same receipt id and digests, and changes nothing. A sink whose store cannot replay answers
///   [`SinkRefusal::OutcomeUnknown`], and `status` tells.
/// - **O4** A batch whose `expected_previous_checkpoint` is not the accepted one is refused with
///   [`SinkRefusal::Conflict`].
/// - **O5** The receipt binds the request: batch digest, checkpoint digest and each raw digest are recomputed by the
///   store, never copied from the caller.
/// - **O6** A record is admitted only under a mapping of the connector's accepted pack; otherwise
///   [`SinkRefusal::UnknownMapping`]. A relation likewise.
/// - **O7** A reconcile batch withdraws exactly the live records of its stream that its live set does not list. Other
///   streams and connectors are untouched.
/// - **O8** An empty full batch, and a reconcile batch with an empty live set, need an approval text.
/// - **O9** A withdrawn record that is observed again is live again.
/// - **O10** `import_pack` is idempotent: the same pack again is `unchanged` and keeps its revision. A wrong expected revision is
///   [`SinkRefusal::PackConflict`]; withdrawing more than half of the published entries without the caller's word is
///   [`SinkRefusal::MassWithdrawal`].
/// - **O11** `status` and `pack_status` of something never seen are empty, not refused.
/// - **O12** What [`capabilities`](Sink::capabilities) declares works; what it does not declare is refused with
///   [`SinkRefusal::Capability`] or the specific code, never ignored.
#[async_trait]
pub trait Sink: Send + Sync {
    /// What this sink can do; constant for its lifetime.
    fn capabilities(&self) -> SinkCapabilities;

    /// Whether the sink can accept batches now.
    async fn ready(&self) -> Result<(), SinkRefusal>;

    /// Accepts a connector's declaration and content.
    async fn import_pack(&self, import: &PackImport) -> Result<PackReceipt, SinkRefusal>;

    /// What is accepted of a connector.
    async fn pack_status(&self, connector: &ConnectorName) -> Result<PackStatus, SinkRefusal>;

    /// Commits one batch.
    async fn commit(&self, batch: &SourceBatch) -> Result<SourceReceipt, SinkRefusal>;

    /// What is accepted of a stream.
    async fn status(&self, connector: &ConnectorName, stream: &StreamName) -> Result<StreamStatus, SinkRefusal>;
}
