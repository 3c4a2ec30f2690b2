//! Key sets of issuers (RFC 7517).

use super::{JwtAlgorithm, JwtRefusal, KeyFamily};
use crate::base64::decode_url;
use crate::json::{Json, JsonLimits, JsonObject, parse_with};

/// The largest key set that is read, in bytes.
pub const MAX_JWKS_BYTES: usize = 256 * 1024;

/// The most keys of a set.
pub const MAX_KEYS: usize = 100;

/// Public key material, as the parts of a JSON Web Key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublicKey {
    /// RSA; modulus and exponent, big-endian.
    Rsa {
        /// The modulus.
        n: Vec<u8>,
        /// The exponent.
        e: Vec<u8>,
    },
    /// A point on P-256 or P-384, by its coordinates.
    Ec {
        /// The one algorithm of its curve.
        algorithm: JwtAlgorithm,
        /// x.
        x: Vec<u8>,
        /// y.
        y: Vec<u8>,
    },
    /// Ed25519.
    Ed {
        /// The 32 bytes.
        x: Vec<u8>,
    },
}

impl PublicKey {
    /// Whether tokens of an algorithm can be checked with it.
    pub fn fits(&self, algorithm: JwtAlgorithm) -> bool {
        match self {
            Self::Rsa { .. } => algorithm.family() == KeyFamily::Rsa,
            Self::Ec { algorithm: own, .. } => *own == algorithm,
            Self::Ed { .. } => algorithm.family() == KeyFamily::Ed,
        }
    }
}

/// A key of an issuer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuerKey {
    /// Its `kid`.
    pub id: Option<String>,
    /// The one algorithm it is for, when it says so.
    pub algorithm: Option<JwtAlgorithm>,
    /// The key.
    pub key: PublicKey,
}

/// The signature keys of an issuer. Keys of other kinds and uses are left out; shared secrets are never taken from a set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeySet(Vec<IssuerKey>);

impl KeySet {
    /// Reads a document; the word goes into a refusal.
    pub fn read(body: &[u8]) -> Result<Self, &'static str> {
        let limits = JsonLimits { max_bytes: MAX_JWKS_BYTES, max_depth: 16, max_number_chars: 64 };
        let document = parse_with(body, limits).map_err(|_| "key set")?;
        let keys = document.get("keys").and_then(Json::as_array).ok_or("key set")?;
        if keys.len() > MAX_KEYS {
            return Err("key set");
        }
        Ok(Self(keys.iter().filter_map(Json::as_object).filter_map(read_key).collect()))
    }

    /// Its keys.
    pub fn keys(&self) -> &[IssuerKey] {
        &self.0
    }

    /// The key a token says it is signed with. Without a `kid`, the only key that fits.
    pub fn find(&self, id: Option<&str>, algorithm: JwtAlgorithm) -> Result<&PublicKey, JwtRefusal> {
        let fits = |entry: &&IssuerKey| {
            entry.key.fits(algorithm)
                && entry.algorithm.is_none_or(|own| own == algorithm)
                && id.is_none_or(|id| entry.id.as_deref() == Some(id))
        };
        let mut fitting = self.0.iter().filter(fits);
        match (fitting.next(), fitting.next()) {
            (Some(only), None) => Ok(&only.key),
            // Two keys under one id: neither is the one that was meant.
            _ => Err(JwtRefusal::UnknownKey),
        }
    }
}

