//! What became of each operation of a document.

use std::collections::BTreeMap;

use scion_domain::openapi::OperationRefusal;
use scion_domain::refusal::Refusal as _;

/// An operation that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedOperation {
    /// The method, in capitals.
    pub method: String,
    /// The path, cut at 256 characters.
    pub path: String,
    /// Why.
    pub refusal: OperationRefusal,
}

/// What is different from the document, without an operation being lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The tool name of the operation.
    pub operation: String,
    /// What is different.
    pub what: &'static str,
    /// The parameter or scheme it is about; empty for the whole operation.
    pub subject: String,
}

/// What became of a document: every operation is either converted or refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConversionReport {
    /// How many operations the document has.
    pub operations: usize,
    /// How many were converted.
    pub converted: usize,
    /// The others, in the order of path and method.
    pub refused: Vec<RefusedOperation>,
    /// What is different, in the order of path and method; at most [`ConversionReport::MAX_NOTES`].
    pub notes: Vec<Note>,
    /// How many notes there were in all.
    pub notes_seen: usize,
    /// How many places of schemas were cut.
    pub cut: usize,
    /// How many webhooks the document has; they are nothing a client calls.
    pub webhooks: usize,
}

impl ConversionReport {
    /// The most notes that are kept.
    pub const MAX_NOTES: usize = 10_000;

    /// How many operations were refused, by the code of the refusal.
    pub fn refused_by_code(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for refused in &self.refused {
            *counts.entry(refused.refusal.code()).or_default() += 1;
        }
        counts
    }

    pub(crate) fn note(&mut self, operation: &str, what: &'static str, subject: &str) {
        self.notes_seen += 1;
        if self.notes.len() < Self::MAX_NOTES {
            let subject = crate::text::shortened(subject, 64);
            self.notes.push(Note { operation: operation.to_owned(), what, subject });
        }
    }
}
