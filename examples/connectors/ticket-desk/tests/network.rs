//! The program on a network: closed until a caller is known, and then the same tools.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use support::{DeskService, program};

const CALLER: &str = "a-caller-of-the-desk-with-a-long-token";

/// One request on a connection of its own; gives the whole answer.
fn ask(port: u16, token: Option<&str>, body: &str) -> std::io::Result<String> {
    #[expect(clippy::disallowed_methods, reason = "a client of the test's own server on loopback")]
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let credential = token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
    let length = body.len();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n{credential}content-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\n\
         mcp-name: desk_get_ticket\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// What `/metrics` answers.
fn measured(port: u16, token: &str) -> String {
    #[expect(clippy::disallowed_methods, reason = "a client of the test's own server on loopback")]
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    write!(
        stream,
        "GET /metrics HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// The program listening, with one caller it knows.
fn listening(desk: &DeskService, transport: &str) -> (u16, tokio::process::Child) {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut server = program(desk);
    server.args(["-t", transport, "--auth-type", "static", "--static-tokens-ref", "env://TOKENS"]);
    server.args(["--metrics", "--token-audience", "ticket-desk", "--port", &port.to_string()]);
    server.env("TOKENS", format!(r#"{{"{CALLER}": {{"client_id": "ada", "scopes": [], "tenant_id": "desk"}}}}"#));
    (port, server.spawn().unwrap())
}

/// The first bytes of the stream of events.
fn open_stream(port: u16, token: &str) -> std::io::Result<String> {
    #[expect(clippy::disallowed_methods, reason = "a client of the test's own server on loopback")]
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    write!(
        stream,
        "GET /sse HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {token}\r\naccept: text/event-stream\r\n\r\n"
    )?;
    let (mut read, mut buffer) = (String::new(), [0; 4096]);
    while !read.contains("session_id=") && !read.starts_with("HTTP/1.1 4") {
        match stream.read(&mut buffer)? {
            0 => break,
            count => read.push_str(&String::from_utf8_lossy(&buffer[..count])),
        }
    }
    Ok(read)
}

/// Proves: SDK-CONNECTOR-CONTROL-R019.1
#[tokio::test(flavor = "multi_thread")]
async fn the_older_transport_is_served_to_known_callers_only() {
    let desk = DeskService::start().await;
    let (port, mut server) = listening(&desk, "sse");
    let started = Instant::now();
    let known = loop {
        match open_stream(port, CALLER) {
            Ok(answer) => break answer,
            Err(error) => assert!(started.elapsed() < Duration::from_secs(20), "nothing listens: {error}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert!(known.starts_with("HTTP/1.1 200") && known.contains("event: endpoint"), "{known}");
    let stranger = open_stream(port, "another-token-that-nobody-gave-out-here").unwrap();
    assert!(stranger.starts_with("HTTP/1.1 401"), "{stranger}");
    server.kill().await.unwrap();
}

/// Proves: SDK-CONNECTOR-CONTROL-R019.1, SDK-CENTRALIZED-CAPABILITIES-R014
#[tokio::test(flavor = "multi_thread")]
async fn a_known_caller_is_served_and_a_stranger_reaches_nothing() {
    let desk = DeskService::start().await;
    let (port, mut server) = listening(&desk, "streamable-http");
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"desk_get_ticket","arguments":{"id":4},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"}}}}"#;
    let started = Instant::now();
    let stranger = loop {
        match ask(port, None, call) {
            Ok(answer) => break answer,
            Err(error) => assert!(started.elapsed() < Duration::from_secs(20), "nothing listens: {error}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert!(stranger.starts_with("HTTP/1.1 401"), "{stranger}");
    let wrong = ask(port, Some("another-token-that-nobody-gave-out-here"), call).unwrap();
    assert!(wrong.starts_with("HTTP/1.1 401"), "{wrong}");
    assert_eq!(desk.seen(""), 0);
    let known = ask(port, Some(CALLER), call).unwrap();
    assert!(known.starts_with("HTTP/1.1 200") && known.contains("Printer 4 is out of paper"), "{known}");
    assert_eq!(desk.seen("GET /api/tickets/4"), 1);
    let metrics = measured(port, CALLER);
    assert!(metrics.starts_with("HTTP/1.1 200") && metrics.contains("application/openmetrics-text"), "{metrics}");
    let counted = r#"scion_tool_calls_total{tool="desk_get_ticket",state="succeeded"} 1"#;
    assert!(metrics.lines().any(|line| line == counted), "{metrics}");
    assert!(measured(port, "another-token-that-nobody-gave-out-here").starts_with("HTTP/1.1 401"));
    server.kill().await.unwrap();
}
