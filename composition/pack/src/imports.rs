//! `owl:imports` stay inside the pack (R022 of connector control): an import of something the pack does not hold is taken out of
//! the text, byte by byte and nothing else, and becomes a required capability.

mod turtle;
mod xml;

use std::collections::BTreeSet;

use oxrdf::Triple;
use oxttl::TurtleParser;
use scion_domain::pack::PackRefusal;

/// The property.
const IMPORTS: &str = "http://www.w3.org/2002/07/owl#imports";

/// An ontology with the imports its pack holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scoped {
    /// The text, when it is another than before.
    pub text: Option<String>,
    /// `ontology-import:<iri>` for each import that was taken out.
    pub requires: BTreeSet<String>,
}

/// Takes the imports out that are not among `held`, the URIs of the pack's ontologies; one of itself is none of them. Turtle
/// imports may stand anywhere in a list; in RDF/XML only the empty element with `rdf:resource` is read. Where the triples of what is
/// left are not those of before without the imports, the entry is refused rather than changed.
pub fn scope_imports(uri: &str, media_type: &str, text: &str, held: &[String]) -> Result<Scoped, PackRefusal> {
    let keeps = |iri: &str| iri != uri && held.iter().any(|held| held == iri);
    let media = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_xml = media == "application/rdf+xml" || media.ends_with("/xml");
    let found = if is_xml { xml::foreign_imports(text, keeps) } else { turtle::foreign_imports(text, keeps) };
    if found.removed.is_empty() {
        return Ok(Scoped::default());
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for range in found.removed {
        out.push_str(&text[at..range.start]);
        at = range.end;
    }
    out.push_str(&text[at..]);
    if !is_xml && !only_imports_are_gone(uri, text, &out) {
        return Err(PackRefusal::Malformed { uri: uri.to_owned(), what: "imports that cannot be taken out" });
    }
    let requires = found.iris.into_iter().map(|iri| format!("ontology-import:{iri}")).collect();
    Ok(Scoped { text: Some(out), requires })
}

fn only_imports_are_gone(uri: &str, before: &str, after: &str) -> bool {
    let (Some(before), Some(after)) = (triples(uri, before), triples(uri, after)) else { return false };
    // Blank nodes have other names in each reading; what has none is compared, and what has is counted.
    let named = |triples: &[Triple]| -> BTreeSet<String> {
        triples.iter().map(ToString::to_string).filter(|text| !text.contains("_:")).collect()
    };
    let imports = |triples: &[Triple]| triples.iter().filter(|triple| triple.predicate.as_str() == IMPORTS).count();
    let gone = imports(&before) - imports(&after).min(imports(&before));
    let (old, new) = (named(&before), named(&after));
    before.len() == after.len() + gone
        && new.is_subset(&old)
        && old.difference(&new).all(|line| line.contains(&format!(" <{IMPORTS}> ")))
}

fn triples(uri: &str, text: &str) -> Option<Vec<Triple>> {
    let parser = TurtleParser::new().with_base_iri(uri).ok()?;
    parser.for_slice(text.as_bytes()).collect::<Result<_, _>>().ok()
}

/// What is to be cut out of a text.
#[derive(Debug, Default)]
struct Found {
    /// Ranges in order, none overlapping.
    removed: Vec<std::ops::Range<usize>>,
    iris: BTreeSet<String>,
}
