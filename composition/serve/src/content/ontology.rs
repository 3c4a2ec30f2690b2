//! What an ontology must be before it is served (R073): Turtle, one `owl:Ontology` with its parent import, and classes that all
//! lead up to the parent.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use oxrdf::{NamedOrBlankNode, Term, Triple};
use oxttl::TurtleParser;
use scion_domain::content::{ContentRefusal, text_of};
use scion_domain::declaration::descriptor::OntologyTerms;

use super::PARENT_ONTOLOGY;

const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const RDFS: &str = "http://www.w3.org/2000/01/rdf-schema#";
const OWL: &str = "http://www.w3.org/2002/07/owl#";

/// The most statements of one file.
const MAX_TRIPLES: usize = 200_000;

/// What checked ontologies say.
#[derive(Debug, Default)]
pub(super) struct Checked {
    /// Their classes and properties; `None` when there is no ontology.
    pub(super) terms: Option<OntologyTerms>,
    /// What each of them imports, in the order of the files.
    pub(super) imports: Vec<BTreeSet<String>>,
}

/// Checks every ontology.
pub(super) fn check(files: &[(String, Bytes)]) -> Result<Checked, ContentRefusal> {
    let (mut all, mut imports) = (Facts::default(), Vec::new());
    let mut classes: Vec<(String, BTreeSet<String>)> = Vec::new();
    for (name, bytes) in files {
        let file = format!("ontology/{name}");
        let mut facts = Facts::default();
        read(&file, bytes, |triple| facts.add(triple))?;
        if facts.ontologies.is_empty() {
            return Err(ContentRefusal::NoOntology { file });
        }
        let imports_parent =
            |ontology: &String| facts.imports.contains(&(ontology.clone(), PARENT_ONTOLOGY.to_owned()));
        if !facts.ontologies.iter().any(imports_parent) {
            return Err(ContentRefusal::NoParentImport { file });
        }
        classes.push((file, facts.classes.clone()));
        imports.push(facts.imports.iter().map(|(_, import)| import.clone()).collect());
        all.merge(facts);
    }
    let linked = all.linked();
    for (file, classes) in classes {
        if let Some(class) = classes.iter().find(|class| !linked.contains(class.as_str())) {
            return Err(ContentRefusal::UnlinkedClass { file, class: format!("<{class}>") });
        }
    }
    let terms = (!files.is_empty()).then(|| {
        OntologyTerms::from_iris(all.classes.iter().map(String::as_str), all.properties.iter().map(String::as_str))
    });
    Ok(Checked { terms, imports })
}

/// Shapes must be Turtle; what they say is the graph's to judge.
pub(super) fn check_shapes(files: &[(String, Bytes)]) -> Result<(), ContentRefusal> {
    files.iter().try_for_each(|(name, bytes)| read(&format!("ontology/shapes/{name}"), bytes, |_| ()))
}

fn read(file: &str, bytes: &Bytes, mut each: impl FnMut(&Triple)) -> Result<(), ContentRefusal> {
    text_of(file, bytes)?;
    let mut count = 0;
    for triple in TurtleParser::new().for_slice(bytes) {
        let triple = triple.map_err(|error| {
            let at = error.location().start;
            ContentRefusal::Turtle { file: file.to_owned(), line: at.line + 1, column: at.column + 1 }
        })?;
        count += 1;
        if count > MAX_TRIPLES {
            return Err(ContentRefusal::TooMany { what: "statements in one file", limit: MAX_TRIPLES });
        }
        each(&triple);
    }
    Ok(())
}

#[derive(Default)]
struct Facts {
    ontologies: BTreeSet<String>,
    /// Who imports what.
    imports: BTreeSet<(String, String)>,
    classes: BTreeSet<String>,
    properties: BTreeSet<String>,
    above: BTreeMap<String, BTreeSet<String>>,
}

impl Facts {
    fn add(&mut self, triple: &Triple) {
        let (NamedOrBlankNode::NamedNode(subject), Term::NamedNode(object)) = (&triple.subject, &triple.object) else {
            return;
        };
        let (subject, object) = (subject.as_str(), object.as_str());
        let predicate = triple.predicate.as_str();
        if predicate == format!("{RDF}type") {
            let owl = object.strip_prefix(OWL);
            if owl == Some("Ontology") {
                self.ontologies.insert(subject.to_owned());
            } else if owl == Some("Class") || object.strip_prefix(RDFS) == Some("Class") {
                self.classes.insert(subject.to_owned());
            } else if matches!(owl, Some("DatatypeProperty" | "ObjectProperty" | "AnnotationProperty"))
                || object.strip_prefix(RDF) == Some("Property")
            {
                self.properties.insert(subject.to_owned());
            }
        } else if predicate.strip_prefix(OWL) == Some("imports") {
            self.imports.insert((subject.to_owned(), object.to_owned()));
        } else if predicate.strip_prefix(RDFS) == Some("subClassOf") {
            self.above.entry(subject.to_owned()).or_default().insert(object.to_owned());
        }
    }

    fn merge(&mut self, other: Self) {
        self.classes.extend(other.classes);
        self.properties.extend(other.properties);
        for (class, above) in other.above {
            self.above.entry(class).or_default().extend(above);
        }
    }

    /// What a way of `rdfs:subClassOf` leads from into the parent ontology: one walk down from it, however long or round the ways
    /// are.
    fn linked(&self) -> BTreeSet<&str> {
        let mut below: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut open: Vec<&str> = Vec::new();
        for (class, above) in &self.above {
            for above in above {
                if is_of_parent(above) {
                    open.push(class);
                } else {
                    below.entry(above).or_default().push(class);
                }
            }
        }
        let mut linked = BTreeSet::new();
        while let Some(here) = open.pop() {
            if linked.insert(here) {
                open.extend(below.get(here).into_iter().flatten());
            }
        }
        linked
    }
}

/// A term of the parent ontology: its IRI, then `#` or `/`, then a name.
fn is_of_parent(iri: &str) -> bool {
    iri.strip_prefix(PARENT_ONTOLOGY)
        .and_then(|rest| rest.strip_prefix(['#', '/']))
        .is_some_and(|name| !name.is_empty())
}
