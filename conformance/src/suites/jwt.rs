//! The suite of [`JwtSigner`] and [`JwtVerifier`], which need each other.

use std::sync::Arc;

use scion_domain::auth::{JwtAlgorithm, JwtRefusal, KeyFamily, KeySet, PublicKey, UnverifiedJwt};
use scion_domain::json::{Json, JsonObject};
use scion_domain::secret::Secret;
use scion_ports::{JwtSigner, JwtVerifier, VerifyKey};

use crate::fixtures::keys::{self, TestKey};
use crate::report::Report;
use crate::{ensure, must};

type Checked = Result<(), String>;

const SHARED: &str = "a shared secret of more than 32 bytes, for tests";

/// Makes signers and verifiers to test.
pub trait JwtFixture: Send + Sync {
    /// A signer.
    fn signer(&self) -> Arc<dyn JwtSigner>;

    /// A verifier.
    fn verifier(&self) -> Arc<dyn JwtVerifier>;
}

/// Runs every check.
#[allow(clippy::unused_async, reason = "suites are asynchronous")]
pub async fn run(fixture: &dyn JwtFixture) -> Report {
    let mut report = Report::new("JwtSigner and JwtVerifier");
    report.add("O1", "what_is_signed_is_accepted_under_every_algorithm", accepted(fixture));
    report.add("O1", "algorithm_and_key_id_are_those_asked_for", header(fixture));
    report.add("O2", "a_changed_byte_or_another_key_is_refused", changed(fixture));
    report.add("O3", "a_key_of_another_family_is_refused", family(fixture));
    report.add("O4", "a_short_shared_secret_is_refused", short(fixture));
    report.add("O3", "no_key_in_a_refusal", hidden(fixture));
    report
}

fn claims() -> JsonObject {
    [("sub".to_owned(), Json::from("s")), ("exp".to_owned(), Json::from(2_000_000_000i64))].into()
}

fn key_of(algorithm: JwtAlgorithm) -> Option<&'static TestKey> {
    match algorithm {
        JwtAlgorithm::ES384 => Some(&keys::EC384),
        _ => match algorithm.family() {
            KeyFamily::Rsa => Some(&keys::RSA),
            KeyFamily::Ec => Some(&keys::EC256),
            KeyFamily::Ed => Some(&keys::ED),
            KeyFamily::Hmac => None,
        },
    }
}

fn private(algorithm: JwtAlgorithm) -> Secret<String> {
    Secret::new(key_of(algorithm).map_or(SHARED, |key| key.private_pem).to_owned())
}

fn public(key: &TestKey) -> Result<PublicKey, String> {
    let set = format!("{{\"keys\":[{}]}}", key.public_jwk);
    let set = KeySet::read(set.as_bytes())?;
    set.keys().first().map(|entry| entry.key.clone()).ok_or_else(|| "the fixture key cannot be read".to_owned())
}

fn sign(fixture: &dyn JwtFixture, algorithm: JwtAlgorithm) -> Result<String, String> {
    let signed = fixture.signer().sign(algorithm, Some("k1"), &claims(), &private(algorithm));
    signed.map(|token| token.expose().clone()).map_err(|refusal| format!("sign {algorithm:?}: {refusal}"))
}

/// Checks a token with the key of its algorithm, in each form there is.
fn verify(
    fixture: &dyn JwtFixture,
    token: &str,
    algorithm: JwtAlgorithm,
) -> Result<Vec<Result<(), JwtRefusal>>, String> {
    let token = must!(UnverifiedJwt::read(token, &[algorithm]), "read");
    let verifier = fixture.verifier();
    let Some(key) = key_of(algorithm) else {
        return Ok(vec![verifier.verify(&token, VerifyKey::Shared(&private(algorithm)))]);
    };
    let parts = public(key)?;
    Ok(vec![
        verifier.verify(&token, VerifyKey::Public(&parts)),
        verifier.verify(&token, VerifyKey::Pem(key.public_pem)),
    ])
}

fn accepted(fixture: &dyn JwtFixture) -> Checked {
    for algorithm in JwtAlgorithm::ALL {
        let token = sign(fixture, algorithm)?;
        for outcome in verify(fixture, &token, algorithm)? {
            must!(outcome, "verify");
        }
    }
    Ok(())
}

fn header(fixture: &dyn JwtFixture) -> Checked {
    for algorithm in JwtAlgorithm::ALL {
        let token = sign(fixture, algorithm)?;
        let read = must!(UnverifiedJwt::read(&token, &JwtAlgorithm::ALL), "read");
        ensure!(read.algorithm == algorithm, "asked for {algorithm:?}, got {:?}", read.algorithm);
        ensure!(read.key_id.as_deref() == Some("k1") && read.claims == claims(), "another key id or other claims");
    }
    Ok(())
}

