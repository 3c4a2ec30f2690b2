//! The test server: what the runner's server scenarios ask for, by the names they ask for it.
//!
//! What a connector declares (texts, errors, schemas) goes through [`scion_serve`]; what the port carries and a declaration does
//! not name (pictures, sounds, questions in any form) is answered here, on the port itself.

mod media;
mod prompts;
mod questions;
mod resources;
mod tools;

use std::collections::BTreeMap;
use std::sync::Arc;

use scion_domain::call::CallOutcome;
use scion_domain::mcp::{
    Completion, CompletionRequest, CompletionTarget, PromptBody, PromptDescription, ResourceBody, ResourceDescription,
    ResourceTemplate, ToolCall, ToolDescription,
};
use scion_domain::surface::{CallScope, ConnectorRefusal, SurfaceIdentity, SurfaceRefusal};
use scion_local::SystemEntropy;
use scion_ports::{CallChannel, ChangeFeed, ToolSurface, async_trait};
use scion_serve::{Connector, ServedSurface};

/// The surface of the test server.
#[derive(Debug)]
pub struct RunnerSurface {
    declared: ServedSurface,
    questions: questions::Questions,
}

impl RunnerSurface {
    /// A fresh one.
    pub fn new() -> Result<Self, ConnectorRefusal> {
        let mut connector = Connector::builder(scion_serve::identity!())
            .title("Conformance test server")
            .instructions("Its tools do what the scenarios of the MCP conformance runner ask for, and nothing useful.");
        for tool in tools::declared() {
            connector = connector.tool(tool);
        }
        Ok(Self { declared: connector.build()?, questions: questions::Questions::new(&SystemEntropy) })
    }
}

#[async_trait]
impl ToolSurface for RunnerSurface {
    fn identity(&self) -> &SurfaceIdentity {
        self.declared.identity()
    }

    async fn list_tools(&self, scope: &CallScope) -> Result<Vec<ToolDescription>, SurfaceRefusal> {
        let mut all = self.declared.list_tools(scope).await?;
        all.extend(tools::described());
        all.extend(questions::described());
        Ok(all)
    }

    async fn call_tool(
        &self,
        scope: &CallScope,
        channel: Arc<dyn CallChannel>,
        call: ToolCall,
    ) -> Result<CallOutcome, SurfaceRefusal> {
        if let Some(outcome) = tools::call(channel.as_ref(), &call).await {
            return outcome;
        }
        if let Some(outcome) = self.questions.call(channel.as_ref(), &call).await {
            return outcome;
        }
        self.declared.call_tool(scope, channel, call).await
    }

    async fn list_resources(&self, scope: &CallScope) -> Result<Vec<ResourceDescription>, SurfaceRefusal> {
        let mut all = self.declared.list_resources(scope).await?;
        all.extend(resources::described());
        Ok(all)
    }

    async fn read_resource(&self, scope: &CallScope, uri: &str) -> Result<ResourceBody, SurfaceRefusal> {
        match resources::read(uri) {
            Some(body) => Ok(body),
            None => self.declared.read_resource(scope, uri).await,
        }
    }

    async fn list_resource_templates(&self, _scope: &CallScope) -> Result<Vec<ResourceTemplate>, SurfaceRefusal> {
        Ok(vec![resources::template()])
    }

    async fn list_prompts(&self, _scope: &CallScope) -> Result<Vec<PromptDescription>, SurfaceRefusal> {
        Ok(prompts::described())
    }

    async fn get_prompt(
        &self,
        _scope: &CallScope,
        name: &str,
        arguments: BTreeMap<String, String>,
    ) -> Result<PromptBody, SurfaceRefusal> {
        prompts::get(name, &arguments)
    }

    fn completes(&self) -> bool {
        true
    }

    async fn complete(&self, _scope: &CallScope, request: CompletionRequest) -> Result<Completion, SurfaceRefusal> {
        match request.target {
            CompletionTarget::Prompt(name) => prompts::complete(&name, &request.argument, &request.value),
            CompletionTarget::Template(uri) if uri == resources::TEMPLATE => Ok(Completion::default()),
            CompletionTarget::Template(uri) => {
                Err(SurfaceRefusal::UnknownResource { uri: uri.chars().take(256).collect() })
            }
        }
    }

    fn changes(&self) -> Box<dyn ChangeFeed> {
        self.declared.changes()
    }
}
