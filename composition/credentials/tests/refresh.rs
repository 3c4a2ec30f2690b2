//! A refreshing source credential with the real schemes of `scion-auth`, in virtual time.
#![allow(clippy::unwrap_used, reason = "a test helper that panics fails its test")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use scion_auth::OutboundAuth;
use scion_conformance::reference::{SeededEntropy, VirtualClock};
use scion_credentials::SourceCredentials;
use scion_domain::credential::{CredentialRefusal, CredentialRequest};
use scion_domain::http::{Bytes, HeaderMap, HttpProfile, HttpRefusal, OutboundRequest, ResponseHead, StatusCode};
use scion_domain::id::ConnectorName;
use scion_domain::secret::Secret;
use scion_ports::{BodyStream, CredentialProvider, HttpDialer, HttpExchange, InboundResponse, RequestAuth as _};

struct Secrets;

#[async_trait]
impl CredentialProvider for Secrets {
    async fn resolve(&self, request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        let value = match request.reference.to_string().as_str() {
            "env://KEY" => "key-value",
            "env://PASSWORD" => "open sesame",
            "env://R" => "refresh-0",
            reference => return Err(CredentialRefusal::Missing { reference: reference.to_owned() }),
        };
        Ok(Secret::new(value.to_owned()))
    }
}

struct Whole(Option<Bytes>);

#[async_trait]
impl BodyStream for Whole {
    async fn chunk(&mut self) -> Result<Option<Bytes>, HttpRefusal> {
        Ok(self.0.take())
    }
}

/// A token endpoint whose access tokens live 300 seconds and whose refresh tokens are used once.
struct TokenEndpoint {
    grants: AtomicUsize,
    status: AtomicU16,
    refused: Mutex<Vec<String>>,
}

#[async_trait]
impl HttpExchange for TokenEndpoint {
    async fn send(&self, request: OutboundRequest) -> Result<InboundResponse, HttpRefusal> {
        let status = self.status.load(Ordering::SeqCst);
        let head = ResponseHead {
            status: StatusCode::from_u16(status).unwrap(),
            headers: HeaderMap::from_iter([("content-type".parse().unwrap(), "application/json".parse().unwrap())]),
            url: request.url.clone(),
            redirects: 0,
        };
        let form = String::from_utf8(request.body.to_vec()).unwrap();
        let grant = self.grants.load(Ordering::SeqCst);
        let body = if status == 200 && form.contains(&format!("refresh_token=refresh-{grant}")) {
            let next = self.grants.fetch_add(1, Ordering::SeqCst) + 1;
            format!(
                r#"{{"access_token":"access-{next}","token_type":"Bearer","expires_in":300,"refresh_token":"refresh-{next}"}}"#
            )
        } else {
            self.refused.lock().unwrap().push(form);
            r#"{"error":"temporarily_unavailable"}"#.to_owned()
        };
        Ok(InboundResponse { head, body: Box::new(Whole(Some(Bytes::from(body)))) })
    }
}

struct Dialer(Arc<TokenEndpoint>);

#[async_trait]
impl HttpDialer for Dialer {
    async fn open(&self, _: &HttpProfile) -> Result<Arc<dyn HttpExchange>, HttpRefusal> {
        Ok(self.0.clone())
    }
}

const DESCRIPTORS: &str = r#"{
    "mail": {"kind": "oauth2", "token_url": "https://id.example/token", "client_id": "c", "refresh_token_ref": "env://R"},
    "tickets": {"kind": "api_key", "key_ref": "env://KEY", "name": "x-desk-key"},
    "search": {"kind": "api_key", "key_ref": "env://KEY", "in": "query", "name": "key"},
    "people": {"kind": "basic", "username": "Aladdin", "password_ref": "env://PASSWORD"},
    "gone": {"kind": "api_key", "key_ref": "env://ABSENT"}
}"#;

