//! Cutting a page into batches the sink can take, and what a position says beside where the next page starts.
//!
//! Every batch but the last of a page keeps the page's own position and adds `__part`, the number of parts committed. A run
//! that resumes there reads the page again; what was committed is unchanged and is not sent again.
//!
//! Every position inside a full sweep but the very first has `__full`, the shape records are read under. The progress document
//! is written apart from the checkpoint and may be older or newer than it; the accepted position alone says what kind of sweep
//! goes on there.

use std::collections::BTreeMap;

use scion_domain::id::RecordId;
use scion_domain::json::Json;
use scion_domain::model::{RelationshipRecord, SourceRecord};
use scion_domain::sink::SinkCapabilities;

use super::shape::Item;

const PART: &str = "__part";
const FULL: &str = "__full";

/// What a position says of the sweep it stands in, beside the place of its next page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// Parts of the page that are committed.
    pub(crate) parts: u64,
    /// The shape of the full sweep; `None` among changes.
    pub(crate) full: Option<String>,
}

impl Marks {
    /// Takes the marks out of a position.
    pub(crate) fn take(position: &mut Json) -> Self {
        let Json::Object(members) = position else { return Self::default() };
        let parts = members.remove(PART).and_then(|part| part.as_number()?.as_u64()).unwrap_or(0);
        let full = members.remove(FULL).map(|shape| shape.as_str().unwrap_or_default().to_owned());
        Self { parts, full }
    }

    /// Puts the marks into a position inside a sweep. The position between two sweeps has none.
    pub(crate) fn put(&self, position: &mut Json) {
        let Json::Object(members) = position else { return };
        if self.parts > 0 {
            members.insert(PART.to_owned(), Json::from(self.parts));
        }
        if let Some(shape) = self.full.as_deref().filter(|_| !members.is_empty()) {
            members.insert(FULL.to_owned(), Json::from(shape));
        }
    }
}

/// What one batch carries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    pub(crate) records: Vec<SourceRecord>,
    pub(crate) relationships: Vec<RelationshipRecord>,
    /// How many of the records are stubs.
    pub(crate) stubs: u64,
}

/// Cuts. A record, its edges and the stubs they lead to stay together; a stub goes with the first record that needs it,
/// and stubs that no record of the batch needs come last.
/// One record with more edges than a batch may have still makes one part, which the sink then refuses by name.
pub(crate) fn cut(
    items: Vec<Item>,
    mut stubs: BTreeMap<RecordId, SourceRecord>,
    capabilities: &SinkCapabilities,
) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut part = Part::default();
    for item in items {
        let needed: Vec<SourceRecord> = item.stubs.iter().filter_map(|id| stubs.remove(id)).collect();
        let full = part.records.len() + needed.len() + 1 > capabilities.max_records
            || part.relationships.len() + item.edges.len() > capabilities.max_relationships;
        if full && !part.records.is_empty() {
            parts.push(std::mem::take(&mut part));
        }
        part.stubs += needed.len() as u64;
        part.records.extend(needed);
        part.records.push(item.record);
        part.relationships.extend(item.edges);
    }
    for stub in stubs.into_values() {
        if part.records.len() >= capabilities.max_records {
            parts.push(std::mem::take(&mut part));
        }
        part.stubs += 1;
        part.records.push(stub);
    }
    if !part.records.is_empty() {
        parts.push(part);
    }
    parts
}

#[cfg(test)]
mod tests {
    use scion_domain::json::parse;

    use super::*;

    #[test]
    fn marks_come_out_of_a_position_as_they_went_in() {
        for text in ["{}", r#"{"page":2}"#] {
            for parts in [0, 3] {
                for full in [None, Some("abc".to_owned())] {
                    let marks = Marks { parts, full };
                    let mut position = parse(text).unwrap();
                    marks.put(&mut position);
                    let between_sweeps = text == "{}" && parts == 0;
                    assert_eq!(position == parse(text).unwrap(), between_sweeps || marks == Marks::default());
                    let found = Marks::take(&mut position);
                    assert_eq!(position, parse(text).unwrap());
                    assert_eq!(found, if between_sweeps { Marks::default() } else { marks });
                }
            }
        }
    }
}
