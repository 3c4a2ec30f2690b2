//! The list of expected failures: one scenario a line, with its reason.

use std::collections::BTreeMap;
use std::fmt;

/// Scenarios that fail, each with the reason why that is right, or why it cannot be helped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected(BTreeMap<String, String>);

/// Why a list is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListFault {
    /// An entry gives no reason.
    NoReason {
        /// The line, from 1.
        line: usize,
    },
    /// A scenario is there twice.
    Twice {
        /// The line, from 1.
        line: usize,
    },
}

impl fmt::Display for ListFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoReason { line } => write!(f, "line {line} gives no reason: write `scenario # reason`"),
            Self::Twice { line } => write!(f, "line {line} repeats a scenario"),
        }
    }
}

impl Expected {
    /// Reads a list. Empty lines and lines that begin with `#` are notes.
    pub fn parse(text: &str) -> Result<Self, ListFault> {
        let mut entries = BTreeMap::new();
        for (index, line) in text.lines().enumerate() {
            let (line, number) = (line.trim(), index + 1);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (name, reason) = line.split_once('#').ok_or(ListFault::NoReason { line: number })?;
            let (name, reason) = (name.trim(), reason.trim());
            if name.is_empty() || reason.is_empty() {
                return Err(ListFault::NoReason { line: number });
            }
            if entries.insert(name.to_owned(), reason.to_owned()).is_some() {
                return Err(ListFault::Twice { line: number });
            }
        }
        Ok(Self(entries))
    }

    /// Whether the scenario is expected to fail.
    pub fn contains(&self, scenario: &str) -> bool {
        self.0.contains_key(scenario)
    }

    /// The scenarios.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    /// The scenarios with their reasons.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, reason)| (name.as_str(), reason.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_a_reason_and_stands_once() {
        assert_eq!(Expected::parse("ping\n"), Err(ListFault::NoReason { line: 1 }));
        assert_eq!(Expected::parse("# a note\n\nping #  \n"), Err(ListFault::NoReason { line: 3 }));
        assert_eq!(Expected::parse("ping # a\nping # b\n"), Err(ListFault::Twice { line: 2 }));
        let list = Expected::parse("ping # a # b\n").unwrap();
        assert_eq!(list.entries().collect::<Vec<_>>(), [("ping", "a # b")]);
    }
}
