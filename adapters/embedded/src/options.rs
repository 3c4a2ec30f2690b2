//! What a caller can choose when opening a store.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::fault::FaultPlan;

/// Choices for [`EmbeddedGraph::open_with`](crate::EmbeddedGraph::open_with).
#[derive(Clone)]
pub struct StoreOptions {
    /// How long to wait for another process's lock before `store_locked`; 5 s by default.
    pub busy_timeout: Duration,
    /// Page cache of the writing connection, in KiB; 32,768 by default.
    pub writer_cache_kib: u32,
    /// Page cache of each reading connection, in KiB; 4,096 by default.
    pub reader_cache_kib: u32,
    /// Reading connections that may be in use at once; 4 by default, at least 1.
    pub readers: usize,
    /// Value-index the `title_field` of each source when its declaration is imported; on by default.
    pub index_titles: bool,
    /// The most pages of 4 KiB the file may have; `None` for no bound but the disk's.
    pub max_pages: Option<u32>,
    /// Where tests let a commit fail; `None` outside tests.
    pub faults: Option<Arc<dyn FaultPlan>>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(5),
            writer_cache_kib: 32 * 1024,
            reader_cache_kib: 4 * 1024,
            readers: 4,
            index_titles: true,
            max_pages: None,
            faults: None,
        }
    }
}

impl fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreOptions")
            .field("busy_timeout", &self.busy_timeout)
            .field("writer_cache_kib", &self.writer_cache_kib)
            .field("reader_cache_kib", &self.reader_cache_kib)
            .field("readers", &self.readers)
            .field("index_titles", &self.index_titles)
            .field("max_pages", &self.max_pages)
            .field("faults", &self.faults.is_some())
            .finish()
    }
}
