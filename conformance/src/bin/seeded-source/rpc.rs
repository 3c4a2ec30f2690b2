//! JSON-RPC by hand: the handshake, listings, the declaration and the one tool.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::options::Options;
use crate::records;

const CONNECTOR: &str = "seeded-source";

pub(crate) struct Server {
    options: Options,
}

impl Server {
    pub(crate) fn new(options: Options) -> Self {
        Self { options }
    }

    /// The answer to one line; `None` for notifications and for what is not a request.
    pub(crate) fn answer(&mut self, line: &str) -> Option<String> {
        let request: Value = serde_json::from_str(line).ok()?;
        let id = request.get("id")?.clone();
        let method = request.get("method")?.as_str()?;
        let params = request.get("params").unwrap_or(&Value::Null);
        if method == "tools/call" {
            return Some(self.call(&id, params));
        }
        let result = match method {
            "initialize" => initialize(params),
            "ping" => json!({}),
            "tools/list" => json!({ "tools": [tool()] }),
            "prompts/list" => json!({ "prompts": [] }),
            "resources/templates/list" => json!({ "resourceTemplates": [] }),
            "resources/list" => {
                json!({ "resources": [{ "uri": "connector://resources", "name": "connector-resources", "mimeType": "application/json" }] })
            }
            "resources/read" if params["uri"] == "connector://resources" => json!({ "contents": [{
                "uri": "connector://resources", "mimeType": "application/json", "text": self.declaration().to_string() }] }),
            _ => {
                let error = json!({ "code": -32601, "message": "method not found" });
                return Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string());
            }
        };
        Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string())
    }

    fn call(&self, id: &Value, params: &Value) -> String {
        if params["name"] != "items_list" {
            let error = json!({ "code": -32001, "message": "unknown tool" });
            return json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string();
        }
        let arguments = &params["arguments"];
        let page = arguments["page"].as_u64().unwrap_or(1).max(1);
        let size = arguments["page_size"].as_u64().unwrap_or(self.options.page_size).clamp(1, 1000);
        if !self.options.delay.is_zero() {
            std::thread::sleep(self.options.delay);
        }
        self.note(page);
        let first = (page - 1).saturating_mul(size).min(self.options.records);
        let last = first.saturating_add(size).min(self.options.records);
        let mut text = String::with_capacity(usize::try_from(last - first).unwrap_or(0) * 512 + 2);
        text.push('[');
        for number in first..last {
            if number > first {
                text.push(',');
            }
            records::write(&self.options, number, &mut text);
        }
        text.push(']');
        // The text block is escaped by serde_json; the envelope around it is constant.
        let escaped = serde_json::to_string(&text).unwrap_or_default();
        let mut out = String::with_capacity(escaped.len() + 128);
        let _ = write!(
            out,
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":{escaped}}}],\"isError\":false}}}}"
        );
        out
    }

    fn note(&self, page: u64) {
        use std::io::Write as _;
        if let Some(path) = &self.options.log {
            let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
            // The log is evidence for a test; that test fails if it is missing.
            let _ = file.and_then(|mut file| writeln!(file, "items {page}"));
        }
    }

    fn declaration(&self) -> Value {
        let fields: serde_json::Map<String, Value> =
            ["number", "title", "status", "priority", "amount", "owner", "created_at", "open", "note"]
                .into_iter()
                .map(|field| (field.to_owned(), json!(field)))
                .collect();
        let mut source = json!({
            "source_id": "items", "record_type": "Item", "tools": ["items_list"], "id_field": "id", "title_field": "title",
            "pagination": "page", "page_param": "page", "page_size_param": "page_size",
            "page_size": self.options.page_size, "start_page": 1,
            "preset": { "params_style": "args", "max_pages": 100_000 },
        });
        let mut mappings = json!({ "Item": { "ontology_class": "Item", "fields": fields } });
        if self.options.edges {
            source["edges"] = json!([{ "relationship": "owned_by", "target_field": "owner", "target_type": "Owner" }]);
            mappings["Owner"] = json!({ "ontology_class": "Owner", "fields": { "name": "name" } });
        }
        json!({ "connector": CONNECTOR, "sources": [source], "schema_mappings": mappings, "resources": [], "descriptors": [] })
    }
}

fn initialize(params: &Value) -> Value {
    let asked = params["protocolVersion"].as_str().unwrap_or_default();
    let version =
        if ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"].contains(&asked) { asked } else { "2025-11-25" };
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": {}, "resources": {} },
        "serverInfo": { "name": CONNECTOR, "version": env!("CARGO_PKG_VERSION") },
    })
}

fn tool() -> Value {
    json!({
        "name": "items_list",
        "description": "One page of records.",
        "inputSchema": { "type": "object", "additionalProperties": false, "properties": {
            "page": { "type": "integer", "default": 1 }, "page_size": { "type": "integer", "default": 200 } } },
        "outputSchema": { "type": "object", "properties": { "result": { "type": "array", "items": { "type": "object" } } },
            "required": ["result"], "x-fastmcp-wrap-result": true },
        "annotations": { "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_end_and_ids_are_unique() {
        let options = Options::parse(["--records".to_owned(), "450".to_owned()].into_iter()).unwrap();
        let mut server = Server::new(options);
        let mut ids = std::collections::HashSet::new();
        for (page, expected) in [(1, 200), (2, 200), (3, 50), (4, 0)] {
            let request = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call",
                "params": { "name": "items_list", "arguments": { "page": page, "page_size": 200 } } });
            let answer: Value = serde_json::from_str(&server.answer(&request.to_string()).unwrap()).unwrap();
            let text = answer["result"]["content"][0]["text"].as_str().unwrap();
            let records: Vec<Value> = serde_json::from_str(text).unwrap();
            assert_eq!(records.len(), expected);
            ids.extend(records.iter().map(|record| record["id"].as_str().unwrap().to_owned()));
        }
        assert_eq!(ids.len(), 450);
    }
}
