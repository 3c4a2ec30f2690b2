//! How long the verification of a token takes. Alone in its program, so that nothing else runs beside it.
#![allow(clippy::print_stdout, reason = "the figure is for whoever runs it")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{ISSUER, MovedClock, claims, rules, sign};
use scion_conformance::fixtures::keys::RSA;
use scion_domain::auth::JwtAlgorithm;
use scion_jwt::Jwt;
use scion_ports::TokenVerifier;
use scion_served_auth::{KeyVerifier, TokenKey};

/// Proves: SDK-CONNECTOR-CONTROL-R902.6
#[tokio::test]
async fn verification_takes_under_five_milliseconds() {
    let clock = Arc::new(MovedClock::default());
    let key = TokenKey::Pem(RSA.public_pem.to_owned());
    let token = sign(JwtAlgorithm::RS256, None, &claims(ISSUER, clock.now(), "{}"), RSA.private_pem);
    let verifier = KeyVerifier::new(key, JwtAlgorithm::RS256, rules(ISSUER), Arc::new(Jwt::new()), clock).unwrap();
    // The machine may be busy with something else: the best of a few rounds is what the code takes.
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let mut took = Vec::new();
        for _ in 0..1000 {
            let started = Instant::now();
            verifier.verify(&token).await.unwrap();
            took.push(started.elapsed());
        }
        took.sort();
        let p99 = took[took.len() * 99 / 100];
        println!("verification of an RS256 token: p50 {:?}, p99 {p99:?}", took[took.len() / 2]);
        best = best.min(p99);
    }
    assert!(best < Duration::from_millis(5), "{best:?}");
}
