//! A document as a tree whose every node knows its place.

use std::rc::Rc;

use scion_domain::config::ConfigRefusal;

/// The deepest nesting.
pub(crate) const MAX_DEPTH: usize = 64;
/// The most nodes once aliases are followed; a file of the largest size cannot write out more.
pub(crate) const MAX_NODES: usize = 1 << 20;

/// Line and column, both from 1; columns count characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// A node.
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) value: Value,
    /// How many nodes it stands for, itself included, aliases followed.
    pub(crate) weight: usize,
}

/// What a node holds.
pub(crate) enum Value {
    /// `plain` text is typed by what it looks like; other text is text.
    Scalar {
        text: String,
        plain: bool,
    },
    List(Vec<Rc<Node>>),
    Map(Vec<Member>),
}

/// A key and its value.
#[derive(Clone)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) place: Place,
    pub(crate) value: Rc<Node>,
    /// The line of an earlier member of this name.
    pub(crate) repeats: Option<usize>,
}

/// A whole document that could not be read.
pub(crate) struct Broken {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) refusal: ConfigRefusal,
}

impl Broken {
    pub(crate) fn at(place: Place, refusal: ConfigRefusal) -> Self {
        Self { line: place.line, column: place.column, refusal }
    }
}

impl Node {
    /// Wraps a value and adds up its weight.
    pub(crate) fn new(place: Place, value: Value) -> Result<Rc<Self>, Broken> {
        let weight = match &value {
            Value::Scalar { .. } => 1,
            Value::List(items) => items.iter().fold(1, |sum: usize, item| sum.saturating_add(item.weight)),
            Value::Map(members) => members.iter().fold(1, |sum: usize, member| sum.saturating_add(member.value.weight)),
        };
        if weight > MAX_NODES {
            return Err(Broken::at(place, ConfigRefusal::TooManyValues { limit: MAX_NODES }));
        }
        Ok(Rc::new(Self { place, value, weight }))
    }
}

/// Turns byte offsets into places.
pub(crate) struct Lines<'t> {
    text: &'t [u8],
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub(crate) fn of(text: &'t [u8]) -> Self {
        let breaks = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(index, _)| index + 1);
        Self { text, starts: std::iter::once(0).chain(breaks).collect() }
    }

    /// The place of a byte offset; offsets past the end are the end.
    pub(crate) fn place(&self, offset: usize) -> Place {
        let offset = offset.min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts[line - 1];
        // A character is a byte that does not continue one.
        let column = self.text[start..offset].iter().filter(|byte| **byte & 0xC0 != 0x80).count() + 1;
        Place { line, column }
    }

    /// The place after the last byte.
    pub(crate) fn end(&self) -> (usize, usize) {
        let Place { line, column } = self.place(self.text.len());
        (line, column)
    }
}

#[cfg(test)]
mod tests {
    use super::{Lines, Place};

    #[test]
    fn places_count_characters_from_one() {
        let lines = Lines::of("ab\né!\n".as_bytes());
        assert_eq!(lines.place(0), Place { line: 1, column: 1 });
        assert_eq!(lines.place(3), Place { line: 2, column: 1 });
        assert_eq!(lines.place(5), Place { line: 2, column: 2 });
        assert_eq!(lines.place(99), Place { line: 3, column: 1 });
    }
}
