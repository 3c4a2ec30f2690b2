//! What the settings of a listener give, and what is refused before it listens.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use common::{ISSUER, MovedClock, SHARED, claims, exchange, sign};
use scion_auth::ServedAuthorities;
use scion_conformance::fixtures::keys::RSA;
use scion_domain::auth::{AuthUrl, JwtAlgorithm};
use scion_domain::credential::{CredentialRefusal, CredentialRequest};
use scion_domain::id::ConnectorName;
use scion_domain::json::{Json, parse};
use scion_domain::refusal::Refusal as _;
use scion_domain::secret::Secret;
use scion_domain::served_security::{ServedSecurityProfile, ServedSecurityRefusal, TokenRefusal};
use scion_jwt::Jwt;
use scion_lab::{Idp, IdpClient};
use scion_local::SystemEntropy;
use scion_ports::{CredentialProvider, TokenVerifier};
use scion_served_auth::{SecurityParts, ServedSecuritySettings};

const TOKENS: &str = r#"{"0123456789abcdef0123456789abcdef":{"client_id":"ada","tenant_id":"acme"}}"#;

struct Vault;

#[async_trait]
impl CredentialProvider for Vault {
    async fn resolve(&self, request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        let reference = request.reference.to_string();
        let value = match reference.as_str() {
            "env://TOK" => TOKENS,
            "env://SHORT" => r#"{"short":{"client_id":"c"}}"#,
            "env://BLANK" => r#"{"0123456789 bcdef0123456789abcdef":{"client_id":"c"}}"#,
            "env://KEY" => SHARED,
            "env://SHORT_KEY" => "only 31 bytes: one too few here",
            "env://CLIENT" => "s3cret",
            _ => return Err(CredentialRefusal::Missing { reference }),
        };
        Ok(Secret::new(value.to_owned()))
    }
}

async fn open(
    variables: &[(&str, &str)],
) -> Result<(Arc<dyn TokenVerifier>, ServedSecurityProfile), ServedSecurityRefusal> {
    let environment: BTreeMap<String, String> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let (connector, clock) = (ConnectorName::parse("desk").unwrap(), Arc::new(MovedClock::default()));
    let exchange = exchange().await;
    let authorities = ServedAuthorities {
        connector: connector.clone(),
        credentials: Arc::new(Vault),
        clock: clock.clone(),
        entropy: Arc::new(SystemEntropy),
        verifier: Arc::new(Jwt::new()),
        exchange: Arc::new(move |_: &AuthUrl| exchange.clone()),
    };
    let parts = SecurityParts {
        connector,
        credentials: Arc::new(Vault),
        clock,
        jwt: Arc::new(Jwt::new()),
        authorities: Arc::new(authorities),
    };
    ServedSecuritySettings::from_environment(&environment)?.open(&parts).await
}

async fn refusal(variables: &[(&str, &str)]) -> &'static str {
    open(variables).await.err().map_or("opened", |refusal| refusal.code())
}

const AUDIENCE: (&str, &str) = ("FASTMCP_SERVER_AUTH_JWT_AUDIENCE", "desk");
const STATIC: (&str, &str) = ("AUTH_TYPE", "static");
const JWT: (&str, &str) = ("AUTH_TYPE", "jwt");
const REMOTE: (&str, &str) = ("AUTH_TYPE", "remote-oauth");
const TOKENS_REF: &str = "FASTMCP_SERVER_AUTH_STATIC_TOKENS_REF";
const OIDC: (&str, &str) = ("OIDC_ISSUER", ISSUER);

