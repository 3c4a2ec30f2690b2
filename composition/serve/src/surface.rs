//! The checked connector, as a transport serves it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use scion_domain::call::CallOutcome;
use scion_domain::id::ConnectorName;
use scion_domain::mcp::{
    Completion, CompletionRequest, PromptBody, PromptDescription, ResourceBody, ResourceDescription, ResourceTemplate,
    ToolCall, ToolDescription,
};
use scion_domain::surface::{CallScope, SurfaceIdentity, SurfaceRefusal};
use scion_domain::tool_surface::{ActionSplitReport, ToolRoster};
use scion_ports::{CallChannel, CallObserver, ChangeFeed, ReadinessProbe, ServedRoute, ToolSurface, async_trait};

use crate::CallGovernance;
use crate::answer::Output;
use crate::assemble::Known;
use crate::changes::ChangeNotifier;
use crate::content::{ContentHandle, ContentState};
use crate::context_run;
use crate::context_runtime::{CallRuntime, ToolFacts};
use crate::tool::{Handler, Inputs};

/// A connector ready to be served. Made by [`ConnectorBuilder::build`](crate::ConnectorBuilder::build) only, so it is
/// known to be sound.
pub struct ServedSurface {
    identity: SurfaceIdentity,
    connector: ConnectorName,
    tools: Vec<ServedTool>,
    by_name: HashMap<String, usize>,
    resources: Vec<ServedResource>,
    content: Arc<ContentState>,
    notifier: ChangeNotifier,
    calls: Arc<CallRuntime>,
    known: Known,
    pub(crate) routes: Vec<ServedRoute>,
    pub(crate) readiness: Option<Arc<dyn ReadinessProbe>>,
}

pub(crate) struct ServedTool {
    pub(crate) facts: Arc<ToolFacts>,
    pub(crate) description: ToolDescription,
    pub(crate) inputs: Inputs,
    pub(crate) output: Output,
    pub(crate) handler: Handler,
}

pub(crate) struct ServedResource {
    pub(crate) description: ResourceDescription,
    pub(crate) text: String,
}

impl ServedSurface {
    pub(crate) fn new(
        identity: SurfaceIdentity,
        connector: ConnectorName,
        tools: Vec<ServedTool>,
        known: Known,
        resources: Vec<ServedResource>,
        content: ContentState,
        notifier: ChangeNotifier,
    ) -> Self {
        let by_name = tools.iter().enumerate().map(|(index, tool)| (tool.description.name.clone(), index)).collect();
        let calls = Arc::new(CallRuntime::new(connector.clone(), CallGovernance::default()));
        let (content, routes, readiness) = (Arc::new(content), Vec::new(), None);
        Self { identity, connector, tools, by_name, resources, content, notifier, calls, known, routes, readiness }
    }

    /// The same surface whose calls are seen by observers, and need the approvals and receipts of an embedder.
    #[must_use]
    pub fn governed_by(mut self, governance: CallGovernance) -> Self {
        self.calls = Arc::new(CallRuntime::new(self.connector.clone(), governance));
        self
    }

    /// The same surface whose calls one more observer sees, beside what governs it already.
    #[must_use]
    pub fn observed_by(mut self, observer: Arc<dyn CallObserver>) -> Self {
        let governance = self.calls.governance.clone().observer(observer);
        self.calls = Arc::new(CallRuntime::new(self.connector.clone(), governance));
        self
    }

    /// The operation tools that take one `params_json` and nothing typed: a debt of their author (R026).
    pub fn untyped_tools(&self) -> &[String] {
        &self.known.untyped
    }

    /// Every tool in the order of its registration, with where it comes from; additional tools last (R032). Clients are
    /// shown the tools in the order of their names.
    pub fn registered_tools(&self) -> &ToolRoster {
        &self.known.roster
    }

    /// Which tool serves every action of every router (R020.2, R020.3).
    pub fn action_split_report(&self) -> &ActionSplitReport {
        &self.known.report
    }

