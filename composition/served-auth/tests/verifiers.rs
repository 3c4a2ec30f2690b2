//! Every verifier passes the suite of its port.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::sync::Arc;

use async_trait::async_trait;
use common::{ISSUER, MovedClock, SHARED, claims, exchange, rules, sign};
use scion_auth::{Authority, IssuerKeys, IssuerMetadata};
use scion_conformance::fixtures::keys::{EC256, RSA, RSA_OTHER};
use scion_conformance::suites::token_verifier::{TokenKind, TokenVerifierFixture, run};
use scion_domain::auth::{AuthUrl, JwtAlgorithm, JwtRefusal, parse_issuer};
use scion_domain::secret::Secret;
use scion_domain::served_security::TokenRefusal;
use scion_jwt::Jwt;
use scion_lab::{Idp, IdpKey};
use scion_ports::{HttpExchange, TokenVerifier};
use scion_served_auth::{IssuerVerifier, KeyVerifier, StaticTokenVerifier, TokenKey};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const OLD: &str = "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";

struct Static;

fn static_verifier(clock: Arc<MovedClock>) -> StaticTokenVerifier {
    let document = format!(
        r#"{{"{TOKEN}":{{"client_id":"ada","tenant_id":"acme","scopes":["read"]}},"{OLD}":{{"client_id":"ada","expires_at":5}}}}"#
    );
    StaticTokenVerifier::read(&Secret::new(document), "desk", clock).unwrap()
}

#[async_trait]
impl TokenVerifierFixture for Static {
    async fn verifier(&self) -> Arc<dyn TokenVerifier> {
        Arc::new(static_verifier(Arc::default()))
    }

    async fn unreachable(&self) -> Option<Arc<dyn TokenVerifier>> {
        None
    }

    async fn token(&self, kind: TokenKind) -> Option<Secret<String>> {
        let text = match kind {
            TokenKind::Good => TOKEN.to_owned(),
            TokenKind::Expired => OLD.to_owned(),
            TokenKind::Forged => TOKEN.replace('0', "1"),
            TokenKind::UnknownKey(number) => format!("{TOKEN}{number}"),
            _ => return None,
        };
        Some(Secret::new(text))
    }

    fn questions(&self) -> usize {
        0
    }
}

