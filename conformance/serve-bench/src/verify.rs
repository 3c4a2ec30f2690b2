//! How long a verified token takes: RS256 with a key of 2048 bits, one after the other, in this process.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use scion_conformance::fixtures::clock::MovedClock;
use scion_conformance::fixtures::keys::RSA;
use scion_domain::auth::{ClaimRules, JwtAlgorithm};
use scion_domain::json::{Json, JsonObject};
use scion_domain::secret::Secret;
use scion_jwt::Jwt;
use scion_ports::{JwtSigner as _, TokenVerifier as _};
use scion_served_auth::{KeyVerifier, TokenKey};

const ROUNDS: usize = 5;
const TOKENS: usize = 2_000;
const ISSUER: &str = "https://login.example";
const AUDIENCE: &str = "desk";

/// Prints one row a round.
pub(crate) async fn measure() -> io::Result<()> {
    let clock = Arc::new(MovedClock::default());
    let token = Jwt::new().sign(JwtAlgorithm::RS256, None, &claims(&clock), &Secret::new(RSA.private_pem.to_owned()));
    let token = token.map_err(io::Error::other)?;
    let rules = ClaimRules { issuer: ISSUER.to_owned(), audience: AUDIENCE.to_owned(), nonce: None };
    let key = TokenKey::Pem(RSA.public_pem.to_owned());
    let verifier = KeyVerifier::new(key, JwtAlgorithm::RS256, rules, Arc::new(Jwt::new()), clock);
    let verifier = verifier.map_err(io::Error::other)?;
    println!("| verification of an RS256 token | p50, µs | p99, µs |\n|---|---|---|");
    for round in 1..=ROUNDS {
        let mut took = Vec::with_capacity(TOKENS);
        for _ in 0..TOKENS {
            let started = Instant::now();
            verifier.verify(&token).await.map_err(io::Error::other)?;
            took.push(started.elapsed());
        }
        took.sort_unstable();
        println!("| round {round} of {TOKENS} | {:.1} | {:.1} |", at(&took, 50), at(&took, 99));
    }
    Ok(())
}

/// A percentile of sorted times, in microseconds.
fn at(sorted: &[Duration], percent: usize) -> f64 {
    let index = (sorted.len() * percent / 100).min(sorted.len() - 1);
    sorted[index].as_secs_f64() * 1e6
}

fn claims(clock: &MovedClock) -> JsonObject {
    let texts = [("iss", ISSUER), ("aud", AUDIENCE), ("sub", "ada"), ("tenant_id", "acme"), ("scope", "read write")];
    let mut claims: JsonObject = texts.map(|(name, text)| (name.to_owned(), Json::from(text))).into();
    claims.insert("exp".to_owned(), Json::from(clock.now() + 3600));
    claims
}
