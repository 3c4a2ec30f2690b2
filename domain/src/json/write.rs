//! Plain writers: compact, and in the default spacing of Python's `json.dumps` with sorted keys.
//!
//! Both leave non-ASCII text as it is unless asked to escape; the fingerprinted forms live in `canonical`.

use super::Json;

/// Compact text, keys sorted, text unescaped where JSON allows.
pub fn to_compact(value: &Json) -> String {
    let mut out = String::new();
    write(value, &mut out, ",", ":", false);
    out
}

/// Text with `", "` and `": "`, keys sorted, non-ASCII as `\uXXXX`: what a Python peer's `json.dumps(sort_keys=True)`
/// writes, apart from its number text.
pub fn to_spaced(value: &Json) -> String {
    let mut out = String::new();
    write(value, &mut out, ", ", ": ", true);
    out
}

fn write(value: &Json, out: &mut String, comma: &str, colon: &str, ascii: bool) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(true) => out.push_str("true"),
        Json::Bool(false) => out.push_str("false"),
        Json::Number(number) => out.push_str(number.as_text()),
        Json::String(text) => write_text(text, out, ascii),
        Json::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(comma);
                }
                write(item, out, comma, colon, ascii);
            }
            out.push(']');
        }
        Json::Object(members) => {
            out.push('{');
            for (index, (key, item)) in members.iter().enumerate() {
                if index > 0 {
                    out.push_str(comma);
                }
                write_text(key, out, ascii);
                out.push_str(colon);
                write(item, out, comma, colon, ascii);
            }
            out.push('}');
        }
    }
}

/// Writes a JSON string literal. With `ascii`, everything above U+007E is `\uXXXX` in lower-case hexadecimal.
pub(crate) fn write_text(text: &str, out: &mut String, ascii: bool) {
    use std::fmt::Write as _;
    out.push('"');
    let mut plain = 0;
    for (index, c) in text.char_indices() {
        let short = match c {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\u{8}' => "\\b",
            '\u{c}' => "\\f",
            c if c < ' ' => "",
            '\u{7f}'.. if ascii => "",
            _ => continue,
        };
        out.push_str(&text[plain..index]);
        plain = index + c.len_utf8();
        if short.is_empty() {
            let mut units = [0u16; 2];
            for unit in c.encode_utf16(&mut units) {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push_str(short);
        }
    }
    out.push_str(&text[plain..]);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spacings() {
        let value = super::super::parse("{\"b\":[1,\"é\\u0001\"],\"a\":null}").unwrap();
        assert_eq!(to_compact(&value), "{\"a\":null,\"b\":[1,\"é\\u0001\"]}");
        assert_eq!(to_spaced(&value), "{\"a\": null, \"b\": [1, \"\\u00e9\\u0001\"]}");
    }
}
