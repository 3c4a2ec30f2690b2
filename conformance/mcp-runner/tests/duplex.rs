//! The test server over a pair of streams, asked by an MCP client of another make: what the runner's scenarios look for is there.

use std::collections::BTreeSet;
use std::sync::Arc;

use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService};
use rmcp::{ClientHandler, ServiceExt as _};
use scion_mcp_runner::surface::RunnerSurface;
use scion_mcp_server::{ServeOptions, serve_io};

struct Plain;

impl ClientHandler for Plain {}

async fn client() -> RunningService<RoleClient, Plain> {
    let (client, server) = tokio::io::duplex(1 << 20);
    let (read, write) = tokio::io::split(server);
    tokio::spawn(serve_io(Arc::new(RunnerSurface::new().unwrap()), read, write, ServeOptions::default()));
    Plain.serve(client).await.unwrap()
}

#[tokio::test]
async fn every_tool_is_listed_with_a_closed_object_and_answers() {
    let client = client().await;
    let tools = client.list_all_tools().await.unwrap();
    let names: BTreeSet<_> = tools.iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(names.len(), tools.len());
    assert_eq!(names.len(), 14);
    for tool in tools {
        assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
        assert_eq!(tool.input_schema["additionalProperties"], false, "{}", tool.name);
        assert!(tool.description.is_some(), "{}", tool.name);
        let answer = client.call_tool(CallToolRequestParams::new(tool.name.clone())).await.unwrap();
        // A client that takes no questions is refused, in so many words.
        let asks = tool.name.contains("elicitation") || tool.name.contains("sampling");
        assert_eq!(answer.is_error == Some(true), asks || tool.name == "test_error_handling", "{}", tool.name);
    }
}
