//! The boundary of the listener, and input nobody meant well.

use std::time::Duration;

use scion_domain::listener::ListenerSettings;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::wire::{Server, initialize, open};

#[tokio::test]
async fn a_foreign_host_or_page_is_refused_first() {
    let server = Server::start(open()).await;
    let foreign = server.send("GET", "/health", &[("host", "evil.example")], "").await;
    assert_eq!((foreign.status, foreign.body.as_str()), (400, r#"{"error":"host rejected"}"#));
    assert_eq!(foreign.header("cache-control"), Some("no-store"));
    let page = server.send("POST", "/mcp", &[("origin", "https://evil.example")], "{}").await;
    assert_eq!((page.status, page.body.as_str()), (403, r#"{"error":"origin rejected"}"#));
    let twice = server.raw(b"GET /health HTTP/1.1\r\nhost: localhost\r\nhost: localhost\r\n\r\n").await;
    assert_eq!(twice.status, 400);
    assert_eq!(server.raw(b"GET /health HTTP/1.0\r\n\r\n").await.status, 400);
}

#[tokio::test]
async fn bodies_are_bounded_in_size_and_time() {
    let settings =
        ListenerSettings { max_request_bytes: 2048, request_body_timeout_seconds: 1.0, ..ListenerSettings::default() };
    let server = Server::start_with(open(), settings, |_| {}).await;
    let large = server.post(&[], &serde_json::json!({"x": "y".repeat(4096)})).await;
    assert_eq!((large.status, large.body.as_str()), (413, r#"{"error":"request body too large"}"#));
    let chunk = format!("{:x}\r\n{}\r\n", 1500, "z".repeat(1500));
    let chunked = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\ntransfer-encoding: chunked\r\n\r\n{chunk}{chunk}0\r\n\r\n",
        server.address
    );
    assert_eq!(server.raw(chunked.as_bytes()).await.status, 413);
    let slow = format!("POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-length: 20\r\n\r\nhalf", server.address);
    let slow = server.raw(slow.as_bytes()).await;
    assert_eq!((slow.status, slow.body.as_str()), (408, r#"{"error":"request body timeout"}"#));
    let odd = format!("POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-length: 1, 2\r\n\r\nxx", server.address);
    assert_eq!(server.raw(odd.as_bytes()).await.status, 400);
    assert_eq!(server.get("/health").await.status, 200);
}

#[tokio::test]
async fn what_is_no_message_is_named() {
    let server = Server::start(open()).await;
    let media = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    for body in ["not json", "\u{fffd}", "[", "{\"a\":{\"a\":"] {
        let got = server.send("POST", "/mcp", &media, body).await;
        assert!((400..500).contains(&got.status), "{body}: {got:?}");
    }
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let got = server.send("POST", "/mcp", &media, &deep).await;
    assert!((400..500).contains(&got.status), "{got:?}");
    let text =
        server.send("POST", "/mcp", &[("content-type", "text/plain"), media[1]], &initialize().to_string()).await;
    assert!((400..500).contains(&text.status), "{text:?}");
    assert_eq!(server.get("/health").await.status, 200);
}

#[tokio::test]
async fn an_idle_or_half_open_connection_is_let_go() {
    let settings = ListenerSettings { timeout_keep_alive: 1, ..ListenerSettings::default() };
    let server = Server::start_with(open(), settings, |_| {}).await;
    for start in ["", "GET /health HTT"] {
        let mut stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
        stream.write_all(start.as_bytes()).await.unwrap();
        let mut rest = Vec::new();
        let closed = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut rest)).await;
        assert!(closed.is_ok(), "{start:?} holds its connection");
    }
}

#[tokio::test]
async fn connections_are_bounded() {
    let settings = ListenerSettings { limit_concurrency: 2, ..ListenerSettings::default() };
    let server = Server::start_with(open(), settings, |_| {}).await;
    let held: Vec<_> =
        [tokio::net::TcpStream::connect(server.address).await, tokio::net::TcpStream::connect(server.address).await]
            .into();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let waits = tokio::time::timeout(Duration::from_millis(500), server.get("/health")).await;
    assert!(waits.is_err(), "a third connection was served at once");
    drop(held);
    assert_eq!(server.get("/health").await.status, 200);
}
