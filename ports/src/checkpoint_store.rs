use async_trait::async_trait;
use scion_domain::id::{ConnectorName, StreamName};
use scion_domain::json::Json;
use scion_domain::model::ProgressDocument;
use scion_domain::sink::StoreRefusal;

/// The progress document of each source: what the runner must remember beside the accepted checkpoint (the accepted tool
/// contract, a hold and its reason, the last receipt), under compare-and-swap (R004.21).
///
/// Obligations:
/// - **O1** `load` of a source never seen is `None`.
/// - **O2** `advance` with the wrong version refuses with [`StoreRefusal::Conflict`] and changes nothing; `None` expects absence.
/// - **O3** A returned `advance` is durable, and a later `load` gives exactly the document.
/// - **O4** Sources of different connectors, and different sources of one connector, never share a document.
/// - **O5** `reset` removes the document; the next `advance` expects absence.
#[async_trait]
pub trait CheckpointStore: Send + Sync {
    /// Reads the document.
    async fn load(
        &self,
        connector: &ConnectorName,
        source: &StreamName,
    ) -> Result<Option<ProgressDocument>, StoreRefusal>;

    /// Replaces the document of the expected version; answers the new version.
    async fn advance(
        &self,
        connector: &ConnectorName,
        source: &StreamName,
        expected: Option<u64>,
        body: &Json,
    ) -> Result<u64, StoreRefusal>;

    /// Removes the document of the expected version.
    async fn reset(&self, connector: &ConnectorName, source: &StreamName, expected: u64) -> Result<(), StoreRefusal>;
}
