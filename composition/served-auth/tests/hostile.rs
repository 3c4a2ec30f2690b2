//! Tokens and authorities that mean harm: refused over real HTTP, before anything reaches the vendor.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::sync::Arc;
use std::time::Duration;

use common::served::{Server, checked};
use common::{MovedClock, claims, exchange, rules, sign};
use scion_auth::{Authority, IssuerKeys};
use scion_conformance::fixtures::keys::{EC256, RSA, RSA_OTHER};
use scion_domain::auth::{AuthUrl, JwtAlgorithm, parse_issuer};
use scion_domain::base64::encode_url;
use scion_domain::http::ExchangeLimits;
use scion_domain::json::{Json, to_compact};
use scion_jwt::Jwt;
use scion_lab::{Answer, Behaviour, Idp, Lab};
use scion_ports::TokenVerifier;
use scion_serve::CallGovernance;
use scion_served_auth::IssuerVerifier;

/// A verifier of RS256 tokens over the key set at a URL.
async fn verifier(issuer: &str, keys: &str, clock: &Arc<MovedClock>) -> Arc<dyn TokenVerifier> {
    let limits = ExchangeLimits {
        idle: Duration::from_millis(500),
        total: Duration::from_secs(2),
        body_bytes: 1 << 20,
        ..ExchangeLimits::default()
    };
    let authority = Authority::new(exchange().await).with_limits(limits);
    let (issuer_url, keys) = (parse_issuer("issuer", issuer).unwrap(), AuthUrl::parse("keys", keys).unwrap());
    let keys = IssuerKeys::at(issuer_url, keys, authority, clock.clone(), Arc::new(Jwt::new()));
    Arc::new(IssuerVerifier::new(Arc::new(keys), JwtAlgorithm::RS256, rules(issuer)))
}

struct Scene {
    idp: Idp,
    clock: Arc<MovedClock>,
    server: Server,
}

impl Scene {
    async fn new() -> Self {
        let (idp, clock) = (Idp::start(Jwt::new()).await, Arc::new(MovedClock::default()));
        let verifier = verifier(&idp.issuer(), idp.url("/jwks").as_str(), &clock).await;
        let server = Server::start(checked(verifier), CallGovernance::default()).await;
        Self { idp, clock, server }
    }

    fn signed(&self, changes: &str) -> String {
        let claims = claims(&self.idp.issuer(), self.clock.now(), changes);
        sign(JwtAlgorithm::RS256, Some("key-1"), &claims, RSA.private_pem).expose().clone()
    }

    /// A token whose parts are written by hand.
    fn written(header: &str, claims: &str, signature: &str) -> String {
        format!("{}.{}.{signature}", encode_url(header.as_bytes()), encode_url(claims.as_bytes()))
    }

