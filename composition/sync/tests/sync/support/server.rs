//! A connector server in memory: tools as closures, one declaration, change notifications.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use scion_domain::config::EndpointSpec;
use scion_domain::declaration::DECLARATION_URI;
use scion_domain::json::{Json, JsonObject, to_compact};
use scion_domain::mcp::{
    McpRefusal, ResourceBody, ResourceDescription, ServerChange, ServerIdentity, ToolCall, ToolDescription, ToolHints,
    ToolResult,
};
use scion_ports::{ChangeFeed, McpConnector, McpSession, async_trait};
use tokio::sync::mpsc;

use super::json;

/// What a tool does with one call.
pub enum Answer {
    /// A value, as one text block.
    Value(Json),
    /// An answer with `isError`.
    Error,
    /// A protocol failure.
    Refuse(McpRefusal),
    /// A text as it is.
    Text(String),
    /// No answer at all.
    Hang,
}

type Handler = Box<dyn Fn(&JsonObject) -> Answer + Send + Sync>;

struct Shared {
    tools: Mutex<BTreeMap<String, (ToolDescription, Arc<Handler>)>>,
    declaration: Mutex<String>,
    calls: Mutex<Vec<ToolCall>>,
    reads: AtomicUsize,
    connects: AtomicUsize,
    open: AtomicUsize,
    feeds: Mutex<Vec<mpsc::UnboundedSender<ServerChange>>>,
    refuse_connect: Mutex<Option<McpRefusal>>,
    closed: AtomicBool,
}

/// The server, and the connector that opens sessions with it.
#[derive(Clone)]
pub struct FakeServer(Arc<Shared>);

