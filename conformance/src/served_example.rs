//! The server of the `declaration` vectors (`served_example`): its tools and its declaration are byte for byte the peer's, its
//! records are ours. Serve it with any transport that takes a `ToolSurface`, to prove that a peer's server can be synced.

use std::collections::BTreeMap;
use std::sync::Arc;

use scion_domain::call::CallOutcome;
use scion_domain::json::{Json, JsonObject, parse, to_compact};
use scion_domain::mcp::{
    McpRefusal, PromptBody, PromptDescription, ResourceBody, ResourceDescription, ResourceTemplate, ServerChange,
    ToolCall, ToolDescription, ToolHints, ToolResult,
};
use scion_domain::surface::{CallScope, SurfaceIdentity, SurfaceRefusal};
use scion_ports::{CallChannel, ChangeFeed, ToolSurface, async_trait};

const VECTORS: &str = include_str!("../vectors/declaration.json");

/// The tool of the source `tickets`.
pub const TICKETS_TOOL: &str = "desk_list_tickets";
/// The tool of the source `people`.
pub const PEOPLE_TOOL: &str = "desk_list_people";

/// The tickets it gives out, all on the first page.
pub const TICKETS: &str =
    r#"[{"id":"T-1","subject":"Printer"},{"id":"T-2","subject":"Door"},{"id":"T-3","subject":"Light"}]"#;
/// The people it gives out; the declaration says that they lie under `items`.
pub const PEOPLE: &str = r#"{"items":[{"id":"P-1","name":"first"},{"id":"P-2","name":"second"}]}"#;

/// The example server.
#[derive(Debug)]
pub struct ServedExample {
    identity: SurfaceIdentity,
    tools: Vec<ToolDescription>,
    resource: ResourceDescription,
    text: String,
}

impl ServedExample {
    /// The server as the vectors describe it.
    ///
    /// # Panics
    /// When the vector file does not have the section: it is part of this crate.
    pub fn new() -> Self {
        let vectors = parse(VECTORS).expect("the vector file is JSON");
        let example = vectors.get("served_example").expect("the vector file has the section");
        let list = |name: &str| example.get(name).and_then(Json::as_array).expect("a list of the section").to_vec();
        let resource = list("resource").first().map(described_resource).expect("the section lists its resource");
        Self {
            identity: SurfaceIdentity {
                name: "acme-desk-mcp".to_owned(),
                version: "1.0.0".to_owned(),
                title: None,
                instructions: None,
            },
            tools: list("tools").iter().map(described_tool).collect(),
            resource,
            text: text(example, "text").expect("the section has the served text"),
        }
    }

    /// The declaration, byte for byte.
    pub fn declaration(&self) -> &str {
        &self.text
    }
}

impl Default for ServedExample {
    fn default() -> Self {
        Self::new()
    }
}

fn text(object: &Json, key: &str) -> Option<String> {
    object.get(key)?.as_str().map(str::to_owned)
}

fn described_tool(tool: &Json) -> ToolDescription {
    let hint = |name: &str| tool.get("annotations").and_then(|hints| hints.get(name)).and_then(Json::as_bool);
    ToolDescription {
        name: text(tool, "name").expect("a tool of the vectors has a name"),
        title: text(tool, "title"),
        description: text(tool, "description"),
        input_schema: tool.get("inputSchema").cloned().unwrap_or_default(),
        output_schema: tool.get("outputSchema").cloned(),
        hints: ToolHints {
            read_only: hint("readOnlyHint"),
            destructive: hint("destructiveHint"),
            idempotent: hint("idempotentHint"),
            open_world: hint("openWorldHint"),
        },
        meta: tool.get("_meta").and_then(Json::as_object).cloned().unwrap_or_default(),
    }
}

fn described_resource(resource: &Json) -> ResourceDescription {
    ResourceDescription {
        uri: text(resource, "uri").expect("a resource of the vectors has a URI"),
        name: text(resource, "name").unwrap_or_default(),
        media_type: text(resource, "mimeType"),
        ..ResourceDescription::default()
    }
}

