//! What the shapes of a connector declare, and whether that covers what it ingests (SDK-CONNECTOR-CONTROL-R700).
//!
//! One pass over the text collects the objects of `sh:targetClass` and `sh:path`. It is no validation: whether the shapes are
//! good shapes, and records fit them, is for the store to say.

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashSet};

use crate::refusals;
use crate::turtle::{Prefixes, Scanner, Token, line_of, unescaped};

/// The most bytes of a shapes text.
pub const MAX_SHAPES_BYTES: usize = 8 << 20;
/// The most different classes, and the most different paths.
pub const MAX_DECLARED_TERMS: usize = 20_000;

/// The paths that say where a record comes from, whose it is and who may see it. Shapes must declare all four.
pub const PROVENANCE_PATHS: [&str; 4] =
    ["accessPolicyReference", "provenanceReference", "sourceRecordRef", "tenantReference"];

const SHACL: &str = "http://www.w3.org/ns/shacl#";

refusals! {
    /// Why shapes do not cover what a connector ingests.
    pub enum DeclaredSemanticCoverageRefusal {
        /// A record type that no shape targets.
        TypeUncovered { record_type: String } => "coverage_type_missing", CallerMistake, Never,
            "no shape has the target class `{record_type}`", "add a shape with sh:targetClass for the record type";
        /// A provenance path that no shape has.
        PathMissing { path: &'static str } => "coverage_path_missing", CallerMistake, Never,
            "no shape has the path `{path}`", "add a property shape with sh:path for it";
        /// No Turtle.
        Syntax { line: u64 } => "coverage_syntax", CallerMistake, Never,
            "line {line} of the shapes is not Turtle, or uses a prefix that is not declared", "correct the shapes";
        /// Larger than shapes may be.
        TooLarge { what: &'static str, limit: usize } => "coverage_too_large", CallerMistake, Never,
            "the shapes have more than {limit} {what}", "split them";
    }
}

/// The target classes and property paths of shapes, as absolute IRIs. Made by [`DeclaredSemanticCoverage::parse`] only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeclaredSemanticCoverage {
    target_classes: BTreeSet<String>,
    paths: BTreeSet<String>,
}

/// What the objects that follow are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Other,
    TargetClass,
    Path,
}

impl DeclaredSemanticCoverage {
    /// Reads the shapes of one text. Comments and texts between quotes are not read, every declared prefix is, and an IRI is an
    /// IRI however it is written. A path that is built of others (a list, an inverse) is not a path to a property of the record.
    ///
    /// # Errors
    /// Bounds, or the line that is no Turtle.
    pub fn parse(shapes: &str) -> Result<Self, DeclaredSemanticCoverageRefusal> {
        if shapes.len() > MAX_SHAPES_BYTES {
            return Err(DeclaredSemanticCoverageRefusal::TooLarge { what: "bytes", limit: MAX_SHAPES_BYTES });
        }
        let mut scanner = Scanner::new(shapes);
        let mut prefixes = Prefixes::default();
        // What is written the same way is the same thing until a prefix is declared anew; most of it is written many times.
        let (mut seen, mut out) = (HashSet::new(), Self::default());
        let (mut after, mut list) = (After::Other, 0_usize);
        let at = |offset| DeclaredSemanticCoverageRefusal::Syntax { line: line_of(shapes, offset) };
        let (mut open, mut brackets) = (false, 0_usize);
        while let Some(token) = scanner.next().map_err(|error| at(error.offset))? {
            let offset = scanner.offset();
            let bad = || at(offset);
            open = token != Token::Sign(b'.');
            match token {
                Token::At("prefix") => {
                    declare(&mut scanner, &mut prefixes).ok_or_else(bad)?;
                    seen.clear();
                }
                Token::Word(word) if word.eq_ignore_ascii_case("prefix") => {
                    declare(&mut scanner, &mut prefixes).ok_or_else(bad)?;
                    seen.clear();
                    open = false;
                }
                Token::Sign(b'(') => list += 1,
                Token::Sign(b')') => list = list.checked_sub(1).ok_or_else(bad)?,
                Token::Sign(b'[') => (after, brackets) = (After::Other, brackets + 1),
                Token::Sign(b']') => (after, brackets) = (After::Other, brackets.checked_sub(1).ok_or_else(bad)?),
                Token::Sign(b';' | b'.') => after = After::Other,
                Token::Name { prefix: "_", .. } => {}
                Token::Name { prefix, local } => {
                    let namespace = prefixes.namespace(prefix).ok_or_else(bad)?;
                    match after {
                        After::Other if namespace == SHACL => after = predicate(local),
                        After::Other => {}
                        _ if list > 0 || !seen.insert((after == After::Path, prefix, local)) => {}
                        _ => out.add(after, [namespace, &unescaped(local)].concat())?,
                    }
                }
                Token::Iri(iri) => match after {
                    After::Other => after = iri.strip_prefix(SHACL).map_or(After::Other, predicate),
                    _ if list > 0 => {}
                    _ => out.add(after, iri.to_owned())?,
                },
                _ => {}
            }
        }
        if open || list > 0 || brackets > 0 {
            return Err(at(shapes.len()));
        }
        Ok(out)
    }

