use async_trait::async_trait;
use scion_domain::model::StreamOverview;
use scion_domain::sink::StoreRefusal;

/// Lists what a store knows, for `scion status`.
///
/// Obligations:
/// - **O1** Every stream that ever committed is listed once, ordered by connector, then stream.
/// - **O2** Counts are those of one committed state.
#[async_trait]
pub trait StreamCatalog: Send + Sync {
    /// All streams.
    async fn streams(&self) -> Result<Vec<StreamOverview>, StoreRefusal>;
}
