//! The older transport.

use std::time::Duration;

use scion_domain::json::Json;
use scion_domain::listener::ListenerSettings;
use scion_serve::{Connector, Identity, Tool, ToolRefusal};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::wire::{Got, Server, initialize, open, verified};

fn settings() -> ListenerSettings {
    ListenerSettings { transport: "sse".to_owned(), ..ListenerSettings::default() }
}

/// The reading side of a session.
struct Reader {
    stream: TcpStream,
    text: String,
    endpoint: String,
}

impl Reader {
    async fn open(server: &Server, headers: &str) -> Self {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let head = format!("GET /sse HTTP/1.1\r\nhost: {}\r\n{headers}\r\n", server.address);
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut reader = Self { stream, text: String::new(), endpoint: String::new() };
        let (event, data) = reader.event().await;
        assert_eq!(event, "endpoint");
        reader.endpoint = data;
        reader
    }

    /// The next event and its data.
    async fn event(&mut self) -> (String, String) {
        loop {
            let whole = self.text.find("event: ").and_then(|start| {
                let end = start + self.text[start..].find("\r\n\r\n")?;
                Some((start, end))
            });
            if let Some((start, end)) = whole {
                let event = self.text[start..end].to_owned();
                self.text.drain(..end);
                let (name, data) = event.trim_start_matches("event: ").split_once("\r\ndata: ").unwrap();
                return (name.to_owned(), data.to_owned());
            }
            let mut piece = [0u8; 8192];
            let read = tokio::time::timeout(Duration::from_secs(10), self.stream.read(&mut piece)).await;
            let count = read.expect("an event in time").unwrap();
            assert!(count > 0, "the stream ended: {}", self.text);
            self.text += &String::from_utf8_lossy(&piece[..count]);
        }
    }

    async fn message(&mut self) -> Value {
        let (event, data) = self.event().await;
        assert_eq!(event, "message");
        serde_json::from_str(&data).unwrap()
    }
}

async fn post(server: &Server, endpoint: &str, headers: &[(&str, &str)], message: &Value) -> Got {
    let mut all = vec![("content-type", "application/json")];
    all.extend_from_slice(headers);
    server.send("POST", endpoint, &all, &message.to_string()).await
}

async fn opened(server: &Server, headers: &[(&str, &str)]) -> Reader {
    let lines: Vec<_> = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let mut reader = Reader::open(server, &lines.concat()).await;
    let endpoint = reader.endpoint.clone();
    let started = post(server, &endpoint, headers, &initialize()).await;
    assert_eq!((started.status, started.body.as_str()), (202, ""));
    assert_eq!(reader.message().await["result"]["serverInfo"]["name"], "desk");
    let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(post(server, &endpoint, headers, &done).await.status, 202);
    reader
}

fn call(id: u32, tool: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

#[tokio::test]
async fn a_session_is_a_stream_and_a_place_for_messages() {
    let server = Server::start_with(verified(), settings(), |_| {}).await;
    let ada = [("authorization", "Bearer token-of-ada")];
    let mut reader = opened(&server, &ada).await;
    let id = reader.endpoint.strip_prefix("/messages/?session_id=").unwrap();
    assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    let endpoint = reader.endpoint.clone();
    assert_eq!(post(&server, &endpoint, &ada, &call(2, "desk_whoami", &json!({}))).await.status, 202);
    let answer = reader.message().await;
    assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(2), &json!("ada")));
    // Two calls at once answer each for itself.
    for (number, text) in [(3, "three"), (4, "four")] {
        let got = post(&server, &endpoint, &ada, &call(number, "desk_echo", &json!({"text": text}))).await;
        assert_eq!(got.status, 202);
    }
    let mut ids = [reader.message().await["id"].as_u64(), reader.message().await["id"].as_u64()];
    ids.sort_unstable();
    assert_eq!(ids, [Some(3), Some(4)]);
}

