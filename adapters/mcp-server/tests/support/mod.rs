//! A client that writes and reads the protocol's own lines, so that tests see exactly what is on the wire.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::sync::Arc;
use std::time::Duration;

use scion_domain::surface::{CallerIdentity, TransportRefusal};
use scion_mcp_server::{ServeOptions, serve_io_as};
use scion_ports::ToolSurface;
use scion_serve::{Connector, Identity, ServedSurface, Tool};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

pub(crate) struct Raw {
    lines: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
    pub(crate) server: JoinHandle<Result<(), TransportRefusal>>,
    capabilities: Value,
}

/// How requests are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    Handshake,
    Enveloped,
}

pub(crate) fn toy(tools: Vec<Tool>) -> ServedSurface {
    let builder = Connector::builder(Identity::new("toy", "1"));
    tools.into_iter().fold(builder, scion_serve::ConnectorBuilder::tool).build().unwrap()
}

impl Raw {
    pub(crate) fn serve(surface: impl ToolSurface + 'static, options: ServeOptions) -> Self {
        Self::serve_as(None, Arc::new(surface), options)
    }

    pub(crate) fn serve_as(
        caller: Option<CallerIdentity>,
        surface: Arc<dyn ToolSurface>,
        options: ServeOptions,
    ) -> Self {
        let (client, server) = tokio::io::duplex(1 << 20);
        let (server_read, server_write) = tokio::io::split(server);
        let server = tokio::spawn(serve_io_as(caller, surface, server_read, server_write, options));
        let (read, write) = tokio::io::split(client);
        Self { lines: BufReader::new(read).lines(), write, server, capabilities: json!({}) }
    }

    /// Opens as a caller whom the host verified.
    pub(crate) async fn open_as(
        caller: CallerIdentity,
        surface: Arc<dyn ToolSurface>,
        era: Era,
        capabilities: Value,
    ) -> Self {
        let mut raw = Self::serve_as(Some(caller), surface, ServeOptions::default());
        raw.capabilities = capabilities;
        raw.initialize(era).await
    }

    pub(crate) async fn open(surface: impl ToolSurface + 'static, options: ServeOptions, era: Era) -> Self {
        Self::open_with(surface, options, era, json!({})).await
    }

    /// Opens with the capabilities of a client.
    pub(crate) async fn open_with(
        surface: impl ToolSurface + 'static,
        options: ServeOptions,
        era: Era,
        capabilities: Value,
    ) -> Self {
        Self::open_with_arc(Arc::new(surface), options, era, capabilities).await
    }

    pub(crate) async fn open_with_arc(
        surface: Arc<dyn ToolSurface>,
        options: ServeOptions,
        era: Era,
        capabilities: Value,
    ) -> Self {
        let mut raw = Self::serve_as(None, surface, options);
        raw.capabilities = capabilities;
        raw.initialize(era).await
    }

    async fn initialize(self, era: Era) -> Self {
        let mut raw = self;
        if era == Era::Handshake {
            let params = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": raw.capabilities,
                "clientInfo": {"name": "test", "version": "1"},
            });
            raw.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})).await;
            raw.receive().await;
            raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        }
        raw
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string()).await;
    }

    pub(crate) async fn send_text(&mut self, line: &str) {
        self.write.write_all(line.as_bytes()).await.unwrap();
        self.write.write_all(b"\n").await.unwrap();
    }

    pub(crate) async fn receive(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(20), self.lines.next_line()).await;
        serde_json::from_str(&line.expect("an answer in time").unwrap().expect("an open stream")).unwrap()
    }

    pub(crate) async fn request(&mut self, era: Era, id: u64, method: &str, params: Value) -> Value {
        self.post(era, id, method, params).await;
        self.receive().await
    }

    /// Sends a request with the client's capabilities.
    pub(crate) async fn post(&mut self, era: Era, id: u64, method: &str, params: Value) {
        let mut message = message(era, id, method, params);
        if era == Era::Enveloped {
            message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        self.send(&message).await;
    }

    pub(crate) async fn call(&mut self, era: Era, id: u64, tool: &str, arguments: Value) -> Value {
        self.request(era, id, "tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    pub(crate) async fn hang_up(mut self) -> Result<(), TransportRefusal> {
        self.write.shutdown().await.unwrap();
        drop((self.write, self.lines));
        tokio::time::timeout(Duration::from_secs(20), self.server).await.expect("the server ends").unwrap()
    }
}

pub(crate) fn message(era: Era, id: u64, method: &str, mut params: Value) -> Value {
    if era == Era::Enveloped {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        });
        for (key, value) in meta.as_object().unwrap() {
            params["_meta"][key] = value.clone();
        }
    }
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}
