//! For the tests of a connector: its surface without a transport.

use std::sync::Arc;

use scion_domain::json::Json;
use scion_domain::mcp::ToolCall;
use scion_domain::surface::CallScope;
use scion_ports::{NoChannel, ToolSurface};

/// The names of the tools, in the order of the alphabet.
///
/// # Panics
/// When the surface cannot be listed.
pub async fn tool_names(surface: &dyn ToolSurface) -> Vec<String> {
    let tools = surface.list_tools(&CallScope::default()).await.expect("the surface lists its tools");
    let mut names: Vec<String> = tools.into_iter().map(|tool| tool.name).collect();
    names.sort();
    names
}

/// Calls a tool as a client would that cannot be asked anything, so a destructive tool is refused. Gives the structured value, or the
/// text where there is none; what a caller would read of a refusal comes as the error.
pub async fn call(surface: &dyn ToolSurface, tool: &str, arguments: Json) -> Result<Json, String> {
    let Json::Object(arguments) = arguments else { return Err("the arguments are not an object".to_owned()) };
    let call = ToolCall { tool: tool.to_owned(), arguments };
    let outcome = surface.call_tool(&CallScope::default(), Arc::new(NoChannel), call).await;
    let result = outcome.map_err(|refusal| refusal.to_string())?;
    let result = result.done().ok_or_else(|| "the tool asks its caller something".to_owned())?;
    let text = result.texts.join("\n");
    if result.is_error {
        return Err(text);
    }
    Ok(result.structured.unwrap_or_else(|| text.into()))
}
