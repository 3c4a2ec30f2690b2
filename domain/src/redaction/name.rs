//! Which names hold secrets.

use crate::http::HeaderName;

const PARTS: [&str; 11] = [
    "token",
    "secret",
    "passw",
    "apikey",
    "api-key",
    "api_key",
    "auth",
    "signature",
    "credential",
    "session",
    "passphrase",
];

/// Whether a parameter, header field or member of this name holds a secret, case and outer blanks aside.
pub fn is_sensitive_name(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    PARTS.iter().any(|part| name.contains(part))
        || name.ends_with("sig")
        || matches!(name.as_str(), "code" | "key" | "cookie" | "set-cookie" | "cookie2" | "set-cookie2")
}

/// Whether a header field of this name holds a secret.
pub fn is_sensitive_header(name: &HeaderName) -> bool {
    is_sensitive_name(name.as_str())
}
