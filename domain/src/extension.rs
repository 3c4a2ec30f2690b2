//! Extensions by name, under one namespace (SDK-CONNECTOR-CONTROL-R014.20): what an embedder registers, and how it is found.

use std::collections::BTreeMap;
use std::fmt;

use crate::refusals;

/// The namespace of every kind of extension.
pub const NAMESPACE: &str = "scion";

/// What can be extended. There is no other kind, and none outside the namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExtensionKind {
    /// Reads a source that is no MCP server.
    SourceAdapters,
    /// Makes one kind of artifact.
    ArtifactKinds,
    /// Serves, or reaches, a server.
    Transports,
    /// Keeps a graph.
    Sinks,
    /// Gives skills.
    SkillProviders,
}

impl ExtensionKind {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::SourceAdapters, Self::ArtifactKinds, Self::Transports, Self::Sinks, Self::SkillProviders];

    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::SourceAdapters => "source_adapters",
            Self::ArtifactKinds => "artifact_kinds",
            Self::Transports => "transports",
            Self::Sinks => "sinks",
            Self::SkillProviders => "skill_providers",
        }
    }

    /// `scion.<kind>`.
    pub fn group(self) -> String {
        format!("{NAMESPACE}.{}", self.word())
    }

    /// The name in a key: `embedded` in `scion.sinks/embedded`. A key of another kind or namespace stays as it is, and so
    /// names nothing.
    pub fn name_in(self, key: &str) -> &str {
        let own = key.strip_prefix(NAMESPACE).and_then(|rest| rest.strip_prefix('.'));
        own.and_then(|rest| rest.strip_prefix(self.word())).and_then(|rest| rest.strip_prefix('/')).unwrap_or(key)
    }
}

refusals! {
    /// Why an extension is not registered.
    pub enum ExtensionRefusal {
        /// A name that cannot be written in a configuration.
        Name { group: String } => "extension_name", CallerMistake, Never,
            "the name of an extension in {group} is not usable", "use 1 to 64 lower-case letters, digits, `_` or `-`, beginning with a letter";
        /// A name that is taken.
        Taken { group: String, name: String } => "extension_taken", CallerMistake, Never,
            "{group} already has `{name}`", "choose another name";
    }
}

/// Extensions of one kind by name. None replaces another.
#[derive(Clone)]
pub struct Registry<T> {
    kind: ExtensionKind,
    entries: BTreeMap<String, T>,
}

impl<T> Registry<T> {
    /// None yet.
    pub const fn new(kind: ExtensionKind) -> Self {
        Self { kind, entries: BTreeMap::new() }
    }

    /// Adds one, under a name that is free.
    pub fn register(&mut self, name: &str, extension: T) -> Result<(), ExtensionRefusal> {
        let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
        let begins = name.starts_with(|first: char| first.is_ascii_lowercase());
        if !begins || name.len() > 64 || !name.bytes().all(letter) {
            return Err(ExtensionRefusal::Name { group: self.kind.group() });
        }
        if self.entries.contains_key(name) {
            return Err(ExtensionRefusal::Taken { group: self.kind.group(), name: name.to_owned() });
        }
        self.entries.insert(name.to_owned(), extension);
        Ok(())
    }

    /// The one of that name, with or without the namespace: `embedded` and `scion.sinks/embedded`.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.entries.get(self.kind.name_in(name))
    }

    /// The full keys, sorted: `scion.sinks/embedded`.
    pub fn keys(&self) -> impl Iterator<Item = String> {
        self.entries.keys().map(|name| format!("{}/{name}", self.kind.group()))
    }
}

impl<T> fmt::Debug for Registry<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::refusal::Refusal as _;

    /// Proves: SDK-CONNECTOR-CONTROL-R014.20, SDK-CENTRALIZED-CAPABILITIES-R037
    #[test]
    fn every_kind_is_found_under_the_one_namespace() {
        for kind in ExtensionKind::ALL {
            let mut registry = Registry::new(kind);
            registry.register("own", 1).unwrap();
            let key = format!("scion.{}/own", kind.word());
            assert_eq!(registry.keys().collect::<Vec<_>>(), std::slice::from_ref(&key));
            assert_eq!((registry.get("own"), registry.get(&key)), (Some(&1), Some(&1)));
            for other in ["other.sinks/own", "scion/own", "scion.x/own", "/own", ""] {
                assert_eq!(registry.get(other), None, "{other}");
            }
            assert_eq!(registry.register("own", 2).unwrap_err().code(), "extension_taken");
            for bad in ["", "A", "1a", "a.b", "a/b", "scion.sinks/x", "ä"] {
                assert_eq!(registry.register(bad, 2).unwrap_err().code(), "extension_name", "{bad}");
            }
            assert_eq!(registry.get("own"), Some(&1));
        }
    }
}
