//! Versions of tools, and tools beside the connector's own.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use scion_domain::json::{Json, JsonObject};
use scion_domain::mcp::{ToolCall, ToolDescription, ToolResult};
use scion_domain::refusal::Refusal as _;
use scion_domain::surface::CallScope;
use scion_ports::{NoChannel, ToolSurface as _};
use scion_serve::{Connector, ConnectorBuilder, Identity, ServedSurface, Tool, ToolBuilder, ToolRefusal};

fn desk() -> ConnectorBuilder {
    Connector::builder(Identity::new("desk-mcp", "1.0.0"))
}

/// A tool that answers its own name.
fn named(tool: ToolBuilder, answer: &'static str) -> Tool {
    tool.handle(move |_context, _args| async move { Ok::<_, ToolRefusal>(Json::from(answer)) })
}

async fn listed(surface: &ServedSurface) -> Vec<ToolDescription> {
    surface.list_tools(&CallScope::default()).await.unwrap()
}

async fn call(surface: &ServedSurface, tool: &str) -> ToolResult {
    let call = ToolCall { tool: tool.to_owned(), arguments: JsonObject::new() };
    surface.call_tool(&CallScope::default(), Arc::new(NoChannel), call).await.unwrap().done().unwrap()
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.3
#[tokio::test]
async fn a_version_is_listed_and_changes_no_answer() {
    let build = |tool: ToolBuilder| desk().tool(named(tool.description("Lists tickets."), "x")).build().unwrap();
    let plain = build(Tool::read("desk_list"));
    let versioned = build(Tool::read("desk_list").meta("own", Json::from(true)).version("1.2.0"));
    let tool = &listed(&versioned).await[0];
    assert_eq!(tool.description.as_deref(), Some("Lists tickets.\n\nVersion: 1.2.0"));
    assert_eq!(tool.meta.get("tool_version"), Some(&Json::from("1.2.0")));
    assert_eq!(tool.meta.get("own"), Some(&Json::from(true)));
    assert_eq!(call(&versioned, "desk_list").await, call(&plain, "desk_list").await);
    let silent = &listed(&plain).await[0];
    assert_eq!((silent.description.as_deref(), silent.meta.len()), (Some("Lists tickets."), 0));
    for bad in ["", "1 2", "1\n2"] {
        let refused = desk().tool(named(Tool::read("desk_list").version(bad), "x")).build();
        assert_eq!(refused.err().unwrap().code(), "tool_version_invalid");
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R032
#[tokio::test]
async fn additional_tools_come_last_and_replace_nothing() {
    let own = |name: &str| named(Tool::read(name), "own");
    let extra = |name: &str| named(Tool::read(name), "extra");
    let names = |tools: Vec<ToolDescription>| tools.into_iter().map(|tool| tool.name).collect::<Vec<_>>();

    let surface = desk().additional_tool(extra("desk_z")).additional_tool(extra("desk_a")).tool(own("desk_m")).build();
    let surface = surface.unwrap();
    let registered: Vec<_> = surface.registered_tools().tools().map(|(name, _)| name.as_str()).collect();
    assert_eq!(registered, ["desk_m", "desk_z", "desk_a"]);
    // What clients see is in the order of names, whatever was registered when.
    assert_eq!(names(listed(&surface).await), ["desk_a", "desk_m", "desk_z"]);
    assert_eq!(call(&surface, "desk_a").await.texts, ["extra"]);
    assert_eq!(call(&surface, "desk_m").await.texts, ["own"]);

    let without = desk().tool(own("desk_m")).build().unwrap();
    assert_eq!(names(listed(&without).await), ["desk_m"]);

    for taken in [
        desk().tool(own("desk_m")).additional_tool(extra("desk_m")),
        desk().additional_tool(extra("desk_m")).tool(own("desk_m")),
        desk().additional_tool(extra("desk_m")).additional_tool(extra("desk_m")),
    ] {
        assert_eq!(taken.build().err().unwrap().code(), "tool_duplicate");
    }
}
