//! One open conversation.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, GetPromptRequest, GetPromptRequestParams,
    ListPromptsRequest, ListResourcesRequest, ListToolsRequest, PaginatedRequestParams, ReadResourceRequest,
    ReadResourceRequestParams, ServerResult,
};
use rmcp::service::RunningService;
use scion_domain::json::JsonObject;
use scion_domain::mcp::{
    McpRefusal, ResourceBody, ResourceDescription, ServerIdentity, ToolCall, ToolDescription, ToolResult,
};
use scion_ports::{ChangeFeed, McpSession};
use serde_json::Value;

use crate::changes::ChangeHub;
use crate::decode::{self, Answer, Malformed, Page};
use crate::fault::Fault;
use crate::listener::Listener;
use crate::operation::Operation;
use crate::options::SessionOptions;
use crate::peer::Requester;
use crate::stdio::Child;
use crate::subscribe::Subscriptions;
use crate::wire::RAW_KEY;

/// How much longer than its grace period a child may take to be reaped.
const REAP_LAG: Duration = Duration::from_secs(1);

/// An open session over either transport.
pub(crate) struct Session {
    pub(crate) identity: ServerIdentity,
    /// Whether the server announced prompts. One that did not is not asked: some answer such a request with nothing.
    pub(crate) prompts: bool,
    pub(crate) requester: Arc<Requester>,
    pub(crate) running: tokio::sync::Mutex<Option<RunningService<RoleClient, Listener>>>,
    pub(crate) hub: Arc<ChangeHub>,
    pub(crate) subscriptions: Arc<Subscriptions>,
    pub(crate) options: SessionOptions,
    pub(crate) child: Option<Child>,
    /// Tools whose output schema says that their results are wrapped; known once the tools were listed.
    pub(crate) wrapping: Mutex<HashSet<String>>,
}

impl Session {
    async fn text(&self, operation: Operation<'_>, request: ClientRequest) -> Result<String, McpRefusal> {
        let malformed = || McpRefusal::Malformed { operation: operation.to_string() };
        match self.requester.request(operation, request).await? {
            ServerResult::CustomResult(custom) => match custom.0 {
                Value::String(text) => Ok(text),
                other => Ok(other.to_string()),
            },
            ServerResult::ListToolsResult(mut list) => match list.meta.as_mut().and_then(|meta| meta.remove(RAW_KEY)) {
                Some(Value::String(text)) => Ok(text),
                _ => serde_json::to_string(&list).map_err(|_| malformed()),
            },
            // Only a result that came back over a resumed stream is typed.
            typed => serde_json::to_string(&typed).map_err(|_| malformed()),
        }
    }

    /// Follows a listing to its end: each cursor once, pages and bytes bounded.
    async fn list<T>(
        &self,
        operation: Operation<'_>,
        request: impl Fn(Option<PaginatedRequestParams>) -> ClientRequest + Sync,
        read: fn(&str) -> Result<Page<T>, Malformed>,
    ) -> Result<Vec<T>, McpRefusal>
    where
        T: Send,
    {
        let mut items = Vec::new();
        let mut seen = HashSet::new();
        let mut bytes = 0_usize;
        let mut cursor = None;
        loop {
            let params = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
            let raw = self.text(operation, request(params)).await?;
            bytes = bytes.saturating_add(raw.len());
            if bytes > self.options.max_message_bytes {
                let limit = self.options.max_message_bytes;
                return Err(McpRefusal::TooLarge { operation: operation.to_string(), limit });
            }
            let page = read(&raw).map_err(|Malformed| McpRefusal::Malformed { operation: operation.to_string() })?;
            items.extend(page.items);
            let Some(next) = page.next else {
                return Ok(items);
            };
            if !seen.insert(next.clone()) || seen.len() >= self.options.max_listing_pages {
                return Err(McpRefusal::ListingLoop { operation: operation.to_string() });
            }
            cursor = Some(next);
        }
    }
}

#[async_trait]
impl McpSession for Session {
    fn server(&self) -> &ServerIdentity {
        &self.identity
    }

