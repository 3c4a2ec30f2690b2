use async_trait::async_trait;
use scion_domain::work::{FileOutcome, FileVersion, WorkRefusal};

/// Indexes versions of files of a repository.
///
/// Obligations:
/// - **O1** One outcome per file, in order; a file without an outcome is a refusal of the whole batch.
/// - **O2** The same batch again changes nothing.
/// - **O3** A batch is applied as a whole or not at all.
#[async_trait]
pub trait RepositoryIndex: Send + Sync {
    /// Indexes one batch of one revision.
    async fn index(
        &self,
        repository: &str,
        revision: &str,
        files: &[FileVersion],
    ) -> Result<Vec<FileOutcome>, WorkRefusal>;
}