fn changed(fixture: &dyn JwtFixture) -> Checked {
    for algorithm in [JwtAlgorithm::RS256, JwtAlgorithm::ES256, JwtAlgorithm::EdDSA, JwtAlgorithm::HS256] {
        let token = sign(fixture, algorithm)?;
        let (signed, signature) = token.rsplit_once('.').unwrap_or_default();
        let other = claims().into_iter().chain([("more".to_owned(), Json::from(true))]).collect();
        let other = must!(fixture.signer().sign(algorithm, Some("k1"), &other, &private(algorithm)), "sign");
        let foreign = other.expose().rsplit_once('.').map(|(_, signature)| signature).unwrap_or_default();
        let swapped = format!("{signed}.{foreign}");
        let first = if signature.starts_with('A') { "B" } else { "A" };
        let flipped = format!("{signed}.{first}{}", &signature[1..]);
        let cut = format!("{signed}.{}", &signature[..signature.len() / 8 * 4]);
        for wrong in [swapped, flipped, cut] {
            for outcome in verify(fixture, &wrong, algorithm)? {
                ensure!(
                    outcome == Err(JwtRefusal::Signature),
                    "{algorithm:?}: a changed token was answered with {outcome:?}"
                );
            }
        }
    }
    let token = sign(fixture, JwtAlgorithm::RS256)?;
    let token = must!(UnverifiedJwt::read(&token, &[JwtAlgorithm::RS256]), "read");
    let other = fixture.verifier().verify(&token, VerifyKey::Public(&public(&keys::RSA_OTHER)?));
    ensure!(other == Err(JwtRefusal::Signature), "another key was answered with {other:?}");
    Ok(())
}

fn is_key<T>(outcome: &Result<T, JwtRefusal>, what: &str) -> Checked {
    match outcome {
        Err(JwtRefusal::Key { .. }) => Ok(()),
        Err(other) => Err(format!("{what} was refused with {other}")),
        Ok(_) => Err(format!("{what} was taken")),
    }
}

fn family(fixture: &dyn JwtFixture) -> Checked {
    let rsa = Secret::new(keys::RSA.private_pem.to_owned());
    is_key(&fixture.signer().sign(JwtAlgorithm::ES256, None, &claims(), &rsa), "an RSA key for ES256")?;
    is_key(
        &fixture.signer().sign(JwtAlgorithm::RS256, None, &claims(), &private(JwtAlgorithm::HS256)),
        "a text for RS256",
    )?;
    // The classic: the public key of the issuer as the shared secret.
    let pem = Secret::new(keys::RSA.public_pem.to_owned());
    is_key(&fixture.signer().sign(JwtAlgorithm::HS256, None, &claims(), &pem), "a PEM key as a shared secret")?;
    let token = sign(fixture, JwtAlgorithm::HS256)?;
    let token = must!(UnverifiedJwt::read(&token, &JwtAlgorithm::ALL), "read");
    let verifier = fixture.verifier();
    is_key(&verifier.verify(&token, VerifyKey::Public(&public(&keys::RSA)?)), "an RSA key for HS256")?;
    is_key(&verifier.verify(&token, VerifyKey::Pem(keys::RSA.public_pem)), "a PEM key for HS256")?;
    is_key(&verifier.verify(&token, VerifyKey::Shared(&pem)), "a PEM key as a shared secret for HS256")?;
    let token = sign(fixture, JwtAlgorithm::ES256)?;
    let token = must!(UnverifiedJwt::read(&token, &JwtAlgorithm::ALL), "read");
    is_key(&verifier.verify(&token, VerifyKey::Public(&public(&keys::EC384)?)), "a key of another curve")
}

fn short(fixture: &dyn JwtFixture) -> Checked {
    let short = Secret::new("x".repeat(31));
    is_key(&fixture.signer().sign(JwtAlgorithm::HS256, None, &claims(), &short), "a short secret")?;
    let token = sign(fixture, JwtAlgorithm::HS256)?;
    let token = must!(UnverifiedJwt::read(&token, &JwtAlgorithm::ALL), "read");
    is_key(&fixture.verifier().verify(&token, VerifyKey::Shared(&short)), "a short secret")
}

fn hidden(fixture: &dyn JwtFixture) -> Checked {
    let damaged = Secret::new(keys::RSA.private_pem.replace("KEY-----\n", "KEY-----\nAAAA"));
    let refused = fixture.signer().sign(JwtAlgorithm::RS256, None, &claims(), &damaged);
    let line = keys::RSA.private_pem.lines().nth(1).unwrap_or("?");
    match &refused {
        Err(refusal) => {
            ensure!(!format!("{refusal} {refusal:?}").contains(&line[..16]), "the key is in a refusal");
            Ok(())
        }
        Ok(_) => Err("a damaged key was taken".into()),
    }
}