/// A tool description with a closed input schema of the named parameters.
pub fn tool(name: &str, parameters: &[&str]) -> ToolDescription {
    let properties: JsonObject =
        parameters.iter().map(|name| ((*name).to_owned(), json(r#"{"type":"string"}"#))).collect();
    ToolDescription {
        name: name.to_owned(),
        title: None,
        description: None,
        input_schema: Json::from([("type", Json::from("object")), ("properties", Json::Object(properties))]),
        output_schema: Some(json(r#"{"type":"object","properties":{"result":{"type":"array"}}}"#)),
        hints: ToolHints { read_only: Some(true), destructive: Some(false), idempotent: None, open_world: None },
        meta: JsonObject::new(),
    }
}

impl FakeServer {
    pub fn new(declaration: &str) -> Self {
        Self(Arc::new(Shared {
            tools: Mutex::default(),
            declaration: Mutex::new(declaration.to_owned()),
            calls: Mutex::default(),
            reads: AtomicUsize::new(0),
            connects: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            feeds: Mutex::default(),
            refuse_connect: Mutex::default(),
            closed: AtomicBool::new(false),
        }))
    }

    pub fn with_tool(
        self,
        description: ToolDescription,
        handler: impl Fn(&JsonObject) -> Answer + Send + Sync + 'static,
    ) -> Self {
        self.set_tool(description, handler);
        self
    }

    pub fn set_tool(
        &self,
        description: ToolDescription,
        handler: impl Fn(&JsonObject) -> Answer + Send + Sync + 'static,
    ) {
        let handler: Handler = Box::new(handler);
        self.0.tools.lock().unwrap().insert(description.name.clone(), (description, Arc::new(handler)));
    }

    /// Changes the description of a tool only.
    pub fn describe(&self, name: &str, change: impl FnOnce(&mut ToolDescription)) {
        change(&mut self.0.tools.lock().unwrap().get_mut(name).unwrap().0);
    }

    pub fn remove_tool(&self, name: &str) {
        self.0.tools.lock().unwrap().remove(name);
    }

    pub fn declare(&self, declaration: &str) {
        declaration.clone_into(&mut self.0.declaration.lock().unwrap());
    }

    pub fn announce(&self, change: &ServerChange) {
        self.0.feeds.lock().unwrap().retain(|feed| feed.send(change.clone()).is_ok());
    }

    pub fn refuse_connect(&self, refusal: Option<McpRefusal>) {
        *self.0.refuse_connect.lock().unwrap() = refusal;
    }

    /// Every call ends the session from now on, until the next connection.
    pub fn drop_session(&self) {
        self.0.closed.store(true, Ordering::SeqCst);
    }

    pub fn calls(&self, name: &str) -> Vec<JsonObject> {
        let calls = self.0.calls.lock().unwrap();
        calls.iter().filter(|call| call.tool == name).map(|call| call.arguments.clone()).collect()
    }

    pub fn forget_calls(&self) {
        self.0.calls.lock().unwrap().clear();
    }

    pub fn connects(&self) -> usize {
        self.0.connects.load(Ordering::SeqCst)
    }

    pub fn open_sessions(&self) -> usize {
        self.0.open.load(Ordering::SeqCst)
    }

    fn alive(&self, operation: &str) -> Result<(), McpRefusal> {
        if self.0.closed.load(Ordering::SeqCst) {
            return Err(McpRefusal::Closed { operation: operation.to_owned() });
        }
        Ok(())
    }
}

#[async_trait]
impl McpConnector for FakeServer {
    async fn connect(&self, _endpoint: &EndpointSpec) -> Result<Box<dyn McpSession>, McpRefusal> {
        self.0.connects.fetch_add(1, Ordering::SeqCst);
        if let Some(refusal) = self.0.refuse_connect.lock().unwrap().clone() {
            return Err(refusal);
        }
        self.0.closed.store(false, Ordering::SeqCst);
        self.0.open.fetch_add(1, Ordering::SeqCst);
        let identity = ServerIdentity {
            name: "desk".into(),
            version: "1".into(),
            protocol_version: "2025-11-25".into(),
            list_changed: true,
            subscribe: true,
        };
        Ok(Box::new(FakeSession { server: self.clone(), identity }))
    }
}

struct FakeSession {
    server: FakeServer,
    identity: ServerIdentity,
}

#[async_trait]
impl McpSession for FakeSession {
    fn server(&self) -> &ServerIdentity {
        &self.identity
    }

    async fn list_tools(&self) -> Result<Vec<ToolDescription>, McpRefusal> {
        self.server.alive("tools/list")?;
        Ok(self.server.0.tools.lock().unwrap().values().map(|(description, _)| description.clone()).collect())
    }

    async fn list_resources(&self) -> Result<Vec<ResourceDescription>, McpRefusal> {
        Ok(Vec::new())
    }

    async fn read_resource(&self, uri: &str) -> Result<ResourceBody, McpRefusal> {
        self.server.alive("resources/read")?;
        self.server.0.reads.fetch_add(1, Ordering::SeqCst);
        if uri != DECLARATION_URI {
            return Err(McpRefusal::UnknownResource { uri: uri.to_owned() });
        }
        Ok(ResourceBody {
            uri: uri.to_owned(),
            media_type: Some("application/json".into()),
            bytes: self.server.0.declaration.lock().unwrap().clone().into_bytes(),
            ..ResourceBody::default()
        })
    }

    async fn call_tool(&self, call: &ToolCall) -> Result<ToolResult, McpRefusal> {
        self.server.alive("tools/call")?;
        self.server.0.calls.lock().unwrap().push(call.clone());
        tokio::task::yield_now().await;
        let handler = self.server.0.tools.lock().unwrap().get(&call.tool).map(|(_, handler)| handler.clone());
        let Some(handler) = handler else { return Err(McpRefusal::UnknownTool { tool: call.tool.clone() }) };
        match handler(&call.arguments) {
            Answer::Value(value) => Ok(ToolResult { texts: vec![to_compact(&value)], ..ToolResult::default() }),
            Answer::Text(text) => Ok(ToolResult { texts: vec![text], ..ToolResult::default() }),
            Answer::Error => Ok(ToolResult { is_error: true, ..ToolResult::default() }),
            Answer::Refuse(refusal) => Err(refusal),
            Answer::Hang => std::future::pending().await,
        }
    }

    async fn changes(&self, _resource_uris: &[String]) -> Result<Box<dyn ChangeFeed>, McpRefusal> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.server.0.feeds.lock().unwrap().push(sender);
        Ok(Box::new(FakeFeed(receiver)))
    }

    async fn close(&self) {
        self.server.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

struct FakeFeed(mpsc::UnboundedReceiver<ServerChange>);

#[async_trait]
impl ChangeFeed for FakeFeed {
    async fn next(&mut self) -> Result<Option<ServerChange>, McpRefusal> {
        Ok(self.0.recv().await)
    }
}
