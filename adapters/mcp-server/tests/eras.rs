//! Both eras of the protocol, with an independent client.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use rmcp::ClientServiceExt as _;
use rmcp::model::{CallToolRequestParams, ProtocolVersion, ReadResourceRequestParams, ResourceContents};
use rmcp::service::ClientLifecycleMode;
use scion_domain::json::Json;
use scion_mcp_server::{ServeOptions, serve_io};
use scion_serve::{Mapping, Param, ServedSurface, Source, Tool, ToolRefusal};
use serde_json::json;
use support::{Era, Raw, toy};

fn tickets() -> ServedSurface {
    let source = Source::new("tickets", "Ticket", "id")
        .page("page", None, 100)
        .mapping(Mapping::class("Ticket").field("subject", "subject"));
    let tool = Tool::read("desk_list_tickets")
        .title("List tickets")
        .description("All tickets")
        .param(Param::integer("page", "which").or(1))
        .output_schema(scion_domain::json::parse(r#"{"type":"array","items":{"type":"object"}}"#).unwrap())
        .source(source)
        .handle(|_context, args| async move {
            Ok::<_, ToolRefusal>(Json::from(vec![Json::from([("id", Json::from(args.integer("page")?))])]))
        });
    toy(vec![tool])
}

/// Proves: SDK-CONNECTOR-CONTROL-R075, SDK-CONNECTOR-CONTROL-R075.2
#[tokio::test]
async fn an_independent_client_reads_everything_in_either_era() {
    let discover = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    for (mode, version) in [(ClientLifecycleMode::Initialize, None), (discover, Some(ProtocolVersion::V_2026_07_28))] {
        let (near, far) = tokio::io::duplex(1 << 16);
        let (read, write) = tokio::io::split(far);
        let server = tokio::spawn(serve_io(Arc::new(tickets()), read, write, ServeOptions::default()));
        let client = ().serve_with_lifecycle(near, mode).await.unwrap();
        if let Some(version) = version {
            assert!(client.peer_info().is_some());
            assert_eq!(version.as_str(), "2026-07-28");
        }

        let tools = client.list_all_tools().await.unwrap();
        assert_eq!(tools[0].name, "desk_list_tickets");
        assert_eq!(tools[0].annotations.as_ref().unwrap().read_only_hint, Some(true));
        assert_eq!(tools[0].meta.as_ref().unwrap().0["connector_sources"][0]["source_id"], "tickets");
        let arguments = json!({"page": 4}).as_object().unwrap().clone();
        let result =
            client.call_tool(CallToolRequestParams::new("desk_list_tickets").with_arguments(arguments)).await.unwrap();
        assert_eq!(result.content[0].as_text().unwrap().text, r#"[{"id":4}]"#);
        assert_eq!(result.structured_content, Some(json!({"result": [{"id": 4}]})));
        let read = client.read_resource(ReadResourceRequestParams::new("connector://resources")).await.unwrap();
        let ResourceContents::TextResourceContents { text, .. } = &read.contents[0] else { panic!("{read:?}") };
        assert!(text.starts_with(r#"{"connector": "toy""#));

        client.cancel().await.unwrap();
        tokio::time::timeout(Duration::from_secs(20), server).await.unwrap().unwrap().unwrap();
    }
}

#[tokio::test]
async fn enveloped_results_name_the_server_and_handshake_results_do_not() {
    for (era, named) in [(Era::Enveloped, true), (Era::Handshake, false)] {
        let mut client = Raw::open(tickets(), ServeOptions::default(), era).await;
        for (method, params) in [
            ("tools/list", json!({})),
            ("resources/list", json!({})),
            ("tools/call", json!({"name": "desk_list_tickets", "arguments": {}})),
            ("resources/read", json!({"uri": "connector://status"})),
        ] {
            let answer = client.request(era, 1, method, params).await;
            let server = &answer["result"]["_meta"]["io.modelcontextprotocol/serverInfo"];
            assert_eq!(*server == json!({"name": "toy", "version": "1"}), named, "{method}: {answer}");
            assert_eq!(answer["result"]["resultType"] == "complete", named, "{method}: {answer}");
        }
    }
}

#[tokio::test]
async fn an_unknown_version_is_refused_with_the_known_ones() {
    let mut client = Raw::serve(tickets(), ServeOptions::default());
    let mut request = support::message(Era::Enveloped, 1, "tools/list", json!({}));
    request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    client.send(&request).await;
    let answer = client.receive().await;
    assert_eq!(answer["error"]["code"], -32022);
    let known = answer["error"]["data"]["supported"].as_array().unwrap();
    assert!(known.contains(&json!("2025-11-25")) && known.contains(&json!("2026-07-28")), "{answer}");
}

#[tokio::test]
async fn changes_are_announced_in_the_handshake_era() {
    let surface = tickets();
    let notifier = surface.notifier();
    let mut client = Raw::open(surface, ServeOptions::default(), Era::Handshake).await;
    let uri = "connector://resources";
    client.request(Era::Handshake, 1, "resources/subscribe", json!({"uri": uri})).await;
    notifier.resource("connector://nobody-asked");
    notifier.resource(uri);
    let heard = client.receive().await;
    assert_eq!((&heard["method"], &heard["params"]["uri"]), (&json!("notifications/resources/updated"), &json!(uri)));
    notifier.tools();
    assert_eq!(client.receive().await["method"], "notifications/tools/list_changed");
    client.request(Era::Handshake, 2, "resources/unsubscribe", json!({"uri": uri})).await;
    notifier.resource(uri);
    notifier.resources();
    assert_eq!(client.receive().await["method"], "notifications/resources/list_changed");
}

#[tokio::test]
async fn changes_are_announced_to_a_listener_of_the_enveloped_era() {
    let surface = tickets();
    let notifier = surface.notifier();
    let mut client = Raw::open(surface, ServeOptions::default(), Era::Enveloped).await;
    client.request(Era::Enveloped, 1, "tools/list", json!({})).await;
    let wanted =
        json!({"notifications": {"toolsListChanged": true, "resourceSubscriptions": ["connector://resources"]}});
    let acknowledged = client.request(Era::Enveloped, 2, "subscriptions/listen", wanted).await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged", "{acknowledged}");
    tokio::time::sleep(Duration::from_millis(50)).await;
    notifier.resources();
    notifier.resource("connector://resources");
    assert_eq!(client.receive().await["method"], "notifications/resources/updated");
    notifier.tools();
    assert_eq!(client.receive().await["method"], "notifications/tools/list_changed");
}
