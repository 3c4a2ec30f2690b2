//! Finding the members of a JSON object without building a tree.
//!
//! A page of records arrives as one line. The session needs the exact text of `result`, not a value that has been
//! through a number type, so the outer objects are only cut into slices here. Whoever reads a slice validates it.
//! Nesting is counted, not recursed, so depth cannot exhaust the stack. Member names are compared as written: a
//! protocol member name spelled with escapes is an unknown member.

/// The members of one object, in order, as raw slices: name without quotes, value without surrounding blanks.
/// `None` when the text is not one object followed by nothing but blanks.
pub(crate) fn members(text: &str) -> Option<Vec<(&str, &str)>> {
    let bytes = text.as_bytes();
    let mut at = blanks(bytes, 0);
    if bytes.get(at) != Some(&b'{') {
        return None;
    }
    at = blanks(bytes, at + 1);
    let mut found = Vec::with_capacity(4);
    if bytes.get(at) == Some(&b'}') {
        return (blanks(bytes, at + 1) == bytes.len()).then_some(found);
    }
    loop {
        let name_end = string_end(bytes, at)?;
        let name = text.get(at + 1..name_end - 1)?;
        at = blanks(bytes, name_end);
        if bytes.get(at) != Some(&b':') {
            return None;
        }
        let start = blanks(bytes, at + 1);
        let end = value_end(bytes, start)?;
        found.push((name, text.get(start..end)?));
        at = blanks(bytes, end);
        match bytes.get(at)? {
            b',' => at = blanks(bytes, at + 1),
            b'}' => return (blanks(bytes, at + 1) == bytes.len()).then_some(found),
            _ => return None,
        }
    }
}

/// The raw value of the last member with this name; JSON readers commonly let the last one win.
pub(crate) fn member<'t>(members: &[(&'t str, &'t str)], name: &str) -> Option<&'t str> {
    members.iter().rev().find(|(key, _)| *key == name).map(|(_, value)| *value)
}

fn blanks(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}

/// The index after the closing quote of the string that starts at `at`.
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at) != Some(&b'"') {
        return None;
    }
    let mut from = at + 1;
    loop {
        let offset = bytes.get(from..)?.iter().position(|b| matches!(b, b'"' | b'\\'))?;
        if bytes[from + offset] == b'"' {
            return Some(from + offset + 1);
        }
        from += offset + 2;
    }
}

/// The index after the value that starts at `at`.
fn value_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => string_end(bytes, at),
        b'{' | b'[' => nested_end(bytes, at),
        _ => {
            let length =
                bytes[at..].iter().position(|b| matches!(b, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n'))?;
            (length > 0).then_some(at + length)
        }
    }
}

fn nested_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        let offset = bytes.get(at..)?.iter().position(|b| matches!(b, b'"' | b'{' | b'[' | b'}' | b']'))?;
        at += offset;
        match bytes[at] {
            b'"' => {
                at = string_end(bytes, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            _ => depth -= 1,
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Finds the `id` of a message that is too large to keep, from bytes given piece by piece, in constant memory.
#[derive(Debug, Default)]
pub(crate) struct IdScanner {
    depth: usize,
    in_string: bool,
    escaped: bool,
    in_value: bool,
    name: Vec<u8>,
    value: Vec<u8>,
    id: Option<Vec<u8>>,
}

/// Longer names and ids are cut; no id of ours is that long.
const KEPT: usize = 64;

impl IdScanner {
    /// Takes the next bytes of the message.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.step(byte);
        }
    }

    /// The raw text of the top-level `id`, if one was seen.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref().and_then(|id| std::str::from_utf8(id).ok())
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            if self.depth == 1 {
                self.keep(byte);
            }
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                if self.depth == 1 {
                    self.keep(byte);
                }
                self.in_string = true;
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                if self.depth == 1 {
                    self.end_member();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b',' if self.depth == 1 => self.end_member(),
            b':' if self.depth == 1 => self.in_value = true,
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ if self.depth == 1 => self.keep(byte),
            _ => {}
        }
    }

    fn keep(&mut self, byte: u8) {
        let target = if self.in_value { &mut self.value } else { &mut self.name };
        if target.len() < KEPT {
            target.push(byte);
        }
    }

    fn end_member(&mut self) {
        if self.name == b"\"id\"" && !self.value.is_empty() {
            self.id = Some(std::mem::take(&mut self.value));
        }
        self.name.clear();
        self.value.clear();
        self.in_value = false;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{IdScanner, member, members};

    #[test]
    fn members_are_cut_exactly() {
        let text = r#" { "jsonrpc" : "2.0", "id":7 ,"result":{"a":[1,{"b":"}\"]"}]} } "#;
        let found = members(text).unwrap();
        assert_eq!(found, [("jsonrpc", r#""2.0""#), ("id", "7"), ("result", r#"{"a":[1,{"b":"}\"]"}]}"#)]);
        assert_eq!(member(&found, "id"), Some("7"));
        assert_eq!(members("{}").unwrap(), []);
    }

    #[test]
    fn what_is_not_one_object_is_none() {
        for bad in [
            "",
            "hello",
            "[1]",
            "{",
            "{}x",
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{"a":1"#,
            r#"{"a":"x}"#,
            r#"{"a":1,}"#,
            "{a:1}",
        ] {
            assert!(members(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn nesting_is_counted_not_recursed() {
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(members(&deep).unwrap()[0].1.len(), 400_001);
    }

    #[test]
    fn the_id_of_a_huge_message_is_found_wherever_it_stands() {
        for (text, id) in [
            (r#"{"jsonrpc":"2.0","id":12,"result":{"id":99}}"#, Some("12")),
            (r#"{"result":{"x":[{"id":5}],"t":"\"id\":6"},"id" : "a\"b"}"#, Some(r#""a\"b""#)),
            (r#"{"method":"x"}"#, None),
        ] {
            let mut scanner = IdScanner::default();
            for byte in text.bytes() {
                scanner.push(&[byte]);
            }
            assert_eq!(scanner.id(), id, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics_and_valid_objects_are_cut_like_a_parser_does(text in any::<String>(), key in "[a-z]{1,6}", value in any::<Option<String>>()) {
            let _ = members(&text);
            let mut scanner = IdScanner::default();
            scanner.push(text.as_bytes());
            let object = serde_json::json!({ key.clone(): value.clone(), "z1": [value.clone()] }).to_string();
            let found = members(&object).unwrap();
            let expected = serde_json::to_string(&value).unwrap();
            prop_assert_eq!(member(&found, &key), Some(expected.as_str()));
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut scanner = IdScanner::default();
            scanner.push(&bytes);
            let _ = members(&String::from_utf8_lossy(&bytes));
        }
    }
}
