//! Sessions with real child processes.
#![allow(clippy::unwrap_used, reason = "a test helper may fail its test")]

mod support;

use std::time::{Duration, Instant};

use scion_domain::config::{EndpointSpec, EndpointTarget};
use scion_domain::json::Json;
use scion_domain::mcp::{McpRefusal, ServerChange};
use scion_domain::refusal::Refusal;
use scion_mcp_client::{McpClient, Pace, SessionOptions};
use scion_ports::McpConnector;
use support::{call, children_with, client, command, eventually, open, options, runs, text, value};

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
        if let EndpointTarget::Command { command, .. } = &mut spec.target {
            *command = "/nonexistent/server".to_owned();
        }
        spec
    };
    let quick = |mode| EndpointSpec { timeout: Duration::from_millis(300), ..command(mode) };
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
    assert!(eventually(|| children_with("deaf") == 0).await, "a child outlives its failed connect");
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
    let session =
        client(SessionOptions { max_message_bytes: 100_000, ..options() }).connect(&command("normal")).await.unwrap();
    let refusal = session.call_tool(&call("big", [("bytes", Json::from(100_000_000_u64))])).await.unwrap_err();
    assert!(matches!(refusal, McpRefusal::TooLarge { limit: 100_000, .. }), "{refusal}");
    assert_eq!(text(&*session, &call("big", [("bytes", Json::from(99_000_u64))])).await.unwrap().len(), 99_000);
}

#[tokio::test]
async fn a_slow_call_times_out_and_is_cancelled_and_the_session_goes_on() {
    let spec = EndpointSpec { timeout: Duration::from_secs(1), ..command("normal") };
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

#[tokio::test]
async fn a_closed_and_a_dropped_session_leave_no_process_behind() {
    for mode in ["normal", "stubborn"] {
        let session = open(mode).await;
        let pid = text(&*session, &call("pid", [])).await.unwrap();
        assert!(runs(&pid));
        let waits = call("wait", []);
        let (pending, ()) = tokio::join!(session.call_tool(&waits), session.close());
        assert_eq!(pending.unwrap_err().code(), "session_closed");
        assert!(!runs(&pid), "{mode}");

        let session = open(mode).await;
        let pid = text(&*session, &call("pid", [])).await.unwrap();
        drop(session);
        assert!(eventually(|| !runs(&pid)).await, "{mode}");
    }
}

#[tokio::test]
async fn a_child_gets_its_named_environment_and_little_else() {
    let mut spec = command("normal");
    let EndpointTarget::Command { env, .. } = &mut spec.target else { panic!() };
    env.insert("API_KEY".to_owned(), "env://GOOD_TOKEN".to_owned());
    let session = client(options()).connect(&spec).await.unwrap();
    let lines = text(&*session, &call("env", [])).await.unwrap();
    assert!(lines.lines().any(|line| line == "API_KEY=good-token"));
    let allowed = ["API_KEY", "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];
    for line in lines.lines() {
        assert!(allowed.contains(&line.split('=').next().unwrap()), "{line}");
    }

    let EndpointTarget::Command { env, .. } = &mut spec.target else { panic!() };
    env.insert("OTHER".to_owned(), "sk-secret-in-the-wrong-place".to_owned());
    let Err(refusal) = client(options()).connect(&spec).await else { panic!() };
    assert_eq!(refusal.code(), "endpoint_credential_unresolved");
    assert!(!format!("{refusal} {refusal:?}").contains("sk-secret"));
}

#[tokio::test]
async fn changes_after_a_handshake_reach_every_feed() {
    let session = open("normal").await;
    let uris = ["data://a".to_owned()];
    let mut first = session.changes(&uris).await.unwrap();
    let mut second = session.changes(&uris).await.unwrap();
    text(&*session, &call("touches", [])).await.unwrap();
    let expected = [
        ServerChange::Tools,
        ServerChange::Resources,
        ServerChange::Prompts,
        ServerChange::Resource("data://a".into()),
    ];
    for feed in [&mut first, &mut second] {
        let mut got = Vec::new();
        while got.len() < expected.len() {
            let change = feed.next().await.unwrap().unwrap();
            if !got.contains(&change) {
                got.push(change);
            }
        }
        assert!(expected.iter().all(|change| got.contains(change)), "{got:?}");
    }
    drop(first);
    assert_eq!(text(&*session, &call("subscribed", [])).await.unwrap(), "data://a");
    drop(second);
    let begin = Instant::now();
    while !text(&*session, &call("subscribed", [])).await.unwrap().is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(5));
    }
}

#[tokio::test]
async fn a_flood_of_enveloped_changes_is_merged_and_none_is_missed() {
    let session = open("enveloped").await;
    let mut feed = session.changes(&["data://a".to_owned()]).await.unwrap();
    let mut taken = 0;
    loop {
        taken += 1;
        assert!(taken < 1_000, "not merged");
        let change = tokio::time::timeout(Duration::from_secs(5), feed.next()).await.unwrap().unwrap();
        if change == Some(ServerChange::Resource("data://a".to_owned())) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    session.close().await;
    while feed.next().await.unwrap().is_some() {}
}

#[tokio::test]
async fn a_feed_of_a_session_that_breaks_says_so() {
    let session = open("normal").await;
    let mut feed = session.changes(&[]).await.unwrap();
    let _ = session.call_tool(&call("dies", [])).await;
    assert_eq!(feed.next().await.unwrap_err().code(), "server_exited");
}

#[tokio::test]
async fn calls_side_by_side_get_their_own_answers() {
    let session = open("normal").await;
    let calls: Vec<_> = (0..50_i64).map(|n| call("echo", [("n", Json::from(n))])).collect();
    let answers = futures_util::future::join_all(calls.iter().map(|call| text(&*session, call))).await;
    for (n, answer) in answers.into_iter().enumerate() {
        assert_eq!(answer.unwrap(), format!(r#"{{"n":{n}}}"#));
    }
}

#[tokio::test]
async fn pacing_spaces_calls() {
    let pace = Pace { min_interval: Duration::from_millis(50), max_in_flight: Some(1) };
    let client = McpClient::builder(support::connector()).options(options()).pace(pace).build();
    let session = client.connect(&command("normal")).await.unwrap();
    let begin = Instant::now();
    for _ in 0..4 {
        text(&*session, &call("pid", [])).await.unwrap();
    }
    assert!(begin.elapsed() >= Duration::from_millis(150));
}

#[tokio::test]
async fn a_listing_over_the_bound_is_refused() {
    let small = SessionOptions { max_message_bytes: 300, ..options() };
    let session = client(small).connect(&command("normal")).await.unwrap();
    assert_eq!(session.list_tools().await.unwrap_err().code(), "message_too_large");
}

/// Reads pages as a sync does. The bound is loose, because debug builds share the machine.
#[tokio::test]
async fn large_pages_are_read_in_linear_time() {
    let session = open("normal").await;
    let mut rates = Vec::new();
    for (count, rounds) in [(200_u64, 40_u32), (20_000, 1)] {
        let page = call("records", [("count", Json::from(count))]);
        let begin = Instant::now();
        let mut bytes = 0;
        for _ in 0..rounds {
            bytes += text(&*session, &page).await.unwrap().len();
        }
        rates.push(f64::from(u32::try_from(bytes).unwrap()) / begin.elapsed().as_secs_f64() / 1e6);
    }
    // A hundred times the page at quadratic cost would be a hundredth of the rate.
    assert!(rates[1] > rates[0] / 10.0, "MB/s with 100 kB and with 10 MB pages: {rates:.1?}");
}
