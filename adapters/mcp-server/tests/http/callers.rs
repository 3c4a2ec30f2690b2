//! Who calls is known before any work.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use scion_domain::served_security::{ProtectedResource, ServedSecurityProfile};
use scion_mcp_server::Security;
use serde_json::{Value, json};

use crate::wire::{Got, Known, Server, enveloped, initialize, verified};

const CALL: [(&str, &str); 3] =
    [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "desk_whoami")];

fn whoami() -> Value {
    enveloped("tools/call", json!({"name": "desk_whoami", "arguments": {}}))
}

async fn call(server: &Server, authorization: Option<&str>) -> Got {
    let mut headers = CALL.to_vec();
    headers.extend(authorization.map(|value| ("authorization", value)));
    server.post(&headers, &whoami()).await
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.18
#[tokio::test]
async fn a_good_token_names_its_caller() {
    let server = Server::start(verified()).await;
    let got = call(&server, Some("Bearer token-of-ada")).await;
    assert_eq!(got.message()["result"]["content"][0]["text"], "ada", "{got:?}");
    assert_eq!(server.calls.load(Ordering::SeqCst), 1);
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.18
#[tokio::test]
async fn nobody_unknown_reaches_a_tool() {
    let server = Server::start(verified()).await;
    let without = call(&server, None).await;
    assert_eq!((without.status, without.body.as_str()), (401, ""));
    assert_eq!(without.header("www-authenticate"), Some("Bearer"));
    for bad in ["Bearer nobody-knows-it", "Bearer token-of-the-past", "Bearer a b", "Bearer"] {
        let got = call(&server, Some(bad)).await;
        assert_eq!(got.status, 401, "{bad}");
        assert!(got.header("www-authenticate").unwrap().contains("error=\"invalid_token\""), "{got:?}");
        assert_eq!(got.message()["error"], "invalid_token");
    }
    let huge = format!("Bearer {}", "a".repeat(17 * 1024));
    assert_eq!(call(&server, Some(&huge)).await.status, 401);
    assert_eq!(call(&server, Some("Bearer token-nobody-can-judge")).await.status, 503);
    for lacking in ["Bearer token-without-tenant", "Bearer token-without-scope"] {
        let got = call(&server, Some(lacking)).await;
        assert_eq!(got.status, 200, "{got:?}");
        let message = got.message();
        assert_eq!(
            (message["error"]["code"].as_i64(), message["error"]["message"].as_str()),
            (Some(-32001), Some("access denied"))
        );
        assert_eq!(message["id"], 7);
    }
    let opening = server.post(&[], &initialize()).await;
    assert_eq!(opening.status, 401);
    assert_eq!(server.calls.load(Ordering::SeqCst), 0);
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.18
#[tokio::test]
async fn a_session_belongs_to_the_caller_that_opened_it() {
    let server = Server::start(verified()).await;
    let ada = ("authorization", "Bearer token-of-ada");
    let id = server.session(&[ada]).await;
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let session = ("mcp-session-id", id.as_str());
    assert_eq!(server.post(&[ada, session], &list).await.status, 200);
    let other = server.post(&[("authorization", "Bearer token-of-bob"), session], &list).await;
    assert_eq!(other.status, 404, "{other:?}");
    assert_eq!(other.message()["error"]["code"], -32600);
    assert_eq!(server.post(&[session], &list).await.status, 401);
    let unknown = server.post(&[ada, ("mcp-session-id", "0123456789abcdef")], &list).await;
    assert_eq!(unknown.status, 404);
}

#[tokio::test]
async fn clients_are_told_where_tokens_come_from() {
    let servers = ["https://login.example".to_owned()];
    let resource =
        ProtectedResource::new("https://desk.example/mcp", &servers, ["desk:use".to_owned()].into()).unwrap();
    let profile = ServedSecurityProfile::new("desk", "desk:use").unwrap().with_resource(resource);
    let server = Server::start(Security::Verified { verifier: Arc::new(Known), profile: Arc::new(profile) }).await;
    let without = call(&server, None).await;
    let challenge = without.header("www-authenticate").unwrap();
    assert!(challenge.contains("resource_metadata=\"https://desk.example/.well-known/oauth-protected-resource/mcp\""));
    for path in ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"] {
        let document = server.get(path).await;
        assert_eq!(document.status, 200);
        assert_eq!(document.message()["authorization_servers"][0], "https://login.example");
    }
}