/// Sources start paging at 1 and presets at 0 (`wire/mcp-surface.md` 9.7), so both are the first page here.
fn is_first_page(arguments: &JsonObject) -> bool {
    let page = arguments.get("page").and_then(Json::as_number).and_then(scion_domain::json::JsonNumber::as_i64);
    page.is_none_or(|page| page <= 1)
}

#[async_trait]
impl ToolSurface for ServedExample {
    fn identity(&self) -> &SurfaceIdentity {
        &self.identity
    }

    async fn list_tools(&self, _scope: &CallScope) -> Result<Vec<ToolDescription>, SurfaceRefusal> {
        Ok(self.tools.clone())
    }

    async fn call_tool(
        &self,
        _scope: &CallScope,
        _channel: Arc<dyn CallChannel>,
        call: ToolCall,
    ) -> Result<CallOutcome, SurfaceRefusal> {
        let value = match call.tool.as_str() {
            TICKETS_TOOL if is_first_page(&call.arguments) => TICKETS,
            TICKETS_TOOL => "[]",
            PEOPLE_TOOL => PEOPLE,
            _ => return Err(SurfaceRefusal::UnknownTool { tool: call.tool }),
        };
        let value = parse(value).expect("the records are JSON");
        let wrapped = value.as_object().is_none();
        Ok(ToolResult {
            texts: vec![to_compact(&value)],
            structured: Some(if wrapped { Json::from([("result", value)]) } else { value }),
            wrapped,
            ..ToolResult::default()
        }
        .into())
    }

    async fn list_resources(&self, _scope: &CallScope) -> Result<Vec<ResourceDescription>, SurfaceRefusal> {
        Ok(vec![self.resource.clone()])
    }

    async fn read_resource(&self, _scope: &CallScope, uri: &str) -> Result<ResourceBody, SurfaceRefusal> {
        if uri != self.resource.uri {
            return Err(SurfaceRefusal::UnknownResource { uri: uri.to_owned() });
        }
        Ok(ResourceBody {
            uri: uri.to_owned(),
            media_type: self.resource.media_type.clone(),
            bytes: self.text.clone().into_bytes(),
            ..ResourceBody::default()
        })
    }

    async fn list_resource_templates(&self, _scope: &CallScope) -> Result<Vec<ResourceTemplate>, SurfaceRefusal> {
        Ok(Vec::new())
    }

    async fn list_prompts(&self, _scope: &CallScope) -> Result<Vec<PromptDescription>, SurfaceRefusal> {
        Ok(Vec::new())
    }

    async fn get_prompt(
        &self,
        _scope: &CallScope,
        name: &str,
        _arguments: BTreeMap<String, String>,
    ) -> Result<PromptBody, SurfaceRefusal> {
        Err(SurfaceRefusal::UnknownPrompt { prompt: name.to_owned() })
    }

    fn changes(&self) -> Box<dyn ChangeFeed> {
        Box::new(Unchanging)
    }
}

/// Nothing ever changes here.
struct Unchanging;

#[async_trait]
impl ChangeFeed for Unchanging {
    async fn next(&mut self) -> Result<Option<ServerChange>, McpRefusal> {
        std::future::pending().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scion_domain::declaration::ConnectorDeclaration;
    use scion_ports::NoChannel;

    #[tokio::test]
    async fn it_serves_the_vectors_and_its_declaration_can_be_read() {
        let server = ServedExample::new();
        let declared = ConnectorDeclaration::from_text(server.declaration().as_bytes()).unwrap();
        assert_eq!(declared.connector.as_str(), server.identity().name);
        assert_eq!(declared.to_text(), server.declaration());
        let tools = server.list_tools(&CallScope::default()).await.unwrap();
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, [TICKETS_TOOL, PEOPLE_TOOL]);
        for source in &declared.sources {
            assert!(tools.iter().any(|tool| tool.name == source.tools[0] && tool.hints.is_read_only()));
            let call = ToolCall { tool: source.tools[0].clone(), arguments: JsonObject::new() };
            assert!(
                !server
                    .call_tool(&CallScope::default(), Arc::new(NoChannel), call)
                    .await
                    .unwrap()
                    .done()
                    .unwrap()
                    .is_error
            );
        }
    }
}
