//! The test server over a pair of streams, asked by an MCP client of another make: what the runner's scenarios look for is there.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::sync::Arc;

use rmcp::model::{CallToolRequestParams, GetPromptRequestParams, ReadResourceRequestParams};
use rmcp::service::{RoleClient, RunningService};
use rmcp::{ClientHandler, ServiceExt as _};
use scion_mcp_runner::surface::RunnerSurface;
use scion_mcp_server::{ServeOptions, serve_io};
use serde_json::{Value, json};

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
    assert_eq!(names.len(), 25);
    for tool in tools {
        assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
        assert_eq!(tool.input_schema["additionalProperties"], false, "{}", tool.name);
        assert!(tool.description.is_some(), "{}", tool.name);
        let Ok(answer) = client.call_tool(CallToolRequestParams::new(tool.name.clone())).await else {
            assert_eq!(tool.name, "test_missing_capability");
            continue;
        };
        // A client that takes no questions is refused, in so many words.
        let asks = ["elicitation", "sampling", "input_required"].iter().any(|word| tool.name.contains(word));
        assert_eq!(answer.is_error == Some(true), asks || tool.name == "test_error_handling", "{}", tool.name);
    }
}

#[tokio::test]
async fn results_carry_every_kind_of_content() {
    let client = client().await;
    for (tool, kinds) in [
        ("test_simple_text", &["text"][..]),
        ("test_image_content", &["text", "image"]),
        ("test_audio_content", &["text", "audio"]),
        ("test_embedded_resource", &["text", "resource"]),
        ("test_multiple_content_types", &["text", "image", "resource"]),
    ] {
        let answer = client.call_tool(CallToolRequestParams::new(tool)).await.unwrap();
        let answer: Value = serde_json::to_value(answer).unwrap();
        let found: Vec<_> = answer["content"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
        assert_eq!(found, kinds, "{tool}");
    }
}

#[tokio::test]
async fn prompts_and_resources_are_there() {
    let client = client().await;
    assert_eq!(client.list_all_prompts().await.unwrap().len(), 4);
    let arguments = json!({"arg1": "a", "arg2": "b"}).as_object().cloned();
    let mut wanted = GetPromptRequestParams::new("test_prompt_with_arguments");
    wanted.arguments = arguments;
    let prompt = serde_json::to_value(client.get_prompt(wanted).await.unwrap()).unwrap();
    assert_eq!(prompt["messages"][0]["content"]["text"], "Prompt with arguments: arg1='a', arg2='b'");
    assert!(client.get_prompt(GetPromptRequestParams::new("test_prompt_with_arguments")).await.is_err());

    assert_eq!(client.list_all_resource_templates().await.unwrap().len(), 1);
    let read = client.read_resource(ReadResourceRequestParams::new("test://template/123/data")).await.unwrap();
    assert!(serde_json::to_value(read).unwrap()["contents"][0]["text"].as_str().unwrap().contains("123"));
    let picture = client.read_resource(ReadResourceRequestParams::new("test://static-binary")).await.unwrap();
    assert!(serde_json::to_value(picture).unwrap()["contents"][0]["blob"].is_string());
}