    fn claims(&self) -> String {
        to_compact(&Json::Object(claims(&self.idp.issuer(), self.clock.now(), "{}")))
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.18
#[tokio::test]
async fn no_hostile_token_reaches_the_vendor() {
    let scene = Scene::new().await;
    let (now, good) = (scene.clock.now(), scene.signed("{}"));
    assert_eq!(scene.server.call("desk_list", Some(&good)).await.0, 200);
    let (head, signature) = good.rsplit_once('.').unwrap();
    let confused = claims(&scene.idp.issuer(), now, "{}");
    // The public key as a shared secret; the signer refuses PEM, so the JWK's text stands in.
    let by_public_key = sign(JwtAlgorithm::HS256, Some("key-1"), &confused, RSA.public_jwk);
    let other_key = sign(JwtAlgorithm::RS256, Some("key-1"), &confused, RSA_OTHER.private_pem);
    let other_kind = sign(JwtAlgorithm::ES256, Some("key-1"), &confused, EC256.private_pem);
    let own = scene.claims();
    let twice = own.replacen('{', r#"{"sub":"eve","#, 1);
    let deep = own.replacen('{', &format!(r#"{{"deep":{}{},"#, "[".repeat(64), "]".repeat(64)), 1);
    let tokens = [
        ("alg none", Scene::written(r#"{"alg":"none"}"#, &own, "")),
        ("alg none, signed", Scene::written(r#"{"alg":"none","kid":"key-1"}"#, &own, signature)),
        ("alg in other case", Scene::written(r#"{"alg":"rs256","kid":"key-1"}"#, &own, signature)),
        ("alg twice", Scene::written(r#"{"alg":"RS256","alg":"none"}"#, &own, signature)),
        ("HS256 with the public key", by_public_key.expose().clone()),
        ("ES256", other_kind.expose().clone()),
        ("another key", other_key.expose().clone()),
        ("a key in the header", Scene::written(r#"{"alg":"RS256","jku":"https://evil.example/k"}"#, &own, signature)),
        ("a critical header", Scene::written(r#"{"alg":"RS256","crit":["b64"],"b64":false}"#, &own, signature)),
        ("another audience", scene.signed(r#"{"aud":"other"}"#)),
        ("no audience", scene.signed(r#"{"aud":null}"#)),
        ("an audience that is none", scene.signed(r#"{"aud":{"desk":true}}"#)),
        ("another issuer", scene.signed(r#"{"iss":"https://evil.example"}"#)),
        ("no issuer", scene.signed(r#"{"iss":null}"#)),
        ("expired", scene.signed(&format!(r#"{{"exp":{}}}"#, now - 1))),
        ("not valid yet", scene.signed(&format!(r#"{{"nbf":{}}}"#, now + 90))),
        ("issued in the future", scene.signed(&format!(r#"{{"iat":{}}}"#, now + 90))),
        ("no expiry", scene.signed(r#"{"exp":null}"#)),
        ("a boolean expiry", scene.signed(r#"{"exp":true}"#)),
        ("an expiry in text", scene.signed(r#"{"exp":"4000000000"}"#)),
        ("17 KiB", scene.signed(&format!(r#"{{"pad":"{}"}}"#, "a".repeat(17 * 1024)))),
        ("a subject twice", Scene::written(r#"{"alg":"RS256","kid":"key-1"}"#, &twice, signature)),
        ("deep claims", Scene::written(r#"{"alg":"RS256","kid":"key-1"}"#, &deep, signature)),
        ("another signature", format!("{head}.{}", encode_url(&[7; 256]))),
        ("no signature", format!("{head}.")),
        ("two parts", head.to_owned()),
        ("dots", "...".to_owned()),
    ];
    for (what, token) in tokens {
        let (status, body) = scene.server.call("desk_list", Some(&token)).await;
        assert_eq!(status, 401, "{what}: {body}");
        assert!(body.contains("invalid_token") && !body.contains("aud"), "{what}: {body}");
    }
    for lacking in [r#"{"tenant_id":null}"#, r#"{"sub":null}"#, r#"{"scope":"write"}"#] {
        let (status, body) = scene.server.call("desk_list", Some(&scene.signed(lacking))).await;
        assert!(status == 200 && body.contains("-32001"), "{lacking}: {body}");
    }
    assert_eq!(scene.server.hits(), 1, "only the good token reached the vendor");
    assert_eq!(scene.idp.count("/jwks"), 1);
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.18
#[tokio::test]
async fn a_storm_of_made_up_keys_does_not_reach_the_authority() {
    let scene = Scene::new().await;
    let claims = claims(&scene.idp.issuer(), scene.clock.now(), "{}");
    for number in 0..50 {
        let token = sign(JwtAlgorithm::RS256, Some(&format!("made-up-{number}")), &claims, RSA.private_pem);
        assert_eq!(scene.server.call("desk_list", Some(token.expose())).await.0, 401);
    }
    assert!(scene.idp.count("/jwks") <= 2, "{} requests", scene.idp.count("/jwks"));
    assert_eq!(scene.server.call("desk_list", Some(&scene.signed("{}"))).await.0, 200, "good tokens go on");
    scene.idp.revoke_all();
    scene.idp.rotate(scion_lab::IdpKey::other_rsa("key-2"), false);
    scene.clock.forward(601);
    assert_eq!(scene.server.call("desk_list", Some(&scene.signed("{}"))).await.0, 401, "its key was taken back");
    assert_eq!(scene.server.hits(), 1);
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.18
#[tokio::test]
async fn an_authority_that_gives_no_keys_is_away_and_nobody_is_let_in() {
    let clock = Arc::new(MovedClock::default());
    let issuer = "http://localhost:9";
    let good = sign(JwtAlgorithm::RS256, Some("key-1"), &claims(issuer, clock.now(), "{}"), RSA.private_pem);
    for (what, behaviour) in [
        ("HTML", Behaviour::from(Answer::html())),
        ("500", Answer::status(500).into()),
        ("404", Answer::status(404).into()),
        ("elsewhere", Answer::redirect(302, "http://127.0.0.1:9/").into()),
        ("endless", Behaviour::EndlessBody),
        ("silent", Behaviour::StallBeforeHead),
        ("reset", Behaviour::ResetBeforeHead),
    ] {
        let lab = Lab::always(behaviour).await;
        let server =
            Server::start(checked(verifier(issuer, lab.url("/k").as_str(), &clock).await), CallGovernance::default())
                .await;
        for _ in 0..3 {
            let (status, body) = server.call("desk_list", Some(good.expose())).await;
            assert_eq!(status, 503, "{what}: {body}");
        }
        assert_eq!(server.hits(), 0, "{what}");
        assert!(lab.received().len() <= 2, "{what}: {} requests", lab.received().len());
    }
}
