//! Tokens of Turtle, borrowed from the text.

use std::borrow::Cow;

/// One token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'t> {
    /// What stands between `<` and `>`.
    Iri(&'t str),
    /// `prefix:local`, as written. A blank node has the prefix `_`.
    Name {
        /// Before the colon.
        prefix: &'t str,
        /// Behind it.
        local: &'t str,
    },
    /// What stands between quotes, as written.
    Text {
        /// Whether the quote is one `"`, the form every reader knows.
        plain: bool,
    },
    /// `a`, `true`, `PREFIX`, a number.
    Word(&'t str),
    /// `@prefix`, `@base` or a language, without the sign.
    At(&'t str),
    /// `^^`.
    Datatype,
    /// One of `. ; , [ ] ( )`.
    Sign(u8),
}

/// Where a text is no Turtle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScanError {
    /// The byte at which the token starts.
    pub(crate) offset: usize,
}

/// Walks over a text once.
#[derive(Clone, Debug)]
pub(crate) struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    pub(crate) const fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// The byte behind the last token.
    pub(crate) const fn offset(&self) -> usize {
        self.at
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// The next token, or `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Token<'t>>, ScanError> {
        let bytes = self.text.as_bytes();
        loop {
            match self.byte(0) {
                None => return Ok(None),
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                Some(b'#') => {
                    let rest = &bytes[self.at..];
                    self.at += rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
                }
                Some(_) => break,
            }
        }
        let start = self.at;
        let error = ScanError { offset: start };
        let token = match bytes[start] {
            b'<' => {
                let rest = &bytes[start + 1..];
                let length = rest.iter().position(|byte| *byte <= b' ' || matches!(byte, b'<' | b'>' | b'"'));
                let length = length.filter(|length| rest[*length] == b'>').ok_or(error)?;
                self.at = start + length + 2;
                Token::Iri(&self.text[start + 1..=start + length])
            }
            quote @ (b'"' | b'\'') => self.quoted(quote).ok_or(error)?,
            b'^' if self.byte(1) == Some(b'^') => {
                self.at += 2;
                Token::Datatype
            }
            b'@' => {
                self.at += 1;
                let word = self.run(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
                if word.is_empty() {
                    return Err(error);
                }
                Token::At(word)
            }
            sign @ (b';' | b',' | b'[' | b']' | b'(' | b')') => {
                self.at += 1;
                Token::Sign(sign)
            }
            b'.' if !self.byte(1).is_some_and(|byte| byte.is_ascii_digit()) => {
                self.at += 1;
                Token::Sign(b'.')
            }
            _ => self.word().ok_or(error)?,
        };
        Ok(Some(token))
    }

    fn run(&mut self, belongs: impl Fn(u8) -> bool) -> &'t str {
        let start = self.at;
        while self.byte(0).is_some_and(&belongs) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// A prefixed name, a number or a keyword. A dot at its end ends the statement.
    fn word(&mut self) -> Option<Token<'t>> {
        let start = self.at;
        while let Some(byte) = self.byte(0) {
            match byte {
                // An escaped sign of a local name.
                b'\\' if self.byte(1).is_some_and(|next| next.is_ascii_punctuation()) => self.at += 2,
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b':' | b'_' | b'-' | b'.' | b'%' | b'+' | 0x80.. => {
                    self.at += 1;
                }
                _ => break,
            }
        }
        let bytes = self.text.as_bytes();
        while self.at > start && bytes[self.at - 1] == b'.' && (self.at < start + 2 || bytes[self.at - 2] != b'\\') {
            self.at -= 1;
        }
        let text = &self.text[start..self.at];
        if text.is_empty() {
            return None;
        }
        Some(text.split_once(':').map_or(Token::Word(text), |(prefix, local)| Token::Name { prefix, local }))
    }

    fn quoted(&mut self, quote: u8) -> Option<Token<'t>> {
        let bytes = self.text.as_bytes();
        let long = self.byte(1) == Some(quote) && self.byte(2) == Some(quote);
        let mut at = self.at + if long { 3 } else { 1 };
        loop {
            match *bytes.get(at)? {
                b'\\' => at += 2,
                byte if byte == quote && !long => break,
                byte if byte == quote && bytes[at..].starts_with(&[quote; 3]) => {
                    // Up to two quotes may stand before the closing three.
                    let run = bytes[at..].iter().take(5).take_while(|byte| **byte == quote).count();
                    at += run - 1;
                    break;
                }
                b'\n' | b'\r' if !long => return None,
                _ => at += 1,
            }
        }
        self.at = at + 1;
        Some(Token::Text { plain: quote == b'"' && !long })
    }
}

/// The prefixes declared so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prefixes<'t>(Vec<(&'t str, &'t str)>);

impl<'t> Prefixes<'t> {
    /// Declares one; a later declaration of the same prefix wins.
    pub(crate) fn declare(&mut self, prefix: &'t str, iri: &'t str) {
        match self.0.iter_mut().find(|(known, _)| *known == prefix) {
            Some(known) => known.1 = iri,
            None => self.0.push((prefix, iri)),
        }
    }

    /// The namespace of a prefix.
    pub(crate) fn namespace(&self, prefix: &str) -> Option<&'t str> {
        self.0.iter().find(|(known, _)| *known == prefix).map(|(_, iri)| *iri)
    }
}

/// A local name without its escapes.
pub(crate) fn unescaped(local: &str) -> Cow<'_, str> {
    if !local.contains('\\') {
        return Cow::Borrowed(local);
    }
    let mut out = String::with_capacity(local.len());
    let mut chars = local.chars();
    while let Some(c) = chars.next() {
        out.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::{Scanner, Token};

    fn tokens(text: &str) -> Result<Vec<Token<'_>>, usize> {
        let (mut scanner, mut out) = (Scanner::new(text), Vec::new());
        while let Some(token) = scanner.next().map_err(|error| error.offset)? {
            out.push(token);
        }
        Ok(out)
    }

    #[test]
    fn names_texts_and_signs_are_told_apart() {
        let name = |prefix, local| Token::Name { prefix, local };
        let plain = Token::Text { plain: true };
        assert_eq!(
            tokens("@prefix : <urn:x#> .\n:a.b a d:C\\,; x:p 1.5, -6, \"a\\\"# .\"@en-GB # no\n.").unwrap(),
            [
                Token::At("prefix"),
                name("", ""),
                Token::Iri("urn:x#"),
                Token::Sign(b'.'),
                name("", "a.b"),
                Token::Word("a"),
                name("d", "C\\,"),
                Token::Sign(b';'),
                name("x", "p"),
                Token::Word("1.5"),
                Token::Sign(b','),
                Token::Word("-6"),
                Token::Sign(b','),
                plain,
                Token::At("en-GB"),
                Token::Sign(b'.'),
            ]
        );
        assert_eq!(tokens("\"\"\"a\"b\"\"\"\" '' \"\" '''x'''^^<t>.").unwrap().len(), 7);
        assert_eq!(tokens(":a :b 60.").unwrap()[2..], [Token::Word("60"), Token::Sign(b'.')]);
        for bad in ["\"a", "\"a\nb\"", "<a b>", "<a", "@ ", "\"\"\"a\"\"", "{", "\\", "\"\\"] {
            assert!(tokens(bad).is_err(), "{bad}");
        }
    }
}
