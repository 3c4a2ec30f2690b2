//! Requests to authorities: token endpoints, discovery documents, key sets and logins.

use std::sync::Arc;

use scion_auth::{Authority, IssuerKeys, IssuerMetadata, OutboundAuth};
use scion_conformance::fixtures::keys as fixtures;
use scion_domain::auth::{
    AuthDeclaration, ClaimRules, ClientAuth, ClientCredentials, JwtAlgorithm, RefreshToken, SessionLogin,
    TokenExchange, parse_issuer,
};
use scion_domain::id::ConnectorName;
use scion_domain::json::{Json, JsonObject};
use scion_domain::secret::Secret;
use scion_jwt::Jwt;
use scion_lab::{Answer, Received};
use scion_local::{EnvCredentials, SystemClock, SystemEntropy};
use scion_ports::{AuthFactory as _, JwtSigner as _};
use serde_json::json;

use super::{FetchPath, Outcome, SMALL, Wants, no_prologue, text};
use crate::stage::{SECRET, Stage};

const AUTHORITY: FetchPath = FetchPath {
    name: "authority",
    holds: SMALL,
    wants: Wants::Members,
    // An authority is https or on this machine.
    tls: true,
    prologue: no_prologue,
    leads: None,
    roams: false,
    honest: Some(|_, _| tokens()),
    run: |stage| Box::pin(token(stage)),
};

pub(crate) const TOKEN: FetchPath = FetchPath { name: "auth token", ..AUTHORITY };

pub(crate) const DISCOVERY: FetchPath = FetchPath {
    name: "auth discovery",
    leads: Some(|stage, target| Answer::json(&document(stage, target))),
    // The document of an issuer says where its token endpoint is, and that may be another host of its operator.
    roams: true,
    honest: Some(|received, stage| discovered(received, stage).unwrap_or_else(tokens)),
    run: |stage| Box::pin(discovery(stage)),
    ..AUTHORITY
};

pub(crate) const REFRESH: FetchPath =
    FetchPath { name: "auth refresh", run: |stage| Box::pin(refresh(stage)), ..AUTHORITY };

pub(crate) const EXCHANGE: FetchPath =
    FetchPath { name: "auth exchange", run: |stage| Box::pin(exchange(stage)), ..AUTHORITY };

pub(crate) const KEYS: FetchPath = FetchPath {
    name: "auth keys",
    prologue: discovered,
    honest: Some(|_, _| key_set()),
    run: |stage| Box::pin(keys(stage)),
    ..AUTHORITY
};

pub(crate) const LOGIN: FetchPath = FetchPath {
    name: "auth login",
    honest: Some(|_, _| Answer::json(&json!({ "data": { "token": "session" } }))),
    run: |stage| Box::pin(login(stage)),
    ..AUTHORITY
};

/// The document that names the key set; a key set is fetched without a credential, from wherever it says.
pub(crate) const KEY_DISCOVERY: FetchPath = FetchPath {
    name: "auth key discovery",
    prologue: no_prologue,
    leads: Some(|stage, target| {
        let mut document = document(stage, &format!("{}/token", issuer(stage)));
        document["jwks_uri"] = json!(target);
        Answer::json(&document)
    }),
    honest: Some(|received, stage| discovered(received, stage).unwrap_or_else(key_set)),
    ..KEYS
};

pub(crate) const COOKIE: FetchPath = FetchPath {
    name: "auth login by cookie",
    honest: Some(|_, _| Answer::redirect(303, "/home").header("set-cookie", "lab-session=fresh; Path=/; HttpOnly")),
    run: |stage| Box::pin(cookie(stage)),
    ..AUTHORITY
};

fn tokens() -> Answer {
    Answer::json(&json!({ "access_token": "token", "token_type": "Bearer", "expires_in": 60 }))
}

fn key_set() -> Answer {
    let mut key: serde_json::Value = serde_json::from_str(fixtures::RSA.public_jwk).unwrap();
    key["kid"] = json!("k");
    Answer::json(&json!({ "keys": [key] }))
}

