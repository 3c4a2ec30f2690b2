use async_trait::async_trait;
use scion_domain::id::ConnectorName;
use scion_domain::mcp::McpRefusal;
use scion_domain::model::{PackEntry, PackServer};
use scion_domain::pack::PackRefusal;

use crate::McpSession;

/// Captures everything a live server publishes, as the entries of a pack.
///
/// Obligations:
/// - **O1** The entries are in URI order, each URI once, `connector://resources` among them; a malformed one is a refusal that
///   names it, never left out.
/// - **O2** The same listing in another order gives the same entries.
/// - **O3** Capturing has no effect on the server and calls no tool.
#[async_trait]
pub trait PackCapture: Send + Sync {
    /// Captures.
    async fn capture(
        &self,
        session: &dyn McpSession,
        connector: &ConnectorName,
    ) -> Result<CapturedPack, CaptureRefusal>;
}

/// What was captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedPack {
    /// The server as it names itself.
    pub server: PackServer,
    /// The entries.
    pub entries: Vec<PackEntry>,
}

/// Why nothing was captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaptureRefusal {
    /// The server did not answer.
    Mcp(McpRefusal),
    /// What it publishes is no pack.
    Pack(PackRefusal),
}

impl From<McpRefusal> for CaptureRefusal {
    fn from(refusal: McpRefusal) -> Self {
        Self::Mcp(refusal)
    }
}

impl From<PackRefusal> for CaptureRefusal {
    fn from(refusal: PackRefusal) -> Self {
        Self::Pack(refusal)
    }
}
