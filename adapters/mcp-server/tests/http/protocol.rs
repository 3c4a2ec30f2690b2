//! Both eras of the protocol over HTTP.

use std::sync::atomic::Ordering;
use std::time::Duration;

use scion_domain::listener::ListenerSettings;
use scion_domain::tool_surface::{FilterField, ListingPolicy};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use crate::wire::{Server, enveloped, open};

fn names(message: &Value) -> Vec<&str> {
    message["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_handshake_era_has_sessions() {
    let server = Server::start(open()).await;
    let id = server.session(&[]).await;
    let of_session = [("mcp-session-id", id.as_str()), ("mcp-protocol-version", "2025-11-25")];
    let listed = server.post(&of_session, &json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})).await;
    assert_eq!(names(&listed.message()), ["desk_echo", "desk_hang", "desk_whoami"]);
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "desk_echo", "arguments": {"text": "ä"}}});
    let called = server.post(&of_session, &call).await.message();
    assert_eq!(called["result"]["content"][0]["text"], "ä");
    let ended = server.send("DELETE", "/mcp", &of_session, "").await;
    assert!((200..300).contains(&ended.status), "{ended:?}");
    let gone = server.post(&of_session, &call).await;
    assert_eq!(gone.status, 404, "{gone:?}");
    assert_eq!(gone.message()["error"]["code"], -32600);
    assert_eq!(gone.message()["id"], 3);
}

#[tokio::test]
async fn the_enveloped_era_needs_no_session() {
    let server = Server::start(open()).await;
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "desk_echo")];
    let call = enveloped("tools/call", json!({"name": "desk_echo", "arguments": {"text": "x"}}));
    let called = server.post(&headers, &call).await;
    assert_eq!(called.message()["result"]["content"][0]["text"], "x", "{called:?}");
    assert_eq!(called.header("mcp-session-id"), None);
    let other = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/list"), ("mcp-name", "desk_echo")];
    let refused = server.post(&other, &call).await;
    assert_eq!(refused.status, 400, "{refused:?}");
    assert_eq!(refused.message()["error"]["code"], -32020);
}

#[tokio::test]
async fn a_caller_narrows_what_it_sees_and_can_use() {
    let server = Server::start_with(open(), ListenerSettings::default(), |options| {
        options.policy = ListingPolicy::everything().rule(FilterField::DisabledNames, ["desk_hang".to_owned()]);
    })
    .await;
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/list")];
    let list = enveloped("tools/list", json!({}));
    assert_eq!(names(&server.post(&headers, &list).await.message()), ["desk_echo", "desk_whoami"]);
    let mut narrowed = headers.to_vec();
    narrowed.push(("x-mcp-enabled-tools", "desk_echo,desk_hang"));
    assert_eq!(names(&server.post(&narrowed, &list).await.message()), ["desk_echo"]);
    let mut all = vec![("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    all.extend_from_slice(&headers);
    let by_query = server.send("POST", "/mcp?disabled_tools=desk%5Fecho", &all, &list.to_string()).await;
    assert_eq!(names(&by_query.message()), ["desk_whoami"]);
    narrowed[2].1 = "desk echo";
    assert!(names(&server.post(&narrowed, &list).await.message()).is_empty());
    let call = enveloped("tools/call", json!({"name": "desk_hang", "arguments": {}}));
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "desk_hang")];
    let hidden = server.post(&headers, &call).await.message();
    assert!(hidden["error"]["message"].as_str().unwrap().contains("there is no tool"), "{hidden}");
}

#[tokio::test]
async fn a_client_that_leaves_cancels_its_call() {
    let server = Server::start(open()).await;
    let call = enveloped("tools/call", json!({"name": "desk_hang", "arguments": {}})).to_string();
    let mut stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: desk_hang\r\ncontent-length: {}\r\n\r\n{call}",
        server.address,
        call.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(server.dropped.load(Ordering::SeqCst), 0);
    drop(stream);
    for _ in 0..100 {
        if server.dropped.load(Ordering::SeqCst) == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the call goes on for nobody");
}

#[tokio::test]
async fn sessions_are_bounded() {
    let server = Server::start_with(open(), ListenerSettings::default(), |options| options.max_sessions = 2).await;
    server.session(&[]).await;
    server.session(&[]).await;
    assert_eq!(server.post(&[], &crate::wire::initialize()).await.status, 503);
}

#[tokio::test]
async fn it_ends_when_it_is_told() {
    let mut server = Server::start(open()).await;
    assert_eq!(server.get("/health").await.status, 200);
    server.shutdown.cancel();
    let ended = tokio::time::timeout(Duration::from_secs(5), &mut server.ended).await.unwrap().unwrap();
    assert_eq!(ended, Ok(()));
}
