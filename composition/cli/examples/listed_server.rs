//! A connector server for tests of certification: lists what a file says over MCP on standard input and output.
//!
//! Usage: `listed_server FILE`. The file is a JSON object:
//! - `server`: `name` and `version` of the handshake;
//! - `tools`: the listing, as it goes over the wire;
//! - `resources`: URI to text; listed too when `listed` is true;
//! - `exit`: end at once with this status; `sleep`: answer nothing;
//! - `journal`: a file to write each method into; `environment`: a file to write the environment into.

use std::io::{BufRead as _, Write as _};
use std::time::Duration;

use serde_json::{Value, json};

fn main() {
    let path = std::env::args().nth(1).expect("usage: listed_server FILE");
    let all: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("a file")).expect("JSON");
    if let Some(path) = all["environment"].as_str() {
        let seen: serde_json::Map<String, Value> = std::env::vars().map(|(name, value)| (name, value.into())).collect();
        std::fs::write(path, Value::Object(seen).to_string()).expect("a file for the environment");
    }
    if let Some(status) = all["exit"].as_i64() {
        std::process::exit(i32::try_from(status).expect("a small status"));
    }
    if all["sleep"] == true {
        std::thread::sleep(Duration::from_mins(1));
    }
    for line in std::io::stdin().lock().lines() {
        let Ok(message) = line.map_err(drop).and_then(|line| serde_json::from_str::<Value>(&line).map_err(drop)) else {
            return;
        };
        // Notifications have no id and no answer.
        let Some(id) = message.get("id") else { continue };
        let method = message["method"].as_str().unwrap_or_default();
        if let Some(path) = all["journal"].as_str() {
            let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).expect("a journal");
            writeln!(file, "{method} {}", message["params"]["uri"].as_str().unwrap_or_default()).expect("a line");
        }
        let answer = match result(&all, method, &message["params"]) {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err((code, message)) => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
            }
        };
        let mut out = std::io::stdout().lock();
        // The client is gone: nobody to tell.
        let _ = writeln!(out, "{answer}").and_then(|()| out.flush());
    }
}

fn result(all: &Value, method: &str, params: &Value) -> Result<Value, (i64, &'static str)> {
    match method {
        "initialize" => Ok(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {}, "resources": {} },
            "serverInfo": all["server"],
        })),
        "ping" => Ok(json!({})),
        "tools/list" => Ok(json!({ "tools": all["tools"] })),
        "resources/list" => Ok(json!({ "resources": listed(all) })),
        "resources/read" => {
            let uri = params["uri"].as_str().unwrap_or_default();
            let text = all["resources"][uri].as_str().ok_or((-32_002, "no such resource"))?;
            Ok(json!({ "contents": [{ "uri": uri, "mimeType": media_type(uri), "text": text }] }))
        }
        _ => Err((-32_601, "no such method")),
    }
}

fn listed(all: &Value) -> Vec<Value> {
    let resources = all["resources"].as_object().filter(|_| all["listed"] == true);
    let entry = |uri: &String| json!({ "uri": uri, "name": uri, "mimeType": media_type(uri) });
    resources.into_iter().flatten().map(|(uri, _)| entry(uri)).collect()
}

fn media_type(uri: &str) -> &'static str {
    if uri.starts_with("ontology://") { "text/turtle" } else { "application/json" }
}
