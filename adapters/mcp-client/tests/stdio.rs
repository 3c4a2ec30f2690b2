//! Sessions with real child processes.

mod support;

use std::time::{Duration, Instant};

use scion_domain::json::Json;
use scion_domain::mcp::McpRefusal;
use scion_domain::refusal::Refusal;
use scion_ports::McpConnector;
use support::{call, client, command, open, options, text, value};

#[tokio::test]
async fn a_conversation() {
    let session = open("normal").await;
    let server = session.server();
    assert_eq!((server.name.as_str(), server.protocol_version.as_str()), ("scripted[2J", "2025-11-25"));
    assert!(server.list_changed && server.subscribe);
    let tools = session.list_tools().await.unwrap();
    assert_eq!(tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["tool_0", "tool_1", "tool_2"]);
    assert_eq!(
        value(&*session, &call("tool_1", [])).await.unwrap(),
        Json::Array(vec![Json::from(1_i64), Json::from(2_i64)])
    );
    assert_eq!(text(&*session, &call("echo", [("a", Json::from("é"))])).await.unwrap(), r#"{"a":"é"}"#);
    assert_eq!(session.list_resources().await.unwrap().len(), 2);
    assert_eq!(session.read_resource("data://a").await.unwrap().bytes, "é".as_bytes());
    session.close().await;
    assert_eq!(session.list_tools().await.unwrap_err().code(), "session_closed");
    session.close().await;
}

#[tokio::test]
async fn the_enveloped_era_sends_its_metadata_with_every_request() {
    let session = open("enveloped").await;
    assert_eq!(
        (session.server().name.as_str(), session.server().protocol_version.as_str()),
        ("scripted", "2026-07-28")
    );
    let meta = text(&*session, &call("meta", [])).await.unwrap();
    for key in ["io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"] {
        assert!(meta.contains(key), "{meta}");
    }
    assert_eq!(session.list_tools().await.unwrap().len(), 3);
    let asks = session.call_tool(&call("asks", [])).await.unwrap_err();
    assert_eq!(asks.code(), "operation_unsupported");
}

#[tokio::test]
async fn a_server_that_a_question_before_the_handshake_kills_is_started_again() {
    let session = open("startled").await;
    assert_eq!(session.server().protocol_version, "2025-11-25");
}

#[tokio::test]
async fn each_failure_to_open_has_its_own_refusal() {
    let missing = {
        let mut spec = command("normal");
        if let scion_domain::config::EndpointTarget::Command { command, .. } = &mut spec.target {
            *command = "/nonexistent/server".to_owned();
        }
        spec
    };
    let quick = |mode| scion_domain::config::EndpointSpec { timeout: Duration::from_millis(300), ..command(mode) };
    for (spec, code) in [
        (missing, "server_start_failed"),
        (command("dies"), "server_exited"),
        (command("noisy"), "server_noise_on_stdout"),
        (command("alien"), "server_handshake_failed"),
        (command("future"), "server_handshake_failed"),
        (quick("silent"), "server_timeout"),
        (quick("deaf"), "server_timeout"),
    ] {
        let Err(refusal) = client(options()).connect(&spec).await else { panic!("{code}") };
        assert_eq!(refusal.code(), code, "{refusal}");
    }
}

#[tokio::test]
async fn a_child_that_dies_ends_its_calls_and_is_named() {
    let session = open("normal").await;
    let (waits, dies) = (call("wait", []), call("dies", []));
    let (first, second) = tokio::join!(session.call_tool(&waits), session.call_tool(&dies));
    for refusal in [first.unwrap_err(), second.unwrap_err()] {
        assert!(matches!(&refusal, McpRefusal::Exited { status, .. } if status == "exit status: 7"), "{refusal}");
    }
    assert_eq!(session.list_tools().await.unwrap_err().code(), "server_exited");
}

#[tokio::test]
async fn a_grandchild_that_holds_the_output_does_not_hold_the_call() {
    let session = open("normal").await;
    let refusal = session.call_tool(&call("leaves", [])).await.unwrap_err();
    assert_eq!(refusal.code(), "server_exited");
}

#[tokio::test]
async fn noise_on_standard_output_ends_the_session() {
    let session = open("normal").await;
    assert_eq!(session.call_tool(&call("chatters", [])).await.unwrap_err().code(), "server_noise_on_stdout");
    assert_eq!(session.list_tools().await.unwrap_err().code(), "server_noise_on_stdout");
}

#[tokio::test]
async fn a_flood_on_standard_error_blocks_nothing() {
    let session = open("normal").await;
    assert_eq!(text(&*session, &call("floods", [])).await.unwrap(), "flooded");
}

#[tokio::test]
async fn an_answer_over_the_bound_fails_its_call_only() {
    let session = client(scion_mcp_client::SessionOptions { max_message_bytes: 100_000, ..options() })
        .connect(&command("normal"))
        .await
        .unwrap();
    let refusal = session.call_tool(&call("big", [("bytes", Json::from(100_000_000_u64))])).await.unwrap_err();
    assert!(matches!(refusal, McpRefusal::TooLarge { limit: 100_000, .. }), "{refusal}");
    assert_eq!(text(&*session, &call("big", [("bytes", Json::from(99_000_u64))])).await.unwrap().len(), 99_000);
}

#[tokio::test]
async fn a_slow_call_times_out_and_is_cancelled_and_the_session_goes_on() {
    let spec = scion_domain::config::EndpointSpec { timeout: Duration::from_secs(1), ..command("normal") };
    let session = client(options()).connect(&spec).await.unwrap();
    let refusal = session.call_tool(&call("wait", [])).await.unwrap_err();
    assert!(matches!(refusal, McpRefusal::Timeout { seconds: 1, .. }), "{refusal}");
    let dropped = tokio::time::timeout(Duration::from_millis(50), session.call_tool(&call("wait", []))).await;
    assert!(dropped.is_err());
    let begin = Instant::now();
    while text(&*session, &call("cancelled", [])).await.unwrap() != "2" {
        assert!(begin.elapsed() < Duration::from_secs(5));
    }
}

#[tokio::test]
async fn error_replies_are_refusals_without_the_peers_text() {
    let session = open("normal").await;
    for (code, message, refusal) in [
        (-32603, "boom sk-secret", "tool_failed"),
        (-32602, "bad argument sk-secret", "arguments_refused"),
        (-32001, "access denied sk-secret", "server_access_denied"),
        (-32001, "Unknown tool sk-secret", "unknown_tool"),
        (-32000, "slow down sk-secret", "server_rate_limited"),
    ] {
        let fails = call("fails", [("code", Json::from(i64::from(code))), ("message", Json::from(message))]);
        let got = session.call_tool(&fails).await.unwrap_err();
        assert_eq!(got.code(), refusal);
        assert!(!format!("{got} {got:?}").contains("sk-secret"));
    }
    assert_eq!(session.call_tool(&call("no_such", [])).await.unwrap_err().code(), "unknown_tool");
    assert_eq!(session.call_tool(&call("crooked", [])).await.unwrap_err().code(), "answer_malformed");
    assert_eq!(session.read_resource("data://nope").await.unwrap_err().code(), "unknown_resource");
    assert!(session.call_tool(&call("refuses", [])).await.unwrap().is_error);
}

#[tokio::test]
async fn a_listing_that_never_ends_is_refused() {
    assert_eq!(open("loop").await.list_tools().await.unwrap_err().code(), "listing_loop");
    assert_eq!(open("endless").await.list_tools().await.unwrap_err().code(), "listing_loop");
}
