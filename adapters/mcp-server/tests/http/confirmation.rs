//! Destructive confirmation and the context of calls over HTTP, in both eras, with a backend that counts.

use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use scion_domain::json::Json;
use scion_domain::listener::ListenerSettings;
use scion_domain::mcp::ToolHints;
use scion_mcp_server::{HttpServeOptions, Security, serve_http};
use scion_serve::{Connector, Identity, Param, Tool, ToolRefusal};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::wire::{Got, Server, enveloped, initialize, open, verified};

const KEY: &str = "destructive_action_confirmation";
const ADA: (&str, &str) = ("authorization", "Bearer token-of-ada");
const BOB: (&str, &str) = ("authorization", "Bearer token-of-bob");

/// A desk whose `calls` are deleted tickets.
async fn desk(security: Security) -> Server {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let destructive =
        ToolHints { read_only: Some(false), destructive: Some(true), idempotent: Some(true), open_world: Some(true) };
    let delete = Tool::with_hints("desk_delete_ticket", destructive)
        .operation("delete_ticket")
        .param(Param::integer("ticket_id", "The ticket").between(1, 1000))
        .handle(move |_context, _args| {
            counted.fetch_add(1, Ordering::SeqCst);
            ready(Ok::<_, ToolRefusal>(Json::from([("deleted", true.into())])))
        });
    let sweep = Tool::read("desk_sweep").handle(|context, _args| async move {
        for step in 1..=3 {
            context.progress(f64::from(step), Some(3.0), None).await?;
        }
        let name = context.caller().map_or_else(|| "nobody".to_owned(), |caller| caller.principal.clone());
        let name = context.cache().get_or_try_init("who", || ready(Ok::<_, ToolRefusal>(name))).await?;
        tokio::time::sleep(Duration::from_millis(20)).await;
        Ok::<_, ToolRefusal>(Json::from(name.as_str()))
    });
    let surface = Connector::builder(Identity::new("desk-mcp", "1.0.0")).tool(delete).tool(sweep).build().unwrap();
    let boundary = ListenerSettings::default().validate(|_| true).unwrap();
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut options = HttpServeOptions::new(boundary, security);
    options.rate = None;
    let shutdown = options.shutdown.clone();
    let ended = tokio::spawn(serve_http(listener, Arc::new(surface), options));
    Server { address, shutdown, ended, calls, dropped: Arc::default() }
}

fn hits(server: &Server) -> usize {
    server.calls.load(Ordering::SeqCst)
}

/// A session of a client that can be asked.
async fn session(server: &Server, extra: &[(&str, &str)]) -> String {
    let mut hello = initialize();
    hello["params"]["capabilities"] = json!({"elicitation": {}});
    let got = server.post(extra, &hello).await;
    let id = got.header("mcp-session-id").expect("a session").to_owned();
    let mut headers = extra.to_vec();
    headers.push(("mcp-session-id", &id));
    server.post(&headers, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    id
}

/// A request whose answer comes in events, read as they come.
struct Stream {
    socket: TcpStream,
    text: String,
    seen: usize,
}

impl Stream {
    async fn post(server: &Server, headers: &[(&str, &str)], message: &Value) -> Self {
        let mut socket = TcpStream::connect(server.address).await.unwrap();
        let body = message.to_string();
        let mut head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\nconnection: close\r\ncontent-length: {}\r\n",
            server.address,
            body.len()
        );
        for (name, value) in headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        socket.write_all(format!("{head}\r\n{body}").as_bytes()).await.unwrap();
        Self { socket, text: String::new(), seen: 0 }
    }

    /// The next message; `None` at the end of the stream.
    async fn next(&mut self) -> Option<Value> {
        let mut piece = [0u8; 4096];
        loop {
            let messages: Vec<Value> = self
                .text
                .lines()
                .filter_map(|line| line.strip_prefix("data:"))
                .filter_map(|data| serde_json::from_str(data.trim()).ok())
                .collect();
            if let Some(message) = messages.get(self.seen) {
                self.seen += 1;
                return Some(message.clone());
            }
            let read = tokio::time::timeout(Duration::from_secs(10), self.socket.read(&mut piece)).await;
            match read.expect("an event in time") {
                Ok(count) if count > 0 => self.text += &String::from_utf8_lossy(&piece[..count]),
                _ => return None,
            }
        }
    }
}

