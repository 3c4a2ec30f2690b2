//! The `served` section of the `tool_results` vectors, over the wire in the enveloped era.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use scion_domain::json::Json;
use scion_mcp_server::ServeOptions;
use scion_serve::{Tool, ToolRefusal};
use serde_json::{Value, json};
use support::{Era, Raw, toy};

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/vectors/tool_results.json");

fn tool(case: &Value) -> Tool {
    let mut tool = Tool::read(case["tool"].as_str().unwrap());
    if !case["output_schema"].is_null() {
        tool = tool.output_schema(Json::from(case["output_schema"].clone()));
    }
    let returned = Json::from(case["returned"].clone());
    tool.handle(move |_context, _args| std::future::ready(Ok::<_, ToolRefusal>(returned.clone())))
}

/// The peer leaves the text out where the value is an empty list or null, so that its own runner takes the page as malformed. We
/// always write it; see DEVIATIONS.md.
fn expected(case: &Value) -> Value {
    let mut wire = case["wire"].clone();
    if wire["content"] == json!([]) {
        wire["content"] = json!([{"type": "text", "text": case["returned"].to_string()}]);
    }
    // Written by every server of this era, but not part of the vectors.
    wire["resultType"] = json!("complete");
    wire
}

/// Proves: SDK-SOURCE-INGEST-R004.21
#[tokio::test]
async fn every_served_case_looks_as_expected_on_the_wire() {
    let vectors: Value = serde_json::from_str(&std::fs::read_to_string(VECTORS).unwrap()).unwrap();
    let cases = vectors["served"].as_array().unwrap();
    assert!(!cases.is_empty());
    let surface = toy(cases.iter().map(tool).collect());
    let mut client = Raw::open(surface, ServeOptions::default(), Era::Enveloped).await;
    let listed = client.request(Era::Enveloped, 1, "tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), cases.len());
    for case in cases {
        let name = case["tool"].as_str().unwrap();
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        let schema = tool.get("outputSchema").cloned().unwrap_or_default();
        assert_eq!(schema, case["output_schema"], "{name}");
        let answer = client.call(Era::Enveloped, 2, name, json!({})).await;
        assert_eq!(answer["result"], expected(case), "{name}");
    }
}
