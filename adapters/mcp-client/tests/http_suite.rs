//! The suite of the port, over real HTTP.
#![allow(clippy::unwrap_used, reason = "a test helper may fail its test")]

#[path = "support/mod.rs"]
mod support;
#[path = "support/web.rs"]
mod web;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use http_body_util::BodyExt as _;
use scion_conformance::suites::mcp_session::{self, SessionFixture};
use scion_domain::config::{EndpointSpec, EndpointTarget};
use scion_mcp_client::SessionOptions;
use scion_ports::{McpConnector, McpSession};
use serde_json::{Value, json};
use support::{client, eventually, options};
use tokio::sync::Notify;
use web::{Answer, Web, page};

/// What a server tells the fixture.
#[derive(Default)]
struct Signs {
    cancelled: AtomicBool,
    dies: Notify,
}

#[derive(Default)]
struct Fixture {
    servers: Mutex<Vec<Web>>,
    signs: Mutex<Arc<Signs>>,
}

/// A handler that was not allowed to end.
struct Abandoned<'s>(&'s Signs);

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        self.0.cancelled.store(true, Ordering::SeqCst);
    }
}

/// A listing of three pages, or one that leads back to its first page.
fn tools(params: &Value, loops: bool) -> Value {
    let page: usize = params["cursor"].as_str().and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
    let next = if loops { Some(page % 2) } else { (page < 2).then_some(page + 1) };
    json!({
        "tools": [{"name": format!("tool_{page}"), "inputSchema": {"type": "object"}}],
        "nextCursor": next.map(|next| next.to_string()),
    })
}

fn text(text: impl Into<String>) -> Value {
    json!({"content": [{"type": "text", "text": text.into()}]})
}

/// The result of a request, or the code of an error.
async fn result(method: &str, params: &Value, loops: bool, signs: &Signs) -> Result<Value, i64> {
    match (method, params["name"].as_str().unwrap_or_default()) {
        ("server/discover", _) => {
            Ok(json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}, "resources": {}}}))
        }
        ("tools/list", _) => Ok(tools(params, loops)),
        ("resources/read", _) if params["uri"] == "connector://status" => {
            Ok(json!({"contents": [{"uri": "connector://status", "text": "ok"}]}))
        }
        ("resources/read", _) => Err(-32002),
        ("tools/call", "echo") => Ok(text(params["arguments"]["text"].as_str().unwrap_or_default())),
        ("tools/call", "fail") => Ok(json!({"content": [{"type": "text", "text": "no, hunter2"}], "isError": true})),
        ("tools/call", "raise") => Err(-32603),
        ("tools/call", "huge") => Ok(text("x".repeat(1 << 20))),
        ("tools/call", "slow") => {
            // In the enveloped era a caller that is gone closes its exchange, and the handler is dropped.
            let abandoned = Abandoned(signs);
            tokio::time::sleep(Duration::from_secs(10)).await;
            std::mem::forget(abandoned);
            Ok(text("late"))
        }
        ("tools/call", "die") => {
            signs.dies.notify_one();
            std::future::pending().await
        }
        _ => Err(-32601),
    }
}

async fn answer(body: &[u8], loops: bool, signs: &Signs) -> Answer {
    let message: Value = serde_json::from_slice(body).unwrap();
    let method = message["method"].as_str().unwrap();
    let Some(id) = message.get("id") else {
        signs.cancelled.fetch_or(method == "notifications/cancelled", Ordering::SeqCst);
        return page(202, "text/plain", "");
    };
    let reply = match result(method, &message["params"], loops, signs).await {
        Ok(mut result) => {
            result["resultType"] = json!("complete");
            if method != "tools/call" {
                result["ttlMs"] = json!(0);
                result["cacheScope"] = json!("private");
            }
            json!({"jsonrpc": "2.0", "id": id, "result": result})
        }
        Err(code) => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "hunter2", "data": "hunter2"}})
        }
    };
    // Both kinds of body, in turns.
    if id.as_u64().is_some_and(|id| id % 2 == 1) {
        page(200, "text/event-stream", format!(": hello\n\nevent: message\ndata: {reply}\n\n"))
    } else {
        page(200, "application/json", reply.to_string())
    }
}

impl Fixture {
    async fn session(&self, loops: bool, options: SessionOptions) -> (Arc<dyn McpSession>, Arc<Signs>, Web) {
        let signs = Arc::new(Signs::default());
        let told = Arc::clone(&signs);
        let web = Web::start(move |request| {
            let signs = Arc::clone(&told);
            async move {
                let body = request.into_body().collect().await.unwrap().to_bytes();
                answer(&body, loops, &signs).await
            }
        })
        .await;
        let target = EndpointTarget::Url { url: web.url(), bearer_token: String::new(), client_credentials: None };
        let spec = EndpointSpec { target, timeout: Duration::from_secs(1) };
        let session = client(options).connect(&spec).await.unwrap();
        (Arc::from(session), signs, web)
    }

    async fn kept(&self, loops: bool, options: SessionOptions) -> Arc<dyn McpSession> {
        let (session, signs, web) = self.session(loops, options).await;
        self.servers.lock().unwrap().push(web);
        *self.signs.lock().unwrap() = signs;
        session
    }
}

#[async_trait]
impl SessionFixture for Fixture {
    async fn open(&self) -> Arc<dyn McpSession> {
        self.kept(false, options()).await
    }

    async fn looping(&self) -> Arc<dyn McpSession> {
        self.kept(true, options()).await
    }

    async fn dying(&self) -> Arc<dyn McpSession> {
        let (session, signs, web) = self.session(false, options()).await;
        tokio::spawn(async move {
            signs.dies.notified().await;
            drop(web);
        });
        session
    }

    async fn bounded(&self) -> Arc<dyn McpSession> {
        self.kept(false, SessionOptions { max_message_bytes: 64 << 10, ..options() }).await
    }

    async fn saw_cancellation(&self) -> bool {
        let signs = Arc::clone(&self.signs.lock().unwrap());
        eventually(|| signs.cancelled.load(Ordering::SeqCst)).await
    }

    fn tools(&self) -> usize {
        3
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_client_keeps_the_obligations_of_the_port_over_http() {
    mcp_session::run(&Fixture::default()).await.assert_passed();
}
