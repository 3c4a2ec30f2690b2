//! IRIs as people read them.

use std::collections::BTreeMap;

/// Namespaces with the prefix they have in queries.
pub(super) struct Prefixes {
    by_namespace: BTreeMap<String, String>,
}

const FIXED: [(&str, &str); 6] = [
    ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
    ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
    ("owl", "http://www.w3.org/2002/07/owl#"),
    ("scion", "urn:scion:vocab#"),
    ("cp", "urn:scion:contract#"),
];

impl Prefixes {
    /// The fixed ones, and one for each connector. Connectors whose prefixes come out alike are written in full.
    pub(super) fn of<'c>(connectors: impl IntoIterator<Item = &'c str>) -> Self {
        let mut names: Vec<&str> = connectors.into_iter().collect();
        names.sort_unstable();
        names.dedup();
        let word = |name: &str| -> String {
            name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect()
        };
        let mut by_namespace: BTreeMap<String, String> = BTreeMap::new();
        for name in &names {
            let prefix = word(name);
            let alone = names.iter().filter(|other| word(other) == prefix).count() == 1;
            if alone && FIXED.iter().all(|(fixed, _)| *fixed != prefix) {
                by_namespace.insert(format!("urn:scion:{name}#"), prefix);
            }
        }
        by_namespace.extend(FIXED.map(|(prefix, namespace)| (namespace.to_owned(), prefix.to_owned())));
        Self { by_namespace }
    }

    /// `prefix:local` where that is valid SPARQL for the same IRI, else `<IRI>`.
    pub(super) fn shorten(&self, iri: &str) -> String {
        let split = iri.rfind('#').map(|at| iri.split_at(at + 1));
        match split.and_then(|(namespace, local)| Some((self.by_namespace.get(namespace)?, local))) {
            Some((prefix, local)) if is_local(local) => format!("{prefix}:{local}"),
            _ => format!("<{iri}>"),
        }
    }
}

/// A subset of SPARQL's `PN_LOCAL` that needs no escapes.
fn is_local(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && text.chars().all(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_namespaces_are_shortened_and_nothing_else() {
        let prefixes = Prefixes::of(["git-history", "a.b", "a-b", "owl"]);
        assert_eq!(prefixes.shorten("urn:scion:git-history#author"), "git_history:author");
        assert_eq!(prefixes.shorten("urn:scion:vocab#recordId"), "scion:recordId");
        for full in
            ["urn:scion:a.b#x", "urn:scion:owl#x", "urn:scion:git-history#a%20b", "urn:scion:git-history:commits:1"]
        {
            assert_eq!(prefixes.shorten(full), format!("<{full}>"));
        }
    }
}