    fn add(&mut self, after: After, iri: String) -> Result<(), DeclaredSemanticCoverageRefusal> {
        let terms = if after == After::Path { &mut self.paths } else { &mut self.target_classes };
        terms.insert(iri);
        if terms.len() > MAX_DECLARED_TERMS {
            return Err(DeclaredSemanticCoverageRefusal::TooLarge { what: "terms", limit: MAX_DECLARED_TERMS });
        }
        Ok(())
    }

    /// What this and another text declare together.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.target_classes.extend(other.target_classes);
        self.paths.extend(other.paths);
        self
    }

    /// The target classes.
    pub const fn target_classes(&self) -> &BTreeSet<String> {
        &self.target_classes
    }

    /// The property paths.
    pub const fn paths(&self) -> &BTreeSet<String> {
        &self.paths
    }

    /// Refuses record types that no shape targets, and shapes without one of the four [`PROVENANCE_PATHS`]. A record type is
    /// the IRI of its class, or the local name of it; a path is known by its local name.
    ///
    /// # Errors
    /// The first record type or path that is missing.
    pub fn require_covers<'r>(
        &self,
        record_types: impl IntoIterator<Item = &'r str>,
    ) -> Result<(), DeclaredSemanticCoverageRefusal> {
        let locals: HashSet<&str> = self.target_classes.iter().map(|iri| local_name(iri)).collect();
        for record_type in record_types {
            if !locals.contains(record_type) && !self.target_classes.contains(record_type) {
                let record_type = crate::declaration::refusal::shown(record_type);
                return Err(DeclaredSemanticCoverageRefusal::TypeUncovered { record_type });
            }
        }
        let paths: HashSet<&str> = self.paths.iter().map(|iri| local_name(iri)).collect();
        match PROVENANCE_PATHS.into_iter().find(|path| !paths.contains(path)) {
            Some(path) => Err(DeclaredSemanticCoverageRefusal::PathMissing { path }),
            None => Ok(()),
        }
    }
}

/// What stands behind the last `#` or `/`.
pub(crate) fn local_name(iri: &str) -> &str {
    iri.rsplit(['#', '/']).next().unwrap_or(iri)
}

fn predicate(name: &str) -> After {
    match name {
        "targetClass" => After::TargetClass,
        "path" => After::Path,
        _ => After::Other,
    }
}

/// `prefix: <iri>` behind the keyword.
fn declare<'t>(scanner: &mut Scanner<'t>, prefixes: &mut Prefixes<'t>) -> Option<()> {
    let Ok(Some(Token::Name { prefix, local: "" })) = scanner.next() else { return None };
    let Ok(Some(Token::Iri(iri))) = scanner.next() else { return None };
    prefixes.declare(prefix, iri);
    Some(())
}
