//! The server of the `declaration` vectors looks on the wire as the peer's does.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use scion_conformance::served_example::{ServedExample, TICKETS, TICKETS_TOOL};
use scion_mcp_server::ServeOptions;
use serde_json::{Value, json};
use support::{Era, Raw};

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/vectors/declaration.json");

/// Proves: SDK-CONNECTOR-CONTROL-R075, SDK-SOURCE-INGEST-R004.21
#[tokio::test]
async fn tools_and_declaration_are_those_of_the_vectors() {
    let vectors: Value = serde_json::from_str(&std::fs::read_to_string(VECTORS).unwrap()).unwrap();
    let example = &vectors["served_example"];
    for era in [Era::Handshake, Era::Enveloped] {
        let mut client = Raw::open(ServedExample::new(), ServeOptions::default(), era).await;
        let listed = client.request(era, 1, "tools/list", json!({})).await;
        assert_eq!(listed["result"]["tools"], example["tools"]);
        let listed = client.request(era, 2, "resources/list", json!({})).await;
        let resource = &listed["result"]["resources"][0];
        for member in ["uri", "name", "mimeType"] {
            assert_eq!(resource[member], example["resource"][0][member]);
        }
        let read = client.request(era, 3, "resources/read", json!({"uri": resource["uri"]})).await;
        assert_eq!(read["result"]["contents"][0]["text"], example["text"]);
        assert_eq!(read["result"]["contents"][0]["mimeType"], example["mimeType"]);
        let called = client.call(era, 4, TICKETS_TOOL, json!({"page": 1})).await;
        assert_eq!(called["result"]["content"][0]["text"], TICKETS);
    }
}
