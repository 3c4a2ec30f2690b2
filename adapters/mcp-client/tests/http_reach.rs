//! Where HTTP sessions may go: through the one dialer, by its policy and its TLS profiles.
#![allow(clippy::unwrap_used, reason = "a test helper may fail its test")]

#[path = "support/mod.rs"]
mod support;

use std::sync::Arc;
use std::time::Duration;

use scion_domain::config::{ClientCredentials, EndpointSpec, EndpointTarget};
use scion_domain::egress::EgressPolicy;
use scion_domain::http::HttpProfile;
use scion_domain::mcp::McpRefusal;
use scion_domain::refusal::Refusal;
use scion_domain::tls::{Material, TlsProfile, TlsProfiles, Trust};
use scion_http::Dialer;
use scion_lab::{Answer, Behaviour, Lab, LabBuilder, Received, TestCa, TlsSetup};
use scion_mcp_client::McpClient;
use scion_ports::{HttpExchange, McpConnector, McpSession};
use serde_json::{Value, json};
use support::{Dialled, Secrets, connector};

/// An MCP server of the enveloped era.
fn mcp(received: &Received) -> Behaviour {
    let message: Value = serde_json::from_str(&received.text()).unwrap_or_default();
    let mut result = match message["method"].as_str() {
        Some("server/discover") => json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}),
        Some("tools/list") => json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}),
        _ => return Answer::status(202).into(),
    };
    result["resultType"] = json!("complete");
    result["ttlMs"] = json!(0);
    result["cacheScope"] = json!("private");
    Answer::json(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result})).into()
}

fn spec(url: &str, token: &str) -> EndpointSpec {
    let target = EndpointTarget::Url { url: url.to_owned(), bearer_token: token.to_owned(), client_credentials: None };
    EndpointSpec { target, timeout: Duration::from_secs(5) }
}

async fn connect(
    exchange: Option<Arc<dyn HttpExchange>>,
    spec: &EndpointSpec,
) -> Result<Box<dyn McpSession>, McpRefusal> {
    let mut client = McpClient::builder(connector()).credentials(Arc::new(Secrets));
    if let Some(exchange) = exchange {
        client = client.http(exchange);
    }
    client.build().connect(spec).await
}

async fn refused(exchange: Option<Arc<dyn HttpExchange>>, spec: &EndpointSpec) -> McpRefusal {
    match connect(exchange, spec).await {
        Ok(_) => panic!("opened"),
        Err(refusal) => refusal,
    }
}

fn endpoint(dialer: &Dialer, url: &str, tls: Option<&str>) -> Arc<dyn HttpExchange> {
    let egress = EgressPolicy::for_endpoint(url).unwrap();
    Dialled::new(dialer.clone(), HttpProfile { egress, tls: tls.map(str::to_owned), proxy: None })
}

