//! A number that keeps the digits it was written with.

use std::fmt;

/// A JSON number as its source text. `1` and `1.0` are different values here; [`JsonNumber::as_f64`] and the canonical
/// forms say what they have in common.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct JsonNumber(Box<str>);

impl JsonNumber {
    /// Wraps text that already follows the JSON number grammar; `None` when it does not.
    pub fn from_text(text: &str) -> Option<Self> {
        is_number(text.as_bytes()).then(|| Self(text.into()))
    }

    pub(super) fn from_checked(text: &str) -> Self {
        debug_assert!(is_number(text.as_bytes()));
        Self(text.into())
    }

    /// From a finite float, in its shortest round-trip form; `None` for NaN and infinities.
    pub fn from_f64(value: f64) -> Option<Self> {
        // serde_json's writer gives the shortest text that reads back as the same float, with a fraction or exponent.
        value.is_finite().then(|| serde_json::to_string(&value).ok().map(|text| Self(text.into()))).flatten()
    }

    /// The digits as written.
    pub fn as_text(&self) -> &str {
        &self.0
    }

    /// Whether it was written as an integer (no fraction, no exponent).
    pub fn is_integer(&self) -> bool {
        !self.0.bytes().any(|b| matches!(b, b'.' | b'e' | b'E'))
    }

    /// The value, if it was written as an integer and fits.
    pub fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// The value, if it was written as an integer, is not negative and fits.
    pub fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// The nearest float; infinite when out of range.
    pub fn as_f64(&self) -> f64 {
        // Every JSON number is a valid Rust float literal, so the fallback is never taken.
        self.0.parse().unwrap_or(f64::NAN)
    }
}

fn is_number(text: &[u8]) -> bool {
    fn digits(text: &[u8]) -> usize {
        text.iter().take_while(|b| b.is_ascii_digit()).count()
    }
    let mut rest = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest[0] == b'0') {
        return false;
    }
    rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = &fraction[count..];
    }
    if let Some(exponent) = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E")) {
        let unsigned = exponent.strip_prefix(b"+").or_else(|| exponent.strip_prefix(b"-")).unwrap_or(exponent);
        let count = digits(unsigned);
        return count > 0 && count == unsigned.len();
    }
    rest.is_empty()
}

impl From<i64> for JsonNumber {
    fn from(value: i64) -> Self {
        Self(value.to_string().into())
    }
}

impl From<u64> for JsonNumber {
    fn from(value: u64) -> Self {
        Self(value.to_string().into())
    }
}

impl fmt::Display for JsonNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for JsonNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::JsonNumber;

    #[test]
    fn the_grammar_is_the_json_one() {
        for good in ["0", "-0", "12", "1.0", "1e5", "-1.5E+10", "0.1", "1e400"] {
            assert_eq!(JsonNumber::from_text(good).unwrap().as_text(), good);
        }
        for bad in ["", "-", "01", "1.", ".5", "1e", "+1", "0x1", "NaN", "1 "] {
            assert!(JsonNumber::from_text(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn floats_keep_their_kind() {
        assert_eq!(JsonNumber::from_f64(1.0).unwrap().as_text(), "1.0");
        assert!(JsonNumber::from_f64(f64::NAN).is_none());
        assert!(!JsonNumber::from_f64(1.0).unwrap().is_integer());
    }
}
