//! Reading what a token endpoint answers (RFC 6749, section 5).

use crate::json::{Json, JsonLimits, parse_with};
use crate::secret::Secret;
use zeroize::Zeroize as _;

/// The largest answer that is read, in bytes.
pub const MAX_TOKEN_BODY: usize = 1 << 20;

/// The longest token, in bytes.
pub const MAX_TOKEN_BYTES: usize = 16 * 1024;

/// How long a token is used when the answer does not say, in milliseconds.
const DEFAULT_TTL_MS: u64 = 300_000;

/// The longest life that is believed, in seconds. Vendors give out tokens for weeks: those are renewed every day.
const MAX_TTL_SECONDS: f64 = 86_400.0;

/// A good answer.
#[derive(Clone, Debug)]
pub struct TokenResponse {
    /// The access token.
    pub access: Secret<String>,
    /// How long it is valid, in milliseconds; at most a day.
    pub ttl_ms: u64,
    /// A new refresh token.
    pub refresh: Option<Secret<String>>,
    /// An ID token.
    pub id_token: Option<Secret<String>>,
}

/// Reads a body of status 200. The word of a refusal goes into [`super::AuthRefusal::Malformed`]; it holds no part of the body.
pub fn read_token_response(body: &[u8]) -> Result<TokenResponse, &'static str> {
    let limits = JsonLimits { max_bytes: MAX_TOKEN_BODY, max_depth: 16, max_number_chars: 64 };
    let Ok(Json::Object(mut members)) = parse_with(body, limits) else { return Err("token response") };
    let mut secret = |name: &str| match members.remove(name) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) if text.is_empty() => Ok(None),
        // What goes into a header field later is checked now.
        Some(Json::String(text))
            if text.len() <= MAX_TOKEN_BYTES && text.bytes().all(|b| (0x20..0x7f).contains(&b)) =>
        {
            Ok(Some(Secret::new(text)))
        }
        Some(Json::String(mut text)) => {
            text.zeroize();
            Err("token")
        }
        Some(_) => Err("token"),
    };
    let access = secret("access_token")?.ok_or("access token")?;
    let refresh = secret("refresh_token")?;
    let id_token = secret("id_token")?;
    let ttl_ms = match members.get("expires_in") {
        None => DEFAULT_TTL_MS,
        Some(Json::Number(number)) => ttl_ms(number.as_f64()).ok_or("token lifetime")?,
        Some(_) => return Err("token lifetime"),
    };
    match members.get("token_type") {
        None | Some(Json::Null) => {}
        Some(Json::String(kind)) if kind.eq_ignore_ascii_case("bearer") || kind.eq_ignore_ascii_case("n_a") => {}
        // RFC 6749, section 7.1: a type that is not understood must not be used.
        Some(_) => return Err("token type"),
    }
    Ok(TokenResponse { access, ttl_ms, refresh, id_token })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked first")]
fn ttl_ms(seconds: f64) -> Option<u64> {
    (seconds > 0.0 && seconds.is_finite()).then(|| ((seconds.min(MAX_TTL_SECONDS) * 1000.0) as u64).max(1))
}

/// What a token endpoint's refusal means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenFailure {
    /// The credential is wrong, expired, revoked or not allowed to do this.
    Rejected,
    /// The authority has trouble of its own; the credential may be fine.
    Unreachable,
    /// Neither: the answer is not of the protocol.
    Malformed,
}

/// Reads an answer whose status is not 200 (RFC 6749, section 5.2). Only the code is looked at, and it is not repeated.
pub fn read_token_failure(status: u16, body: &[u8]) -> TokenFailure {
    let limits = JsonLimits { max_bytes: 64 << 10, max_depth: 16, max_number_chars: 64 };
    let code =
        parse_with(body, limits).ok().and_then(|json| json.get("error").and_then(Json::as_str).map(str::to_owned));
    match (status, code.as_deref()) {
        (_, Some("temporarily_unavailable" | "server_error" | "slow_down")) | (408 | 425 | 429 | 500..=599, _) => {
            TokenFailure::Unreachable
        }
        (400 | 401 | 403, _) => TokenFailure::Rejected,
        _ => TokenFailure::Malformed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_vectors::{load, section, text};

    /// Proves: SDK-CENTRALIZED-CAPABILITIES-R011
    #[test]
    fn every_token_response_of_the_vectors() {
        for case in section(&load("references.json"), "token_responses") {
            let read = read_token_response(text(case, "body").as_bytes());
            match case.get("ok") {
                Some(ok) => {
                    let read = read.unwrap();
                    let ttl = ok.get("ttl").unwrap().as_number().unwrap().as_f64();
                    assert!((std::time::Duration::from_millis(read.ttl_ms).as_secs_f64() - ttl).abs() < 0.001);
                    let refresh = read.refresh.as_ref().map(|token| token.expose().as_str());
                    assert_eq!(refresh, ok.get("refresh").and_then(Json::as_str));
                    assert_eq!(read.access.expose(), "a");
                }
                // Ours is better: a token that lives longer is renewed after a day.
                None if text(case, "body").contains("86401") => assert_eq!(read.unwrap().ttl_ms, 86_400_000),
                None => assert!(read.is_err(), "{case:?}"),
            }
        }
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        for body in [
            r#"{"access_token":"a","token_type":"mac"}"#,
            r#"{"access_token":"a","token_type":7}"#,
            r#"{"access_token":"a\r\nX: y"}"#,
            r#"{"access_token":"a","refresh_token":7}"#,
            r#"{"access_token":"a","expires_in":1e400}"#,
            r#"{"access_token":"a","expires_in":-1}"#,
            r#"{"access_token":"a","access_token":"b"}"#,
            "\u{feff}{}",
        ] {
            assert!(read_token_response(body.as_bytes()).is_err(), "{body}");
        }
        let long = format!("{{\"access_token\":\"{}\"}}", "a".repeat(MAX_TOKEN_BYTES + 1));
        assert!(read_token_response(long.as_bytes()).is_err());
        let shown = format!("{:?}", read_token_response(br#"{"access_token":"hunter2","refresh_token":"hunter3"}"#));
        assert!(!shown.contains("hunter"), "{shown}");
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R028.4
    #[test]
    fn rejected_and_unreachable_differ() {
        let cases: [(u16, &str, TokenFailure); 8] = [
            (400, r#"{"error":"invalid_grant"}"#, TokenFailure::Rejected),
            (401, r#"{"error":"invalid_client"}"#, TokenFailure::Rejected),
            (403, "no", TokenFailure::Rejected),
            (400, r#"{"error":"temporarily_unavailable"}"#, TokenFailure::Unreachable),
            (429, "", TokenFailure::Unreachable),
            (503, "<html>", TokenFailure::Unreachable),
            (302, "", TokenFailure::Malformed),
            (404, "", TokenFailure::Malformed),
        ];
        for (status, body, expected) in cases {
            assert_eq!(read_token_failure(status, body.as_bytes()), expected, "{status} {body}");
        }
    }
}