/// Proves: SDK-CONNECTOR-CONTROL-R014.18
#[tokio::test]
async fn a_listener_without_a_check_of_callers_does_not_start() {
    for (variables, code) in [
        (&[][..], "served_provider_missing"),
        (&[("AUTH_TYPE", "none"), AUDIENCE], "served_provider_missing"),
        (&[("AUTH_TYPE", "magic"), AUDIENCE], "served_auth_kind"),
        (&[("AUTH_TYPE", "oauth-proxy"), AUDIENCE], "served_auth_proxy"),
        (&[("AUTH_TYPE", "oidc-proxy"), AUDIENCE], "served_auth_proxy"),
        (&[STATIC, (TOKENS_REF, "env://TOK")], "served_audience_missing"),
        (&[STATIC, AUDIENCE], "served_security_setting"),
        (&[STATIC, AUDIENCE, (TOKENS_REF, TOKENS)], "served_security_setting"),
        (&[STATIC, AUDIENCE, (TOKENS_REF, "env://NOPE")], "served_security_secret"),
        (&[STATIC, AUDIENCE, (TOKENS_REF, "env://SHORT")], "served_security_secret"),
        (&[STATIC, AUDIENCE, (TOKENS_REF, "env://BLANK")], "served_security_secret"),
        (&[JWT], "served_audience_missing"),
        (&[JWT, AUDIENCE], "served_security_setting"),
        (&[JWT, AUDIENCE, ("OIDC_ISSUER", "http://login.example")], "served_security_setting"),
        (&[JWT, AUDIENCE, OIDC, ("FASTMCP_SERVER_AUTH_JWT_ALGORITHM", "none")], "served_security_setting"),
        (&[JWT, AUDIENCE, OIDC, ("FASTMCP_SERVER_AUTH_JWT_ALGORITHM", "HS256")], "served_security_setting"),
        (&[JWT, AUDIENCE, OIDC, ("FASTMCP_SERVER_AUTH_JWT_PUBLIC_KEY", "x")], "served_security_secret"),
        (&[JWT, AUDIENCE, OIDC, ("FASTMCP_SERVER_AUTH_JWT_SECRET_REF", "env://SHORT_KEY")], "served_security_secret"),
        (
            &[
                JWT,
                AUDIENCE,
                OIDC,
                ("FASTMCP_SERVER_AUTH_JWT_SECRET_REF", "env://KEY"),
                ("FASTMCP_SERVER_AUTH_JWT_PUBLIC_KEY", RSA.public_pem),
            ],
            "served_security_setting",
        ),
        (&[REMOTE, AUDIENCE], "served_security_setting"),
        (&[REMOTE, AUDIENCE, ("REMOTE_AUTH_SERVERS", ISSUER)], "served_security_setting"),
    ] {
        assert_eq!(refusal(variables).await, code, "{variables:?}");
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.18
#[tokio::test]
async fn each_kind_of_token_is_taken() {
    let now = MovedClock::default().now();
    let (verifier, profile) = open(&[STATIC, AUDIENCE, (TOKENS_REF, "env://TOK")]).await.unwrap();
    let token = verifier.verify(&Secret::new("0123456789abcdef0123456789abcdef".to_owned())).await.unwrap();
    assert_eq!(profile.caller(&token).unwrap().principal, "ada");
    assert!(profile.resource.is_none());

    let signed = claims(ISSUER, now, "{}");
    let public = ("FASTMCP_SERVER_AUTH_JWT_PUBLIC_KEY", RSA.public_pem);
    let base = ("MCP_PUBLIC_BASE_URL", "https://desk.example/");
    let (verifier, profile) = open(&[JWT, AUDIENCE, OIDC, public, base]).await.unwrap();
    verifier.verify(&sign(JwtAlgorithm::RS256, None, &signed, RSA.private_pem)).await.unwrap();
    let document = parse(&profile.resource.unwrap().document()).unwrap();
    assert_eq!(document.get("resource").and_then(Json::as_str), Some("https://desk.example/mcp"));

    let shared = ("FASTMCP_SERVER_AUTH_JWT_SECRET_REF", "env://KEY");
    let (verifier, _) = open(&[JWT, AUDIENCE, OIDC, shared]).await.unwrap();
    verifier.verify(&sign(JwtAlgorithm::HS256, None, &signed, SHARED)).await.unwrap();
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.18
#[tokio::test]
async fn a_remote_server_is_discovered_and_named() {
    let idp = Idp::start(Jwt::new()).await;
    let issuer = idp.issuer();
    let remote = [
        REMOTE,
        AUDIENCE,
        ("REMOTE_AUTH_SERVERS", issuer.as_str()),
        ("REMOTE_BASE_URL", "https://desk.example"),
        ("CONNECTOR_REQUIRED_SCOPES", "read"),
    ];
    let (verifier, profile) = open(&remote).await.unwrap();
    let good = claims(&issuer, MovedClock::default().now(), "{}");
    let token = verifier.verify(&sign(JwtAlgorithm::RS256, Some("key-1"), &good, RSA.private_pem)).await.unwrap();
    profile.caller(&token).unwrap();
    let document = profile.resource.unwrap().document();
    assert!(document.contains(&format!("\"authorization_servers\":[\"{issuer}\"]")), "{document}");
    assert_eq!(idp.count("/.well-known/openid-configuration"), 1);
}

/// The settings lead to the introspection of the issuer: one question about a token that nobody knows, however often it comes, and
/// a silent issuer is no answer. What becomes of good and of revoked tokens is in `introspection.rs`.
///
/// Proves: SDK-CONNECTOR-CONTROL-R014.18
#[tokio::test]
async fn opaque_tokens_are_asked_about() {
    let idp = Idp::start(Jwt::new()).await;
    idp.client(IdpClient::confidential("desk", "s3cret"));
    let issuer = idp.issuer();
    let (verifier, _) = open(&[
        REMOTE,
        AUDIENCE,
        ("REMOTE_AUTH_SERVERS", issuer.as_str()),
        ("REMOTE_BASE_URL", "https://desk.example"),
        ("SCION_TOKEN_INTROSPECTION_CLIENT_ID", "desk"),
        ("SCION_TOKEN_INTROSPECTION_SECRET_REF", "env://CLIENT"),
    ])
    .await
    .unwrap();
    for _ in 0..20 {
        let unknown = verifier.verify(&Secret::new("made-up".to_owned())).await;
        assert_eq!(unknown, Err(TokenRefusal::Invalid));
    }
    assert_eq!(idp.count("/introspect"), 1, "one answer is kept for a while");
    idp.set(|knobs| knobs.down = vec![("/introspect".to_owned(), 503)]);
    assert_eq!(verifier.verify(&Secret::new("another".to_owned())).await, Err(TokenRefusal::Unavailable));
}
