//! A scanner of Turtle: the tokens of a text without building statements (RDF 1.1 Turtle, 6.5). Whoever needs statements takes a
//! parser; this is for what a parser does not tell: how a text is written, or a few facts of a long one.

mod scan;

pub(crate) use scan::{Prefixes, Scanner, Token, unescaped};

/// The line of a byte offset, from one.
pub(crate) fn line_of(text: &str, offset: usize) -> u64 {
    let before = &text.as_bytes()[..offset.min(text.len())];
    before.split(|byte| *byte == b'\n').count() as u64
}
