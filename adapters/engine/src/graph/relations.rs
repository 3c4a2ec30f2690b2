//! The ontology entry that makes declared edges admissible. The engine takes a relation only when an ontology of the pack has an
//! object property of its name, with the classes of both ends (`wire/engine-protocol.md` 7.1). A connector declares its edges in
//! `connector://resources`; what its own ontology does not say of them is added here.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use oxttl::TurtleParser;
use scion_domain::declaration::ConnectorDeclaration;
use scion_domain::id::ConnectorName;
use scion_domain::model::PackEntry;

const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const OBJECT_PROPERTY: &str = "http://www.w3.org/2002/07/owl#ObjectProperty";
const CLASS: &str = "http://www.w3.org/2002/07/owl#Class";

/// The entry, or `None` when the connector's ontologies say everything.
pub(super) fn entry(
    connector: &ConnectorName,
    declaration: &ConnectorDeclaration,
    entries: &[PackEntry],
) -> Option<PackEntry> {
    let (mut classes, mut properties) = (BTreeSet::new(), BTreeSet::new());
    for body in entries.iter().filter(|entry| entry.kind == "ontology").map(|entry| &entry.body) {
        for triple in TurtleParser::new().for_slice(body).flatten().filter(|triple| triple.predicate.as_str() == TYPE) {
            let (subject, object) = (triple.subject.to_string(), triple.object.to_string());
            let name = local_name(subject.trim_matches(['<', '>'])).to_owned();
            match object.trim_matches(['<', '>']) {
                CLASS => classes.insert(name),
                OBJECT_PROPERTY => properties.insert(name),
                _ => false,
            };
        }
    }
    let class_of = |record_type: &str| {
        let mapping = declaration.schema_mappings.get(record_type);
        local_name(mapping.and_then(|mapping| mapping.ontology_class.as_deref()).unwrap_or(record_type)).to_owned()
    };
    let of_sources = declaration.sources.iter().flat_map(|source| {
        source
            .edges
            .iter()
            .map(|edge| (edge.relationship.as_str(), source.record_type.as_str(), edge.target_type.as_str()))
    });
    let of_resources = declaration.resources.iter().flat_map(|resource| {
        resource.relations.iter().map(|edge| (edge.name.as_str(), resource.name.as_str(), edge.target.as_str()))
    });
    // One relation has one pair of classes in the engine; of two declared ones the first in this order stays.
    let mut wanted: BTreeMap<&str, (String, String)> = BTreeMap::new();
    for (name, from, to) in of_sources.chain(of_resources).filter(|(name, ..)| !properties.contains(*name)) {
        wanted.entry(name).or_insert_with(|| (class_of(from), class_of(to)));
    }
    if wanted.is_empty() {
        return None;
    }
    let ends = wanted.values().flat_map(|(from, to)| [from, to]);
    let missing: BTreeSet<&String> = ends.filter(|class| !classes.contains(*class)).collect();
    let namespace = format!("urn:scion:{connector}#");
    let mut text = format!(
        "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n\
         <urn:scion:{connector}:relations> a owl:Ontology .\n"
    );
    for class in missing {
        // Writing to a text does not fail.
        let _ = writeln!(text, "<{namespace}{class}> a owl:Class ; rdfs:label \"{class}\" .");
    }
    for (name, (from, to)) in &wanted {
        let _ = writeln!(
            text,
            "<{namespace}{name}> a owl:ObjectProperty ; rdfs:domain <{namespace}{from}> ; rdfs:range <{namespace}{to}> ."
        );
    }
    Some(PackEntry {
        kind: "ontology".to_owned(),
        uri: format!("ontology://{connector}/scion-relations.ttl"),
        name: "scion-relations.ttl".to_owned(),
        media_type: "text/turtle".to_owned(),
        body: text.into_bytes(),
        ..PackEntry::default()
    })
}

/// The part after the last `#`, `/` or `:`.
fn local_name(iri: &str) -> &str {
    iri.rsplit(['#', '/', ':']).next().unwrap_or(iri)
}

#[cfg(test)]
mod tests {
    use scion_conformance::fixtures;

    use super::*;

    #[test]
    fn a_declared_edge_becomes_an_object_property_once() {
        let pack = fixtures::pack();
        let declaration = ConnectorDeclaration::from_text(&pack.entries[0].body).unwrap();
        let added = entry(&pack.connector, &declaration, &pack.entries).unwrap();
        let text = String::from_utf8(added.body.clone()).unwrap();
        assert!(text.contains("<urn:scion:desk-mcp#blocks> a owl:ObjectProperty"), "{text}");
        assert!(TurtleParser::new().for_slice(&added.body).all(|triple| triple.is_ok()));
        let mut all = pack.entries.clone();
        all.push(added);
        assert_eq!(entry(&pack.connector, &declaration, &all), None);
    }
}
