//! Which operation a word of a curation means.

use std::collections::BTreeMap;

use scion_domain::config::{ConfigRefusal, hint};

use crate::model::Operation;

/// The operations by everything they are called: operation id, tool name, method and path.
pub(super) struct Finder {
    known: BTreeMap<String, Vec<usize>>,
}

impl Finder {
    pub(super) fn new(operations: &[Operation]) -> Self {
        let mut known: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, operation) in operations.iter().enumerate() {
            let place = format!("{} {}", operation.method, operation.path);
            for name in operation.id.iter().cloned().chain([operation.name.clone(), place]) {
                let all = known.entry(name).or_default();
                if !all.contains(&index) {
                    all.push(index);
                }
            }
        }
        Self { known }
    }

    /// The operation of that name.
    pub(super) fn one(&self, name: &str) -> Result<usize, ConfigRefusal> {
        let name = name.trim();
        match self.known.get(name).map(Vec::as_slice) {
            Some([only]) => Ok(*only),
            Some(_) => Err(ConfigRefusal::NotPossible {
                what: "several operations have this id; name the one you mean by its method and path, as in `GET /notes`",
            }),
            None => Err(ConfigRefusal::UnknownName { what: "operation", hint: self.hint(name) }),
        }
    }

    fn hint(&self, name: &str) -> String {
        let place = name.contains('/');
        // Paths are all alike, so each kind of name is compared with its own kind.
        let same_kind: Vec<&str> =
            self.known.keys().map(String::as_str).filter(|known| known.contains('/') == place).collect();
        hint(name, same_kind.iter().copied())
    }
}
