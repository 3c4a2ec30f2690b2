//! Bounds on a query's text, checked before a recursive parser sees it.

use scion_domain::query::QueryRefusal;

/// The longest query, in bytes.
pub(crate) const MAX_BYTES: usize = 64 << 10;

/// The deepest nesting of brackets.
const MAX_DEPTH: usize = 64;

/// The longest run of prefix operators, blanks between them not counted.
const MAX_RUN: usize = 64;

pub(crate) fn check(text: &str) -> Result<(), QueryRefusal> {
    if text.len() > MAX_BYTES {
        return Err(QueryRefusal::TooLong { bytes: text.len(), limit: MAX_BYTES });
    }
    let (mut depth, mut run) = (0usize, 0usize);
    let mut quote: Option<u8> = None;
    let mut escaped = false;
    for byte in text.bytes() {
        if let Some(open) = quote {
            // A quote inside an IRI or a comment only makes this check skip text; long strings read as three short ones.
            if escaped {
                escaped = false;
            } else if byte == b'\\' {
                escaped = true;
            } else if byte == open || byte == b'\n' {
                quote = None;
            }
            continue;
        }
        match byte {
            b'"' | b'\'' => quote = Some(byte),
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match byte {
            b'!' | b'-' | b'+' | b'^' => run += 1,
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => run = 0,
        }
        if depth > MAX_DEPTH {
            return Err(QueryRefusal::Unsupported { feature: "a query nested deeper than 64 brackets" });
        }
        if run > MAX_RUN {
            return Err(QueryRefusal::Unsupported { feature: "a run of more than 64 operators" });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_queries_pass_and_extremes_do_not() {
        assert!(check("SELECT * { ?s ?p '((((' FILTER(!(?p = \"\\\"{{{\")) }").is_ok());
        assert!(matches!(check(&"x".repeat(MAX_BYTES + 1)), Err(QueryRefusal::TooLong { .. })));
        assert!(matches!(check(&"(".repeat(65)), Err(QueryRefusal::Unsupported { .. })));
        assert!(matches!(check(&"! ".repeat(65)), Err(QueryRefusal::Unsupported { .. })));
    }
}
