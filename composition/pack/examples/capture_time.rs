//! How long a pack of 500 tools takes beyond the server's own time: capture, digest, archive and index. Run it with `--release`.
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a measurement tells its result and ends on the first failure"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use scion_domain::id::{ConnectorName, Digest256};
use scion_domain::json::{Json, JsonObject};
use scion_domain::mcp::{
    McpRefusal, ResourceBody, ResourceDescription, ServerIdentity, ToolCall, ToolDescription, ToolHints, ToolResult,
};
use scion_domain::pack::{CatalogBinding, PackArchive, PackProducer};
use scion_pack::Capturer;
use scion_ports::{ChangeFeed, Clock, McpSession, PackCapture as _};

const TOOLS: usize = 500;
const ROUNDS: usize = 20;

/// Answers at once, so that only our own time is measured.
struct Server(ServerIdentity, Vec<ToolDescription>);

#[async_trait]
impl McpSession for Server {
    fn server(&self) -> &ServerIdentity {
        &self.0
    }

    async fn list_tools(&self) -> Result<Vec<ToolDescription>, McpRefusal> {
        Ok(self.1.clone())
    }

    async fn list_resources(&self) -> Result<Vec<ResourceDescription>, McpRefusal> {
        Ok(Vec::new())
    }

    async fn read_resource(&self, uri: &str) -> Result<ResourceBody, McpRefusal> {
        let bytes = br#"{"connector": "bench", "descriptors": []}"#.to_vec();
        Ok(ResourceBody { uri: uri.to_owned(), bytes, ..ResourceBody::default() })
    }

    async fn call_tool(&self, call: &ToolCall) -> Result<ToolResult, McpRefusal> {
        Err(McpRefusal::UnknownTool { tool: call.tool.clone() })
    }

    async fn changes(&self, _uris: &[String]) -> Result<Box<dyn ChangeFeed>, McpRefusal> {
        Err(McpRefusal::Unsupported { operation: "changes".to_owned() })
    }

    async fn close(&self) {}
}

/// A clock that never lets a deadline pass.
struct Still;

#[async_trait]
impl Clock for Still {
    fn unix_millis(&self) -> i64 {
        0
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }

    async fn sleep(&self, _duration: Duration) {
        std::future::pending::<()>().await;
    }
}

fn tool(number: usize) -> ToolDescription {
    let property = |at: usize| {
        let schema = [("type", Json::from("string")), ("description", Json::from("A filter of the list, as text."))];
        (format!("field_{at}"), Json::from(schema))
    };
    let properties: JsonObject = (0..12).map(property).collect();
    ToolDescription {
        name: format!("bench_tool_{number}"),
        title: None,
        description: Some("Reads a list of things and answers one page of it.".to_owned()),
        input_schema: Json::from([("type", Json::from("object")), ("properties", Json::Object(properties.clone()))]),
        output_schema: Some(Json::from([("type", Json::from("object")), ("properties", Json::Object(properties))])),
        hints: ToolHints { read_only: Some(true), ..ToolHints::default() },
        meta: JsonObject::new(),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let identity = ServerIdentity {
        name: "bench".to_owned(),
        version: "1".to_owned(),
        protocol_version: "2026-07-28".to_owned(),
        list_changed: false,
        subscribe: false,
    };
    let server = Server(identity, (0..TOOLS).map(tool).collect());
    let connector = ConnectorName::parse("bench").expect("a plain name");
    let catalog = CatalogBinding {
        configuration_revision: 1,
        catalog_generation: 1,
        snapshot_digest: Digest256::ZERO,
        child_connection_generation: 1,
        authorization_scope_digest: Digest256::ZERO,
    };
    let producer = PackProducer { name: "bench".to_owned(), version: "1".to_owned() };
    let capturer = Capturer::new(Arc::new(Still));
    let mut times = Vec::with_capacity(ROUNDS);
    let mut bytes = 0;
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        let pack = capturer.capture(&server, &connector).await.expect("a pack");
        let archive = PackArchive::build(&connector, &pack.server, &pack.entries).expect("an archive");
        let index = archive.index(&catalog, "blob", &producer).to_text();
        times.push(begin.elapsed());
        bytes = archive.bytes().len() + index.len();
    }
    times.sort_unstable();
    println!("{TOOLS} tools, {bytes} bytes: p50 {:?}, worst {:?}", times[ROUNDS / 2], times[ROUNDS - 1]);
}
