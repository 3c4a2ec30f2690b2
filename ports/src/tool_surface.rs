use async_trait::async_trait;
use scion_domain::mcp::{ResourceBody, ResourceDescription, ToolCall, ToolDescription, ToolResult};
use scion_domain::surface::{CallScope, SurfaceIdentity, SurfaceRefusal};

use crate::ChangeFeed;

/// What a transport serves: tools and resources, as one connector declares them.
///
/// Obligations:
/// - **O1** Listings are complete and in the same order each time until a change is announced.
/// - **O2** A listed name can be called and a listed URI can be read; anything else is
///   [`SurfaceRefusal::UnknownTool`] or [`SurfaceRefusal::UnknownResource`].
/// - **O3** A tool that fails, refuses its arguments or takes too long is an answer with `is_error`. Its one text names
///   the code and a fixed sentence, never a vendor's or an exception's text.
/// - **O4** An answer always has exactly one text; `[]` and `null` are written out. The text holds numbers digit by digit.
/// - **O5** Calls may run side by side. Dropping a call's future cancels it.
/// - **O6** `changes` starts empty: it tells what changes after it was asked for.
#[async_trait]
pub trait ToolSurface: Send + Sync {
    /// Who serves; constant for the lifetime of the surface.
    fn identity(&self) -> &SurfaceIdentity;

    /// All tools.
    async fn list_tools(&self, scope: &CallScope) -> Result<Vec<ToolDescription>, SurfaceRefusal>;

    /// Calls one tool.
    async fn call_tool(&self, scope: &CallScope, call: ToolCall) -> Result<ToolResult, SurfaceRefusal>;

    /// All resources.
    async fn list_resources(&self, scope: &CallScope) -> Result<Vec<ResourceDescription>, SurfaceRefusal>;

    /// Reads one resource.
    async fn read_resource(&self, scope: &CallScope, uri: &str) -> Result<ResourceBody, SurfaceRefusal>;

    /// Follows the changes of this surface.
    fn changes(&self) -> Box<dyn ChangeFeed>;
}
