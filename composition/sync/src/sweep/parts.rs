//! Cutting a page into batches the sink can take.
//!
//! Every batch but the last of a page keeps the page's own position and adds `__part`, the number of parts committed. A run
//! that resumes there reads the page again; what was committed is unchanged and is not sent again.

use std::collections::BTreeMap;

use scion_domain::id::RecordId;
use scion_domain::json::{Json, JsonObject};
use scion_domain::model::{RelationshipRecord, SourceRecord};
use scion_domain::sink::SinkCapabilities;

use super::shape::Item;

const PART: &str = "__part";

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

/// The position after `number` parts of the page at `position`.
pub(crate) fn mark(position: &Json, number: u64) -> Json {
    let mut members = position.as_object().cloned().unwrap_or_default();
    members.insert(PART.to_owned(), Json::from(number));
    Json::Object(members)
}

/// The page position without its part mark, and how many parts were committed.
pub(crate) fn unmark(position: &Json) -> (Json, u64) {
    let mut members: JsonObject = match position {
        Json::Object(members) if members.contains_key(PART) => members.clone(),
        other => return (other.clone(), 0),
    };
    let number = members.remove(PART).and_then(|part| part.as_number()?.as_u64()).unwrap_or(0);
    (Json::Object(members), number)
}
