//! A stdio server that behaves as its arguments say. Only tests start it.

mod tools;

use std::io::{BufRead, Write};

use serde_json::{Value, json};

/// How the server behaves before and around its tools.
struct Server {
    mode: String,
    enveloped: bool,
    waiting: Vec<Value>,
    cancelled: usize,
    subscribed: Vec<String>,
    flooded: bool,
}

fn main() {
    let mode = std::env::args().nth(1).unwrap_or_default();
    match mode.as_str() {
        "dies" => std::process::exit(3),
        "noisy" => say_raw(b"INFO starting up\n"),
        "deaf" => loop {
            std::thread::park();
        },
        _ => {}
    }
    let mut server =
        Server { mode, enveloped: false, waiting: Vec::new(), cancelled: 0, subscribed: Vec::new(), flooded: false };
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        server.handle(&message);
    }
    // A stubborn server does not end when its input does.
    if server.mode == "stubborn" {
        loop {
            std::thread::park();
        }
    }
}

/// Writes bytes to standard output.
fn say_raw(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}

/// Writes one message.
fn say(message: &Value) {
    say_raw(format!("{message}\n").as_bytes());
}

impl Server {
    fn handle(&mut self, message: &Value) {
        let method = message["method"].as_str().unwrap_or_default();
        let params = &message["params"];
        let Some(id) = message.get("id") else {
            if method == "notifications/cancelled" && self.waiting.contains(&params["requestId"]) {
                self.cancelled += 1;
                if let Some(path) = std::env::args().nth(2) {
                    let _ = std::fs::write(path, "cancelled");
                }
            }
            return;
        };
        let answer = match method {
            "server/discover" => self.discover(),
            "initialize" => self.initialize(params),
            "tools/list" => Some(self.list_tools(params)),
            "tools/call" => self.call(id, params),
            "resources/list" => Some(json!({"resources": [
                {"uri": "data://a", "name": "a", "mimeType": "text/plain"}, {"uri": "data://b", "name": "b"}]})),
            "resources/read" => return self.read(id, params),
            "resources/subscribe" => {
                self.subscribed.push(params["uri"].as_str().unwrap_or_default().to_owned());
                Some(json!({}))
            }
            "resources/unsubscribe" => {
                self.subscribed.retain(|uri| Some(uri.as_str()) != params["uri"].as_str());
                Some(json!({}))
            }
            "subscriptions/listen" => return self.listen(id, params),
            _ => return fail(id, -32601, "Method not found"),
        };
        if let Some(answer) = answer {
            self.answer(id, answer);
        }
    }

    fn answer(&self, id: &Value, mut result: Value) {
        if self.enveloped && result.get("resultType").is_none() {
            result["resultType"] = json!("complete");
        }
        say(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    fn discover(&mut self) -> Option<Value> {
        match self.mode.as_str() {
            "enveloped" => {
                self.enveloped = true;
                Some(json!({
                    "supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private",
                    "capabilities": {"tools": {"listChanged": true}, "resources": {"subscribe": true, "listChanged": true}},
                    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "scripted", "version": "2"}},
                }))
            }
            // As servers do that know nothing before the handshake.
            "startled" => std::process::exit(4),
            "silent" => None,
            "alien" => Some(json!({"hello": "world"})),
            _ => {
                say(&json!({"jsonrpc": "2.0", "id": 0, "error": {"code": -32601, "message": "Method not found"}}));
                None
            }
        }
    }

    fn initialize(&self, params: &Value) -> Option<Value> {
        if self.mode == "silent" {
            return None;
        }
        if self.mode == "alien" {
            return Some(json!({"hello": "again"}));
        }
        let version = if self.mode == "future" { json!("2199-01-01") } else { params["protocolVersion"].clone() };
        Some(json!({
            "protocolVersion": version, "serverInfo": {"name": "scripted\u{1b}[2J", "version": "1"},
            "capabilities": {"tools": {"listChanged": true}, "resources": {"subscribe": true}},
        }))
    }

    fn list_tools(&self, params: &Value) -> Value {
        let cursor = params["cursor"].as_str();
        let page: usize = cursor.and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
        let next = match self.mode.as_str() {
            "loop" => Some(page % 2),
            "endless" => Some(page + 1),
            _ => (page < 2).then_some(page + 1),
        };
        json!({
            "tools": [{
                "name": format!("tool_{page}"), "inputSchema": {"type": "object"},
                "outputSchema": {"type": "object", "x-fastmcp-wrap-result": page == 1},
                "annotations": {"readOnlyHint": true},
            }],
            "nextCursor": next.map(|next| next.to_string()),
        })
    }

    fn read(&self, id: &Value, params: &Value) {
        match params["uri"].as_str() {
            Some(uri @ "data://a") => {
                self.answer(id, json!({"contents": [{"uri": uri, "mimeType": "text/plain", "text": "é"}]}));
            }
            Some(uri @ "connector://status") => self.answer(id, json!({"contents": [{"uri": uri, "blob": "b2s="}]})),
            _ => fail(id, -32002, "Resource sk-secret hunter2 not found"),
        }
    }

    fn listen(&mut self, id: &Value, params: &Value) {
        let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
        say(&json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
            "params": {"_meta": meta, "notifications": params["notifications"]}}));
        let flood = if std::mem::replace(&mut self.flooded, true) { 0 } else { 5_000 };
        for _ in 0..flood {
            say(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": meta}}));
        }
        say(
            &json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"_meta": meta, "uri": "data://a"}}),
        );
    }
}

/// Answers with an error.
fn fail(id: &Value, code: i64, message: &str) {
    say(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message, "data": "sk-secret"}}));
}
