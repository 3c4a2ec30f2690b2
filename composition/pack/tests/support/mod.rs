//! A server in memory: what it lists, in the order it lists it.

use std::collections::BTreeMap;
use std::sync::Mutex;

use async_trait::async_trait;
use scion_domain::json::{Json, JsonLimits, JsonObject, parse_with};
use scion_domain::mcp::{
    McpRefusal, ResourceBody, ResourceDescription, ServerIdentity, ToolCall, ToolDescription, ToolHints, ToolResult,
};
use scion_ports::{ChangeFeed, McpSession};

pub(crate) struct Server {
    pub(crate) identity: ServerIdentity,
    pub(crate) tools: Vec<ToolDescription>,
    pub(crate) prompts: Vec<JsonObject>,
    pub(crate) answers: BTreeMap<String, Result<JsonObject, McpRefusal>>,
    pub(crate) resources: Vec<ResourceDescription>,
    pub(crate) bodies: BTreeMap<String, ResourceBody>,
    pub(crate) asked: Mutex<Vec<(String, BTreeMap<String, String>)>>,
    pub(crate) hangs: bool,
}

pub(crate) const DECLARATION: &str = r#"{"connector": "mini", "descriptors": []}"#;

pub(crate) fn json(text: &str) -> Json {
    parse_with(text.as_bytes(), JsonLimits::DEFAULT).unwrap()
}

pub(crate) fn object(text: &str) -> JsonObject {
    json(text).as_object().unwrap().clone()
}

pub(crate) fn vectors() -> Json {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/vectors/pack.json");
    parse_with(&std::fs::read(path).unwrap(), JsonLimits::DEFAULT).unwrap()
}

pub(crate) fn text<'v>(case: &'v Json, name: &str) -> &'v str {
    case.get(name).and_then(Json::as_str).unwrap_or_else(|| panic!("no text {name}"))
}

pub(crate) fn section<'v>(file: &'v Json, name: &str) -> &'v [Json] {
    let cases = file.get(name).and_then(Json::as_array).unwrap();
    assert!(!cases.is_empty());
    cases
}

impl Default for Server {
    fn default() -> Self {
        let mut server = Self {
            identity: ServerIdentity {
                name: "mini".into(),
                version: "1.0.0".into(),
                protocol_version: "2026-07-28".into(),
                list_changed: false,
                subscribe: false,
            },
            tools: Vec::new(),
            prompts: Vec::new(),
            answers: BTreeMap::new(),
            resources: Vec::new(),
            bodies: BTreeMap::new(),
            asked: Mutex::default(),
            hangs: false,
        };
        server.unlisted("connector://resources", "application/json", DECLARATION);
        server
    }
}

impl Server {
    pub(crate) fn unlisted(&mut self, uri: &str, media_type: &str, body: &str) {
        let body = ResourceBody {
            uri: uri.into(),
            media_type: Some(media_type.into()),
            bytes: body.as_bytes().to_vec(),
            ..ResourceBody::default()
        };
        self.bodies.insert(uri.into(), body);
    }

    pub(crate) fn resource(&mut self, uri: &str, name: &str, media_type: &str, body: &str) {
        self.resources.push(ResourceDescription { uri: uri.into(), name: name.into(), ..Default::default() });
        self.unlisted(uri, media_type, body);
    }

    pub(crate) fn tool(&mut self, name: &str, description: &str) {
        self.tools.push(ToolDescription {
            name: name.into(),
            title: None,
            description: Some(description.into()),
            input_schema: json(r#"{"type":"object","properties":{"a":{"type":"string"}}}"#),
            output_schema: Some(json(r#"{"type":"object"}"#)),
            hints: ToolHints { read_only: Some(true), ..ToolHints::default() },
            meta: JsonObject::new(),
        });
    }

    pub(crate) fn prompt(&mut self, definition: &str, answer: Result<JsonObject, McpRefusal>) {
        let definition = object(definition);
        let name = definition.get("name").and_then(Json::as_str).unwrap_or_default().to_owned();
        self.prompts.push(definition);
        self.answers.insert(name, answer);
    }
}

#[async_trait]
impl McpSession for Server {
    fn server(&self) -> &ServerIdentity {
        &self.identity
    }

    async fn list_tools(&self) -> Result<Vec<ToolDescription>, McpRefusal> {
        if self.hangs {
            std::future::pending::<()>().await;
        }
        Ok(self.tools.clone())
    }

    async fn list_resources(&self) -> Result<Vec<ResourceDescription>, McpRefusal> {
        Ok(self.resources.clone())
    }

    async fn list_prompts(&self) -> Result<Vec<JsonObject>, McpRefusal> {
        Ok(self.prompts.clone())
    }

    async fn get_prompt(&self, name: &str, arguments: &BTreeMap<String, String>) -> Result<JsonObject, McpRefusal> {
        self.asked.lock().unwrap().push((name.to_owned(), arguments.clone()));
        self.answers[name].clone()
    }

    async fn read_resource(&self, uri: &str) -> Result<ResourceBody, McpRefusal> {
        self.bodies.get(uri).cloned().ok_or_else(|| McpRefusal::UnknownResource { uri: uri.into() })
    }

    async fn call_tool(&self, _call: &ToolCall) -> Result<ToolResult, McpRefusal> {
        panic!("capturing calls no tool");
    }

    async fn changes(&self, _uris: &[String]) -> Result<Box<dyn ChangeFeed>, McpRefusal> {
        Err(McpRefusal::Unsupported { operation: "changes".into() })
    }

    async fn close(&self) {}
}
