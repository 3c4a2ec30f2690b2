//! Finds TLS checks that are switched off, and clients beside the governed one, in the source of connectors.
//!
//! A connector reaches its vendor through the governed client and its TLS profiles (SDK-CONNECTOR-CONTROL-R017,
//! SDK-CENTRALIZED-CAPABILITIES-R008). Source that switches verification off, silences the warnings about it, or opens a connection of its
//! own is a finding. Rust and Python are read as tokens, so comments, docstrings and texts are no findings, and a bypass spread over
//! lines or inside an f-string is one.
//!
//! What it cannot see: a name that is put together at run time, generated code that is not in the tree, and other languages.

mod files;
mod python_rules;
mod python_tokens;
mod rule;
mod rust_rules;
mod rust_tokens;

pub use files::{ScanOptions, ScanReport, scan_tree};
pub use rule::Rule;

/// One place in one file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, relative to the scanned root, `/`-separated.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// What is wrong there.
    pub rule: Rule,
}

impl std::fmt::Display for Finding {
    /// `file:line: code: reason; next step`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rule = self.rule;
        write!(f, "{}:{}: {}: {}; {}", self.file, self.line, rule.code(), rule.reason(), rule.next_step())
    }
}

/// The findings of one Rust text, in order, each line and rule once.
pub fn scan_rust(text: &str) -> Vec<(u32, Rule)> {
    settle(rust_rules::findings(&rust_tokens::tokens(text)))
}

/// The findings of one Python text, in order, each line and rule once.
pub fn scan_python(text: &str) -> Vec<(u32, Rule)> {
    settle(python_rules::findings(&python_tokens::tokens(text)))
}

fn settle(mut found: Vec<(u32, Rule)>) -> Vec<(u32, Rule)> {
    found.sort_unstable();
    found.dedup();
    found
}

/// A piece of source with the line it starts on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Token {
    kind: Kind,
    line: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// A name, keyword or number.
    Name(String),
    /// The inside of a string as written.
    Text(String),
    /// One byte of punctuation.
    Punct(u8),
}

impl Token {
    fn name(name: &str, line: u32) -> Self {
        Self { kind: Kind::Name(name.to_owned()), line }
    }

    fn text(content: &str, line: u32) -> Self {
        Self { kind: Kind::Text(content.to_owned()), line }
    }

    const fn punct(byte: u8, line: u32) -> Self {
        Self { kind: Kind::Punct(byte), line }
    }

    fn as_name(&self) -> Option<&str> {
        match &self.kind {
            Kind::Name(name) => Some(name),
            _ => None,
        }
    }

    fn as_text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    fn is(&self, byte: u8) -> bool {
        self.kind == Kind::Punct(byte)
    }
}

/// Looks around one token.
#[derive(Clone, Copy)]
struct Cursor<'t> {
    tokens: &'t [Token],
    at: usize,
}

impl<'t> Cursor<'t> {
    fn token(self, offset: isize) -> Option<&'t Token> {
        self.tokens.get(self.at.checked_add_signed(offset)?)
    }

    fn name(self, offset: isize) -> Option<&'t str> {
        self.token(offset)?.as_name()
    }

    fn text(self, offset: isize) -> Option<&'t str> {
        self.token(offset)?.as_text()
    }

    fn is(self, offset: isize, byte: u8) -> bool {
        self.token(offset).is_some_and(|token| token.is(byte))
    }

    /// Whether `::` starts at an offset.
    fn path(self, offset: isize) -> bool {
        self.is(offset, b':') && self.is(offset + 1, b':')
    }
}

fn cursors(tokens: &[Token]) -> impl Iterator<Item = Cursor<'_>> {
    (0..tokens.len()).map(move |at| Cursor { tokens, at })
}
