//! Rust source as tokens: comments and the inside of strings are gone, so that no rule is fooled by them.

use super::Token;

/// The tokens of a text. Any text is taken; what is not Rust gives tokens that match nothing.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut reader = Reader { bytes: text.as_bytes(), text, at: 0, line: 1, out: Vec::new() };
    while reader.at < reader.bytes.len() {
        reader.step();
    }
    reader.out
}

struct Reader<'t> {
    bytes: &'t [u8],
    text: &'t str,
    at: usize,
    line: u32,
    out: Vec<Token>,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Moves on, counting lines.
    fn skip(&mut self, bytes: usize) {
        let end = (self.at + bytes).min(self.bytes.len());
        self.line = self.bytes[self.at..end].iter().fold(self.line, |line, byte| line + u32::from(*byte == b'\n'));
        self.at = end;
    }

    fn step(&mut self) {
        let byte = self.peek(0);
        match byte {
            b'/' if self.peek(1) == b'/' => self.skip(find(&self.bytes[self.at..], b"\n")),
            b'/' if self.peek(1) == b'*' => self.block_comment(),
            b'"' => self.string(1),
            b'\'' => self.quote(),
            b'r' | b'b' | b'c' if self.prefixed() => {}
            _ if is_word(byte) => self.word(),
            _ if byte.is_ascii_whitespace() => self.skip(1),
            _ => {
                self.out.push(Token::punct(byte, self.line));
                self.skip(1);
            }
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0u32;
        loop {
            match (self.peek(0), self.peek(1)) {
                (b'/', b'*') => {
                    depth += 1;
                    self.skip(2);
                }
                (b'*', b'/') => {
                    depth -= 1;
                    self.skip(2);
                }
                _ => self.skip(1),
            }
            if depth == 0 || self.at >= self.bytes.len() {
                return;
            }
        }
    }

    /// A string whose opening quote ends after `opening` bytes.
    fn string(&mut self, opening: usize) {
        let line = self.line;
        let start = self.at + opening;
        self.skip(opening);
        while self.at < self.bytes.len() && self.peek(0) != b'"' {
            self.skip(if self.peek(0) == b'\\' { 2 } else { 1 });
        }
        self.push_text(start, self.at, line);
        self.skip(1);
    }

    fn push_text(&mut self, start: usize, end: usize, line: u32) {
        let content = self.text.get(start..end).unwrap_or_default();
        self.out.push(Token::text(content, line));
    }

    /// A string, byte, C string, raw string or raw name after `r`, `b` or `c`; `false` when it is an ordinary name.
    fn prefixed(&mut self) -> bool {
        let raw = match (self.peek(0), self.peek(1)) {
            (b'b' | b'c', b'"') => {
                self.string(2);
                return true;
            }
            (b'b', b'\'') => {
                self.skip(1);
                self.quote();
                return true;
            }
            (b'r', b'"' | b'#') => 1,
            (b'b' | b'c', b'r') => 2,
            _ => return false,
        };
        let hashes = self.bytes[self.at + raw..].iter().take_while(|byte| **byte == b'#').count();
        if self.peek(raw + hashes) != b'"' {
            if raw == 1 && hashes == 1 && is_word(self.peek(2)) {
                self.skip(2);
                self.word();
                return true;
            }
            return false;
        }
        let line = self.line;
        let mut close = vec![b'"'];
        close.resize(1 + hashes, b'#');
        let start = self.at + raw + hashes + 1;
        let length = find(&self.bytes[start.min(self.bytes.len())..], &close);
        self.push_text(start, start + length, line);
        self.skip(raw + hashes + 1 + length + close.len());
        true
    }

    /// A character or a lifetime.
    fn quote(&mut self) {
        if self.peek(1) == b'\\' {
            self.skip(3);
            while self.at < self.bytes.len() && self.peek(0) != b'\'' && self.peek(0) != b'\n' {
                self.skip(1);
            }
            self.skip(1);
            return;
        }
        let width = self.text.get(self.at + 1..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        if self.peek(1 + width) == b'\'' {
            self.skip(2 + width);
        } else {
            // A lifetime: its name is no token of interest.
            self.skip(1);
            while is_word(self.peek(0)) {
                self.skip(1);
            }
        }
    }

    fn word(&mut self) {
        let start = self.at;
        while is_word(self.peek(0)) {
            self.at += 1;
        }
        self.out.push(Token::name(&self.text[start..self.at], self.line));
    }
}

/// Part of a name or number; every byte of a character outside ASCII counts.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Where `needle` starts, or the length when it does not occur.
pub(super) fn find(bytes: &[u8], needle: &[u8]) -> usize {
    bytes.windows(needle.len()).position(|window| window == needle).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        tokens(text).into_iter().filter_map(|token| token.as_name().map(str::to_owned)).collect()
    }

    #[test]
    fn comments_and_strings_give_no_names() {
        let text = r##"
            // a line
            /* a /* nested */ block */
            /// a doc
            fn r#f<'life>(c: char) -> &'static str { let x = 'q'; let y = '\''; let z = b'\\'; let u = '\u{41}'; "s \" t" }
            const R: &str = r#"raw " text"#; const B: &[u8] = br"bytes"; const C: &CStr = c"c";
        "##;
        assert_eq!(
            names(text).join(" "),
            "fn f c char str let x let y let z let u const R str const B u8 const C CStr"
        );
    }

    #[test]
    fn lines_are_counted_through_strings_and_comments() {
        let text = "/*\n\n*/ \"a\nb\" r#\"\n\"# last";
        assert_eq!(tokens(text).last().map(|token| (token.as_name(), token.line)), Some((Some("last"), 5)));
    }

    #[test]
    fn unfinished_texts_end() {
        for text in ["\"", "'", "'\\", "/*", "r#\"", "b'", "r#", "br##\"x\"#", "é'é"] {
            let _ = tokens(text);
        }
    }
}
