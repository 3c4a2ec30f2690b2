//! The names of an ontology.

use std::collections::BTreeMap;

/// Classes and properties by their local name, reduced to lower-case letters and digits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OntologyTerms {
    /// Reduced local name to class IRI.
    pub classes: BTreeMap<String, String>,
    /// Reduced local name to property IRI.
    pub properties: BTreeMap<String, String>,
}

impl OntologyTerms {
    /// From the IRIs of the declared classes and properties. Of two with the same reduced name the first in order wins.
    pub fn from_iris<'a>(
        classes: impl IntoIterator<Item = &'a str>,
        properties: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        Self { classes: by_name(classes), properties: by_name(properties) }
    }

    /// The class of a resource: its singular name, or the longest class name of more than three letters it ends with.
    pub(super) fn class_of(&self, singular: &str) -> Option<&str> {
        let name = reduced(singular);
        let ending = || {
            let fits = |class: &&String| class.len() > 3 && name.ends_with(class.as_str());
            self.classes.keys().filter(fits).max_by_key(|class| class.len()).and_then(|class| self.classes.get(class))
        };
        self.classes.get(&name).or_else(ending).map(String::as_str)
    }

    /// The property of a field.
    pub(super) fn property_of(&self, field: &str) -> Option<&str> {
        self.properties.get(&reduced(field)).map(String::as_str)
    }

    /// The class of a local name.
    pub fn class_named(&self, name: &str) -> Option<&str> {
        self.classes.get(&reduced(name)).map(String::as_str)
    }

    /// The property of a local name.
    pub fn property_named(&self, name: &str) -> Option<&str> {
        self.property_of(name)
    }

    /// Whether the ontology declares this class.
    pub fn has_class(&self, iri: &str) -> bool {
        self.classes.values().any(|class| class == iri)
    }
}

fn by_name<'a>(iris: impl IntoIterator<Item = &'a str>) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for iri in iris {
        let local = iri.rsplit(['#', '/']).next().unwrap_or(iri);
        out.entry(reduced(local)).or_insert_with(|| iri.to_owned());
    }
    out
}

pub(super) fn reduced(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}
