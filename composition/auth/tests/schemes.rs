//! Every declaration against servers on real sockets.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use common::{World, desk, header};
use scion_auth::{ClientCredentialsTokenProvider, ProviderParts, with_caller_token};
use scion_conformance::fixtures::keys;
use scion_domain::auth::{
    ApiKey, AuthRefusal, Basic, Bearer, ClientAuth, ClientCredentials, JwtAlgorithm, NoAuth, SessionLogin,
    SessionToken, TokenExchange,
};
use scion_domain::http::StatusCode;
use scion_domain::secret::Secret;
use scion_jwt::Jwt;
use scion_lab::{Answer, Idp, IdpClient, Lab, PASSWORD};
use scion_local::SystemEntropy;

/// Proves: SDK-CONNECTOR-CONTROL-R028.4, SDK-CENTRALIZED-CAPABILITIES-R011
#[tokio::test]
async fn fixed_secrets_have_the_shapes_vendors_expect() {
    let world = World::new().await;
    world.vault.put("T", "tok-123456");
    world.vault.put("U", "anna");
    let shape = |auth: Arc<dyn scion_ports::RequestAuth>| async move { auth.material().await.unwrap() };
    let bearer = shape(world.open(Bearer::env("T")).await).await;
    assert_eq!(header(&bearer, "authorization").as_deref(), Some("Bearer tok-123456"));
    assert!(!bearer.strip_cookies);
    let other = shape(world.open(Bearer::env("T").scheme("SSWS")).await).await;
    assert_eq!(header(&other, "authorization").as_deref(), Some("SSWS tok-123456"));
    let key = shape(world.open(ApiKey::header("X-Api-Key").env("T")).await).await;
    assert_eq!(header(&key, "x-api-key").as_deref(), Some("tok-123456"));
    assert!(key.strip_cookies);
    let query = shape(world.open(ApiKey::query("key").env("T")).await).await;
    assert_eq!((query.query[0].0.as_str(), query.query[0].1.expose().as_str()), ("key", "tok-123456"));
    let basic = shape(world.open(Basic::user("anna").env("T")).await).await;
    assert_eq!(header(&basic, "authorization").as_deref(), Some("Basic YW5uYTp0b2stMTIzNDU2"));
    let hidden = shape(world.open(Basic::user_reference("env://U").env("T")).await).await;
    assert_eq!(header(&hidden, "authorization"), header(&basic, "authorization"));
    let none = shape(world.open(NoAuth).await).await;
    assert!(none.headers.is_empty() && none.query.is_empty());
    let shown = format!("{bearer:?}{other:?}{key:?}{query:?}{basic:?}{hidden:?}");
    assert!(!shown.contains("tok-123456") && !shown.contains("YW5uYT"), "{shown}");
}

/// Proves: SDK-CONNECTOR-CONTROL-R028.4
#[tokio::test]
async fn a_fixed_secret_is_read_again_after_a_401_and_tried_again_only_when_it_changed() {
    let world = World::new().await;
    world.vault.put("T", "old");
    let vendor = Lab::scripted(|received| {
        let good = received.header("authorization") == Some("Bearer new");
        Answer::status(if good { 200 } else { 401 }).into()
    })
    .await;
    let auth = world.open(Bearer::env("T")).await;
    assert_eq!(world.call(auth.as_ref(), &vendor.url("/")).await.unwrap(), StatusCode::UNAUTHORIZED);
    assert_eq!(vendor.received().len(), 1, "an unchanged secret is not tried again");
    let reads = world.vault.reads.load(Ordering::SeqCst);
    assert!(!auth.rejected(1, StatusCode::UNAUTHORIZED).await.unwrap());
    assert_eq!(world.vault.reads.load(Ordering::SeqCst), reads, "requests that fail together ask the store once");
    world.clock.forward(2);
    world.vault.put("T", "new");
    assert_eq!(world.call(auth.as_ref(), &vendor.url("/")).await.unwrap(), StatusCode::OK);
    assert_eq!(vendor.received().len(), 3, "a changed one is, once");
    assert!(!auth.rejected(2, StatusCode::FORBIDDEN).await.unwrap(), "403 is a permission, not a secret");
    assert!(auth.rejected(1, StatusCode::UNAUTHORIZED).await.unwrap(), "newer material exists");
    world.vault.remove("T");
    let missing = world.open(Bearer::env("T")).await.material().await.unwrap_err();
    assert!(matches!(missing, AuthRefusal::Credential { code: "credential_missing", .. }), "{missing}");
}

