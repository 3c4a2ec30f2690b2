//! Tools that act for their caller, over real HTTP with forwarded tokens.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::sync::Arc;

use common::served::{Server, checked, open};
use common::{ISSUER, MovedClock, claims, exchange, rules, sign};
use scion_auth::OutboundAuth;
use scion_conformance::fixtures::keys::RSA;
use scion_domain::auth::{JwtAlgorithm, TokenExchange};
use scion_domain::credential::{CredentialRefusal, CredentialRequest};
use scion_domain::id::ConnectorName;
use scion_domain::secret::Secret;
use scion_jwt::Jwt;
use scion_lab::{Answer, Lab};
use scion_local::SystemEntropy;
use scion_ports::{CredentialProvider, async_trait};
use scion_serve::CallGovernance;
use scion_served_auth::{KeyVerifier, TokenKey};

fn verifier() -> Arc<KeyVerifier> {
    let key = TokenKey::Pem(RSA.public_pem.to_owned());
    let clock = Arc::new(MovedClock::default());
    Arc::new(KeyVerifier::new(key, JwtAlgorithm::RS256, rules(ISSUER), Arc::new(Jwt::new()), clock).unwrap())
}

fn token(changes: &str) -> String {
    let claims = claims(ISSUER, MovedClock::default().now(), changes);
    sign(JwtAlgorithm::RS256, None, &claims, RSA.private_pem).expose().clone()
}

/// Proves: SDK-CONNECTOR-CONTROL-R902, SDK-CONNECTOR-CONTROL-R902.2, SDK-CONNECTOR-CONTROL-R902.3, SDK-CONNECTOR-CONTROL-R902.6,
/// SDK-CENTRALIZED-CAPABILITIES-R012
#[tokio::test]
async fn a_tool_that_needs_an_actor_gets_the_forwarded_user() {
    let server = Server::start(checked(verifier()), CallGovernance::default()).await;
    let (ada, bob) = (token("{}"), token(r#"{"sub":"bob"}"#));
    assert_eq!(server.text("desk_mine", Some(&ada)).await, "ada for desk");
    assert_eq!(server.text("desk_mine", Some(&bob)).await, "bob for desk");
    assert_eq!(server.text("desk_list", Some(&ada)).await, "a user");
    assert_eq!(server.hits(), 3);
    let process = Server::start(open(), CallGovernance::default()).await;
    assert_eq!(process.text("desk_list", None).await, "the process", "a tool without the flag needs nobody");
}

/// Proves: SDK-CONNECTOR-CONTROL-R902.4
#[tokio::test]
async fn without_a_token_for_this_audience_nothing_reaches_the_vendor() {
    let nobody = Server::start(open(), CallGovernance::default()).await;
    for presented in [None, Some(token("{}"))] {
        let text = nobody.text("desk_mine", presented.as_deref()).await;
        assert!(text.starts_with("identity_required: "), "{text}");
    }
    assert_eq!(nobody.hits(), 0);
    let other = Server::start(checked(verifier()), CallGovernance::default().actor_audience("vendor")).await;
    let text = other.text("desk_mine", Some(&token("{}"))).await;
    assert!(text.starts_with("IDENTITY_AUDIENCE_MISMATCH: "), "{text}");
    assert_eq!(other.call("desk_mine", Some(&token(r#"{"aud":"vendor"}"#))).await.0, 401, "not for the listener");
    assert_eq!(other.hits(), 0);
    let both = token(r#"{"aud":["desk","vendor"]}"#);
    assert_eq!(other.text("desk_mine", Some(&both)).await, "ada for vendor");
    assert_eq!(other.hits(), 1);
}

/// Proves: SDK-CONNECTOR-CONTROL-R902.5
#[tokio::test]
async fn events_name_subject_and_audience_and_no_token() {
    let server = Server::start(checked(verifier()), CallGovernance::default()).await;
    let ada = token("{}");
    server.text("desk_mine", Some(&ada)).await;
    let events = server.events.0.lock().unwrap().clone();
    assert!(events.len() >= 2);
    for event in &events {
        assert!(event.contains("\"ada\"") && event.contains("audience: Some(\"desk\")"), "{event}");
        assert!(ada.split('.').all(|part| !event.contains(part)), "{event}");
    }
}

struct OneSecret;

#[async_trait]
impl CredentialProvider for OneSecret {
    async fn resolve(&self, _request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        Ok(Secret::new("s3cret".to_owned()))
    }
}

async fn delegation(endpoint: &Lab) -> CallGovernance {
    let outbound = OutboundAuth::new(Arc::new(OneSecret), Arc::new(MovedClock::default()), Arc::new(SystemEntropy));
    let declared = TokenExchange::token_url(endpoint.url("/token").as_str(), "desk", "vendor").env("S");
    let connector = ConnectorName::parse("desk").unwrap();
    let delegation = outbound.delegation(&connector, &declared, exchange().await).unwrap();
    CallGovernance::default().delegation(Arc::new(delegation))
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.8, SDK-CENTRALIZED-CAPABILITIES-R012
#[tokio::test]
async fn a_tool_gets_a_token_in_the_name_of_its_caller() {
    let endpoint = Lab::scripted(|received| {
        let form = received.text();
        let whose =
            if form.contains("subject_token=") && form.contains("scope=tickets%3Aread") { form.len() } else { 0 };
        Answer::json(&serde_json::json!({"access_token": format!("vendor-token-{whose}"), "expires_in": 300})).into()
    })
    .await;
    let server = Server::start(checked(verifier()), delegation(&endpoint).await).await;
    let (ada, other) = (token("{}"), token(r#"{"sub":"somebody-else"}"#));
    let first = server.text("desk_grant", Some(&ada)).await;
    assert!(first.starts_with("vendor-token-") && first != "vendor-token-0", "{first}");
    assert_eq!(server.text("desk_grant", Some(&ada)).await, first);
    assert_ne!(server.text("desk_grant", Some(&other)).await, first, "one caller got the token of another");
    assert_eq!(endpoint.received().len(), 2, "tokens are kept for their caller");
    assert!(endpoint.received()[0].text().contains(&ada));

    let nobody = Server::start(open(), delegation(&endpoint).await).await;
    let text = nobody.text("desk_grant", None).await;
    assert!(text.starts_with("login_required: "), "{text}");
    let off = Server::start(checked(verifier()), CallGovernance::default()).await;
    assert_eq!(off.text("desk_grant", Some(&ada)).await, "off");
    assert_eq!(endpoint.received().len(), 2);
}
