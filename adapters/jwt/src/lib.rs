//! Signing and checking of JSON Web Tokens: the ports `JwtSigner` and `JwtVerifier` on `jsonwebtoken`, with the
//! cryptography of `ring`, which TLS uses too.
//!
//! RSA keys have 2,048 to 8,192 bits, shared secrets at least 32 bytes.

mod provider;

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, crypto};
use scion_domain::auth::{JwtAlgorithm, JwtRefusal, KeyFamily, MIN_HMAC_BYTES, PublicKey, UnverifiedJwt};
use scion_domain::base64::encode_url;
use scion_domain::json::{Json, JsonObject, to_compact};
use scion_domain::secret::Secret;
use scion_ports::{JwtSigner, JwtVerifier, VerifyKey};

/// Signs and checks tokens.
#[derive(Clone, Copy, Debug)]
pub struct Jwt(());

impl Jwt {
    /// Ready to use. The cryptography of `jsonwebtoken` is one per process: when the program has installed another one before,
    /// that one is used.
    pub fn new() -> Self {
        let _ = provider::RING.install_default();
        Self(())
    }
}

impl Default for Jwt {
    fn default() -> Self {
        Self::new()
    }
}

const fn name(algorithm: JwtAlgorithm) -> Algorithm {
    match algorithm {
        JwtAlgorithm::RS256 => Algorithm::RS256,
        JwtAlgorithm::RS384 => Algorithm::RS384,
        JwtAlgorithm::RS512 => Algorithm::RS512,
        JwtAlgorithm::PS256 => Algorithm::PS256,
        JwtAlgorithm::PS384 => Algorithm::PS384,
        JwtAlgorithm::PS512 => Algorithm::PS512,
        JwtAlgorithm::ES256 => Algorithm::ES256,
        JwtAlgorithm::ES384 => Algorithm::ES384,
        JwtAlgorithm::EdDSA => Algorithm::EdDSA,
        JwtAlgorithm::HS256 => Algorithm::HS256,
        JwtAlgorithm::HS384 => Algorithm::HS384,
        JwtAlgorithm::HS512 => Algorithm::HS512,
    }
}

const UNREADABLE: JwtRefusal = JwtRefusal::Key { what: "cannot be read, or is not of the algorithm's kind" };

/// A public key as PEM, or any text too short to guess against, is no shared secret.
fn shared(secret: &Secret<String>) -> Result<&[u8], JwtRefusal> {
    let bytes = secret.expose().as_bytes();
    if bytes.len() < MIN_HMAC_BYTES {
        return Err(JwtRefusal::Key { what: "has fewer than 32 bytes" });
    }
    if secret.expose().trim_start().starts_with("-----BEGIN") {
        return Err(JwtRefusal::Key { what: "is a PEM key and no shared secret" });
    }
    Ok(bytes)
}

impl JwtSigner for Jwt {
    fn sign(
        &self,
        algorithm: JwtAlgorithm,
        key_id: Option<&str>,
        claims: &JsonObject,
        key: &Secret<String>,
    ) -> Result<Secret<String>, JwtRefusal> {
        let pem = key.expose().as_bytes();
        let encoding = match algorithm.family() {
            KeyFamily::Rsa => EncodingKey::from_rsa_pem(pem),
            KeyFamily::Ec => EncodingKey::from_ec_pem(pem),
            KeyFamily::Ed => EncodingKey::from_ed_pem(pem),
            KeyFamily::Hmac => EncodingKey::from_secret(shared(key)?),
        };
        let encoding = encoding.map_err(|_| UNREADABLE)?;
        let mut header: JsonObject =
            [("alg".to_owned(), Json::from(algorithm.as_str())), ("typ".to_owned(), Json::from("JWT"))].into();
        if let Some(id) = key_id {
            header.insert("kid".to_owned(), Json::from(id));
        }
        let part = |object: JsonObject| encode_url(to_compact(&Json::Object(object)).as_bytes());
        let signed = format!("{}.{}", part(header), part(claims.clone()));
        let signature = crypto::sign(signed.as_bytes(), &encoding, name(algorithm)).map_err(|_| UNREADABLE)?;
        Ok(Secret::new(format!("{signed}.{signature}")))
    }
}

impl JwtVerifier for Jwt {
    fn verify(&self, token: &UnverifiedJwt<'_>, key: VerifyKey<'_>) -> Result<(), JwtRefusal> {
        let algorithm = token.algorithm;
        let decoding = match (key, algorithm.family()) {
            (VerifyKey::Shared(secret), KeyFamily::Hmac) => {
                DecodingKey::from_secret(shared(secret)?).map_err(|_| UNREADABLE)?
            }
            (VerifyKey::Pem(pem), family) => from_pem(pem.as_bytes(), family)?,
            (VerifyKey::Public(public), _) if public.fits(algorithm) => from_parts(public),
            _ => return Err(JwtRefusal::Key { what: "is not of the kind the token's algorithm needs" }),
        };
        let signature = encode_url(&token.signature);
        match crypto::verify(&signature, token.signed.as_bytes(), &decoding, name(algorithm)) {
            Ok(true) => Ok(()),
            Ok(false) => Err(JwtRefusal::Signature),
            Err(_) => Err(UNREADABLE),
        }
    }
}

fn from_pem(pem: &[u8], family: KeyFamily) -> Result<DecodingKey, JwtRefusal> {
    let key = match family {
        KeyFamily::Rsa => DecodingKey::from_rsa_pem(pem),
        KeyFamily::Ec => DecodingKey::from_ec_pem(pem),
        KeyFamily::Ed => DecodingKey::from_ed_pem(pem),
        KeyFamily::Hmac => return Err(JwtRefusal::Key { what: "is a PEM key and no shared secret" }),
    };
    key.map_err(|_| UNREADABLE)
}

fn from_parts(key: &PublicKey) -> DecodingKey {
    match key {
        PublicKey::Rsa { n, e } => DecodingKey::from_rsa_raw_components(n, e),
        PublicKey::Ec { x, y, .. } => {
            // SEC 1, section 2.3.3: an uncompressed point.
            let point = [&[4u8][..], x, y].concat();
            DecodingKey::from_ec_der(&point)
        }
        PublicKey::Ed { x } => DecodingKey::from_ed_der(x),
    }
}
