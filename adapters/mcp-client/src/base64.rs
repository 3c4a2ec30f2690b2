//! Reading base64 (RFC 4648, section 4).

/// Decodes padded base64 without line breaks; `None` for anything else, loose trailing bits included.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    if !bytes.len().is_multiple_of(4) {
        return None;
    }
    let padding = bytes.iter().rev().take(2).take_while(|byte| **byte == b'=').count();
    let digits = &bytes[..bytes.len() - padding];
    let mut out = Vec::with_capacity(bytes.len() / 4 * 3);
    for group in digits.chunks(4) {
        let mut bits = 0_u32;
        for byte in group {
            bits = bits << 6 | u32::from(value(*byte)?);
        }
        bits <<= 6 * (4 - group.len());
        let [_, first, second, third] = bits.to_be_bytes();
        let kept = group.len() - 1;
        if [first, second, third][kept..].iter().any(|loose| *loose != 0) {
            return None;
        }
        out.extend_from_slice(&[first, second, third][..kept]);
    }
    Some(out)
}

const fn value(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn the_vectors_of_the_rfc() {
        for (text, bytes) in
            [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob"), ("Zm9vYmFy", "foobar")]
        {
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()), "{text}");
        }
        assert_eq!(decode("+/+/"), Some(vec![0xfb, 0xff, 0xbf]));
    }

    #[test]
    fn anything_else_is_refused() {
        for bad in ["Z", "Zg=", "Zg", "Zh==", "Zm9=", "====", "Z===", "Zm 9", "Zm9v\n", "Zg==Zg=="] {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }
}
