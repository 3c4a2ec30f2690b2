//! The tools of the scripted server; each is one way to behave during a call.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{Server, fail, say, say_raw};

/// Every tool answers an option, so the plain ones do too.
#[expect(clippy::unnecessary_wraps, reason = "the type of an arm of `call`")]
fn text(text: impl Into<String>) -> Option<Value> {
    Some(json!({"content": [{"type": "text", "text": text.into()}]}))
}

impl Server {
    /// Calls a tool; `None` when the tool has answered by itself or never will.
    pub(super) fn call(&mut self, id: &Value, params: &Value) -> Option<Value> {
        let arguments = &params["arguments"];
        match params["name"].as_str().unwrap_or_default() {
            "echo" if self.mode == "suite" || self.mode == "loop" => {
                text(arguments["text"].as_str().unwrap_or_default())
            }
            "echo" => text(arguments.to_string()),
            "huge" => text("x".repeat(1 << 20)),
            "meta" => text(params["_meta"].to_string()),
            "pid" => text(std::process::id().to_string()),
            "env" => text(std::env::vars().map(|(name, value)| [name, value].join("=")).collect::<Vec<_>>().join("\n")),
            "big" => text("x".repeat(usize::try_from(arguments["bytes"].as_u64().unwrap_or(0)).unwrap_or(0))),
            "records" => text(records(arguments["count"].as_u64().unwrap_or(200))),
            "tool_1" => Some(json!({"content": [], "structuredContent": {"result": [1, 2]}})),
            "refuses" | "fail" => Some(json!({"content": [{"type": "text", "text": "no, hunter2"}], "isError": true})),
            "raise" => {
                fail(id, -32603, "hunter2");
                None
            }
            "crooked" => Some(json!({"content": "not a list"})),
            "asks" => Some(json!({"resultType": "input_required", "requestState": "s", "inputRequests": {}})),
            "fails" => {
                fail(id, arguments["code"].as_i64().unwrap_or(0), arguments["message"].as_str().unwrap_or("sk-secret"));
                None
            }
            "dies" | "die" => std::process::exit(7),
            "wait" | "slow" => {
                self.waiting.push(id.clone());
                None
            }
            "cancelled" => text(self.cancelled.to_string()),
            "subscribed" => text(self.subscribed.join(",")),
            "chatters" => {
                say_raw(b"{\"level\":\"info\",\"msg\":\"working\"}\n");
                text("too late")
            }
            "floods" => {
                let line = [&[b'e'; 99][..], b"\n"].concat().repeat(10_000);
                for _ in 0..50 {
                    let _ = std::io::stderr().write_all(&line);
                }
                text("flooded")
            }
            "touches" => {
                for method in ["tools/list_changed", "prompts/list_changed", "resources/list_changed"] {
                    say(&json!({"jsonrpc": "2.0", "method": format!("notifications/{method}")}));
                }
                for uri in &self.subscribed {
                    say(
                        &json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}),
                    );
                }
                text("touched")
            }
            "leaves" => {
                // A child of ours keeps our standard output open after we are gone.
                let _ = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn();
                std::process::exit(9)
            }
            _ => {
                fail(id, -32001, "Unknown tool");
                None
            }
        }
    }
}

fn records(count: u64) -> String {
    let records: Vec<_> = (0..count)
        .map(|n| json!({"id": format!("r-{n}"), "title": "t".repeat(60), "body": "b".repeat(300), "n": n, "ok": true}))
        .collect();
    json!({"items": records}).to_string()
}
