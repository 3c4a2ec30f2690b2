//! The typed walk's notebook: where it is, and what it found wrong.

use scion_domain::config::{ConfigProblem, ConfigProblems, ConfigRefusal};

use crate::fields::hint;
use crate::scalar::{is_null, kind};
use crate::tree::{Member, Node, Place, Value};

/// Problems found so far.
#[derive(Default)]
pub(crate) struct Walk {
    problems: Vec<ConfigProblem>,
}

/// A node and its field path.
#[derive(Clone)]
pub(crate) struct At<'n> {
    pub(crate) node: &'n Node,
    pub(crate) path: String,
}

/// A mapping whose keys were checked.
pub(crate) struct Fields<'n> {
    pub(crate) at: At<'n>,
    members: &'n [Member],
}

impl<'n> At<'n> {
    /// A place below this one.
    pub(crate) fn child(&self, key: &str, node: &'n Node) -> Self {
        Self { node, path: join(&self.path, key) }
    }

    /// Whether there is nothing here.
    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.node.value, Value::Scalar { text, plain: true } if is_null(text))
    }
}

impl<'n> Fields<'n> {
    /// A member, if it is there.
    pub(crate) fn get(&self, key: &str) -> Option<At<'n>> {
        let member = self.members.iter().find(|member| member.key == key)?;
        Some(self.at.child(key, &member.value))
    }
}

impl Walk {
    /// Notes a problem.
    pub(crate) fn note(&mut self, place: Place, path: &str, refusal: ConfigRefusal) {
        if self.problems.len() < ConfigProblems::LIMIT {
            let path = if path.is_empty() { "document".to_owned() } else { path.to_owned() };
            self.problems.push(ConfigProblem { line: place.line, column: place.column, path, refusal });
        }
    }

    /// Notes a problem of a node.
    pub(crate) fn refuse(&mut self, at: &At<'_>, refusal: ConfigRefusal) {
        self.note(at.node.place, &at.path, refusal);
    }

    /// The value, or `None` and a problem.
    pub(crate) fn take<T>(&mut self, at: &At<'_>, read: Result<T, ConfigRefusal>) -> Option<T> {
        read.map_err(|refusal| self.refuse(at, refusal)).ok()
    }

    /// Everything noted, in the order of the file.
    pub(crate) fn finish(mut self, file: &str) -> Result<(), ConfigProblems> {
        if self.problems.is_empty() {
            return Ok(());
        }
        self.problems.sort_by_key(|problem| (problem.line, problem.column));
        Err(ConfigProblems { file: file.to_owned(), problems: self.problems })
    }

    /// The members of a mapping; keys that stand twice are noted.
    pub(crate) fn members<'n>(&mut self, at: &At<'n>) -> Option<&'n [Member]> {
        let Value::Map(members) = &at.node.value else {
            self.refuse(at, ConfigRefusal::WrongType { expected: "a mapping", found: kind(at.node) });
            return None;
        };
        for member in members {
            if let Some(first_line) = member.repeats {
                self.note(member.place, &join(&at.path, &member.key), ConfigRefusal::DuplicateKey { first_line });
            }
        }
        Some(members)
    }

    /// A mapping with known keys; others are noted.
    pub(crate) fn fields<'n>(&mut self, at: &At<'n>, known: &[&str]) -> Option<Fields<'n>> {
        let members = self.members(at)?;
        // The closest key is looked for only while somebody will read it.
        let room = ConfigProblems::LIMIT.saturating_sub(self.problems.len());
        for member in members.iter().filter(|member| !known.contains(&member.key.as_str())).take(room) {
            let refusal = ConfigRefusal::UnknownKey { hint: hint(&member.key, known) };
            self.note(member.place, &join(&at.path, &member.key), refusal);
        }
        Some(Fields { at: at.clone(), members })
    }

    /// A member that must be there.
    pub(crate) fn require<'n>(&mut self, fields: &Fields<'n>, key: &'static str) -> Option<At<'n>> {
        let found = fields.get(key);
        if found.is_none() {
            self.note(fields.at.node.place, &join(&fields.at.path, key), ConfigRefusal::MissingKey { key });
        }
        found
    }

    /// The items of a list.
    pub(crate) fn items<'n>(&mut self, at: &At<'n>) -> Option<Vec<At<'n>>> {
        let Value::List(items) = &at.node.value else {
            self.refuse(at, ConfigRefusal::WrongType { expected: "a list", found: kind(at.node) });
            return None;
        };
        Some(items.iter().enumerate().map(|(index, item)| at.child(&index.to_string(), item)).collect())
    }

    /// A member by a reader, `default` when silent; `None` only with a problem noted.
    pub(crate) fn or<T>(
        &mut self,
        fields: &Fields<'_>,
        key: &str,
        default: T,
        read: impl FnOnce(&Node) -> Result<T, ConfigRefusal>,
    ) -> Option<T> {
        match fields.get(key) {
            None => Some(default),
            Some(at) => self.take(&at, read(at.node)),
        }
    }
}

/// A path one key longer. Keys are shown short and without control characters.
pub(crate) fn join(path: &str, key: &str) -> String {
    let shown: String = key.chars().take(64).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    let more = if key.chars().nth(64).is_some() { "…" } else { "" };
    if path.is_empty() { format!("{shown}{more}") } else { format!("{path}.{shown}{more}") }
}