    async fn list_tools(&self) -> Result<Vec<ToolDescription>, McpRefusal> {
        let request = |params| ClientRequest::ListToolsRequest(ListToolsRequest { params, ..Default::default() });
        let listed = self.list(Operation::ListTools, request, decode::tools).await?;
        let wrapping = listed.iter().filter(|tool| tool.wraps).map(|tool| tool.description.name.clone()).collect();
        *self.wrapping.lock().unwrap_or_else(PoisonError::into_inner) = wrapping;
        Ok(listed.into_iter().map(|tool| tool.description).collect())
    }

    async fn list_resources(&self) -> Result<Vec<ResourceDescription>, McpRefusal> {
        let request =
            |params| ClientRequest::ListResourcesRequest(ListResourcesRequest { params, ..Default::default() });
        self.list(Operation::ListResources, request, decode::resources).await
    }

    async fn read_resource(&self, uri: &str) -> Result<ResourceBody, McpRefusal> {
        let operation = Operation::Read(uri);
        let request = ReadResourceRequest::new(ReadResourceRequestParams::new(uri));
        let raw = self.text(operation, ClientRequest::ReadResourceRequest(request)).await?;
        match decode::resource(&raw, uri) {
            Ok(Some(body)) => Ok(body),
            Ok(None) => Err(McpRefusal::Unsupported { operation: format!("{operation} without a person's answer") }),
            Err(Malformed) => Err(McpRefusal::Malformed { operation: operation.to_string() }),
        }
    }

    async fn list_prompts(&self) -> Result<Vec<JsonObject>, McpRefusal> {
        if !self.prompts {
            return Err(McpRefusal::Unsupported { operation: Operation::ListPrompts.to_string() });
        }
        let request = |params| ClientRequest::ListPromptsRequest(ListPromptsRequest { params, ..Default::default() });
        self.list(Operation::ListPrompts, request, decode::prompts).await
    }

    async fn get_prompt(&self, name: &str, arguments: &BTreeMap<String, String>) -> Result<JsonObject, McpRefusal> {
        let operation = Operation::Prompt(name);
        let mut params = GetPromptRequestParams::new(name);
        if !arguments.is_empty() {
            let texts = arguments.iter().map(|(name, text)| (name.clone(), Value::from(text.as_str())));
            params = params.with_arguments(texts.collect::<serde_json::Map<_, _>>());
        }
        let raw = self.text(operation, ClientRequest::GetPromptRequest(GetPromptRequest::new(params))).await?;
        match decode::prompt(&raw) {
            Ok(Some(result)) => Ok(result),
            Ok(None) => Err(McpRefusal::Unsupported { operation: format!("{operation} without a person's answer") }),
            Err(Malformed) => Err(McpRefusal::Malformed { operation: operation.to_string() }),
        }
    }

    async fn call_tool(&self, call: &ToolCall) -> Result<ToolResult, McpRefusal> {
        let operation = Operation::Call(&call.tool);
        let mut params = CallToolRequestParams::new(call.tool.clone());
        params.arguments =
            Some(call.arguments.iter().map(|(name, value)| (name.clone(), Value::from(value))).collect());
        let raw = self.text(operation, ClientRequest::CallToolRequest(CallToolRequest::new(params))).await?;
        let wraps = self.wrapping.lock().unwrap_or_else(PoisonError::into_inner).contains(&call.tool);
        match decode::tool_result(&raw, wraps) {
            Ok(Answer::Done(result)) => Ok(result),
            Ok(Answer::InputRequired) => {
                Err(McpRefusal::Unsupported { operation: format!("{operation} without a person's answer") })
            }
            Err(Malformed) => Err(McpRefusal::Malformed { operation: operation.to_string() }),
        }
    }

    async fn changes(&self, resource_uris: &[String]) -> Result<Box<dyn ChangeFeed>, McpRefusal> {
        let mut feed = self.hub.feed(Arc::clone(&self.requester.end), self.requester.label.clone());
        self.subscriptions.open(&self.requester, &self.identity, resource_uris, &mut feed).await?;
        Ok(Box::new(feed))
    }

    async fn close(&self) {
        self.requester.end.set(Fault::Closed);
        let running = self.running.lock().await.take();
        let patience = self.options.grace + REAP_LAG;
        if let Some(mut running) = running {
            let _ = running.close_with_timeout(patience).await;
        }
        if let Some(mut child) = self.child.clone() {
            child.stop_token().cancel();
            let _ = tokio::time::timeout(patience, child.status()).await;
        }
    }
}
