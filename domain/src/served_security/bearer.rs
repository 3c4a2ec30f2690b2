//! The credential of a request (RFC 6750, section 2.1).

use super::Unauthenticated;
use crate::http::{HeaderMap, header};
use crate::secret::Secret;

/// The longest token, in bytes.
pub const MAX_TOKEN_BYTES: usize = 16 * 1024;

/// The bearer token of a request. One `Authorization` field with the scheme `Bearer` counts; a token in the URL or the body never
/// does.
pub fn bearer(headers: &HeaderMap) -> Result<Secret<String>, Unauthenticated> {
    let mut fields = headers.get_all(header::AUTHORIZATION).iter();
    let field = fields.next().ok_or(Unauthenticated::NoCredential)?;
    if fields.next().is_some() || field.len() > MAX_TOKEN_BYTES + 16 {
        return Err(Unauthenticated::Invalid);
    }
    let text = field.to_str().map_err(|_| Unauthenticated::Invalid)?;
    let text = text.trim();
    let (scheme, token) = text.split_once(' ').unwrap_or((text, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        // Another scheme is no credential of ours.
        return Err(Unauthenticated::NoCredential);
    }
    let token = token.trim_start();
    if !is_bearer_text(token) {
        return Err(Unauthenticated::Invalid);
    }
    Ok(Secret::new(token.to_owned()))
}

/// Whether a text can be presented as a token: 1 byte to 16 KiB of the alphabet of `b64token`, and the colon.
pub fn is_bearer_text(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=:".contains(&byte);
    (1..=MAX_TOKEN_BYTES).contains(&text.len()) && text.bytes().all(fits)
}
