//! The text of a JSON Web Token, before anything in it is believed (RFC 7515, RFC 7519).

use super::JwtAlgorithm;
use crate::base64::decode_url;
use crate::json::{Json, JsonLimits, JsonObject, parse_with};
use crate::refusals;

/// The longest token that is looked at, in bytes.
pub const MAX_JWT_BYTES: usize = 16 * 1024;

/// The shortest shared secret, in bytes.
pub const MIN_HMAC_BYTES: usize = 32;

refusals! {
    /// Why a token is not believed. None of it is repeated.
    pub enum JwtRefusal {
        /// The text is longer than 16 KiB.
        TooLong { bytes: usize } => "jwt_too_long", PeerMisbehaved, Never,
            "the token has {bytes} bytes; at most 16384 are read", "issue smaller tokens";
        /// Not three parts of base64url with JSON objects in the first two.
        Malformed { part: &'static str } => "jwt_malformed", PeerMisbehaved, Never,
            "the token's {part} is malformed", "send the token as the issuer gave it";
        /// The algorithm is not allowed here, `none` included.
        Algorithm => "jwt_algorithm", Denied, Never,
            "the token is signed with an algorithm that is not allowed", "name the algorithm in the declaration";
        /// A header that changes the meaning of the token and is not understood.
        Critical => "jwt_critical_header", PeerMisbehaved, Never,
            "the token has a critical header that is not understood", "issue tokens without critical headers";
        /// No key of the issuer has this id and kind.
        UnknownKey => "jwt_unknown_key", Denied, Never,
            "no key of the issuer fits the token", "check the issuer's key set";
        /// The signature is wrong.
        Signature => "jwt_signature", Denied, Never,
            "the token's signature is wrong", "get a new token";
        /// A key that cannot be used.
        Key { what: &'static str } => "jwt_key_unusable", CallerMistake, Never,
            "the key {what}", "use a key of the algorithm's kind and size";
        /// A claim that is missing, of another type or for someone else.
        Claim { claim: &'static str } => "jwt_claim", Denied, Never,
            "the token's {claim} claim is missing or not the expected one", "get a token for this audience and issuer";
        /// Expired.
        Expired => "jwt_expired", Denied, Never, "the token has expired", "get a new token";
        /// Not valid yet, by more than the skew.
        NotYet => "jwt_not_yet", Denied, Later, "the token is not valid yet", "check the clocks of both machines";
    }
}

/// The parts of a token. Nothing has been checked.
#[derive(Clone, Debug)]
pub struct UnverifiedJwt<'t> {
    /// What is signed.
    pub signed: &'t str,
    /// The algorithm it says it is signed with.
    pub algorithm: JwtAlgorithm,
    /// The key it says it is signed with.
    pub key_id: Option<String>,
    /// Its `typ`.
    pub kind: Option<String>,
    /// The claims.
    pub claims: JsonObject,
    /// The signature.
    pub signature: Vec<u8>,
}

impl<'t> UnverifiedJwt<'t> {
    /// Takes a compact token apart. The algorithm must be one of `allowed`; header fields are read strictly.
    pub fn read(token: &'t str, allowed: &[JwtAlgorithm]) -> Result<Self, JwtRefusal> {
        if token.len() > MAX_JWT_BYTES {
            return Err(JwtRefusal::TooLong { bytes: token.len() });
        }
        let malformed = |part| JwtRefusal::Malformed { part };
        let (signed, signature) = token.rsplit_once('.').ok_or(malformed("form"))?;
        let (header, claims) = signed.split_once('.').ok_or(malformed("form"))?;
        if claims.contains('.') {
            return Err(malformed("form"));
        }
        let header = object(header).ok_or(malformed("header"))?;
        if header.contains_key("crit") {
            return Err(JwtRefusal::Critical);
        }
        let text = |name: &str| match header.get(name) {
            None => Ok(None),
            Some(Json::String(text)) if text.len() <= 1024 => Ok(Some(text.clone())),
            Some(_) => Err(malformed("header")),
        };
        let algorithm = text("alg")?.as_deref().and_then(JwtAlgorithm::parse).filter(|found| allowed.contains(found));
        Ok(Self {
            signed,
            algorithm: algorithm.ok_or(JwtRefusal::Algorithm)?,
            key_id: text("kid")?,
            kind: text("typ")?,
            claims: object(claims).ok_or(malformed("claims"))?,
            signature: decode_url(signature).filter(|bytes| !bytes.is_empty()).ok_or(malformed("signature"))?,
        })
    }
}

fn object(part: &str) -> Option<JsonObject> {
    let limits = JsonLimits { max_bytes: MAX_JWT_BYTES, max_depth: 16, max_number_chars: 64 };
    match parse_with(&decode_url(part)?, limits) {
        Ok(Json::Object(members)) => Some(members),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base64::encode_url;

    fn token(header: &str, claims: &str, signature: &str) -> String {
        format!("{}.{}.{signature}", encode_url(header.as_bytes()), encode_url(claims.as_bytes()))
    }

    fn read(text: &str) -> Result<UnverifiedJwt<'_>, JwtRefusal> {
        UnverifiedJwt::read(text, &[JwtAlgorithm::RS256, JwtAlgorithm::ES256])
    }

    #[test]
    fn a_token_is_taken_apart() {
        let text = token(r#"{"alg":"RS256","kid":"k","typ":"JWT"}"#, r#"{"sub":"s"}"#, "AQI");
        let jwt = read(&text).unwrap();
        assert_eq!(
            (jwt.algorithm, jwt.key_id.as_deref(), jwt.signature.as_slice()),
            (JwtAlgorithm::RS256, Some("k"), &[1, 2][..])
        );
        assert_eq!(jwt.claims["sub"], Json::from("s"));
    }

    #[test]
    fn no_algorithm_but_the_allowed_ones() {
        for alg in [
            "\"none\"",
            "\"None\"",
            "\"nOnE\"",
            "\"\"",
            "\"HS256\"",
            "\"rs256\"",
            "\"RS256 \"",
            "null",
            "7",
            "[\"RS256\"]",
        ] {
            let text = token(&format!("{{\"alg\":{alg}}}"), "{}", "AQI");
            assert!(read(&text).is_err(), "{alg}");
        }
        assert_eq!(read(&token("{}", "{}", "AQI")).unwrap_err(), JwtRefusal::Algorithm);
        let two = token(r#"{"alg":"RS256","alg":"none"}"#, "{}", "AQI");
        assert!(read(&two).is_err());
    }

    #[test]
    fn other_forms_are_refused() {
        let good = token(r#"{"alg":"RS256"}"#, "{}", "AQI");
        for text in [
            "",
            ".",
            "..",
            "...",
            "a.b",
            "a.b.c.d",
            &good[1..],
            &format!("{good}="),
            &format!("{good}.x"),
            &good.replace('.', ".."),
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read(&token(r#"{"alg":"RS256"}"#, "{}", "")).is_err());
        assert!(read(&token(r#"{"alg":"RS256"}"#, "[]", "AQI")).is_err());
        assert_eq!(read(&token(r#"{"alg":"RS256","crit":["b64"]}"#, "{}", "AQI")).unwrap_err(), JwtRefusal::Critical);
        assert_eq!(read(&"a".repeat(16_385)).unwrap_err(), JwtRefusal::TooLong { bytes: 16_385 });
    }
}
