use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::call::CallOutcome;
use scion_domain::mcp::{
    Completion, CompletionRequest, PromptBody, PromptDescription, ResourceBody, ResourceDescription, ResourceTemplate,
    ToolCall, ToolDescription,
};
use scion_domain::surface::{CallScope, SurfaceIdentity, SurfaceRefusal};

use crate::{CallChannel, ChangeFeed, ReadinessProbe, ServedRoute};

/// What a transport serves: tools, resources and prompts, as one connector declares them.
///
/// Obligations:
/// - **O1** Listings are complete and in the same order each time until a change is announced.
/// - **O2** A listed name can be called or got, and a listed URI, or one of a listed template, can be read; anything else is
///   [`SurfaceRefusal::UnknownTool`], [`SurfaceRefusal::UnknownPrompt`] or [`SurfaceRefusal::UnknownResource`].
/// - **O3** A tool that fails, refuses its arguments or takes too long is an answer with `is_error`. Its one text names
///   the code and a fixed sentence, never a vendor's or an exception's text.
/// - **O4** An answer always has exactly one text; `[]` and `null` are written out. The text holds numbers digit by digit.
/// - **O5** Calls may run side by side. Dropping a call's future cancels it.
/// - **O6** `changes` starts empty: it tells what changes after it was asked for.
/// - **O7** A destructive tool runs only after a reply that says yes in so many words; without a way to ask it does not run.
#[async_trait]
pub trait ToolSurface: Send + Sync {
    /// Who serves; constant for the lifetime of the surface.
    fn identity(&self) -> &SurfaceIdentity;

    /// All tools.
    async fn list_tools(&self, scope: &CallScope) -> Result<Vec<ToolDescription>, SurfaceRefusal>;

    /// Calls one tool. `channel` leads back to its client.
    async fn call_tool(
        &self,
        scope: &CallScope,
        channel: Arc<dyn CallChannel>,
        call: ToolCall,
    ) -> Result<CallOutcome, SurfaceRefusal>;

    /// All resources.
    async fn list_resources(&self, scope: &CallScope) -> Result<Vec<ResourceDescription>, SurfaceRefusal>;

    /// Reads one resource.
    async fn read_resource(&self, scope: &CallScope, uri: &str) -> Result<ResourceBody, SurfaceRefusal>;

    /// All families of resources.
    async fn list_resource_templates(&self, scope: &CallScope) -> Result<Vec<ResourceTemplate>, SurfaceRefusal>;

    /// All prompts.
    async fn list_prompts(&self, scope: &CallScope) -> Result<Vec<PromptDescription>, SurfaceRefusal>;

    /// One prompt, with the arguments filled in.
    async fn get_prompt(
        &self,
        scope: &CallScope,
        name: &str,
        arguments: BTreeMap<String, String>,
    ) -> Result<PromptBody, SurfaceRefusal>;

    /// Whether arguments of prompts and templates can be completed; a transport announces it. Constant.
    fn completes(&self) -> bool {
        false
    }

    /// Values an argument of a prompt or template may have. A surface that completes nothing knows none.
    async fn complete(&self, _scope: &CallScope, _request: CompletionRequest) -> Result<Completion, SurfaceRefusal> {
        Ok(Completion::default())
    }

    /// What a listener serves beside the protocol (SDK-CONNECTOR-CONTROL-R019.2); other transports have no routes. Constant.
    fn routes(&self) -> &[ServedRoute] {
        &[]
    }

    /// How a listener answers `/ready`; `None` where nothing is declared. Constant.
    fn readiness(&self) -> Option<Arc<dyn ReadinessProbe>> {
        None
    }

    /// Follows the changes of this surface.
    fn changes(&self) -> Box<dyn ChangeFeed>;
}
