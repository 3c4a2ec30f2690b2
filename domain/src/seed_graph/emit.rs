//! Writing the graph: three parts, one statement a line, sorted.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{
    MAX_SEED_BYTES, MAX_SEED_TEXT, MAX_SEED_TRIPLES, SeedGraphDeclaration, SeedProperties, SeedRefusal, is_iri,
};
use crate::digest::sha256;
use crate::id::Digest256;
use crate::json::{Json, JsonObject};

const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const LABEL: &str = "http://www.w3.org/2000/01/rdf-schema#label";
const HAS_PART: &str = "http://purl.org/dc/terms/hasPart";
const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

/// A written part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedPart {
    /// `identity`, `catalog` or `references`.
    pub name: &'static str,
    /// SHA-256 of the part's statements.
    pub digest: Digest256,
    /// How many statements it has.
    pub triples: usize,
}

/// A written seed graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedGraph {
    /// The Turtle text.
    pub turtle: String,
    /// Its three parts.
    pub parts: Vec<SeedPart>,
}

impl SeedGraph {
    /// The parts for the metadata of the served resource.
    pub fn parts_json(&self) -> Json {
        let part = |part: &SeedPart| {
            let digest = format!("sha256:{}", part.digest.to_hex());
            let members = [("digest", Json::from(digest)), ("triples", Json::from(part.triples as u64))];
            (part.name.to_owned(), Json::from(members))
        };
        Json::Object(self.parts.iter().map(part).collect::<JsonObject>())
    }
}

impl SeedGraphDeclaration {
    /// Writes the graph. The same declaration gives the same bytes, whatever order its objects and references were added in.
    pub fn emit(&self) -> Result<SeedGraph, SeedRefusal> {
        let mut budget = Budget::default();
        let mut identity = BTreeSet::new();
        let instance = &self.instance_iri;
        if let Some(class) = &self.identity.class {
            budget.add(&mut identity, iri_statement(instance, TYPE, class, || "identity.class".to_owned())?)?;
        }
        let place = || "identity".to_owned();
        self.describe(
            &mut budget,
            &mut identity,
            instance,
            self.identity.label.as_deref(),
            &self.identity.properties,
            place,
        )?;

        let mut catalog = BTreeSet::new();
        for (index, object) in self.catalog.iter().enumerate() {
            let place = || format!("catalog[{index}]");
            let member = |member: &'static str| move || format!("catalog[{index}].{member}");
            budget.add(&mut catalog, iri_statement(instance, HAS_PART, &object.iri, member("iri"))?)?;
            budget.add(&mut catalog, iri_statement(&object.iri, TYPE, &object.class, member("class"))?)?;
            self.describe(&mut budget, &mut catalog, &object.iri, object.label.as_deref(), &object.properties, place)?;
        }

        let mut references = BTreeSet::new();
        for (index, reference) in self.references.iter().enumerate() {
            for (member, iri) in [("subject", &reference.subject), ("predicate", &reference.predicate)] {
                check_iri(iri, || format!("references[{index}].{member}"))?;
            }
            let place = || format!("references[{index}].object");
            let statement = iri_statement(&reference.subject, &reference.predicate, &reference.object, place)?;
            budget.add(&mut references, statement)?;
        }

        let mut turtle = String::with_capacity(budget.bytes + 512);
        let mut parts = Vec::new();
        for (name, statements) in [("identity", identity), ("catalog", catalog), ("references", references)] {
            let text: String = statements.iter().map(String::as_str).collect();
            let digest = sha256(text.as_bytes());
            let _ = writeln!(turtle, "# {name} sha256:{}", digest.to_hex());
            turtle.push_str(&text);
            parts.push(SeedPart { name, digest, triples: statements.len() });
        }
        if turtle.len() > MAX_SEED_BYTES {
            return Err(SeedRefusal::TooLarge { triples: budget.triples, bytes: turtle.len() });
        }
        Ok(SeedGraph { turtle, parts })
    }

    #[expect(clippy::unused_self, reason = "reads as a part of the declaration's own writing")]
    fn describe(
        &self,
        budget: &mut Budget,
        out: &mut BTreeSet<String>,
        subject: &str,
        label: Option<&str>,
        properties: &SeedProperties,
        place: impl Fn() -> String,
    ) -> Result<(), SeedRefusal> {
        if let Some(label) = label {
            let label = literal(&label.into(), || format!("{}.label", place()))?;
            budget.add(out, format!("<{subject}> <{LABEL}> {label} .\n"))?;
        }
        for (index, (property, value)) in properties.iter().enumerate() {
            let here = || format!("{}.properties[{index}]", place());
            check_iri(property, here)?;
            if !value.is_null() {
                budget.add(out, format!("<{subject}> <{property}> {} .\n", literal(value, here)?))?;
            }
        }
        Ok(())
    }
}

#[derive(Default)]
struct Budget {
    triples: usize,
    bytes: usize,
}

impl Budget {
    fn add(&mut self, out: &mut BTreeSet<String>, statement: String) -> Result<(), SeedRefusal> {
        let bytes = statement.len();
        if out.insert(statement) {
            self.triples += 1;
            self.bytes += bytes;
        }
        if self.triples > MAX_SEED_TRIPLES || self.bytes > MAX_SEED_BYTES {
            return Err(SeedRefusal::TooLarge { triples: self.triples, bytes: self.bytes });
        }
        Ok(())
    }
}

fn check_iri(iri: &str, place: impl Fn() -> String) -> Result<(), SeedRefusal> {
    if is_iri(iri) { Ok(()) } else { Err(SeedRefusal::Iri { place: place() }) }
}

fn iri_statement(
    subject: &str,
    predicate: &str,
    object: &str,
    place: impl Fn() -> String,
) -> Result<String, SeedRefusal> {
    check_iri(object, place)?;
    Ok(format!("<{subject}> <{predicate}> <{object}> .\n"))
}

fn literal(value: &Json, place: impl Fn() -> String) -> Result<String, SeedRefusal> {
    Ok(match value {
        Json::String(text) if text.chars().count() <= MAX_SEED_TEXT => format!("\"{}\"", escaped(text)),
        Json::Bool(flag) => format!("\"{flag}\"^^<{XSD}boolean>"),
        Json::Number(number) if number.is_integer() => format!("\"{}\"^^<{XSD}integer>", number.as_text()),
        Json::Number(number) => format!("\"{}\"^^<{XSD}double>", number.as_text()),
        _ => return Err(SeedRefusal::Bulk { place: place() }),
    })
}

/// A text inside the quotes of a Turtle literal.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}
