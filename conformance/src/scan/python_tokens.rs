//! Python source as tokens. Comments are gone; a string is one token, and the expressions inside an f-string are tokens of their own.

use super::Token;
use super::rust_tokens::{find, is_word};

/// f-strings inside f-strings are read this deep.
const MAX_DEPTH: u32 = 16;

/// The tokens of a text. Any text is taken. A `\n` token ends each logical line.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut reader = Reader { bytes: text.as_bytes(), text, at: 0, line: 1, brackets: 0, out: Vec::new() };
    while reader.at < reader.bytes.len() {
        reader.step(0);
    }
    reader.out.push(Token::punct(b'\n', reader.line));
    reader.out
}

struct Reader<'t> {
    bytes: &'t [u8],
    text: &'t str,
    at: usize,
    line: u32,
    brackets: u32,
    out: Vec<Token>,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn skip(&mut self, bytes: usize) {
        let end = (self.at + bytes).min(self.bytes.len());
        self.line = self.bytes[self.at..end].iter().fold(self.line, |line, byte| line + u32::from(*byte == b'\n'));
        self.at = end;
    }

    fn step(&mut self, depth: u32) {
        let byte = self.peek(0);
        match byte {
            b'#' => self.skip(find(&self.bytes[self.at..], b"\n")),
            b'\\' => self.skip(2),
            b'\n' => {
                if self.brackets == 0 && depth == 0 {
                    self.out.push(Token::punct(b'\n', self.line));
                }
                self.skip(1);
            }
            b'"' | b'\'' => self.string(false, depth),
            _ if is_word(byte) => self.word(depth),
            _ if byte.is_ascii_whitespace() => self.skip(1),
            _ => {
                match byte {
                    b'(' | b'[' | b'{' => self.brackets = self.brackets.saturating_add(1),
                    b')' | b']' | b'}' => self.brackets = self.brackets.saturating_sub(1),
                    _ => {}
                }
                self.out.push(Token::punct(byte, self.line));
                self.skip(1);
            }
        }
    }

    fn word(&mut self, depth: u32) {
        let start = self.at;
        while is_word(self.peek(0)) {
            self.at += 1;
        }
        let word = &self.text[start..self.at];
        let prefix = word.len() <= 2 && word.bytes().all(|byte| b"rRbBfFuUtT".contains(&byte));
        if prefix && matches!(self.peek(0), b'"' | b'\'') {
            let format = word.bytes().any(|byte| b"fFtT".contains(&byte));
            self.string(format, depth);
        } else {
            self.out.push(Token::name(word, self.line));
        }
    }

    /// A string at its opening quote.
    fn string(&mut self, format: bool, depth: u32) {
        let quote = self.peek(0);
        let triple = self.peek(1) == quote && self.peek(2) == quote;
        let width = if triple { 3 } else { 1 };
        let line = self.line;
        self.skip(width);
        let start = self.at;
        // The literal stands before the expressions inside it, as it starts before them.
        let place = self.out.len();
        while self.at < self.bytes.len() {
            let byte = self.peek(0);
            if byte == quote && (!triple || (self.peek(1) == quote && self.peek(2) == quote)) {
                break;
            }
            match byte {
                // In a raw string the backslash stays, but the quote behind it does not end the string either.
                b'\\' => self.skip(2),
                b'\n' if !triple => break,
                b'{' if format && self.peek(1) == b'{' => self.skip(2),
                b'{' if format && depth < MAX_DEPTH => self.field(quote, depth),
                _ => self.skip(1),
            }
        }
        let content = self.text.get(start..self.at).unwrap_or_default();
        self.out.insert(place, Token::text(content, line));
        if self.peek(0) == quote {
            self.skip(width);
        }
    }

    /// A replacement field, at its opening brace: its expression gives tokens, its format does not.
    fn field(&mut self, quote: u8, depth: u32) {
        let outside = std::mem::take(&mut self.brackets);
        self.out.push(Token::punct(b'(', self.line));
        self.skip(1);
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b'}' if self.brackets == 0 => break,
                b':' if self.brackets == 0 => {
                    self.format(quote, depth);
                    break;
                }
                _ => self.step(depth + 1),
            }
        }
        self.out.push(Token::punct(b')', self.line));
        self.brackets = outside;
        if self.peek(0) == b'}' {
            self.skip(1);
        }
    }

    /// The format of a field, up to its closing brace or the end of the string.
    fn format(&mut self, quote: u8, depth: u32) {
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b'}' | b'\n' => return,
                byte if byte == quote => return,
                b'{' if depth < MAX_DEPTH => self.field(quote, depth + 1),
                _ => self.skip(1),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> String {
        let tokens = tokens(text);
        tokens.iter().filter_map(Token::as_name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_and_strings_give_no_names() {
        let text = "# verify=False\nx = 'verify=False' \"a\" r'\\' # more'\n\"\"\"doc\n'quote' verify=False\"\"\"\ny = b'z' + Rb'w'\n";
        assert_eq!(names(text), "x y");
        assert_eq!(names("x = 'unfinished\ny = 1"), "x y 1");
    }

    #[test]
    fn expressions_inside_f_strings_are_code() {
        let fields = "f'{{no}} {a} {b!r:#>{w}} {d[\"k\"]} {f(x=False):#x} tail' last";
        assert_eq!(names(fields), "a b r w d f x False last");
        assert_eq!(names("f\"{d[\"k\"]} {e}\" last"), "d e last");
        assert_eq!(names("f'''{a\n} # no comment {b}''' last"), "a b last");
        assert_eq!(names("'{plain}' rf'{c}'"), "c");
    }

    #[test]
    fn logical_lines_and_line_numbers() {
        let tokens = tokens("a = (1,\n 2)\nb = 'x' \\\n 'y'\n\n'''\n''' c");
        let ends = tokens.iter().filter(|token| token.is(b'\n')).count();
        assert_eq!((ends, tokens.last().unwrap().line), (4, 7));
    }

    #[test]
    fn unfinished_texts_end() {
        let nested = "f'{".repeat(100);
        for text in ["'", "f'{", "f'{a:", "\"\"\"", "\\", "f'{{", "rb", "é'é", &nested] {
            let _ = super::tokens(text);
        }
    }
}
