//! A server of the protocol library alone, doing the same work: arguments read, the same value as text and structure.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler, ServiceExt as _};
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;

use crate::server::{DESCRIPTION, tool_name};

#[derive(Clone)]
struct Echo(Arc<Vec<Tool>>);

impl Echo {
    fn new(tools: usize) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {"text": {"type": "string", "description": "A text"}},
            "required": ["text"],
            "additionalProperties": false
        });
        let schema: Arc<Map<String, Value>> = Arc::new(schema.as_object().cloned().unwrap_or_default());
        let tool = |index| Tool::new(tool_name(index), Cow::Borrowed(DESCRIPTION), Arc::clone(&schema));
        Self(Arc::new((0..tools).map(tool).collect()))
    }
}

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.0.as_ref().clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let text = arguments.get("text").and_then(Value::as_str);
        let text = text.ok_or_else(|| ErrorData::invalid_params("text is missing", None))?;
        let value = json!({"text": text, "length": text.len()});
        let mut result = CallToolResult::success(vec![ContentBlock::text(value.to_string())]);
        result.structured_content = Some(value);
        Ok(result.into())
    }
}

pub(crate) async fn stdio(tools: usize) -> io::Result<()> {
    let service = Echo::new(tools).serve(rmcp::transport::stdio()).await.map_err(io::Error::other)?;
    service.waiting().await.map(drop).map_err(io::Error::other)
}

pub(crate) async fn http(listener: TcpListener, tools: usize) -> io::Result<()> {
    let echo = Echo::new(tools);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(echo.clone()), sessions, StreamableHttpServerConfig::default());
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