fn delete() -> Value {
    json!({"name": "desk_delete_ticket", "arguments": {"ticket_id": 5}})
}

fn legacy(id: u64, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

/// A call of the enveloped era by a client that can be asked.
async fn modern(server: &Server, extra: &[(&str, &str)], params: Value) -> Got {
    let name = params["name"].as_str().unwrap().to_owned();
    let mut headers =
        vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", name.as_str())];
    headers.extend_from_slice(extra);
    let mut message = enveloped("tools/call", params);
    message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {}});
    server.post(&headers, &message).await
}

fn noes() -> Vec<Value> {
    let accept = |content: Value| json!({"action": "accept", "content": content});
    vec![
        accept(json!({"confirmed": false})),
        accept(json!({"confirmed": "true"})),
        accept(json!({"confirmed": 1})),
        accept(json!({"confirmed": [true]})),
        accept(json!({"value": {"confirmed": true}})),
        accept(json!({})),
        json!({"action": "accept"}),
        json!({"action": "decline", "content": {"confirmed": true}}),
        json!({"action": "cancel"}),
        json!({"confirmed": true}),
    ]
}

fn yes() -> Value {
    json!({"action": "accept", "content": {"confirmed": true}})
}

/// Proves: SDK-CONNECTOR-CONTROL-R026.1
#[tokio::test]
async fn over_http_a_handshake_client_is_asked_on_its_stream_and_only_a_literal_true_counts() {
    let server = desk(open()).await;
    let id = session(&server, &[]).await;
    let headers = [("mcp-session-id", id.as_str()), ("mcp-protocol-version", "2025-11-25")];
    let mut replies = noes();
    replies.push(yes());
    let last = replies.len() - 1;
    for (index, reply) in replies.into_iter().enumerate() {
        let mut stream = Stream::post(&server, &headers, &legacy(10 + index as u64, &delete())).await;
        let asked = stream.next().await.unwrap();
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": reply});
        assert!(server.post(&headers, &answer).await.status < 300);
        let done = stream.next().await.unwrap();
        assert_eq!(done["id"], 10 + index as u64, "{done}");
        assert_eq!(hits(&server), usize::from(index == last), "{reply}");
        // The same answer once more is one to nothing.
        server.post(&headers, &answer).await;
        assert_eq!(hits(&server), usize::from(index == last), "{reply}");
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R026.1
#[tokio::test]
async fn over_http_a_repeated_call_needs_its_state_its_caller_and_a_literal_true() {
    let server = desk(verified()).await;
    let ask = async |who: (&'static str, &'static str)| {
        let first = modern(&server, &[who], delete()).await.message();
        assert_eq!(first["result"]["resultType"], "input_required", "{first}");
        first["result"]["requestState"].clone()
    };
    let again = |state: &Value, reply: &Value| {
        let mut call = delete();
        call["requestState"] = state.clone();
        call["inputResponses"] = json!({ KEY: reply });
        call
    };
    for no in noes() {
        let state = ask(ADA).await;
        let refused = modern(&server, &[ADA], again(&state, &no)).await.message();
        assert_eq!(hits(&server), 0, "{no}: {refused}");
    }
    let state = ask(ADA).await;
    let foreign = modern(&server, &[BOB], again(&state, &yes())).await.message();
    assert_eq!((foreign["error"]["code"].as_i64(), hits(&server)), (Some(-32602), 0), "{foreign}");
    let mut other = again(&state, &yes());
    other["arguments"]["ticket_id"] = json!(6);
    let other = modern(&server, &[ADA], other).await.message();
    assert_eq!((other["error"]["code"].as_i64(), hits(&server)), (Some(-32602), 0), "{other}");
    let done = modern(&server, &[ADA], again(&state, &yes())).await.message();
    assert_eq!((&done["result"]["structuredContent"], hits(&server)), (&json!({"deleted": true}), 1), "{done}");
    let replay = modern(&server, &[ADA], again(&state, &yes())).await.message();
    assert_eq!((replay["error"]["code"].as_i64(), hits(&server)), (Some(-32602), 1), "{replay}");
}

/// Proves: SDK-CONNECTOR-CONTROL-R026.1
#[tokio::test]
async fn over_http_nothing_runs_for_a_call_that_was_given_up_or_for_the_answer_of_another_caller() {
    let server = desk(verified()).await;
    let id = session(&server, &[ADA]).await;
    let headers = [ADA, ("mcp-session-id", id.as_str()), ("mcp-protocol-version", "2025-11-25")];
    let answer = |asked: &Value| json!({"jsonrpc": "2.0", "id": asked["id"], "result": yes()});

    // Another caller, who knows the session, answers; so does nobody at all.
    let mut stream = Stream::post(&server, &headers, &legacy(20, &delete())).await;
    let asked = stream.next().await.unwrap();
    let session = ("mcp-session-id", id.as_str());
    assert_eq!(server.post(&[BOB, session], &answer(&asked)).await.status, 404);
    assert_eq!(server.post(&[session], &answer(&asked)).await.status, 401);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(hits(&server), 0);

    // Cancelled, then answered.
    let gone = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 20}});
    assert!(server.post(&headers, &gone).await.status < 300);
    tokio::time::sleep(Duration::from_millis(100)).await;
    server.post(&headers, &answer(&asked)).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(hits(&server), 0);

    // The session ends while the person thinks.
    let mut stream = Stream::post(&server, &headers, &legacy(21, &delete())).await;
    let asked = stream.next().await.unwrap();
    assert!(server.send("DELETE", "/mcp", &headers, "").await.status < 300);
    server.post(&headers, &answer(&asked)).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(hits(&server), 0);
}

