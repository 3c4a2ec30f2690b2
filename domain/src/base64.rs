//! Base64 (RFC 4648), strict in both directions: no line breaks, no other alphabet, no loose trailing bits. The one place where
//! the alphabets are chosen; the work is the `base64` crate's.

use ::base64::Engine as _;
use ::base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

/// With padding, section 4.
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Reads padded text, section 4.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// The URL-safe alphabet without padding, section 5 as JOSE uses it (RFC 7515, section 2).
pub fn encode_url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Reads the URL-safe alphabet without padding.
pub fn decode_url(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// Reads either alphabet, padded or not: for peers whose dialect nobody wrote down. One text is of one alphabet, and padding that is
/// there is right.
pub fn decode_either(text: &str) -> Option<Vec<u8>> {
    let bare = text.trim_end_matches('=');
    let padding = text.len() - bare.len();
    let mixed = bare.contains(['+', '/']) && bare.contains(['-', '_']);
    if mixed || padding > 2 || padding > 0 && !text.len().is_multiple_of(4) {
        return None;
    }
    decode_url(&bare.replace('+', "-").replace('/', "_"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_examples_of_the_rfc() {
        for (plain, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(encode(plain.as_bytes()), coded);
            assert_eq!(encode_url(plain.as_bytes()), coded.trim_end_matches('='));
            assert_eq!(decode(coded).as_deref(), Some(plain.as_bytes()));
        }
        assert_eq!(encode_url(&[0xfb, 0xff]), "-_8");
        for text in ["-_8", "+/8", "+/8=", "-_8="] {
            assert_eq!(decode_either(text), Some(vec![0xfb, 0xff]), "{text}");
        }
        for text in ["-_8==", "+/8====", "-_8=x", "=", "====", "+_8", "-/8=", "Zg=", "Zg===", "Zm9v="] {
            assert_eq!(decode_either(text), None, "{text}");
        }
    }

    #[test]
    fn other_spellings_are_refused() {
        for text in ["Z", "Zh", "Zg==", "Zg\n", "Zm8+", "Zm8/", "Zm9", "é", "Zm9v Zm9v"] {
            assert_eq!(decode_url(text), None, "{text}");
        }
        for text in ["Z", "Zg=", "Zg", "Zh==", "Zm9=", "====", "Z===", "Zm 9", "Zm9v\n", "Zg==Zg==", "-_8="] {
            assert_eq!(decode(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_was_written_reads_back(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes.clone()));
            prop_assert_eq!(decode_url(&encode_url(&bytes)), Some(bytes));
        }

        #[test]
        fn only_one_text_stands_for_some_bytes(text in "[A-Za-z0-9_=+/-]{0,12}") {
            if let Some(bytes) = decode_url(&text) {
                prop_assert_eq!(encode_url(&bytes), text);
            }
        }
    }
}