#[tokio::test]
async fn a_stream_is_behind_the_same_door_and_belongs_to_its_caller() {
    let server = Server::start_with(verified(), settings(), |_| {}).await;
    assert_eq!(server.get("/sse").await.status, 401);
    assert_eq!(server.send("GET", "/sse", &[("host", "evil.example")], "").await.status, 400);
    let ada = [("authorization", "Bearer token-of-ada")];
    let reader = opened(&server, &ada).await;
    let message = call(2, "desk_whoami", &json!({}));
    assert_eq!(post(&server, &reader.endpoint, &[], &message).await.status, 401);
    let bob = [("authorization", "Bearer token-of-bob")];
    assert_eq!(post(&server, &reader.endpoint, &bob, &message).await.status, 404);
    let unknown = format!("/messages/?session_id={}", "0".repeat(32));
    for endpoint in [unknown.as_str(), "/messages/", "/messages/?session_id="] {
        assert_eq!(post(&server, endpoint, &ada, &message).await.status, 404, "{endpoint}");
    }
    let broken = server.send("POST", &reader.endpoint, &ada, "{").await;
    assert_eq!((broken.status, broken.message()["error"]["code"].as_i64()), (400, Some(-32_700)));
    assert_eq!(server.send("POST", "/sse", &ada, "").await.status, 405);
    assert_eq!(server.send("GET", &reader.endpoint, &ada, "").await.status, 405);
    // One listener speaks one transport.
    assert_eq!(post(&server, "/mcp", &ada, &message).await.status, 404);
    let other = Server::start(verified()).await;
    assert_eq!(other.send("GET", "/sse", &ada, "").await.status, 404);
    assert_eq!(server.calls.load(std::sync::atomic::Ordering::SeqCst), 0);
}

#[tokio::test]
async fn streams_are_bounded_and_end_with_their_reader() {
    let server = Server::start_with(open(), settings(), |options| options.max_sessions = 2).await;
    let (one, two) = (opened(&server, &[]).await, opened(&server, &[]).await);
    let third = server.get("/sse").await;
    assert_eq!((third.status, third.body.as_str()), (503, r#"{"error":"too many sessions"}"#));
    let endpoint = one.endpoint.clone();
    let hang = call(5, "desk_hang", &json!({}));
    assert_eq!(post(&server, &endpoint, &[], &hang).await.status, 202);
    tokio::time::sleep(Duration::from_millis(200)).await;
    drop(one);
    let gone = async {
        while post(&server, &endpoint, &[], &hang).await.status != 404 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), gone).await.expect("the session ends with its reader");
    // What it asked for is stopped.
    assert!(server.dropped.load(std::sync::atomic::Ordering::SeqCst) >= 1);
    let _three = opened(&server, &[]).await;
    drop(two);
}

#[tokio::test]
async fn a_slow_reader_is_let_go_and_nobody_waits_for_it() {
    let large = Tool::read("desk_large")
        .handle(|_context, _args| async { Ok::<_, ToolRefusal>(Json::from("x".repeat(1 << 20))) });
    let desk = Connector::builder(Identity::new("desk", "1.2.3")).tool(large).build().unwrap();
    let server = Server::serve(desk, open(), settings(), |options| options.rate = None).await;
    let slow = opened(&server, &[]).await;
    let flood = async {
        for number in 10.. {
            let got = post(&server, &slow.endpoint, &[], &call(number, "desk_large", &json!({}))).await;
            if got.status == 404 {
                return;
            }
            assert!([202, 503].contains(&got.status), "{got:?}");
        }
    };
    tokio::time::timeout(Duration::from_mins(1), flood).await.expect("the slow reader is let go");
    let mut quick = opened(&server, &[]).await;
    let endpoint = quick.endpoint.clone();
    assert_eq!(post(&server, &endpoint, &[], &call(2, "desk_large", &json!({}))).await.status, 202);
    assert_eq!(quick.message().await["id"], 2);
    // Its connection is closed under it, not only its session.
    let (mut rest, mut stream) = (Vec::new(), slow.stream);
    let closed = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut rest)).await;
    assert!(closed.is_ok(), "the connection of the slow reader is still open");
}
