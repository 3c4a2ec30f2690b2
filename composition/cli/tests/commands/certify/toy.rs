//! Servers for certification as files.

use std::path::Path;
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::support::{Place, Run, build_example};

pub(crate) const CONNECTOR_CERTIFY: &str = env!("CARGO_BIN_EXE_connector-certify");

/// The server that lists what a file says, built once.
pub(crate) fn server() -> &'static Path {
    static SERVER: OnceLock<std::path::PathBuf> = OnceLock::new();
    SERVER.get_or_init(|| build_example("scion-cli", "listed_server"))
}

/// A tool that only reads, with an output schema of the peer's `dict`.
pub(crate) fn tool(name: &str, properties: &Value, required: &[&str]) -> Value {
    let mut input = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        input["required"] = json!(required);
    }
    json!({
        "name": name,
        "inputSchema": input,
        "outputSchema": { "type": "object", "additionalProperties": true },
        "annotations": { "readOnlyHint": true, "destructiveHint": false },
    })
}

/// The tools of the peer's toy server.
pub(crate) fn tools() -> Vec<Value> {
    let text = json!({ "type": "string" });
    let actions = json!({ "action": { "enum": ["list", "get"], "type": "string" }, "params_json": text });
    vec![
        tool("act", &json!({ "action": text, "params_json": text }), &["action"]),
        tool("bare", &json!({}), &[]),
        tool("lit", &actions, &["action"]),
        tool("ls", &json!({ "page": { "type": "integer", "default": 1 } }), &[]),
    ]
}

/// A source with a preset.
pub(crate) fn source(name: &str, tool: &str, preset: &Value) -> Value {
    json!({ "source_id": name, "record_type": "Thing", "tools": [tool], "id_field": "id", "preset": preset })
}

pub(crate) fn declaration(sources: &[Value]) -> Value {
    json!({ "connector": "toy", "sources": sources })
}

/// A server of this declaration with the toy's tools.
pub(crate) fn toy(declaration: &Value) -> Value {
    json!({
        "server": { "name": "toy", "version": "9.9" },
        "tools": tools(),
        "resources": { "connector://resources": declaration.to_string() },
    })
}

impl Place {
    /// Writes a server's file.
    pub(crate) fn write_server(&self, name: &str, server: &Value) {
        self.write(name, &server.to_string());
    }

    /// Runs `connector-certify`.
    pub(crate) fn certify(&self, args: &[&str]) -> Run {
        Run::of(self.command(CONNECTOR_CERTIFY).args(args).output().unwrap())
    }

    /// Runs it on a server's file with further arguments.
    pub(crate) fn certify_server(&self, name: &str, args: &[&str]) -> Run {
        let mut all = args.to_vec();
        let program = server().display().to_string();
        all.extend(["--", &program, name]);
        self.certify(&all)
    }
}