/// Proves: SDK-CONNECTOR-CONTROL-R050
#[tokio::test]
async fn over_http_progress_comes_in_order_before_the_result_and_callers_do_not_meet() {
    let server = desk(verified()).await;
    let ada = session(&server, &[ADA]).await;
    let call = json!({"name": "desk_sweep", "arguments": {}, "_meta": {"progressToken": "p"}});
    let of_session = [ADA, ("mcp-session-id", ada.as_str()), ("mcp-protocol-version", "2025-11-25")];
    let of_envelope =
        [ADA, ("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "desk_sweep")];
    let mut message = enveloped("tools/call", call.clone());
    message["params"]["_meta"]["progressToken"] = json!("p");
    for (headers, message) in [(&of_session[..], legacy(7, &call)), (&of_envelope[..], message)] {
        let mut stream = Stream::post(&server, headers, &message).await;
        for step in 1..=3 {
            let notice = stream.next().await.unwrap();
            assert_eq!(
                (&notice["params"]["progressToken"], notice["params"]["progress"].as_f64()),
                (&json!("p"), Some(f64::from(step))),
                "{notice}"
            );
        }
        let done = stream.next().await.unwrap();
        assert_eq!(done["result"]["content"][0]["text"], "ada", "{done}");
    }
    let sweep = |who: (&'static str, &'static str)| {
        let server = &server;
        async move {
            let call = json!({"name": "desk_sweep", "arguments": {}});
            modern(server, &[who], call).await.message()["result"]["content"][0]["text"].clone()
        }
    };
    for _ in 0..10 {
        assert_eq!(tokio::join!(sweep(ADA), sweep(BOB), sweep(ADA)), (json!("ada"), json!("bob"), json!("ada")));
    }
}