fn setup() -> (SourceCredentials, Arc<TokenEndpoint>) {
    let endpoint =
        Arc::new(TokenEndpoint { grants: AtomicUsize::new(0), status: AtomicU16::new(200), refused: Mutex::default() });
    let clock = Arc::new(VirtualClock::default());
    let factory = Arc::new(OutboundAuth::new(Arc::new(Secrets), clock, Arc::new(SeededEntropy::new(7))));
    let environment = BTreeMap::from([("SOURCE_CREDENTIALS".to_owned(), DESCRIPTORS.to_owned())]);
    let desk = ConnectorName::parse("desk").unwrap();
    let dialer = Arc::new(Dialer(endpoint.clone()));
    let profile = HttpProfile::default();
    let sources = SourceCredentials::from_environment(&environment, &desk, Arc::new(Secrets), factory, dialer, profile);
    (sources.unwrap(), endpoint)
}

async fn bearer(sources: &SourceCredentials) -> Option<String> {
    let material = sources.get("mail").await.material().await.unwrap();
    material.headers.first().map(|(_, value)| value.to_str().unwrap().to_owned())
}

/// Proves: SDK-CONNECTOR-CONTROL-R900.2, SDK-CONNECTOR-CONTROL-R900.3
#[tokio::test(start_paused = true)]
async fn a_token_is_renewed_thirty_seconds_early_and_a_failed_refresh_sends_no_header() {
    let (sources, endpoint) = setup();
    assert_eq!(bearer(&sources).await.as_deref(), Some("Bearer access-1"));
    tokio::time::advance(Duration::from_secs(269)).await;
    assert_eq!(bearer(&sources).await.as_deref(), Some("Bearer access-1"));
    assert_eq!(endpoint.grants.load(Ordering::SeqCst), 1);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(bearer(&sources).await.as_deref(), Some("Bearer access-2"), "30 seconds before it expires");
    // The rotated refresh token is the one that was sent; many callers at once renew once.
    tokio::time::advance(Duration::from_secs(280)).await;
    let all = at_once(&sources).await;
    assert!(all.iter().all(|token| token.as_deref() == Some("Bearer access-3")), "{all:?}");
    assert_eq!(endpoint.grants.load(Ordering::SeqCst), 3);
    // The authority fails, and the token is over: no header, and a status that says so.
    endpoint.status.store(503, Ordering::SeqCst);
    tokio::time::advance(Duration::from_secs(400)).await;
    assert_eq!(bearer(&sources).await, None);
    let status = sources.status().into_iter().find(|status| status.source == "mail").unwrap();
    assert_eq!(status.reason.unwrap().entry().code, "source_credential_not_refreshed");
    endpoint.status.store(200, Ordering::SeqCst);
    tokio::time::advance(Duration::from_mins(1)).await;
    assert_eq!(bearer(&sources).await.as_deref(), Some("Bearer access-4"));
}

async fn at_once(sources: &SourceCredentials) -> Vec<Option<String>> {
    let (a, b, c) = tokio::join!(bearer(sources), bearer(sources), bearer(sources));
    vec![a, b, c]
}

/// Proves: SDK-CONNECTOR-CONTROL-R900.1
#[tokio::test(start_paused = true)]
async fn the_other_kinds_become_what_a_vendor_expects() {
    let (sources, _) = setup();
    let key = sources.get("tickets").await.material().await.unwrap();
    assert_eq!((key.headers[0].0.as_str(), key.headers[0].1.as_bytes()), ("x-desk-key", &b"key-value"[..]));
    assert!(key.headers[0].1.is_sensitive());
    let query = sources.get("search").await.material().await.unwrap();
    assert_eq!((query.query[0].0.as_str(), query.query[0].1.expose().as_str()), ("key", "key-value"));
    let basic = sources.get("people").await.material().await.unwrap();
    assert_eq!(basic.headers[0].1.as_bytes(), b"Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    assert!(sources.get("gone").await.material().await.is_err(), "a missing key is not sent as nothing");
    let gone = sources.status().into_iter().find(|status| status.source == "gone").unwrap();
    assert!(!gone.ready);
    assert_eq!(gone.reason.unwrap().entry().code, "source_credential_unresolved");
}
