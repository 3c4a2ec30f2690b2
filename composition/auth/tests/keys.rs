//! Key sets that rotate, issuers that fall silent, and storms of made-up key ids.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::sync::Arc;

use common::World;
use scion_auth::{Authority, CheckRefusal, IssuerKeys, IssuerMetadata};
use scion_domain::auth::{AuthRefusal, ClaimRules, JwtAlgorithm, JwtRefusal, parse_issuer};
use scion_domain::json::{Json, JsonObject};
use scion_domain::secret::Secret;
use scion_jwt::Jwt;
use scion_lab::{Idp, IdpKey};
use scion_ports::{Clock as _, JwtSigner as _};

const ALLOWED: &[JwtAlgorithm] = &[JwtAlgorithm::RS256, JwtAlgorithm::ES256];

struct Issuer {
    idp: Idp,
    world: World,
    keys: IssuerKeys,
    rules: ClaimRules,
}

impl Issuer {
    async fn new() -> Self {
        let (world, idp) = (World::new().await, Idp::start(Jwt::new()).await);
        let authority = Authority::new(world.exchange.clone());
        let issuer = parse_issuer("issuer", &idp.issuer()).unwrap();
        let metadata = Arc::new(IssuerMetadata::new(issuer, authority.clone(), world.clock.clone()));
        let keys = IssuerKeys::new(metadata, authority, world.clock.clone(), Arc::new(Jwt::new()));
        let rules = ClaimRules { issuer: idp.issuer(), audience: "desk".to_owned(), nonce: None };
        Self { idp, world, keys, rules }
    }

    fn token(&self, key_id: &str, pem: &str, algorithm: JwtAlgorithm) -> Secret<String> {
        let now = self.world.clock.unix_millis() / 1000;
        let claims: JsonObject =
            [("iss", Json::from(self.idp.issuer())), ("aud", Json::from("desk")), ("exp", Json::from(now + 300))]
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect();
        Jwt::new().sign(algorithm, Some(key_id), &claims, &Secret::new(pem.to_owned())).unwrap()
    }

    fn rsa(&self, key_id: &str) -> Secret<String> {
        self.token(key_id, scion_conformance::fixtures::keys::RSA.private_pem, JwtAlgorithm::RS256)
    }

    async fn check(&self, token: &Secret<String>) -> Result<JsonObject, CheckRefusal> {
        self.keys.check(token, ALLOWED, &self.rules).await
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R046.2
#[tokio::test]
async fn a_rotated_key_is_found_and_an_old_one_forgotten() {
    let issuer = Issuer::new().await;
    let old = issuer.rsa("key-1");
    issuer.check(&old).await.unwrap();
    issuer.check(&old).await.unwrap();
    assert_eq!(issuer.idp.count("/jwks"), 1);
    issuer.idp.rotate(IdpKey::ec("key-2"), false);
    let new = issuer.token("key-2", scion_conformance::fixtures::keys::EC256.private_pem, JwtAlgorithm::ES256);
    assert_eq!(issuer.check(&new).await, Err(CheckRefusal::Token(JwtRefusal::UnknownKey)), "too early to ask again");
    issuer.world.clock.forward(30);
    issuer.check(&new).await.unwrap();
    assert_eq!(issuer.idp.count("/jwks"), 2);
    let refused = issuer.check(&issuer.rsa("key-1")).await;
    assert_eq!(refused, Err(CheckRefusal::Token(JwtRefusal::UnknownKey)));
}

/// Proves: SDK-CONNECTOR-CONTROL-R046.2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_of_made_up_key_ids_is_no_storm_of_requests() {
    let issuer = Arc::new(Issuer::new().await);
    let good = issuer.rsa("key-1");
    for _ in 0..3 {
        let tasks: Vec<_> = (0..30)
            .map(|index| {
                let issuer = issuer.clone();
                let token = issuer.rsa(&format!("made-up-{index}"));
                tokio::spawn(async move { issuer.check(&token).await.unwrap_err() })
            })
            .collect();
        for task in tasks {
            assert_eq!(task.await.unwrap(), CheckRefusal::Token(JwtRefusal::UnknownKey));
        }
        issuer.check(&good).await.unwrap();
        issuer.world.clock.forward(31);
    }
    assert!(issuer.idp.count("/jwks") <= 4, "{} requests", issuer.idp.count("/jwks"));
}

/// Proves: SDK-CONNECTOR-CONTROL-R046.4
#[tokio::test]
async fn old_keys_serve_for_an_hour_while_the_issuer_is_silent() {
    let issuer = Issuer::new().await;
    issuer.check(&issuer.rsa("key-1")).await.unwrap();
    issuer.idp.set(|knobs| knobs.down = vec![("/jwks".to_owned(), 503)]);
    issuer.world.clock.forward(3500);
    issuer.check(&issuer.rsa("key-1")).await.unwrap();
    issuer.world.clock.forward(101);
    let silent = issuer.check(&issuer.rsa("key-1")).await;
    assert!(matches!(silent, Err(CheckRefusal::Issuer(AuthRefusal::Unreachable { .. }))), "{silent:?}");
    issuer.idp.set(|knobs| knobs.down.clear());
    issuer.world.clock.forward(31);
    issuer.check(&issuer.rsa("key-1")).await.unwrap();
}

/// Proves: SDK-CONNECTOR-CONTROL-R046.2
#[tokio::test]
async fn a_key_set_never_serves_shared_secrets() {
    let issuer = Issuer::new().await;
    let jwk = scion_conformance::fixtures::keys::RSA.public_jwk;
    let forged = issuer.token("key-1", jwk, JwtAlgorithm::HS256);
    let every: Vec<JwtAlgorithm> = JwtAlgorithm::ALL.to_vec();
    let refused = issuer.keys.check(&forged, &every, &issuer.rules).await;
    assert_eq!(refused, Err(CheckRefusal::Token(JwtRefusal::Algorithm)));
    assert_eq!(issuer.idp.count("/jwks"), 0, "nobody is asked for it");
}
