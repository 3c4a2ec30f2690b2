//! What the tests of this crate share.
#![allow(clippy::unwrap_used, reason = "a test helper may fail its test")]
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use scion_domain::config::{EndpointSpec, EndpointTarget};
use scion_domain::credential::{CredentialRefusal, CredentialRequest, SecretRef};
use scion_domain::egress::EgressPolicy;
use scion_domain::http::{HttpProfile, HttpRefusal, OutboundRequest};
use scion_domain::id::ConnectorName;
use scion_domain::json::{Json, JsonLimits, JsonObject};
use scion_domain::mcp::{McpRefusal, ToolCall};
use scion_domain::secret::Secret;
use scion_http::Dialer;
use scion_mcp_client::{McpClient, SessionOptions};
use scion_ports::{CredentialProvider, HttpDialer, HttpExchange, InboundResponse, McpConnector, McpSession};
use tokio::sync::OnceCell;

/// Secrets of the tests, by environment name.
pub(crate) struct Secrets;

#[async_trait]
impl CredentialProvider for Secrets {
    async fn resolve(&self, request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        let reference = request.reference.to_string();
        match &request.reference {
            SecretRef::Env { name } if name == "GOOD_TOKEN" => Ok(Secret::new("good-token".to_owned())),
            SecretRef::Env { name } if name == "BAD_TOKEN" => Ok(Secret::new("bad-token".to_owned())),
            SecretRef::OpenBao { .. } => Err(CredentialRefusal::Unavailable { reference }),
            _ => Err(CredentialRefusal::Missing { reference }),
        }
    }
}

pub(crate) fn connector() -> ConnectorName {
    ConnectorName::parse("scripted").unwrap()
}

pub(crate) fn options() -> SessionOptions {
    SessionOptions { grace: Duration::from_millis(200), ..SessionOptions::default() }
}

/// The one dialer, opened at the first request.
pub(crate) struct Dialled {
    dialer: Dialer,
    profile: HttpProfile,
    client: OnceCell<Arc<dyn HttpExchange>>,
}

impl Dialled {
    pub(crate) fn new(dialer: Dialer, profile: HttpProfile) -> Arc<Self> {
        Arc::new(Self { dialer, profile, client: OnceCell::new() })
    }

    /// For servers on loopback.
    pub(crate) fn loopback() -> Arc<Self> {
        let egress = EgressPolicy { allow_loopback: true, ..EgressPolicy::default() };
        Self::new(Dialer::builder().build(), HttpProfile { egress, ..HttpProfile::default() })
    }
}

#[async_trait]
impl HttpExchange for Dialled {
    async fn send(&self, request: OutboundRequest) -> Result<InboundResponse, HttpRefusal> {
        self.client.get_or_try_init(|| self.dialer.open(&self.profile)).await?.send(request).await
    }
}

pub(crate) fn client(options: SessionOptions) -> McpClient {
    McpClient::builder(connector()).credentials(Arc::new(Secrets)).http(Dialled::loopback()).options(options).build()
}

pub(crate) fn command(mode: &str) -> EndpointSpec {
    EndpointSpec {
        target: EndpointTarget::Command {
            command: env!("CARGO_BIN_EXE_scripted-mcp-server").to_owned(),
            args: vec![mode.to_owned()],
            env: BTreeMap::new(),
        },
        timeout: Duration::from_secs(10),
    }
}

pub(crate) async fn open(mode: &str) -> Box<dyn McpSession> {
    client(options()).connect(&command(mode)).await.unwrap()
}

pub(crate) fn call<const N: usize>(tool: &str, arguments: [(&str, Json); N]) -> ToolCall {
    ToolCall {
        tool: tool.to_owned(),
        arguments: arguments.into_iter().map(|(k, v)| (k.to_owned(), v)).collect::<JsonObject>(),
    }
}

/// Calls a tool and answers its text.
pub(crate) async fn text(session: &dyn McpSession, call: &ToolCall) -> Result<String, McpRefusal> {
    Ok(session.call_tool(call).await?.texts.join("\n"))
}

/// Calls a tool and answers its value.
pub(crate) async fn value(session: &dyn McpSession, call: &ToolCall) -> Result<Json, McpRefusal> {
    Ok(session.call_tool(call).await?.decode(JsonLimits::DEFAULT).unwrap())
}

/// Whether a process with this id still runs (and is not just waiting to be reaped).
pub(crate) fn runs(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
}

/// Waits until something holds, for at most five seconds.
pub(crate) async fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    for _ in 0..250 {
        if holds() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

/// How many processes this one started with this argument are there.
pub(crate) fn children_with(argument: &str) -> usize {
    let me = std::process::id().to_string();
    let parent = |pid: &str| -> Option<String> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit(')').next()?.split_whitespace().nth(1).map(str::to_owned)
    };
    let started = |pid: &str| std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|pid| parent(pid).as_deref() == Some(me.as_str()))
        .filter(|pid| started(pid).split(|byte| *byte == 0).any(|word| word == argument.as_bytes()))
        .count()
}
