use async_trait::async_trait;
use scion_domain::source::{PageRequest, SourceContract, SourceDescription, SourcePage, SourceRefusal};

/// One stream of records of a vendor system, read page by page.
///
/// Obligations:
/// - **O1** Reading from position `{}` and following `next_position` to `None` yields every record of the stream once, if
///   the source does not change meanwhile. It ends: a source that repeats a position is refused.
/// - **O2** `read_page` has no effect on the source and can be repeated: the same position gives the same page while the
///   source does not change.
/// - **O3** Ids inside a page are unique; records come with their payload as the source gave it, numbers included.
/// - **O4** `raw_count` counts before any filter of the adapter; the end of paging is never decided from filtered records.
/// - **O5** Withdrawals come only in delta pages, live ids only in reconcile pages. Empty because denied, failed or cut is a
///   refusal, never an empty page.
/// - **O6** `contract` describes the live tool, not the one remembered.
/// - **O7** A source without `delta` never answers a delta page, one without `reconcile` never a reconcile page.
/// - **O8** A position it did not hand out is refused with [`SourceRefusal::BadPosition`], not guessed at.
#[async_trait]
pub trait SourceAdapter: Send + Sync {
    /// What this source is and can do; constant for its lifetime.
    fn describe(&self) -> &SourceDescription;

    /// The live contract.
    async fn contract(&self) -> Result<SourceContract, SourceRefusal>;

    /// Reads one page.
    async fn read_page(&self, request: &PageRequest) -> Result<SourcePage, SourceRefusal>;
}
