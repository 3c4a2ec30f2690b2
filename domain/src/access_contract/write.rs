//! Writing contracts: one statement a line with absolute IRIs, sorted, so that the same facts are the same bytes.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use oxrdf::vocab::rdf;

use super::fields::{Field, VIRTUAL_GRAPH_VOCABULARY};
use super::{AccessContract, AccessContractRefusal, CostHint};
use crate::resource_descriptor::ResourcePagination;
use crate::seed_graph::{escaped, is_iri};
use crate::transport_contract::{AuthModel, StreamMode};

/// Whether a text is an IRI that Turtle can write between `<` and `>`: absolute, as far as a look at it can tell.
pub fn is_absolute_iri(text: &str) -> bool {
    is_iri(text) && oxrdf::NamedNode::new(text).is_ok()
}

/// Statements in order, each once. Subjects and objects are IRIs or plain values; there is no blank node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statements(BTreeSet<String>);

impl Statements {
    /// The text: a statement a line.
    pub fn to_turtle(&self) -> String {
        self.0.iter().map(String::as_str).collect()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A statement about another thing. The caller knows that all three are IRIs.
    pub(crate) fn iri(&mut self, subject: &str, (namespace, name): (&str, &str), object: &str) {
        self.0.insert(format!("<{subject}> <{namespace}{name}> <{object}> .\n"));
    }

    /// The class of a subject.
    pub(crate) fn class(&mut self, subject: &str, (namespace, name): (&str, &str)) {
        self.0.insert(format!("<{subject}> <{}> <{namespace}{name}> .\n", rdf::TYPE.as_str()));
    }

    /// A statement with a text.
    pub(crate) fn text(&mut self, subject: &str, (namespace, name): (&str, &str), object: &str) {
        self.0.insert(format!("<{subject}> <{namespace}{name}> \"{}\" .\n", escaped(object)));
    }

    /// A statement with a whole number.
    pub(crate) fn whole(&mut self, subject: &str, (namespace, name): (&str, &str), object: u64) {
        self.0.insert(format!("<{subject}> <{namespace}{name}> {object} .\n"));
    }

    /// A statement with a truth value, as a text: the flat form has no truth values.
    pub(crate) fn flag(&mut self, subject: &str, term: (&str, &str), object: bool) {
        self.text(subject, term, if object { "true" } else { "false" });
    }
}

/// A name as a segment of an IRI.
pub(crate) fn segment(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"._-~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

impl AccessContract {
    /// Adds its statements in the terms of a pack. What is silent is not written, so reading gives the same contract.
    ///
    /// # Errors
    /// As [`AccessContract::check`].
    pub fn statements(&self, out: &mut Statements) -> Result<(), AccessContractRefusal> {
        self.check()?;
        let subject = self.iri.as_str();
        out.class(subject, (VIRTUAL_GRAPH_VOCABULARY, "VirtualMapping"));
        out.iri(subject, Field::Class.term(), &self.class);
        for (field, text) in [
            (Field::Source, self.source_id.as_str()),
            (Field::Entity, &self.entity),
            (Field::Key, &self.key_field),
            (Field::Kind, self.kind.as_str()),
            (Field::Operation, &self.operation),
        ] {
            out.text(subject, field.term(), text);
        }
        for parameter in &self.parameters {
            out.text(subject, Field::Parameter.term(), parameter);
        }
        for pushdown in &self.pushdown {
            out.text(subject, Field::Pushdown.term(), pushdown.as_str());
        }
        let said = [
            (Field::Pagination, self.pagination != ResourcePagination::None, self.pagination.as_str()),
            (Field::Streaming, self.streaming != StreamMode::None, self.streaming.as_str()),
            (Field::AuthModel, self.auth_model != AuthModel::NoAuth, self.auth_model.as_str()),
            (Field::Cost, self.cost_hint != CostHint::Unknown, self.cost_hint.as_str()),
            (Field::AuthRef, self.auth_ref.is_some(), self.auth_ref.as_deref().unwrap_or_default()),
        ];
        for (field, _, text) in said.into_iter().filter(|(_, said, _)| *said) {
            out.text(subject, field.term(), text);
        }
        for (field, number) in [(Field::Rate, self.rate_limit_per_minute), (Field::Freshness, self.freshness_seconds)] {
            if let Some(number) = number {
                out.whole(subject, field.term(), number);
            }
        }
        let mut before: Option<(&str, usize)> = None;
        let mut by_field: Vec<(&str, &str)> = self.predicates.iter().map(|(p, f)| (f.as_str(), p.as_str())).collect();
        by_field.sort_unstable();
        for (field, property) in by_field {
            let nth = before.filter(|(same, _)| *same == field).map_or(0, |(_, nth)| nth + 1);
            before = Some((field, nth));
            let group = match nth {
                0 => format!("{subject}/{}", segment(field)),
                nth => format!("{subject}/{}/{nth}", segment(field)),
            };
            out.iri(subject, (VIRTUAL_GRAPH_VOCABULARY, "hasPredicateFieldPair"), &group);
            out.class(&group, (VIRTUAL_GRAPH_VOCABULARY, "PredicateFieldPair"));
            out.iri(&group, (VIRTUAL_GRAPH_VOCABULARY, "predicate"), property);
            out.text(&group, (VIRTUAL_GRAPH_VOCABULARY, "field"), field);
        }
        Ok(())
    }
}
