//! The least MCP client there is: one line out, one line in.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

pub(crate) const SCION: &str = env!("CARGO_BIN_EXE_scion");

/// A running server.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
}

/// `scion serve` with arguments and environment, not started.
pub(crate) fn command(folder: &Path, args: &[&str], env: &[(&str, &str)]) -> Command {
    let mut command = Command::new(SCION);
    command.arg("serve").args(args).current_dir(folder).envs(env.iter().copied());
    command.env_remove("NOTES_TOKEN").envs(env.iter().copied());
    command
}

impl Client {
    pub(crate) fn start(folder: &Path, args: &[&str], env: &[(&str, &str)]) -> Self {
        let mut child = command(folder, args, env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut client = Self { child, input, output, next: 1 };
        let asked = json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "test", "version": "1"}});
        let answer = client.request("initialize", &asked);
        assert_eq!(answer["protocolVersion"], "2025-11-25", "{answer}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
        input.flush().unwrap();
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.output.read_line(&mut line).unwrap() > 0, "the server ended");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("standard output has {line}"))
    }

    /// Sends a request and gives its result. Questions of the server are answered with yes.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.read();
            if message["method"] == "elicitation/create" {
                let properties = message["params"]["requestedSchema"]["properties"].as_object().unwrap();
                let content: Value =
                    properties.keys().map(|name| (name.clone(), json!(true))).collect::<serde_json::Map<_, _>>().into();
                self.send(
                    &json!({"jsonrpc": "2.0", "id": message["id"], "result": {"action": "accept", "content": content}}),
                );
            } else if message["id"] == id {
                assert!(message.get("error").is_none(), "{message}");
                return message["result"].clone();
            }
        }
    }

    /// All tools.
    pub(crate) fn tools(&mut self) -> Vec<Value> {
        let mut all = Vec::new();
        let mut cursor = json!({});
        loop {
            let page = self.request("tools/list", &cursor);
            all.extend(page["tools"].as_array().unwrap().iter().cloned());
            match page.get("nextCursor") {
                Some(next) => cursor = json!({ "cursor": next }),
                None => return all,
            }
        }
    }

    /// Calls a tool and gives its whole result.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.request("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// The structured value of a call that must succeed.
    pub(crate) fn value(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{result}");
        match result.get("structuredContent") {
            Some(value) => value.clone(),
            None => result["content"][0]["text"].clone(),
        }
    }

    /// The text of a call that must be refused.
    pub(crate) fn refused(&mut self, tool: &str, arguments: &Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Closes the conversation; the server must end in order.
    pub(crate) fn end(mut self) {
        self.input = None;
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
