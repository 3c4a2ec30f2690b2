use async_trait::async_trait;
use scion_domain::mcp::McpRefusal;
use scion_domain::work::Artifact;

use crate::McpSession;

/// Captures one kind of content from a live server for a pack.
///
/// Obligations:
/// - **O1** Every entry of the kind is captured, in the order of its URI; a malformed entry is a refusal that names it, never left out.
/// - **O2** The body is exactly what the server gave.
/// - **O3** Capturing has no effect on the server.
#[async_trait]
pub trait ArtifactKind: Send + Sync {
    /// The kind, for example `prompt`.
    fn kind(&self) -> &'static str;

    /// Captures.
    async fn capture(&self, session: &dyn McpSession) -> Result<Vec<Artifact>, McpRefusal>;
}