fn read_key(members: &JsonObject) -> Option<IssuerKey> {
    let text = |name: &str| members.get(name).and_then(Json::as_str);
    let bytes = |name: &str, limit: usize| text(name).and_then(decode_url).filter(|b| (1..=limit).contains(&b.len()));
    if text("use").is_some_and(|usage| usage != "sig") {
        return None;
    }
    if let Some(operations) = members.get("key_ops") {
        let verifies = operations.as_array()?.iter().any(|operation| operation.as_str() == Some("verify"));
        if !verifies {
            return None;
        }
    }
    let key = match (text("kty")?, text("crv")) {
        // At most 8,192 bits: larger ones only cost time.
        ("RSA", _) => PublicKey::Rsa { n: bytes("n", 1024).filter(|n| n.len() >= 256)?, e: bytes("e", 8)? },
        ("EC", Some("P-256")) => ec(JwtAlgorithm::ES256, 32, &bytes)?,
        ("EC", Some("P-384")) => ec(JwtAlgorithm::ES384, 48, &bytes)?,
        ("OKP", Some("Ed25519")) => PublicKey::Ed { x: bytes("x", 32).filter(|x| x.len() == 32)? },
        _ => return None,
    };
    let algorithm = match text("alg") {
        Some(name) => Some(JwtAlgorithm::parse(name)?),
        None => None,
    };
    let id = match members.get("kid") {
        Some(Json::String(id)) if id.len() <= 1024 => Some(id.clone()),
        None => None,
        Some(_) => return None,
    };
    Some(IssuerKey { id, algorithm, key })
}

fn ec(algorithm: JwtAlgorithm, size: usize, bytes: &dyn Fn(&str, usize) -> Option<Vec<u8>>) -> Option<PublicKey> {
    let side = |name| bytes(name, size).filter(|b| b.len() == size);
    Some(PublicKey::Ec { algorithm, x: side("x")?, y: side("y")? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base64::encode_url;

    fn set(keys: &[String]) -> KeySet {
        KeySet::read(format!("{{\"keys\":[{}]}}", keys.join(",")).as_bytes()).unwrap()
    }

    fn rsa(more: &str) -> String {
        format!("{{\"kty\":\"RSA\",\"n\":\"{}\",\"e\":\"AQAB\"{more}}}", encode_url(&[0xc5; 256]))
    }

    #[test]
    fn a_key_is_found_by_id_and_kind() {
        let ec = format!(r#"{{"kty":"EC","crv":"P-256","kid":"e","x":"{0}","y":"{0}"}}"#, encode_url(&[7; 32]));
        let keys = set(&[rsa(r#","kid":"a","alg":"RS256","use":"sig""#), rsa(r#","kid":"b""#), ec]);
        assert_eq!(keys.keys().len(), 3);
        assert!(keys.find(Some("a"), JwtAlgorithm::RS256).is_ok());
        assert!(keys.find(Some("a"), JwtAlgorithm::RS512).is_err(), "it says which algorithm it is for");
        assert!(keys.find(Some("b"), JwtAlgorithm::PS512).is_ok());
        assert!(keys.find(Some("e"), JwtAlgorithm::ES256).is_ok());
        assert!(keys.find(Some("e"), JwtAlgorithm::RS256).is_err());
        assert!(keys.find(None, JwtAlgorithm::ES256).is_ok());
        assert!(keys.find(None, JwtAlgorithm::RS256).is_err(), "two fit");
        assert!(keys.find(Some("c"), JwtAlgorithm::RS256).is_err());
    }

    #[test]
    fn what_is_no_signature_key_is_left_out() {
        let oct = format!(r#"{{"kty":"oct","k":"{}","kid":"o"}}"#, encode_url(&[1; 64]));
        let keys = set(&[
            oct,
            rsa(r#","use":"enc""#),
            rsa(r#","key_ops":["encrypt"]"#),
            rsa(r#","alg":"none""#),
            rsa(r#","kid":7"#),
            r#"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#.to_owned(),
            r#"{"kty":"EC","crv":"P-521"}"#.to_owned(),
            "7".to_owned(),
        ]);
        assert_eq!(keys.keys(), &[]);
        assert!(keys.find(Some("o"), JwtAlgorithm::HS256).is_err());
        let many: Vec<String> = (0..=MAX_KEYS).map(|_| rsa("")).collect();
        assert!(KeySet::read(format!("{{\"keys\":[{}]}}", many.join(",")).as_bytes()).is_err());
        for body in ["", "[]", "{}", r#"{"keys":{}}"#] {
            assert!(KeySet::read(body.as_bytes()).is_err(), "{body}");
        }
    }
}
