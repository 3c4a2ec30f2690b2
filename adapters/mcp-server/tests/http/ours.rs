//! Our own client against our own server.

use std::sync::Arc;
use std::time::Duration;

use scion_domain::config::{EndpointSpec, EndpointTarget};
use scion_domain::credential::{CredentialRefusal, CredentialRequest};
use scion_domain::egress::EgressPolicy;
use scion_domain::http::{HttpProfile, HttpRefusal, OutboundRequest};
use scion_domain::id::ConnectorName;
use scion_domain::json::{Json, JsonObject};
use scion_domain::listener::ListenerSettings;
use scion_domain::mcp::ToolCall;
use scion_domain::rate_bucket::RateLimit;
use scion_domain::secret::Secret;
use scion_domain::tls::{Material, TlsProfile, TlsProfiles, Trust};
use scion_http::Dialer;
use scion_lab::TestCa;
use scion_mcp_client::McpClient;
use scion_mcp_server::tls_config;
use scion_ports::{
    CredentialProvider, HttpDialer, HttpExchange, InboundResponse, McpConnector, McpSession, async_trait,
};
use tokio::sync::OnceCell;

use crate::wire::{Server, open};

struct Dialled {
    dialer: Dialer,
    profile: HttpProfile,
    client: OnceCell<Arc<dyn HttpExchange>>,
}

#[async_trait]
impl HttpExchange for Dialled {
    async fn send(&self, request: OutboundRequest) -> Result<InboundResponse, HttpRefusal> {
        self.client.get_or_try_init(|| self.dialer.open(&self.profile)).await?.send(request).await
    }
}

/// There are no secrets here.
struct NoSecrets;

#[async_trait]
impl CredentialProvider for NoSecrets {
    async fn resolve(&self, request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        Err(CredentialRefusal::Missing { reference: request.reference.to_string() })
    }
}

async fn session(url: String, tls: Option<TlsProfiles>) -> Box<dyn McpSession> {
    let egress = EgressPolicy { allow_loopback: true, ..EgressPolicy::default() };
    let named = tls.as_ref().map(|_| "lab".to_owned());
    let dialer = Dialer::builder().tls_profiles(tls.unwrap_or_default()).build();
    let profile = HttpProfile { egress, tls: named, ..HttpProfile::default() };
    let http = Arc::new(Dialled { dialer, profile, client: OnceCell::new() });
    let client =
        McpClient::builder(ConnectorName::parse("desk").unwrap()).credentials(Arc::new(NoSecrets)).http(http).build();
    let target = EndpointTarget::Url { url, bearer_token: String::new(), client_credentials: None };
    client.connect(&EndpointSpec { target, timeout: Duration::from_secs(10) }).await.unwrap()
}

fn echo(text: &str) -> ToolCall {
    let arguments = [("text".to_owned(), Json::from(text.to_owned()))].into_iter().collect::<JsonObject>();
    ToolCall { tool: "desk_echo".to_owned(), arguments }
}

#[tokio::test]
async fn our_dialer_trusts_the_authority_and_reaches_the_server_over_its_own_tls() {
    let ca = TestCa::new("desk root");
    let identity = ca.server(&["127.0.0.1", "localhost"]);
    let config = tls_config(identity.certificate_pem.as_bytes(), identity.key_pem.as_bytes()).unwrap();
    let settings = ListenerSettings {
        tls_certfile: Some("/certificate.pem".to_owned()),
        tls_keyfile: Some("/key.pem".to_owned()),
        ..ListenerSettings::default()
    };
    let server = Server::start_with(open(), settings, |options| options.tls = Some(config)).await;
    let trust = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(trust.path(), ca.pem()).unwrap();
    let profile =
        TlsProfile { trust: Trust::Private(Material::File(trust.path().to_owned())), ..TlsProfile::default() };
    let profiles = TlsProfiles::new().with("lab", profile).unwrap();
    let session = session(format!("https://{}/mcp", server.address), Some(profiles)).await;
    assert_eq!(session.call_tool(&echo("over TLS")).await.unwrap().texts, ["over TLS"]);
    // Who speaks no TLS gets no answer.
    assert_eq!(server.get("/health").await.status, 0);
}

#[test]
fn files_that_are_no_certificate_and_key_are_named() {
    let ca = TestCa::new("desk root");
    let (one, other) = (ca.server(&["127.0.0.1"]), ca.server(&["127.0.0.1"]));
    for (certificate, key, says) in [
        ("", one.key_pem.as_str(), "no certificate"),
        ("-----BEGIN CERTIFICATE-----\nno\n", &one.key_pem, "no PEM"),
        (&one.certificate_pem, "", "no private key"),
        (&one.certificate_pem, &other.key_pem, "does not belong"),
    ] {
        let refusal = tls_config(certificate.as_bytes(), key.as_bytes()).unwrap_err();
        assert!(refusal.to_string().contains(says), "{refusal}");
    }
}

/// The rough edge of the peer: its own limiter refuses its own runner.
#[tokio::test]
async fn our_client_waits_for_our_limiter() {
    let server = Server::start_with(open(), ListenerSettings::default(), |options| {
        options.rate = Some(RateLimit { per_second: 20.try_into().unwrap(), burst: 5.try_into().unwrap() });
    })
    .await;
    let session = session(format!("http://{}/mcp", server.address), None).await;
    let started = std::time::Instant::now();
    for number in 0..25 {
        let text = number.to_string();
        assert_eq!(session.call_tool(&echo(&text)).await.unwrap().texts, [text]);
    }
    assert!(started.elapsed() >= Duration::from_millis(900), "the limit held: {:?}", started.elapsed());
}
