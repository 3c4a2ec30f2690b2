//! Opaque tokens, which the authorization server alone can read (RFC 7662).
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::sync::Arc;

use async_trait::async_trait;
use common::served::{Server, checked};
use common::{MovedClock, exchange, rules};
use scion_auth::{Introspection, ProviderParts};
use scion_conformance::suites::token_verifier::{TokenKind, TokenVerifierFixture, run};
use scion_domain::auth::parse_issuer;
use scion_domain::credential::{CredentialRefusal, CredentialRequest, SecretRef};
use scion_domain::http::{Method, OutboundRequest};
use scion_domain::id::ConnectorName;
use scion_domain::secret::Secret;
use scion_domain::served_security::TokenRefusal;
use scion_jwt::Jwt;
use scion_lab::{Idp, IdpClient};
use scion_local::SystemEntropy;
use scion_ports::{CredentialProvider, HttpExchange, TokenVerifier};
use scion_serve::CallGovernance;
use scion_served_auth::IntrospectionVerifier;
use serde_json::{Value, json};

struct OneSecret;

#[async_trait]
impl CredentialProvider for OneSecret {
    async fn resolve(&self, _request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        Ok(Secret::new("s3cret".to_owned()))
    }
}

struct Opaque {
    idp: Idp,
    exchange: Arc<dyn HttpExchange>,
    clock: Arc<MovedClock>,
}

impl Opaque {
    async fn new() -> Self {
        let idp = Idp::start(Jwt::new()).await;
        idp.client(IdpClient::confidential("desk", "s3cret"));
        Self { idp, exchange: exchange().await, clock: Arc::default() }
    }

    fn open(&self) -> Arc<dyn TokenVerifier> {
        let parts = ProviderParts {
            connector: ConnectorName::parse("desk").unwrap(),
            credentials: Arc::new(OneSecret),
            clock: self.clock.clone(),
            entropy: Arc::new(SystemEntropy),
            signer: None,
            exchange: self.exchange.clone(),
        };
        let issuer = parse_issuer("issuer", &self.idp.issuer()).unwrap();
        let asked = Introspection::discovered(issuer, "desk", &SecretRef::parse("env://S").unwrap(), parts);
        Arc::new(IntrospectionVerifier::new(Arc::new(asked), rules(&self.idp.issuer()), self.clock.clone()))
    }

    /// A token of ada for an audience, with what introspection says otherwise.
    fn token(&self, audience: &str, otherwise: &Value) -> Secret<String> {
        let mut said = json!({"sub": "ada", "tenant_id": "acme", "scope": "read write"});
        said.as_object_mut().unwrap().extend(otherwise.as_object().unwrap().clone());
        Secret::new(self.idp.issue_access("assistant", audience, &said))
    }

    fn asked(&self) -> usize {
        self.idp.count("/introspect")
    }
}

#[async_trait]
impl TokenVerifierFixture for Opaque {
    async fn verifier(&self) -> Arc<dyn TokenVerifier> {
        self.idp.set(|knobs| knobs.down.clear());
        self.open()
    }

    async fn unreachable(&self) -> Option<Arc<dyn TokenVerifier>> {
        self.idp.set(|knobs| knobs.down = vec![("/introspect".to_owned(), 503)]);
        Some(self.open())
    }

    async fn token(&self, kind: TokenKind) -> Option<Secret<String>> {
        Some(match kind {
            TokenKind::Good => self.token("desk", &json!({})),
            TokenKind::Expired => self.token("desk", &json!({"exp": self.clock.now() - 1})),
            TokenKind::OtherAudience => self.token("vendor", &json!({})),
            TokenKind::OtherIssuer => self.token("desk", &json!({"iss": "https://evil.example"})),
            TokenKind::Forged => Secret::new("nobody-gave-this-out".to_owned()),
            TokenKind::NoExpiry => self.token("desk", &json!({"exp": null})),
            TokenKind::NoAudience => self.token("desk", &json!({"aud": null})),
            // No key signs an opaque token.
            TokenKind::UnknownKey(_) => return None,
        })
    }

    fn questions(&self) -> usize {
        self.asked()
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.18
#[tokio::test]
async fn introspected_tokens_pass_the_suite() {
    run(&Opaque::new().await).await.assert_passed();
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.18
#[tokio::test]
async fn a_revoked_token_is_refused_when_the_kept_answer_is_ten_seconds_old() {
    let opaque = Opaque::new().await;
    let (verifier, token) = (opaque.open(), opaque.token("desk", &json!({})));
    let verified = verifier.verify(&token).await.unwrap();
    assert_eq!((verified.subject.as_deref(), verified.client.as_deref()), (Some("ada"), Some("assistant")));
    opaque.idp.revoke_access();
    verifier.verify(&token).await.unwrap();
    assert_eq!(opaque.asked(), 1, "the answer is kept for a while");
    opaque.clock.forward(10);
    assert_eq!(verifier.verify(&token).await, Err(TokenRefusal::Invalid));
    assert_eq!(opaque.asked(), 2);
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.18
#[tokio::test]
async fn a_token_is_good_for_the_audience_it_was_asked_for_alone() {
    let opaque = Opaque::new().await;
    let verifier = opaque.open();
    for (resource, expected) in [("desk", Ok(())), ("vendor", Err(TokenRefusal::Audience))] {
        let mut request = OutboundRequest::new(Method::POST, opaque.idp.url("/token"));
        let form = format!("grant_type=client_credentials&client_id=desk&client_secret=s3cret&resource={resource}");
        request.headers.insert("content-type", "application/x-www-form-urlencoded".parse().unwrap());
        request.body = form.into_bytes().into();
        let mut answer = opaque.exchange.send(request).await.unwrap();
        let body = answer.bytes().await.unwrap();
        let answer: Value = serde_json::from_slice(&body).unwrap();
        let token = Secret::new(answer["access_token"].as_str().unwrap().to_owned());
        assert_eq!(verifier.verify(&token).await.map(|_| ()), expected, "{resource}");
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.18
#[tokio::test]
async fn a_listener_serves_the_holder_of_an_opaque_token_until_it_is_revoked() {
    let opaque = Opaque::new().await;
    let server = Server::start(checked(opaque.open()), CallGovernance::default()).await;
    let token = opaque.token("desk", &json!({}));
    assert_eq!(server.text("desk_mine", Some(token.expose())).await, "ada for desk");
    assert_eq!(server.hits(), 1);

    let other = opaque.token("vendor", &json!({}));
    let (status, body) = server.call("desk_mine", Some(other.expose())).await;
    assert_eq!(status, 401, "{body}");
    assert!(!body.contains(other.expose().as_str()) && !body.contains("vendor"), "{body}");

    opaque.idp.revoke_access();
    opaque.clock.forward(10);
    assert_eq!(server.call("desk_mine", Some(token.expose())).await.0, 401);
    assert_eq!(server.hits(), 1, "nothing reached the vendor");
}