#[tokio::test]
async fn without_an_http_client_no_address_is_dialled() {
    let lab = Lab::scripted(mcp).await;
    let refusal = refused(None, &spec(lab.url("/mcp").as_str(), "env://GOOD_TOKEN")).await;
    assert_eq!(refusal.code(), "endpoint_without_http");
    assert_eq!(lab.connections(), 0);
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R002
#[tokio::test]
async fn the_policy_of_the_exchange_decides_where_a_session_may_go() {
    let lab = Lab::scripted(mcp).await;
    let spec = spec(lab.url("/mcp?key=sk-secret").as_str(), "env://GOOD_TOKEN");
    let strict: Arc<dyn HttpExchange> = Dialled::new(Dialer::builder().build(), HttpProfile::default());
    let refusal = refused(Some(strict), &spec).await;
    assert_eq!(refusal.code(), "endpoint_not_dialled");
    let text = format!("{refusal} {refusal:?}");
    assert!(text.contains("egress_loopback") && !text.contains("sk-secret"), "{text}");
    assert_eq!(lab.connections(), 0);
    let elsewhere = endpoint(&Dialer::builder().build(), "https://mcp.example/", None);
    assert_eq!(refused(Some(elsewhere), &spec).await.code(), "endpoint_not_dialled");
    assert_eq!(lab.connections(), 0);
    let own = endpoint(&Dialer::builder().build(), lab.url("/mcp").as_str(), None);
    let session = connect(Some(own), &spec).await.unwrap();
    assert_eq!(session.list_tools().await.unwrap().len(), 1);
    assert!(lab.received().iter().all(|received| received.header("authorization") == Some("Bearer good-token")));
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_takes_no_credential_along() {
    let other = Lab::scripted(mcp).await;
    let place = other.url("/mcp").to_string();
    let lab = Lab::always(Answer::redirect(307, &place)).await;
    let url = lab.url("/mcp").to_string();
    let refusal = refused(Some(Dialled::loopback()), &spec(&url, "env://GOOD_TOKEN")).await;
    assert_eq!(refusal.code(), "server_handshake_failed");
    assert_eq!(other.connections(), 0);
}

/// The file of an authority, and profiles that trust it under the name `lab`.
fn profiles(ca: &TestCa, folder: &tempfile::TempDir) -> TlsProfiles {
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, ca.pem()).unwrap();
    let profile = TlsProfile { trust: Trust::Private(Material::File(file)), ..TlsProfile::default() };
    TlsProfiles::new().with("lab", profile).unwrap()
}

async fn encrypted(ca: &TestCa) -> Lab {
    let setup = TlsSetup::new(ca.server(&["localhost"]));
    LabBuilder::tls(Lab::builder(), setup).scripted(mcp).await
}

#[tokio::test]
async fn a_private_authority_counts_only_through_the_profile_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let ca = TestCa::new("Lab");
    let lab = encrypted(&ca).await;
    let url = lab.url_as("localhost", "/mcp").to_string();
    let dialer = Dialer::builder().tls_profiles(profiles(&ca, &folder)).build();
    let with = endpoint(&dialer, &url, Some("lab"));
    let session = connect(Some(with), &spec(&url, "env://GOOD_TOKEN")).await.unwrap();
    assert_eq!(session.list_tools().await.unwrap().len(), 1);
    session.close().await;

    let heard = lab.received().len();
    let without = endpoint(&dialer, &url, None);
    assert_eq!(refused(Some(without), &spec(&url, "env://GOOD_TOKEN")).await.code(), "server_tls_failed");
    let unknown = endpoint(&dialer, &url, Some("nobody"));
    let refusal = refused(Some(unknown), &spec(&url, "env://GOOD_TOKEN")).await;
    assert_eq!(refusal.code(), "endpoint_not_dialled");
    assert!(refusal.to_string().contains("http_unknown_profile"));
    assert_eq!(lab.received().len(), heard, "a request went out all the same");
}

#[tokio::test]
async fn an_oauth_client_is_refused_until_somebody_gives_its_headers() {
    let folder = tempfile::tempdir().unwrap();
    let ca = TestCa::new("Lab");
    let lab = encrypted(&ca).await;
    let url = lab.url_as("localhost", "/mcp").to_string();
    let dialer = Dialer::builder().tls_profiles(profiles(&ca, &folder)).build();
    let client_credentials = ClientCredentials {
        issuer: "https://issuer.example".to_owned(),
        client_id: "desk".to_owned(),
        client_secret_ref: "env://GOOD_TOKEN".to_owned(),
        token_url: String::new(),
        audience: String::new(),
        scope: String::new(),
    };
    let target = EndpointTarget::Url {
        url: url.clone(),
        bearer_token: String::new(),
        client_credentials: Some(client_credentials),
    };
    let spec = EndpointSpec { target, timeout: Duration::from_secs(5) };
    let refusal = refused(Some(endpoint(&dialer, &url, Some("lab"))), &spec).await;
    assert_eq!(refusal.code(), "endpoint_credential_unresolved");
    assert_eq!(lab.connections(), 0);
}
