//! The suite of the port, on real child processes.
#![allow(clippy::unwrap_used, reason = "a test helper may fail its test")]

mod support;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use scion_conformance::suites::mcp_session::{self, SessionFixture};
use scion_domain::config::{EndpointSpec, EndpointTarget};
use scion_mcp_client::SessionOptions;
use scion_ports::{McpConnector, McpSession};
use support::{client, command, eventually, options};

struct Fixture {
    directory: tempfile::TempDir,
    opened: AtomicUsize,
}

impl Fixture {
    /// Where the server of the last session leaves word of a cancellation.
    fn word(&self) -> PathBuf {
        self.directory.path().join(self.opened.load(Ordering::SeqCst).to_string())
    }

    async fn session(&self, mode: &str, options: SessionOptions) -> Arc<dyn McpSession> {
        self.opened.fetch_add(1, Ordering::SeqCst);
        let mut spec = EndpointSpec { timeout: Duration::from_secs(1), ..command(mode) };
        let EndpointTarget::Command { args, .. } = &mut spec.target else { panic!() };
        args.push(self.word().to_str().unwrap().to_owned());
        Arc::from(client(options).connect(&spec).await.unwrap())
    }
}

#[async_trait]
impl SessionFixture for Fixture {
    async fn open(&self) -> Arc<dyn McpSession> {
        self.session("suite", options()).await
    }

    async fn looping(&self) -> Arc<dyn McpSession> {
        self.session("loop", options()).await
    }

    async fn dying(&self) -> Arc<dyn McpSession> {
        self.session("suite", options()).await
    }

    async fn bounded(&self) -> Arc<dyn McpSession> {
        self.session("suite", SessionOptions { max_message_bytes: 64 << 10, ..options() }).await
    }

    async fn saw_cancellation(&self) -> bool {
        let word = self.word();
        eventually(|| word.exists()).await
    }

    fn tools(&self) -> usize {
        3
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_client_keeps_the_obligations_of_the_port() {
    let fixture = Fixture { directory: tempfile::tempdir().unwrap(), opened: AtomicUsize::new(0) };
    mcp_session::run(&fixture).await.assert_passed();
}
