//! Bugs about pages.

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::config::EndpointSpec;
use scion_domain::json::{self, Json};
use scion_domain::mcp::{
    McpRefusal, ResourceBody, ResourceDescription, ServerIdentity, ToolCall, ToolDescription, ToolResult,
};
use scion_ports::{ChangeFeed, McpConnector, McpSession};

/// Opens sessions that get pages wrong.
pub(super) struct BadPages {
    pub(super) inner: Arc<dyn McpConnector>,
    /// Leaves the records of the last page out; otherwise a failed page becomes an empty one.
    pub(super) drops_last: bool,
}

#[async_trait]
impl McpConnector for BadPages {
    async fn connect(&self, endpoint: &EndpointSpec) -> Result<Box<dyn McpSession>, McpRefusal> {
        let inner = self.inner.connect(endpoint).await?;
        Ok(Box::new(BadSession { inner, drops_last: self.drops_last }))
    }
}

struct BadSession {
    inner: Box<dyn McpSession>,
    drops_last: bool,
}

/// A page without records that ends its sweep, in the shape the caller looks for.
fn empty() -> ToolResult {
    let nothing = Json::from([("items", Json::Array(Vec::new())), ("next", Json::Null)]);
    ToolResult { texts: vec![json::to_compact(&nothing)], ..ToolResult::default() }
}

fn without_last(result: ToolResult) -> ToolResult {
    let Some(Ok(Json::Object(mut members))) = result.texts.first().map(|text| json::parse(text)) else { return result };
    if members.get("next") == Some(&Json::Null) && members.contains_key("items") {
        members.insert("items".into(), Json::Array(Vec::new()));
        return ToolResult { texts: vec![json::to_compact(&Json::Object(members))], ..ToolResult::default() };
    }
    result
}

#[async_trait]
impl McpSession for BadSession {
    fn server(&self) -> &ServerIdentity {
        self.inner.server()
    }

    async fn list_tools(&self) -> Result<Vec<ToolDescription>, McpRefusal> {
        self.inner.list_tools().await
    }

    async fn list_resources(&self) -> Result<Vec<ResourceDescription>, McpRefusal> {
        self.inner.list_resources().await
    }

    async fn read_resource(&self, uri: &str) -> Result<ResourceBody, McpRefusal> {
        self.inner.read_resource(uri).await
    }

    async fn call_tool(&self, call: &ToolCall) -> Result<ToolResult, McpRefusal> {
        let answer = self.inner.call_tool(call).await;
        match answer {
            Ok(result) if self.drops_last => Ok(without_last(result)),
            Ok(result) if result.is_error && !self.drops_last => Ok(empty()),
            Err(_) if !self.drops_last => Ok(empty()),
            other => other,
        }
    }

    async fn changes(&self, resource_uris: &[String]) -> Result<Box<dyn ChangeFeed>, McpRefusal> {
        self.inner.changes(resource_uris).await
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}
