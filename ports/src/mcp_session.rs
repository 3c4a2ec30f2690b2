use std::collections::BTreeMap;

use async_trait::async_trait;
use scion_domain::config::EndpointSpec;
use scion_domain::json::JsonObject;
use scion_domain::mcp::{
    McpRefusal, ResourceBody, ResourceDescription, ServerIdentity, ToolCall, ToolDescription, ToolResult,
};

use crate::ChangeFeed;

/// One open conversation with an MCP server.
///
/// Obligations:
/// - **O1** Listings are complete: every page is followed, a repeated cursor is [`McpRefusal::ListingLoop`].
/// - **O2** Calls may run side by side; each answer reaches its own caller.
/// - **O3** Every call ends within the session's deadline, with [`McpRefusal::Timeout`] at the latest; dropping a call's
///   future cancels it at the server (`notifications/cancelled`).
/// - **O4** A server that dies, closes, floods standard error or prints noise on standard output ends every pending call
///   with a refusal that names it; none hangs.
/// - **O5** An answer larger than the session's bound is [`McpRefusal::TooLarge`]; the session may end, the process does not.
/// - **O6** `isError` results are answers, protocol errors are refusals; the peer's error text is in neither.
/// - **O7** After `close`, and when the last handle is dropped, a child process is gone within the grace period.
#[async_trait]
pub trait McpSession: Send + Sync {
    /// Who answered the handshake.
    fn server(&self) -> &ServerIdentity;

    /// All tools.
    async fn list_tools(&self) -> Result<Vec<ToolDescription>, McpRefusal>;

    /// All resources.
    async fn list_resources(&self) -> Result<Vec<ResourceDescription>, McpRefusal>;

    /// One resource.
    async fn read_resource(&self, uri: &str) -> Result<ResourceBody, McpRefusal>;

    /// All prompts, each as the server wrote it: a pack keeps definitions, and a model of them would lose what it does not know.
    /// A session that does not know prompts answers [`McpRefusal::Unsupported`].
    async fn list_prompts(&self) -> Result<Vec<JsonObject>, McpRefusal> {
        Err(McpRefusal::Unsupported { operation: "prompts/list".to_owned() })
    }

    /// One prompt, filled in with these texts, as the server wrote it. A prompt that the server refuses for its arguments is
    /// [`McpRefusal::PromptRejected`]; no failure of the transport ever is.
    async fn get_prompt(&self, name: &str, arguments: &BTreeMap<String, String>) -> Result<JsonObject, McpRefusal> {
        let _ = (name, arguments);
        Err(McpRefusal::Unsupported { operation: "prompts/get".to_owned() })
    }

    /// One tool call.
    async fn call_tool(&self, call: &ToolCall) -> Result<ToolResult, McpRefusal>;

    /// Follows change notifications, and updates of the named resources where the server lets a client subscribe.
    async fn changes(&self, resource_uris: &[String]) -> Result<Box<dyn ChangeFeed>, McpRefusal>;

    /// Ends the conversation. Idempotent.
    async fn close(&self);
}

/// Opens sessions.
///
/// Obligations:
/// - **O1** `connect` ends within the endpoint's timeout.
/// - **O2** Each kind of failure has its own [`McpRefusal`]: not started, exited, noise, unreachable, unauthorised, no handshake, timeout.
/// - **O3** A child process gets only the environment the endpoint names and what a program needs to run (`HOME`, `LOGNAME`,
///   `PATH`, `SHELL`, `TERM`, `USER`).
#[async_trait]
pub trait McpConnector: Send + Sync {
    /// Opens a session.
    async fn connect(&self, endpoint: &EndpointSpec) -> Result<Box<dyn McpSession>, McpRefusal>;
}
