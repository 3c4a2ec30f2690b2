use std::fmt::{Display, Write as _};

/// A value as one segment of a path: everything but letters, digits, `-`, `.`, `_` and `~` is percent-encoded (RFC 3986 2.3), so
/// that no value of a caller can lead to another path, a query or a fragment. An empty one, `.` and `..` make a path that the client
/// refuses, because they would lead to the list or the parent.
///
/// ```
/// use scion_client::segment;
///
/// assert_eq!(format!("/tickets/{}", segment("7/../8?all=1")), "/tickets/7%2F..%2F8%3Fall%3D1");
/// ```
pub fn segment(value: impl Display) -> String {
    let text = value.to_string();
    if text.is_empty() {
        return ".".to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
