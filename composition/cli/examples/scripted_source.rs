//! A connector server for tests: serves what a scenario file says over MCP on standard input and output, writes every call
//! into a journal, and misbehaves on request. Written by hand on plain JSON, so that it can break the protocol.
//!
//! Usage: `scripted_source SCENARIO`. The scenario is a JSON object, see [`Scenario`].

use std::fs::OpenOptions;
use std::io::{BufRead as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// The scenario file:
/// - `connector`: the server's name;
/// - `declaration`: the body of `connector://resources`; absent means that there is no such resource;
/// - `journal`: a file to append one JSON line per begun and ended call to;
/// - `noise`: print a line on standard output that is no protocol;
/// - `exit`: end at once with this status;
/// - `tools`: by name, each with `records`, and optionally `read_only` (true), `output_schema`, `parameters`, `delay_ms`,
///   `hang_on_page` and `die_on_page`, `texts` (what is answered as it is, by cursor or page), `pad_mib` (a record of so
///   many MiB instead of all others) and `declare_on_page` (from this page on `changed_declaration` is served).
struct Scenario {
    all: Value,
    calls: Mutex<()>,
    changed: AtomicBool,
}

fn main() {
    let path = std::env::args().nth(1).expect("usage: scripted_source SCENARIO");
    let text = std::fs::read_to_string(path).expect("a scenario file");
    let scenario = Arc::new(Scenario {
        all: serde_json::from_str(&text).expect("a JSON scenario"),
        calls: Mutex::default(),
        changed: AtomicBool::default(),
    });
    if let Some(status) = scenario.all["exit"].as_i64() {
        std::process::exit(i32::try_from(status).expect("a small status"));
    }
    if scenario.all["noise"] == true {
        send_text("Starting up, please wait");
    }
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        // Notifications have no id and no answer.
        let Some(id) = message.get("id").cloned() else { continue };
        let scenario = Arc::clone(&scenario);
        std::thread::spawn(move || {
            let answer = match scenario.answer(message["method"].as_str().unwrap_or_default(), &message["params"]) {
                Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
                Err((code, message)) => {
                    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
                }
            };
            send_text(&answer.to_string());
        });
    }
}

fn send_text(line: &str) {
    let mut out = std::io::stdout().lock();
    // The client is gone: nobody to tell.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn content(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

type Answer = Result<Value, (i64, &'static str)>;

impl Scenario {
    fn answer(&self, method: &str, params: &Value) -> Answer {
        match method {
            "initialize" => Ok(json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {}, "resources": {} },
                "serverInfo": { "name": self.all["connector"], "version": "1.0" },
            })),
            "ping" => Ok(json!({})),
            "tools/list" => Ok(json!({ "tools": self.tools() })),
            "resources/list" => Ok(json!({ "resources": [] })),
            "resources/read" => self.declaration(params),
            "tools/call" => self.call(params),
            _ => Err((-32_601, "no such method")),
        }
    }

    fn declaration(&self, params: &Value) -> Answer {
        let name = if self.changed.load(Ordering::SeqCst) { "changed_declaration" } else { "declaration" };
        let declaration = &self.all[name];
        if declaration.is_null() || params["uri"] != "connector://resources" {
            return Err((-32_002, "no such resource"));
        }
        let text = declaration.as_str().map_or_else(|| declaration.to_string(), str::to_owned);
        Ok(json!({ "contents": [{ "uri": params["uri"], "mimeType": "application/json", "text": text }] }))
    }

    fn tools(&self) -> Vec<Value> {
        let tools = self.all["tools"].as_object().expect("tools");
        tools
            .iter()
            .map(|(name, tool)| {
                let names = tool["parameters"].as_array().cloned().unwrap_or_default();
                let names = names.iter().filter_map(Value::as_str).chain(["page", "page_size", "since", "cursor"]);
                let properties: serde_json::Map<_, _> = names.map(|name| (name.to_owned(), json!({}))).collect();
                let mut listed = json!({
                    "name": name,
                    "inputSchema": { "type": "object", "properties": properties },
                    "annotations": { "readOnlyHint": tool["read_only"] != false, "destructiveHint": false },
                });
                if !tool["output_schema"].is_null() {
                    listed["outputSchema"] = tool["output_schema"].clone();
                }
                listed
            })
            .collect()
    }

    fn call(&self, params: &Value) -> Answer {
        let name = params["name"].as_str().unwrap_or_default();
        let tool = &self.all["tools"][name];
        if tool.is_null() {
            return Err((-32_602, "no such tool"));
        }
        let arguments = &params["arguments"];
        self.note("begin", name, arguments);
        let page = arguments["page"].as_u64();
        if page.is_some() && tool["die_on_page"].as_u64() == page {
            std::process::exit(7);
        }
        if page.is_some() && tool["hang_on_page"].as_u64() == page {
            std::thread::sleep(Duration::from_hours(1));
        }
        if page.is_some() && tool["declare_on_page"].as_u64() == page {
            self.changed.store(true, Ordering::SeqCst);
        }
        let key = arguments["cursor"].as_str().map_or_else(|| page.unwrap_or(1).to_string(), str::to_owned);
        if let Some(text) = tool["texts"][key.as_str()].as_str() {
            self.note("end", name, arguments);
            return Ok(content(text));
        }
        if let Some(mib) = tool["pad_mib"].as_u64() {
            let padding = "x".repeat(usize::try_from(mib).expect("a size of this machine") << 20);
            return Ok(content(&format!(r#"[{{"id":"t0001","title":"{padding}"}}]"#)));
        }
        std::thread::sleep(Duration::from_millis(tool["delay_ms"].as_u64().unwrap_or(0)));
        let all = tool["records"].as_array().cloned().unwrap_or_default();
        let since = arguments["since"].as_str();
        let newer = |record: &Value| since.is_none_or(|since| record["updated"].as_str().is_some_and(|at| at >= since));
        let records: Vec<Value> = all.into_iter().filter(newer).collect();
        let size = usize::try_from(arguments["page_size"].as_u64().unwrap_or(100)).expect("a small page");
        let first = usize::try_from(page.unwrap_or(1).saturating_sub(1)).expect("a small page number") * size;
        let records: Vec<Value> = records.into_iter().skip(first).take(size).collect();
        self.note("end", name, arguments);
        Ok(content(&json!(records).to_string()))
    }

    fn note(&self, what: &str, tool: &str, arguments: &Value) {
        let Some(path) = self.all["journal"].as_str() else { return };
        let _one_at_a_time = self.calls.lock().expect("no panic while noting");
        let mut file = OpenOptions::new().create(true).append(true).open(path).expect("a journal");
        let line = format!("{}\n", json!({ "what": what, "tool": tool, "arguments": arguments }));
        file.write_all(line.as_bytes()).expect("a journal line");
    }
}