    /// The risk class of a tool, where classes were declared (R020.5).
    pub fn risk_class(&self, tool: &str) -> Option<&str> {
        self.known.classes.get(tool).map(String::as_str)
    }

    /// The one declared name.
    pub fn connector(&self) -> &ConnectorName {
        &self.connector
    }

    /// Replaces the content while it is served, and shows the catalogue of all that is.
    pub fn content(&self) -> ContentHandle {
        ContentHandle::new(Arc::clone(&self.content))
    }

    /// Announces changes of this surface.
    pub fn notifier(&self) -> ChangeNotifier {
        self.notifier.clone()
    }
}

impl std::fmt::Debug for ServedSurface {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServedSurface")
            .field("identity", &self.identity)
            .field("tools", &self.tools.iter().map(|tool| &tool.description.name).collect::<Vec<_>>())
            .field("resources", &self.resources.iter().map(|one| &one.description.uri).collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl ToolSurface for ServedSurface {
    fn identity(&self) -> &SurfaceIdentity {
        &self.identity
    }

    async fn list_tools(&self, _scope: &CallScope) -> Result<Vec<ToolDescription>, SurfaceRefusal> {
        Ok(self.tools.iter().map(|tool| tool.description.clone()).collect())
    }

    async fn call_tool(
        &self,
        scope: &CallScope,
        channel: Arc<dyn CallChannel>,
        call: ToolCall,
    ) -> Result<CallOutcome, SurfaceRefusal> {
        let ToolCall { tool: name, arguments } = call;
        let Some(tool) = self.by_name.get(&name).and_then(|index| self.tools.get(*index)) else {
            // The caller made the name up, so only a bounded part of it is repeated.
            return Err(SurfaceRefusal::UnknownTool { tool: name.chars().take(64).collect() });
        };
        context_run::run(&self.calls, tool, &self.notifier, scope, channel, arguments).await
    }

    async fn list_resources(&self, _scope: &CallScope) -> Result<Vec<ResourceDescription>, SurfaceRefusal> {
        let own: Vec<_> = self.resources.iter().map(|resource| resource.description.clone()).collect();
        Ok(self.content.now().listed_with(own))
    }

    async fn read_resource(&self, _scope: &CallScope, uri: &str) -> Result<ResourceBody, SurfaceRefusal> {
        let found = self.resources.iter().find(|resource| resource.description.uri == uri);
        let Some(resource) = found else {
            let unknown = || SurfaceRefusal::UnknownResource { uri: uri.chars().take(256).collect() };
            return self.content.now().read(uri).ok_or_else(unknown);
        };
        Ok(ResourceBody {
            uri: uri.to_owned(),
            media_type: resource.description.media_type.clone(),
            bytes: resource.text.clone().into_bytes(),
            ..ResourceBody::default()
        })
    }

    async fn list_resource_templates(&self, _scope: &CallScope) -> Result<Vec<ResourceTemplate>, SurfaceRefusal> {
        Ok(self.content.now().templates())
    }

    async fn list_prompts(&self, _scope: &CallScope) -> Result<Vec<PromptDescription>, SurfaceRefusal> {
        Ok(self.content.now().prompts())
    }

    async fn get_prompt(
        &self,
        _scope: &CallScope,
        name: &str,
        arguments: BTreeMap<String, String>,
    ) -> Result<PromptBody, SurfaceRefusal> {
        self.content.now().prompt(name, &arguments)
    }

    fn completes(&self) -> bool {
        self.content.is_given()
    }

    async fn complete(&self, _scope: &CallScope, request: CompletionRequest) -> Result<Completion, SurfaceRefusal> {
        self.content.now().complete(&request)
    }

    fn routes(&self) -> &[ServedRoute] {
        &self.routes
    }

    fn readiness(&self) -> Option<Arc<dyn ReadinessProbe>> {
        self.readiness.clone()
    }

    fn changes(&self) -> Box<dyn ChangeFeed> {
        self.notifier.listen()
    }
}