/// The address of the key set holds the secret, since fetching keys needs no credential.
fn document(stage: &Stage, token_endpoint: &str) -> serde_json::Value {
    let base = issuer(stage);
    json!({ "issuer": base, "token_endpoint": token_endpoint, "jwks_uri": format!("{base}/jwks?tenant={SECRET}") })
}

fn issuer(stage: &Stage) -> String {
    stage.base.as_str().trim_end_matches('/').to_owned()
}

fn discovered(received: &Received, stage: &Stage) -> Option<Answer> {
    let asked = received.path() == "/.well-known/openid-configuration";
    asked.then(|| Answer::json(&document(stage, &format!("{}/token", issuer(stage)))))
}

async fn material(stage: Stage, declaration: impl Into<AuthDeclaration>) -> Outcome {
    let exchange = stage.exchange().await.map_err(|refusal| text(&refusal))?;
    let secrets = EnvCredentials::new(|_| Some(SECRET.to_owned()));
    let factory = OutboundAuth::new(Arc::new(secrets), Arc::new(SystemClock::new()), Arc::new(SystemEntropy))
        .authority_limits(Stage::limits());
    let desk = ConnectorName::parse("desk").unwrap();
    let auth = factory.open(&desk, &declaration.into(), exchange).await.map_err(|refusal| text(&refusal))?;
    let material = auth.material().await.map_err(|refusal| text(&refusal))?;
    Ok(format!("{material:?}"))
}

async fn token(stage: Stage) -> Outcome {
    let client = ClientCredentials::token_url(stage.base.as_str(), "client").env("S").client_auth(ClientAuth::Basic);
    material(stage, client).await
}

async fn discovery(stage: Stage) -> Outcome {
    let client = ClientCredentials::issuer(&issuer(&stage), "client").env("S").client_auth(ClientAuth::Basic);
    material(stage, client).await
}

async fn refresh(stage: Stage) -> Outcome {
    let token = RefreshToken::token_url(stage.base.as_str(), "client").env("R").client_secret("env://S");
    material(stage, token).await
}

async fn exchange(stage: Stage) -> Outcome {
    let exchange = TokenExchange::token_url(stage.base.as_str(), "client", "vendor").env("S");
    scion_auth::with_caller_token(Secret::new(SECRET.to_owned()), material(stage, exchange)).await
}

async fn cookie(stage: Stage) -> Outcome {
    let login = SessionLogin::cookie(stage.base.as_str(), "lab-session").env("password", "S").form();
    material(stage, login).await
}

async fn login(stage: Stage) -> Outcome {
    let login = SessionLogin::json(stage.base.as_str(), "data.token").env("password", "S");
    material(stage, login).await
}

async fn keys(stage: Stage) -> Outcome {
    let exchange = stage.exchange().await.map_err(|refusal| text(&refusal))?;
    let authority = Authority::new(exchange).with_limits(Stage::limits());
    let clock = Arc::new(SystemClock::new());
    let issuer = parse_issuer("issuer", &issuer(&stage)).map_err(|refusal| text(&refusal))?;
    let rules = ClaimRules { issuer: issuer.as_text().to_owned(), audience: "desk".to_owned(), nonce: None };
    let metadata = Arc::new(IssuerMetadata::new(issuer, authority.clone(), clock.clone()));
    let keys = IssuerKeys::new(metadata, authority, clock, Arc::new(Jwt::new()));
    let claims: JsonObject = [
        ("iss", Json::from(keys.issuer())),
        ("aud", Json::from("desk")),
        ("exp", Json::from(4_000_000_000i64)),
        ("jti", Json::from(SECRET)),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect();
    let pem = Secret::new(fixtures::RSA.private_pem.to_owned());
    let token = Jwt::new().sign(JwtAlgorithm::RS256, Some("k"), &claims, &pem).unwrap();
    match keys.check(&token, &[JwtAlgorithm::RS256], &rules).await {
        Ok(_) => Ok("accepted".to_owned()),
        Err(refusal) => Err(format!("{refusal:?}")),
    }
}
