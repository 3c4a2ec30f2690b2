//! The ingest service of the process.

use std::sync::{Arc, OnceLock};

use super::KnowledgeIngest;

static PROCESS: OnceLock<Arc<KnowledgeIngest>> = OnceLock::new();

/// Makes a service the one that streams without their own use. The first call of a process wins; later ones get their
/// service back.
pub fn install(service: Arc<KnowledgeIngest>) -> Result<(), Arc<KnowledgeIngest>> {
    PROCESS.set(service)
}

/// The service of the process, when one is installed.
pub fn installed() -> Option<Arc<KnowledgeIngest>> {
    PROCESS.get().cloned()
}
