//! What the tests share: a clock that can be moved, tokens signed by hand, and the governed client over real sockets.
#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, reason = "a test helper that panics fails its test")]

pub(crate) mod served;

use std::sync::Arc;

pub(crate) use scion_conformance::fixtures::clock::MovedClock;
use scion_domain::auth::{ClaimRules, JwtAlgorithm};
use scion_domain::egress::EgressPolicy;
use scion_domain::http::HttpProfile;
use scion_domain::json::{Json, JsonObject, parse};
use scion_domain::secret::Secret;
use scion_http::Dialer;
use scion_jwt::Jwt;
use scion_ports::{HttpDialer as _, HttpExchange, JwtSigner as _};

/// The governed client, which may dial this machine alone.
pub(crate) async fn exchange() -> Arc<dyn HttpExchange> {
    let egress = EgressPolicy { allow_loopback: true, ..EgressPolicy::default() };
    Dialer::builder().build().open(&HttpProfile { egress, ..HttpProfile::default() }).await.unwrap()
}

pub(crate) const ISSUER: &str = "https://login.example";
pub(crate) const SHARED: &str = "a shared secret of more than 32 bytes, for tests";

pub(crate) fn rules(issuer: &str) -> ClaimRules {
    ClaimRules { issuer: issuer.to_owned(), audience: "desk".to_owned(), nonce: None }
}

/// The claims of a good token, changed by the members of a JSON object; `null` takes one away.
pub(crate) fn claims(issuer: &str, now: i64, changes: &str) -> JsonObject {
    let good = format!(
        r#"{{"iss":"{issuer}","aud":"desk","sub":"ada","tenant_id":"acme","scope":"read write","client_id":"assistant","exp":{}}}"#,
        now + 300
    );
    let mut claims = parse(&good).unwrap().as_object().unwrap().clone();
    for (name, value) in parse(changes).unwrap().as_object().unwrap() {
        if *value == Json::Null {
            claims.remove(name);
        } else {
            claims.insert(name.clone(), value.clone());
        }
    }
    claims
}

pub(crate) fn sign(algorithm: JwtAlgorithm, key_id: Option<&str>, claims: &JsonObject, key: &str) -> Secret<String> {
    Jwt::new().sign(algorithm, key_id, claims, &Secret::new(key.to_owned())).unwrap()
}
