//! The prefixes a query may use without declaring them.

use std::collections::BTreeMap;

use crate::iri;

/// Fixed prefixes, and one per connector with every other character of its name turned into `_`. A fixed prefix wins over
/// a connector's, and of two connectors that come out alike the one whose name is written so, else the first by name.
pub(crate) fn of<'a>(connectors: impl IntoIterator<Item = &'a str>) -> BTreeMap<String, String> {
    let mut out: BTreeMap<String, String> = BTreeMap::new();
    let mut names: Vec<&str> = connectors.into_iter().collect();
    names.sort_by_key(|name| (prefix(name) != **name, *name));
    for name in names {
        out.entry(prefix(name)).or_insert_with(|| iri::namespace(name));
    }
    let fixed = [
        ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
        ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
        ("xsd", "http://www.w3.org/2001/XMLSchema#"),
        ("owl", "http://www.w3.org/2002/07/owl#"),
        ("scion", iri::VOCABULARY),
        ("cp", iri::CONTRACT_VOCABULARY),
    ];
    out.extend(fixed.map(|(prefix, iri)| (prefix.to_owned(), iri.to_owned())));
    out
}

fn prefix(connector: &str) -> String {
    connector.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connectors_get_word_prefixes_and_fixed_ones_win() {
        let prefixes = of(["git-history", "a.b", "a-b", "a_b", "rdf"]);
        assert_eq!(prefixes["git_history"], "urn:scion:git-history#");
        assert_eq!(prefixes["a_b"], "urn:scion:a_b#");
        assert_eq!(of(["a.b", "a-b"])["a_b"], "urn:scion:a-b#");
        assert_eq!(prefixes["rdf"], "http://www.w3.org/1999/02/22-rdf-syntax-ns#");
    }
}
