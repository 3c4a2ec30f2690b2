//! The suite of signer and verifier, and tokens made elsewhere.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use proptest::prelude::*;
use scion_conformance::fixtures::keys;
use scion_conformance::suites::jwt::{self, JwtFixture};
use scion_domain::auth::{JwtAlgorithm, JwtRefusal, UnverifiedJwt};
use scion_domain::json::{Json, JsonObject};
use scion_domain::secret::Secret;
use scion_jwt::Jwt;
use scion_ports::{JwtSigner, JwtVerifier, VerifyKey};

struct Real;

impl JwtFixture for Real {
    fn signer(&self) -> Arc<dyn JwtSigner> {
        Arc::new(Jwt::new())
    }

    fn verifier(&self) -> Arc<dyn JwtVerifier> {
        Arc::new(Jwt::new())
    }
}

#[tokio::test]
async fn the_adapter_keeps_the_obligations_of_both_ports() {
    jwt::run(&Real).await.assert_passed();
}

/// A signature that was made elsewhere.
#[test]
fn an_ed25519_token_of_rfc_8037_is_accepted() {
    // RFC 8037, appendix A.4, signs "Example of Ed25519 signing", which is no JSON object: it is refused before its signature.
    let token = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
    assert_eq!(
        UnverifiedJwt::read(token, &[JwtAlgorithm::EdDSA]).unwrap_err(),
        JwtRefusal::Malformed { part: "claims" }
    );
    // Its signature is right all the same.
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let unverified = UnverifiedJwt {
        signed,
        algorithm: JwtAlgorithm::EdDSA,
        key_id: None,
        kind: None,
        claims: JsonObject::new(),
        signature: scion_domain::base64::decode_url(signature).unwrap(),
    };
    let x = scion_domain::base64::decode_url("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo").unwrap();
    let key = scion_domain::auth::PublicKey::Ed { x };
    assert_eq!(Jwt::new().verify(&unverified, VerifyKey::Public(&key)), Ok(()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_changed_token_is_accepted(position in 0usize..400, replacement in "[A-Za-z0-9_.-]") {
        let claims: JsonObject = [("sub".to_owned(), Json::from("somebody"))].into();
        let key = Secret::new(keys::EC256.private_pem.to_owned());
        let token = Jwt::new().sign(JwtAlgorithm::ES256, Some("k"), &claims, &key).unwrap();
        let mut changed = token.expose().clone();
        let position = position % changed.len();
        changed.replace_range(position..=position, &replacement);
        prop_assume!(changed != *token.expose());
        if let Ok(read) = UnverifiedJwt::read(&changed, &[JwtAlgorithm::ES256]) {
            prop_assert_eq!(
                Jwt::new().verify(&read, VerifyKey::Pem(keys::EC256.public_pem)),
                Err(JwtRefusal::Signature)
            );
        }
    }
}
