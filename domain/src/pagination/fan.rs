//! Fan-outs: a child source read once per distinct value of its parent (R004.28).
//!
//! The position of a fan-out is the page position with `__fan`, the index of the parent value, beside it, and with
//! `__fan_value`, the value itself. A parent list that changed between two cycles then shows: an index alone would
//! silently skip or repeat parents.

use std::collections::HashSet;

use crate::declaration::{ForEach, SyncPreset};
use crate::json::{Json, JsonObject, read_dotted, write_dotted};
use crate::source::{RawRecord, SourceRefusal};

const INDEX: &str = "__fan";
const VALUE: &str = "__fan_value";

/// The distinct values of a parent source, in the order they were first seen.
#[derive(Clone, Debug)]
pub struct ParentValues {
    source: String,
    field: String,
    limit: usize,
    values: Vec<Json>,
    seen: HashSet<Json>,
}

impl ParentValues {
    /// None yet; at most `child.max_fan_out`.
    pub fn new(child: &SyncPreset, for_each: &ForEach) -> Self {
        let limit = usize::try_from(child.max_fan_out).unwrap_or(usize::MAX);
        let (values, seen) = (Vec::new(), HashSet::new());
        Self { source: child.name.to_string(), field: for_each.field.clone(), limit, values, seen }
    }

    /// Takes the values of one page of the parent. Records without the field, or with an empty one, are no parents.
    pub fn add(&mut self, records: &[RawRecord]) -> Result<(), SourceRefusal> {
        for record in records {
            let value = match self.field.split_once('.') {
                None => record.payload.get(&self.field),
                Some((head, tail)) => record.payload.get(head).and_then(|inner| read_dotted(inner, tail)),
            };
            let value = match value {
                Some(Json::String(text)) if !text.is_empty() => value,
                Some(Json::Number(_)) => value,
                _ => None,
            };
            let Some(value) = value.filter(|value| !self.seen.contains(*value)) else { continue };
            if self.values.len() == self.limit {
                return Err(SourceRefusal::FanOutExceeded { source: self.source.clone(), limit: self.limit });
            }
            self.seen.insert(value.clone());
            self.values.push(value.clone());
        }
        Ok(())
    }

    /// The values.
    pub fn into_values(self) -> Vec<Json> {
        self.values
    }
}

/// Where a fan-out goes on: the index of the parent, and the page position under it. A position whose parent is not at
/// its place any more starts again from the first parent: what was read before is unchanged and costs no submission.
pub fn resume(position: &Json, parents: &[Json]) -> Result<(usize, Json), SourceRefusal> {
    let bad = |what| SourceRefusal::BadPosition { what };
    let mut page = position.as_object().ok_or(bad("not an object"))?.clone();
    let index = match page.remove(INDEX) {
        None => 0,
        Some(value) => {
            value.as_number().and_then(|n| usize::try_from(n.as_u64()?).ok()).ok_or(bad("__fan is not an index"))?
        }
    };
    let value = page.remove(VALUE);
    let there = parents.get(index);
    let moved = value.is_some() && there != value.as_ref();
    if moved || (there.is_none() && index > 0) {
        return Ok((0, Json::Object(JsonObject::new())));
    }
    Ok((index, Json::Object(page)))
}

/// The position after a page of the child: the next page under the same parent, or the start of the next parent, or
/// `None` after the last.
pub fn advance(index: usize, parents: &[Json], next_page: Option<Json>) -> Option<Json> {
    let (index, page) = match next_page {
        Some(page) => (index, page),
        None => (index.checked_add(1)?, Json::Object(JsonObject::new())),
    };
    let value = parents.get(index)?;
    let mut members = page.as_object().cloned().unwrap_or_default();
    members.insert(INDEX.to_owned(), u64::try_from(index).ok()?.into());
    members.insert(VALUE.to_owned(), value.clone());
    Some(Json::Object(members))
}

/// The child preset for one parent value: the value stands among the parameters.
pub fn bind(child: &SyncPreset, for_each: &ForEach, value: &Json) -> SyncPreset {
    let mut bound = child.clone();
    write_dotted(&mut bound.params, &for_each.argument, value.clone());
    bound
}
