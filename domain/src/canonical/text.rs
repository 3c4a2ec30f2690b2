//! JSON string literals, scanned byte by byte and copied in runs.

/// Whether this byte cannot stand as it is. Bytes above 0x7f are special only where the form is ASCII.
const fn is_special(byte: u8, ascii: bool) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\' || (ascii && byte >= 0x7f)
}

/// Writes a literal with the short escapes of JSON and lower-case `\uXXXX` for the rest. In ASCII, everything from U+007F on
/// is escaped, above the basic plane as a surrogate pair, as Python's `json` does.
pub(crate) fn write_text(text: &str, out: &mut String, ascii: bool) {
    let bytes = text.as_bytes();
    out.push('"');
    let mut plain = 0;
    let mut here = 0;
    while here < bytes.len() {
        let byte = bytes[here];
        if !is_special(byte, ascii) {
            here += 1;
            continue;
        }
        // A special byte is ASCII or the first byte of a character, so both cuts are on character boundaries.
        out.push_str(&text[plain..here]);
        let Some(c) = text[here..].chars().next() else { break };
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    push_unit(*unit, out);
                }
            }
        }
        here += c.len_utf8();
        plain = here;
    }
    out.push_str(&text[plain..]);
    out.push('"');
}

fn push_unit(unit: u16, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.push_str("\\u");
    for shift in [12, 8, 4, 0] {
        out.push(char::from(DIGITS[usize::from(unit >> shift & 15)]));
    }
}

/// Whether a key can sort differently by UTF-16 unit than by code point: only from U+E000 on do the two orders part.
pub(super) fn utf16_order_differs(key: &str) -> bool {
    key.bytes().any(|byte| byte >= 0xee)
}
