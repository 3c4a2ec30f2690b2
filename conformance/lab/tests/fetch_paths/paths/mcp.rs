//! MCP sessions over HTTP, and the way to the endpoint of an operator.

use std::sync::Arc;
use std::time::Duration;

use scion::EndpointExchange;
use scion_domain::config::{EndpointSpec, EndpointTarget};
use scion_domain::credential::{CredentialRefusal, CredentialRequest};
use scion_domain::http::{HeaderValue, Method, OutboundRequest, header};
use scion_domain::id::ConnectorName;
use scion_domain::mcp::McpRefusal;
use scion_domain::secret::Secret;
use scion_lab::{Answer, Received};
use scion_mcp_client::{McpClient, SessionOptions};
use scion_ports::{CredentialProvider, HttpExchange, McpConnector, McpSession, async_trait};
use serde_json::{Value, json};

use super::{FetchPath, Outcome, SMALL, Wants, no_prologue, text};
use crate::stage::{SECRET, Stage};

const MCP: FetchPath = FetchPath {
    name: "mcp",
    // A reply may come as sixteen events of the largest message.
    holds: 16 * SMALL,
    wants: Wants::Members,
    tls: false,
    prologue: no_prologue,
    leads: None,
    roams: false,
    honest: Some(|received, _| honest(received)),
    run: |stage| Box::pin(handshake(stage)),
};

pub(crate) const HANDSHAKE: FetchPath = FetchPath { name: "mcp handshake", tls: true, ..MCP };

pub(crate) const LISTING: FetchPath =
    FetchPath { name: "mcp listing", prologue: discovery, run: |stage| Box::pin(listing(stage)), ..MCP };

pub(crate) const CHANGES: FetchPath =
    FetchPath { name: "mcp change stream", prologue: discovery, run: |stage| Box::pin(changes(stage)), ..MCP };

pub(crate) const ENDPOINT: FetchPath =
    FetchPath { name: "endpoint of an operator", wants: Wants::Answer, run: |stage| Box::pin(endpoint(stage)), ..MCP };

/// The faithful answer to the first question.
fn discovery(received: &Received, _: &Stage) -> Option<Answer> {
    received.text().contains("server/discover").then(|| honest(received))
}

/// What a good server answers.
fn honest(received: &Received) -> Answer {
    let message: Value = serde_json::from_str(&received.text()).unwrap_or_default();
    let id = &message["id"];
    let members = match message["method"].as_str() {
        Some("server/discover") => {
            json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": true}}})
        }
        Some("tools/list") => json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}),
        Some("subscriptions/listen") => {
            let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
            let heard = json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
                "params": {"_meta": meta, "notifications": message["params"]["notifications"]}});
            let change =
                json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": meta}});
            return Answer::ok(format!("data: {heard}\n\ndata: {change}\n\n"))
                .header("content-type", "text/event-stream");
        }
        _ => return Answer::status(202),
    };
    let mut result = json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private"});
    if let (Some(result), Some(members)) = (result.as_object_mut(), members.as_object()) {
        result.extend(members.clone());
    }
    Answer::json(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

/// Every reference is the secret of the lab.
struct Known;

#[async_trait]
impl CredentialProvider for Known {
    async fn resolve(&self, _: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        Ok(Secret::new(SECRET.to_owned()))
    }
}

async fn connect(stage: &Stage) -> Result<Box<dyn McpSession>, String> {
    let exchange = stage.exchange().await.map_err(|refusal| text(&refusal))?;
    let options = SessionOptions { max_message_bytes: 1024 * 1024, ..SessionOptions::default() };
    let name = ConnectorName::parse("lab").map_err(|refusal| text(&refusal))?;
    let client = McpClient::builder(name).credentials(Arc::new(Known)).http(exchange).options(options).build();
    let target = EndpointTarget::Url {
        url: format!("{}mcp?key={SECRET}", stage.base),
        bearer_token: "env://LAB_TOKEN".to_owned(),
        client_credentials: None,
    };
    let spec = EndpointSpec { target, timeout: Duration::from_secs(3) };
    client.connect(&spec).await.map_err(|refusal| text(&refusal))
}

async fn handshake(stage: Stage) -> Outcome {
    let session = connect(&stage).await?;
    session.close().await;
    Ok("a session".to_owned())
}

async fn listing(stage: Stage) -> Outcome {
    let session = connect(&stage).await?;
    let listed = session.list_tools().await;
    session.close().await;
    listed.map(|tools| format!("{} tools", tools.len())).map_err(|refusal| text(&refusal))
}

async fn changes(stage: Stage) -> Outcome {
    let session = connect(&stage).await?;
    let heard = match session.changes(&[]).await {
        Ok(mut feed) => feed.next().await,
        Err(refusal) => Err(refusal),
    };
    session.close().await;
    heard
        .and_then(|change| change.ok_or(McpRefusal::Closed { operation: "changes".to_owned() }))
        .map(|change| format!("{change:?}"))
        .map_err(|refusal| text(&refusal))
}

async fn endpoint(stage: Stage) -> Outcome {
    let exchange = EndpointExchange::new(Arc::clone(&stage.dialer), stage.base.as_str()).tls_profile("lab");
    let mut request = OutboundRequest::new(Method::GET, stage.base.clone());
    let mut value = HeaderValue::from_static(SECRET);
    value.set_sensitive(true);
    request.headers.insert(header::AUTHORIZATION, value);
    request.limits = Stage::limits();
    let mut response = exchange.send(request).await.map_err(|refusal| text(&refusal))?;
    let body = response.bytes().await.map_err(|refusal| text(&refusal))?;
    Ok(format!("{} bytes", body.len()))
}
