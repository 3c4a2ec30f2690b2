//! Tokens, key sets and the answers of authorities.

use scion_domain::auth::{
    AuthUrl, JwtAlgorithm, KeySet, MAX_JWT_BYTES, MAX_TOKEN_BYTES, UnverifiedJwt, check_times, parse_issuer,
    read_discovery, read_token_failure, read_token_response,
};
use scion_domain::base64::{decode_url, encode_url};
use scion_domain::http::{HeaderMap, HeaderValue, header};
use scion_domain::served_security::{ServedSecurityProfile, VerifiedToken, bearer, is_bearer_text};

/// A token that could be taken apart is within its bounds, is signed with an allowed algorithm, and is the only spelling of itself.
pub fn jwt(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let allowed = [JwtAlgorithm::RS256, JwtAlgorithm::ES256, JwtAlgorithm::EdDSA];
    let Ok(token) = UnverifiedJwt::read(text, &allowed) else { return };
    assert!(text.len() <= MAX_JWT_BYTES && allowed.contains(&token.algorithm));
    assert_eq!(format!("{}.{}", token.signed, encode_url(&token.signature)), text);
    for part in token.signed.split('.') {
        assert_eq!(decode_url(part).map(|bytes| encode_url(&bytes)).as_deref(), Some(part));
    }
    assert!(check_times(&token.claims, f64::INFINITY).is_err(), "nothing is valid at the end of time");
}

/// The credential of a request, one field per line: what is read is one token of the alphabet, out of one field, and as it was sent.
/// Claims of any shape make a token that only a sound profile lets in.
pub fn authorization(data: &[u8]) {
    let mut headers = HeaderMap::new();
    for line in data.split(|byte| *byte == b'\n').take(8) {
        let Ok(value) = HeaderValue::from_bytes(line) else { continue };
        headers.append(header::AUTHORIZATION, value);
    }
    let Ok(token) = bearer(&headers) else { return };
    assert_eq!(headers.len(), 1);
    assert!(is_bearer_text(token.expose()));
    let sent = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
    assert!(sent.windows(token.expose().len()).any(|part| part == token.expose().as_bytes()));
    let Ok(jwt) = UnverifiedJwt::read(token.expose(), &JwtAlgorithm::ALL) else { return };
    let read = VerifiedToken::from_claims(jwt.claims);
    let Ok(profile) = ServedSecurityProfile::new("desk", "read") else { return };
    if let Ok(caller) = profile.caller(&read) {
        assert!(read.audiences.contains("desk") && read.scopes.contains("read"));
        assert_eq!(Some(&caller.principal), read.subject.as_ref());
    }
}

/// Keys that were read are of the size of their kind, and none is a shared secret.
pub fn jwks(data: &[u8]) {
    let Ok(keys) = KeySet::read(data) else { return };
    for entry in keys.keys() {
        for algorithm in [JwtAlgorithm::HS256, JwtAlgorithm::HS384, JwtAlgorithm::HS512] {
            assert!(!entry.key.fits(algorithm));
        }
        for algorithm in JwtAlgorithm::ALL {
            if let Ok(found) = keys.find(entry.id.as_deref(), algorithm) {
                assert!(found.fits(algorithm));
            }
        }
    }
}

/// An answer that was read has a token that fits into a header field and a lifetime of at most a day; a document speaks for its own
/// issuer and names no address that is not one of an authority.
pub fn token_response(data: &[u8]) {
    if let Ok(answer) = read_token_response(data) {
        for token in [Some(&answer.access), answer.refresh.as_ref(), answer.id_token.as_ref()].into_iter().flatten() {
            assert!((1..=MAX_TOKEN_BYTES).contains(&token.expose().len()));
            assert!(token.expose().bytes().all(|byte| (0x20..0x7f).contains(&byte)));
        }
        assert!((1..=86_400_000).contains(&answer.ttl_ms));
    }
    for status in [400, 401, 500] {
        let _ = read_token_failure(status, data);
    }
    let Ok(issuer) = parse_issuer("issuer", "https://i.example") else { return };
    if let Ok(document) = read_discovery(&issuer, data) {
        assert_eq!(document.issuer, "https://i.example");
        let again = AuthUrl::parse("token_endpoint", document.token.as_text());
        assert_eq!(again.as_ref(), Ok(&document.token));
    }
}
