//! Base64 (RFC 4648), strict in both directions: no line breaks, no other alphabet, no loose trailing bits.

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// With padding, section 4.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = write(bytes, STANDARD);
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

/// The URL-safe alphabet without padding, section 5 as JOSE uses it (RFC 7515, section 2).
pub fn encode_url(bytes: &[u8]) -> String {
    write(bytes, URL)
}

/// Reads the URL-safe alphabet without padding.
pub fn decode_url(text: &str) -> Option<Vec<u8>> {
    if text.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.as_bytes().chunks(4) {
        let mut bits = 0u32;
        for byte in group {
            bits = bits << 6 | u32::from(digit(*byte)?);
        }
        let kept = group.len() * 6 / 8;
        let loose = group.len() * 6 % 8;
        if bits & ((1 << loose) - 1) != 0 {
            return None;
        }
        bytes.extend_from_slice(&(bits >> loose).to_be_bytes()[4 - kept..]);
    }
    Some(bytes)
}

fn write(bytes: &[u8], alphabet: &[u8; 64]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..=group.len() {
            text.push(char::from(alphabet[(bits >> (18 - 6 * place) & 63) as usize]));
        }
    }
    text
}

const fn digit(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'-' => 62,
        b'_' => 63,
        _ => return None,
    })
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
        }
        assert_eq!(encode_url(&[0xfb, 0xff]), "-_8");
    }

    #[test]
    fn other_spellings_are_refused() {
        for text in ["Z", "Zh", "Zg==", "Zg\n", "Zm8+", "Zm8/", "Zm9", "é", "Zm9v Zm9v"] {
            assert_eq!(decode_url(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_was_written_reads_back(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
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