/// A token of a kind, signed with one key.
fn signed(kind: TokenKind, issuer: &str, algorithm: JwtAlgorithm, key: &str, other: &str) -> Secret<String> {
    let clock = MovedClock::default();
    let now = clock.now();
    let (changes, key_id, key) = match kind {
        TokenKind::Good => ("{}".to_owned(), "key-1".to_owned(), key),
        TokenKind::Expired => (format!(r#"{{"exp":{}}}"#, now - 1), "key-1".to_owned(), key),
        TokenKind::OtherAudience => (r#"{"aud":["other"]}"#.to_owned(), "key-1".to_owned(), key),
        TokenKind::OtherIssuer => (format!(r#"{{"iss":"{issuer}/"}}"#), "key-1".to_owned(), key),
        TokenKind::Forged => ("{}".to_owned(), "key-1".to_owned(), other),
        TokenKind::NoExpiry => (r#"{"exp":null}"#.to_owned(), "key-1".to_owned(), key),
        TokenKind::NoAudience => (r#"{"aud":null}"#.to_owned(), "key-1".to_owned(), key),
        TokenKind::UnknownKey(number) => ("{}".to_owned(), format!("made-up-{number}"), key),
    };
    sign(algorithm, Some(&key_id), &claims(issuer, now, &changes), key)
}

struct Shared;

#[async_trait]
impl TokenVerifierFixture for Shared {
    async fn verifier(&self) -> Arc<dyn TokenVerifier> {
        let key = TokenKey::Shared(Secret::new(SHARED.to_owned()));
        let clock = Arc::new(MovedClock::default());
        Arc::new(KeyVerifier::new(key, JwtAlgorithm::HS256, rules(ISSUER), Arc::new(Jwt::new()), clock).unwrap())
    }

    async fn unreachable(&self) -> Option<Arc<dyn TokenVerifier>> {
        None
    }

    async fn token(&self, kind: TokenKind) -> Option<Secret<String>> {
        // One key: its id is not looked at.
        let storm = matches!(kind, TokenKind::UnknownKey(_));
        (!storm).then(|| signed(kind, ISSUER, JwtAlgorithm::HS256, SHARED, &SHARED.to_uppercase()))
    }

    fn questions(&self) -> usize {
        0
    }
}

struct Issued {
    idp: Idp,
    exchange: Arc<dyn HttpExchange>,
    discovered: bool,
    clock: Arc<MovedClock>,
}

impl Issued {
    async fn new(discovered: bool) -> Self {
        Self { idp: Idp::start(Jwt::new()).await, exchange: exchange().await, discovered, clock: Arc::default() }
    }

    fn open(&self) -> Arc<dyn TokenVerifier> {
        let (issuer, authority) =
            (parse_issuer("issuer", &self.idp.issuer()).unwrap(), Authority::new(self.exchange.clone()));
        let jwt = Arc::new(Jwt::new());
        let keys = if self.discovered {
            let metadata = Arc::new(IssuerMetadata::new(issuer, authority.clone(), self.clock.clone()));
            IssuerKeys::new(metadata, authority, self.clock.clone(), jwt)
        } else {
            let url = AuthUrl::parse("jwks", self.idp.url("/jwks").as_str()).unwrap();
            IssuerKeys::at(issuer, url, authority, self.clock.clone(), jwt)
        };
        Arc::new(IssuerVerifier::new(Arc::new(keys), JwtAlgorithm::RS256, rules(&self.idp.issuer())))
    }

    fn rsa(&self, kind: TokenKind) -> Secret<String> {
        signed(kind, &self.idp.issuer(), JwtAlgorithm::RS256, RSA.private_pem, RSA_OTHER.private_pem)
    }
}

#[async_trait]
impl TokenVerifierFixture for Issued {
    async fn verifier(&self) -> Arc<dyn TokenVerifier> {
        self.idp.set(|knobs| knobs.down.clear());
        self.open()
    }

    async fn unreachable(&self) -> Option<Arc<dyn TokenVerifier>> {
        self.idp.set(|knobs| knobs.down = vec![("/jwks".to_owned(), 503)]);
        Some(self.open())
    }

    async fn token(&self, kind: TokenKind) -> Option<Secret<String>> {
        Some(self.rsa(kind))
    }

    fn questions(&self) -> usize {
        self.idp.received().len()
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.18
#[tokio::test]
async fn static_tokens_pass_the_suite() {
    run(&Static).await.assert_passed();
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.18
#[tokio::test]
async fn tokens_of_a_shared_secret_pass_the_suite() {
    run(&Shared).await.assert_passed();
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.18
#[tokio::test]
async fn tokens_of_a_key_set_pass_the_suite() {
    run(&Issued::new(false).await).await.assert_passed();
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.18
#[tokio::test]
async fn tokens_of_a_discovered_issuer_pass_the_suite() {
    run(&Issued::new(true).await).await.assert_passed();
}

#[tokio::test]
async fn static_tokens_carry_tenant_and_expiry() {
    let clock = Arc::new(MovedClock::default());
    let verifier = static_verifier(clock.clone());
    let token = verifier.verify(&Secret::new(TOKEN.to_owned())).await.unwrap();
    assert_eq!((token.tenant.as_deref(), token.client.as_deref()), (Some("acme"), Some("ada")));
    assert_eq!(verifier.verify(&Secret::new(OLD.to_owned())).await, Err(TokenRefusal::Invalid));
    assert!(!format!("{verifier:?}").contains("0123"));
}

#[tokio::test]
async fn a_rotated_key_is_taken_after_the_pause() {
    let issued = Issued::new(false).await;
    let verifier = issued.open();
    verifier.verify(&issued.rsa(TokenKind::Good)).await.unwrap();
    issued.idp.rotate(IdpKey::other_rsa("key-2"), false);
    let claims = claims(&issued.idp.issuer(), issued.clock.now(), "{}");
    let new = sign(JwtAlgorithm::RS256, Some("key-2"), &claims, RSA_OTHER.private_pem);
    assert_eq!(verifier.verify(&new).await, Err(TokenRefusal::Invalid), "too early to ask again");
    issued.clock.forward(30);
    verifier.verify(&new).await.unwrap();
    assert_eq!(verifier.verify(&issued.rsa(TokenKind::Good)).await, Err(TokenRefusal::Invalid), "its key is gone");
    assert_eq!(issued.idp.count("/jwks"), 2);
}

#[test]
fn a_key_of_the_wrong_kind_is_refused_at_the_start() {
    let open = |key, algorithm| {
        KeyVerifier::new(key, algorithm, rules(ISSUER), Arc::new(Jwt::new()), Arc::new(MovedClock::default()))
            .map(|_| ())
    };
    let pem = |text: &str| TokenKey::Pem(text.to_owned());
    let shared = |text: &str| TokenKey::Shared(Secret::new(text.to_owned()));
    assert_eq!(open(pem(RSA.public_pem), JwtAlgorithm::RS256), Ok(()));
    assert_eq!(open(pem(EC256.public_pem), JwtAlgorithm::ES256), Ok(()));
    for (key, algorithm) in [
        (pem(RSA.public_pem), JwtAlgorithm::HS256),
        (pem(RSA.public_pem), JwtAlgorithm::ES256),
        (pem("nonsense"), JwtAlgorithm::RS256),
        (shared(SHARED), JwtAlgorithm::RS256),
        (shared("short"), JwtAlgorithm::HS256),
        (shared(RSA.public_pem), JwtAlgorithm::HS256),
    ] {
        assert!(matches!(open(key, algorithm), Err(JwtRefusal::Key { .. })), "{algorithm:?}");
    }
}