async fn provider(ttl: u64) -> Idp {
    let idp = Idp::start(Jwt::new()).await;
    idp.client(IdpClient::confidential("client", "s:cr&t"));
    idp.client(IdpClient::with_key("signer", keys::RSA_OTHER.public_pem));
    idp.set(|knobs| knobs.access_ttl = ttl);
    idp
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R011, SDK-CONNECTOR-CONTROL-R028.4
#[tokio::test]
async fn client_credentials_are_kept_renewed_early_and_minted_again_once() {
    let (world, idp) = (World::new().await, provider(300).await);
    world.vault.put("S", "s:cr&t");
    let auth = world.open(ClientCredentials::issuer(&idp.issuer(), "client").env("S").scope("a b")).await;
    let api = idp.url("/api");
    for _ in 0..3 {
        assert_eq!(world.call(auth.as_ref(), &api).await.unwrap(), StatusCode::OK);
    }
    assert_eq!((idp.count("/token"), idp.count("/.well-known/openid-configuration")), (1, 1));
    world.clock.forward(269);
    auth.material().await.unwrap();
    assert_eq!(idp.count("/token"), 1);
    world.clock.forward(1);
    auth.material().await.unwrap();
    assert_eq!(idp.count("/token"), 2, "30 seconds before it expires");
    idp.revoke_access();
    assert_eq!(world.call(auth.as_ref(), &api).await.unwrap(), StatusCode::OK);
    assert_eq!(idp.count("/token"), 3);
    let material = auth.material().await.unwrap();
    assert!(!auth.rejected(material.generation, StatusCode::FORBIDDEN).await.unwrap());
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R011
#[tokio::test]
async fn a_client_proves_itself_by_post_basic_and_assertion() {
    let (world, idp) = (World::new().await, provider(300).await);
    world.vault.put("S", "s:cr&t");
    world.vault.put("PEM", keys::RSA_OTHER.private_pem);
    world.vault.put("WRONG", keys::RSA.private_pem);
    let token_url = idp.url("/token");
    let basic = ClientCredentials::token_url(token_url.as_str(), "client").env("S").client_auth(ClientAuth::Basic);
    assert_eq!(world.call(world.open(basic).await.as_ref(), &idp.url("/api")).await.unwrap(), StatusCode::OK);
    let signer = |reference: &str, algorithm| {
        ClientCredentials::token_url(token_url.as_str(), "signer").env(reference).private_key(algorithm, "k1")
    };
    for algorithm in [JwtAlgorithm::RS256, JwtAlgorithm::PS256] {
        let auth = world.open(signer("PEM", algorithm)).await;
        assert_eq!(world.call(auth.as_ref(), &idp.url("/api")).await.unwrap(), StatusCode::OK);
    }
    let wrong = world.open(signer("WRONG", JwtAlgorithm::RS256)).await.material().await.unwrap_err();
    assert!(matches!(wrong, AuthRefusal::Rejected { .. }), "{wrong}");
    let unfit = world.open(signer("PEM", JwtAlgorithm::ES256)).await.material().await.unwrap_err();
    assert!(matches!(unfit, AuthRefusal::Configuration { field: "client_secret_ref", .. }), "{unfit}");
    assert!(!idp.received().iter().any(|received| received.contains("PRIVATE KEY")));
}

/// Proves: SDK-CONNECTOR-CONTROL-R028.4, SDK-CENTRALIZED-CAPABILITIES-R011
#[tokio::test]
async fn rejected_and_unreachable_differ_and_a_good_token_outlives_a_silent_authority() {
    let (world, idp) = (World::new().await, provider(300).await);
    world.vault.put("S", "wrong");
    let url = idp.url("/token");
    let declared = || ClientCredentials::token_url(url.as_str(), "client").env("S");
    let refused = world.open(declared()).await.material().await.unwrap_err();
    assert!(matches!(refused, AuthRefusal::Rejected { .. }), "{refused}");
    assert!(!format!("{refused}{refused:?}").contains("secret words"), "the peer's text is repeated");
    world.vault.put("S", "s:cr&t");
    let auth = world.open(declared()).await;
    auth.material().await.unwrap();
    idp.set(|knobs| knobs.down = vec![("/token".to_owned(), 503)]);
    world.clock.forward(280);
    assert_eq!(auth.material().await.unwrap().generation, 1, "it is valid for 20 seconds more");
    world.clock.forward(21);
    let silent = auth.material().await.unwrap_err();
    assert!(matches!(silent, AuthRefusal::Unreachable { .. }), "{silent}");
    idp.set(|knobs| knobs.down.clear());
    assert_eq!(auth.material().await.unwrap().generation, 2, "it recovers by itself");
    let nobody = ClientCredentials::token_url("http://127.0.0.1:9/t", "client").env("S");
    let nobody = world.open(nobody).await.material().await.unwrap_err();
    assert!(matches!(nobody, AuthRefusal::Unreachable { .. }), "{nobody}");
    let inside = ClientCredentials::token_url("https://10.0.0.1/t", "client").env("S");
    let inside = world.open(inside).await.material().await.unwrap_err();
    assert!(matches!(inside, AuthRefusal::NotDialled { .. }), "{inside}");
    idp.set(|knobs| knobs.other_issuer = Some("https://evil.example".to_owned()));
    let foreign = world.open(ClientCredentials::issuer(&idp.issuer(), "client").env("S")).await;
    let foreign = foreign.material().await.unwrap_err();
    assert!(matches!(foreign, AuthRefusal::Malformed { what: "issuer", .. }), "{foreign}");
}

/// Proves: SDK-CONNECTOR-CONTROL-R028.4
#[tokio::test]
async fn a_session_logs_in_again_once_on_401_and_403() {
    let (world, idp) = (World::new().await, provider(300).await);
    world.vault.put("P", PASSWORD);
    let url = idp.url("/login");
    let declared = SessionLogin::json(url.as_str(), "data.token").field("user", "desk").env("password", "P");
    let cookie = SessionLogin { token: SessionToken::Cookie { name: "sid".to_owned() }, ..declared.clone().form() };
    let mut logins = 0;
    for (declared, forbidden) in [(declared, false), (cookie, true)] {
        idp.set(|knobs| knobs.forbid_with_403 = forbidden);
        let auth = world.open(declared).await;
        for _ in 0..2 {
            assert_eq!(world.call(auth.as_ref(), &idp.url("/api")).await.unwrap(), StatusCode::OK);
        }
        idp.revoke_access();
        assert_eq!(world.call(auth.as_ref(), &idp.url("/api")).await.unwrap(), StatusCode::OK);
        logins += 2;
        assert_eq!(idp.count("/login"), logins);
        world.clock.forward(3600);
        auth.material().await.unwrap();
        logins += 1;
        assert_eq!(idp.count("/login"), logins, "a session is used for its lifetime");
        let material = auth.material().await.unwrap();
        assert!(!format!("{material:?}").contains("access-"));
    }
    world.vault.put("P", "wrong");
    let wrong = SessionLogin::json(url.as_str(), "data.token").field("user", "desk").env("password", "P");
    let wrong = world.open(wrong).await.material().await.unwrap_err();
    assert!(matches!(wrong, AuthRefusal::Rejected { .. }), "{wrong}");
}

/// Proves: SDK-CONNECTOR-CONTROL-R028.4
#[tokio::test]
async fn a_server_that_refuses_every_token_does_not_make_each_call_a_login() {
    let (world, idp) = (World::new().await, provider(300).await);
    world.vault.put("P", PASSWORD);
    world.vault.put("S", "s:cr&t");
    let login = SessionLogin::json(idp.url("/login").as_str(), "data.token").field("user", "desk").env("password", "P");
    let client = ClientCredentials::issuer(&idp.issuer(), "client").env("S");
    let session = (world.open(login).await, StatusCode::FORBIDDEN, "/login");
    let oauth = (world.open(client).await, StatusCode::UNAUTHORIZED, "/token");
    for (auth, status, place) in [session, oauth] {
        let mut renewed = 0;
        for _ in 0..40 {
            let generation = auth.material().await.unwrap().generation;
            renewed += usize::from(auth.rejected(generation, status).await.unwrap());
        }
        assert_eq!((renewed, idp.count(place)), (5, 6), "{place}");
        world.clock.forward(59);
        let generation = auth.material().await.unwrap().generation;
        assert!(!auth.rejected(generation, status).await.unwrap(), "the minute is not over");
        // Who still had an older token learns of the newer one, which costs no renewal.
        assert!(auth.rejected(generation - 1, status).await.unwrap());
        world.clock.forward(2);
        assert!(auth.rejected(generation, status).await.unwrap());
        assert_eq!(idp.count(place), 7, "{place}");
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R028.4
#[tokio::test]
async fn a_caller_token_is_exchanged_for_that_caller_alone() {
    let (world, idp) = (World::new().await, provider(300).await);
    world.vault.put("S", "s:cr&t");
    let source = world.open(ClientCredentials::token_url(idp.url("/token").as_str(), "client").env("S")).await;
    let mut callers = Vec::new();
    for _ in 0..2 {
        let material = source.material().await.unwrap();
        let token = header(&material, "authorization").unwrap().replace("Bearer ", "");
        callers.push(Secret::new(token));
        source.rejected(material.generation, StatusCode::UNAUTHORIZED).await.unwrap();
    }
    let before = idp.count("/token");
    let auth = world.open(TokenExchange::token_url(idp.url("/token").as_str(), "client", "vendor").env("S")).await;
    let mut seen = Vec::new();
    for caller in [&callers[0], &callers[1], &callers[0]] {
        let material = with_caller_token(caller.clone(), auth.material()).await.unwrap();
        seen.push(header(&material, "authorization").unwrap());
    }
    assert_eq!(seen[0], seen[2]);
    assert_ne!(seen[0], seen[1], "one caller got the token of another");
    assert_eq!(idp.count("/token") - before, 2);
    let nobody = auth.material().await.unwrap_err();
    assert!(matches!(nobody, AuthRefusal::Credential { .. }), "{nobody}");
    let stranger = with_caller_token(Secret::new("made-up".to_owned()), auth.material()).await.unwrap_err();
    assert!(matches!(stranger, AuthRefusal::Rejected { .. }), "{stranger}");
    assert!(!stranger.to_string().contains("made-up"));
}

/// Proves: SDK-CONNECTOR-CONTROL-R031, SDK-CENTRALIZED-CAPABILITIES-R011
#[tokio::test]
async fn a_literal_client_secret_is_used_and_never_shown() {
    let (world, idp) = (World::new().await, provider(300).await);
    let parts = ProviderParts {
        connector: desk(),
        credentials: world.vault.clone(),
        clock: world.clock.clone(),
        entropy: Arc::new(SystemEntropy),
        signer: None,
        exchange: world.exchange.clone(),
    };
    let client = ClientCredentials::token_url(idp.url("/token").as_str(), "client");
    let literal = Secret::new("s:cr&t".to_owned());
    let provider = ClientCredentialsTokenProvider::new(client.clone(), literal, parts.clone()).unwrap();
    let token = provider.token().await.unwrap();
    assert_eq!(token.expose(), provider.token().await.unwrap().expose());
    assert_eq!(idp.count("/token"), 1);
    let sent = idp.received().iter().any(|received| received.text().contains("client_secret=s%3Acr%26t"));
    assert!(sent, "the token request carries that secret");
    assert!(!format!("{provider:?}{parts:?}{client:?}").contains("cr&t"));
    assert!(serde_json::to_string(&client).is_err(), "what has no reference is not written down");
    let wrong = Secret::new("hunter2".to_owned());
    let provider = ClientCredentialsTokenProvider::new(client, wrong, parts.clone()).unwrap();
    let refused = provider.token().await.unwrap_err();
    assert!(matches!(refused, AuthRefusal::Rejected { .. }) && !format!("{refused:?}").contains("hunter2"));
    let bad = ClientCredentials::token_url("http://i.example/t", "client");
    assert!(ClientCredentialsTokenProvider::new(bad, Secret::new("x".to_owned()), parts).is_err());
}
