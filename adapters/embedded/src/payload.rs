//! How the mapped values of one record are stored: one blob of `(property key, value)` pairs.
//!
//! Property names stand once in the `property` table instead of in every record, a single property is found without
//! reading the others, and numbers keep their digits. A value is a tag and, where it has a body, its length and bytes:
//!
//! | tag | value |
//! |---|---|
//! | 0 1 2 | null, false, true |
//! | 3 4 5 | integer, decimal, number with exponent, as written |
//! | 6 | text |
//! | 7 | any other JSON, as compact text |
//! | 8 | list; its body is a sequence of values |

use scion_domain::json::{Json, JsonNumber, to_compact};

const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const INTEGER: u8 = 3;
const DECIMAL: u8 = 4;
const DOUBLE: u8 = 5;
const TEXT: u8 = 6;
const JSON: u8 = 7;
const LIST: u8 = 8;

/// A stored value, borrowed from its blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    Integer(&'a str),
    Decimal(&'a str),
    Double(&'a str),
    Text(&'a str),
    Json(&'a str),
    List(&'a [u8]),
}

/// Appends one property.
pub(crate) fn push(out: &mut Vec<u8>, property: i64, value: &Json) {
    push_length(out, usize::try_from(property).unwrap_or_default());
    push_value(out, value, true);
}

fn push_value(out: &mut Vec<u8>, value: &Json, lists: bool) {
    match value {
        Json::Null => out.push(NULL),
        Json::Bool(false) => out.push(FALSE),
        Json::Bool(true) => out.push(TRUE),
        Json::Number(number) => push_text(out, number_tag(number), number.as_text()),
        Json::String(text) => push_text(out, TEXT, text),
        Json::Array(items) if lists => {
            let mut body = Vec::with_capacity(items.len() * 8);
            for item in items {
                push_value(&mut body, item, false);
            }
            out.push(LIST);
            push_length(out, body.len());
            out.extend_from_slice(&body);
        }
        Json::Array(_) | Json::Object(_) => push_text(out, JSON, &to_compact(value)),
    }
}

fn number_tag(number: &JsonNumber) -> u8 {
    if number.is_integer() {
        INTEGER
    } else if number.as_text().bytes().any(|byte| matches!(byte, b'e' | b'E')) {
        DOUBLE
    } else {
        DECIMAL
    }
}

fn push_text(out: &mut Vec<u8>, tag: u8, text: &str) {
    out.push(tag);
    push_length(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

/// LEB128.
pub(crate) fn push_length(out: &mut Vec<u8>, mut value: usize) {
    loop {
        let low = u8::try_from(value & 0x7f).unwrap_or_default();
        value >>= 7;
        if value == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

/// Reads what [`push_length`] wrote.
pub(crate) fn take_length(rest: &mut &[u8]) -> Option<usize> {
    let mut value = 0usize;
    for shift in (0..usize::BITS).step_by(7) {
        let (first, tail) = rest.split_first()?;
        *rest = tail;
        value |= usize::from(first & 0x7f).checked_shl(shift)?;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// The values of a list's body.
pub(crate) struct Values<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for Values<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        take_value(&mut self.0)
    }
}

/// The properties of a blob, in stored order. Ends early on a blob this crate did not write.
pub(crate) struct Properties<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for Properties<'a> {
    type Item = (i64, Value<'a>);

    fn next(&mut self) -> Option<(i64, Value<'a>)> {
        let property = take_length(&mut self.0)?;
        Some((i64::try_from(property).ok()?, take_value(&mut self.0)?))
    }
}

fn take_value<'a>(rest: &mut &'a [u8]) -> Option<Value<'a>> {
    let (tag, tail) = rest.split_first()?;
    *rest = tail;
    match *tag {
        NULL => return Some(Value::Null),
        FALSE => return Some(Value::Bool(false)),
        TRUE => return Some(Value::Bool(true)),
        _ => {}
    }
    let length = take_length(rest)?;
    let (body, tail) = rest.split_at_checked(length)?;
    *rest = tail;
    if *tag == LIST {
        return Some(Value::List(body));
    }
    let text = std::str::from_utf8(body).ok()?;
    match *tag {
        INTEGER => Some(Value::Integer(text)),
        DECIMAL => Some(Value::Decimal(text)),
        DOUBLE => Some(Value::Double(text)),
        TEXT => Some(Value::Text(text)),
        JSON => Some(Value::Json(text)),
        _ => None,
    }
}

impl<'a> Value<'a> {
    /// Calls once per scalar: itself, or each value of a list. Nulls say nothing and are left out.
    pub(crate) fn each(self, mut visit: impl FnMut(Value<'a>)) {
        match self {
            Value::List(body) => Values(body).filter(|value| *value != Value::Null).for_each(visit),
            Value::Null => {}
            scalar => visit(scalar),
        }
    }

    /// `(tag, body)` of a scalar, for index keys.
    pub(crate) const fn parts(self) -> (u8, &'a [u8]) {
        match self {
            Value::Null => (NULL, &[]),
            Value::Bool(false) => (FALSE, &[]),
            Value::Bool(true) => (TRUE, &[]),
            Value::Integer(text) => (INTEGER, text.as_bytes()),
            Value::Decimal(text) => (DECIMAL, text.as_bytes()),
            Value::Double(text) => (DOUBLE, text.as_bytes()),
            Value::Text(text) => (TEXT, text.as_bytes()),
            Value::Json(text) => (JSON, text.as_bytes()),
            Value::List(body) => (LIST, body),
        }
    }
}

#[cfg(test)]
mod tests {
    use scion_domain::json::parse;

    use super::*;

    #[test]
    fn every_kind_of_value_reads_back() {
        let mut blob = Vec::new();
        for (property, text) in [
            (1, "null"),
            (2, "true"),
            (300, "-0"),
            (4, "1e400"),
            (5, "0.10"),
            (6, "\"a\\nb\""),
            (7, "{\"b\":[1],\"a\":2}"),
            (8, "[1,\"x\",[2],null]"),
        ] {
            push(&mut blob, property, &parse(text).unwrap());
        }
        let list = [INTEGER, 1, b'1', TEXT, 1, b'x', JSON, 3, b'[', b'2', b']', NULL];
        let all: Vec<_> = Properties(&blob).collect();
        assert_eq!(
            all,
            [
                (1, Value::Null),
                (2, Value::Bool(true)),
                (300, Value::Integer("-0")),
                (4, Value::Double("1e400")),
                (5, Value::Decimal("0.10")),
                (6, Value::Text("a\nb")),
                (7, Value::Json("{\"a\":2,\"b\":[1]}")),
                (8, Value::List(&list)),
            ]
        );
        let mut scalars = Vec::new();
        all[7].1.each(|value| scalars.push(value));
        assert_eq!(scalars, [Value::Integer("1"), Value::Text("x"), Value::Json("[2]")]);
    }

    #[test]
    fn a_damaged_blob_ends_and_does_not_panic() {
        for blob in [&[1][..], &[1, 6], &[1, 6, 5, b'a'], &[1, 99, 1, 1], &[0xff; 30], &[1, 6, 1, 0xff]] {
            assert_eq!(Properties(blob).count(), 0);
        }
    }

    #[test]
    fn lengths_read_back() {
        for value in [0, 1, 127, 128, 16_383, 16_384, usize::MAX] {
            let mut out = Vec::new();
            push_length(&mut out, value);
            assert_eq!(take_length(&mut &out[..]), Some(value));
        }
    }
}
