//! A client of the protocol, over a stream whose other end the host verified.
#![allow(clippy::unwrap_used, reason = "a test helper that panics fails its test")]

use std::sync::Arc;
use std::time::Duration;

use scion::domain::id::TenantId;
use scion::domain::json::parse;
use scion::domain::surface::CallerIdentity;
use scion::mcp_server::{ServeOptions, serve_io_as};
use scion::serve::ServedSurface;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

pub(crate) fn caller(tenant: &str, principal: &str, client: &str) -> Option<CallerIdentity> {
    CallerIdentity::new(TenantId::parse(tenant).unwrap(), principal, client)
}

/// One session; the server ends with it.
pub(crate) struct Session {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
    calls: i64,
    /// Everything the server wrote.
    pub(crate) written: String,
}

impl Session {
    pub(crate) async fn open(caller: Option<CallerIdentity>, surface: ServedSurface) -> Self {
        let (near, far) = tokio::io::duplex(1 << 16);
        let (read, write) = tokio::io::split(far);
        tokio::spawn(serve_io_as(caller, Arc::new(surface), read, write, ServeOptions::default()));
        let (read, write) = tokio::io::split(near);
        let mut session = Self { lines: BufReader::new(read).lines(), write, calls: 0, written: String::new() };
        session.send(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"assistant","version":"1"}}}"#).await;
        session.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        session
    }

    async fn send(&mut self, line: &str) {
        self.write.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// Calls a tool with arguments written as JSON; answers whether the call failed, and the answer. What the client
    /// says about itself in `_meta` counts for nothing.
    pub(crate) async fn call(&mut self, tool: &str, arguments: &str) -> (bool, String) {
        self.calls += 1;
        let id = self.calls;
        self.send(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},"_meta":{{"tenant":"acme","principal":"ada","client":"assistant"}}}}}}"#
        ))
        .await;
        loop {
            let line = tokio::time::timeout(Duration::from_secs(20), self.lines.next_line()).await.unwrap();
            let line = line.unwrap().unwrap();
            self.written.push_str(&line);
            let message = parse(&line).unwrap();
            if message.get("id") == Some(&id.into()) {
                let failed = message.get("result").is_none_or(|result| result.get("isError") == Some(&true.into()));
                return (failed, line);
            }
        }
    }
}
