//! De-duplication at an inclusive boundary.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::id::Digest256;
use crate::json::{Json, JsonObject};
use crate::pagination::mark;

/// The records read at the high-water mark itself.
///
/// An exclusive boundary loses records that share the mark's timestamp, an inclusive one repeats them. So the boundary is
/// inclusive, and this set remembers what was read there: id and content, because a record can change again within
/// the same instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EdgeSet {
    mark: Option<String>,
    at_mark: BTreeMap<String, Digest256>,
    full: bool,
}

impl EdgeSet {
    /// The most records remembered. Beyond it none is: all records at the mark are then read again, which repeats work
    /// and loses nothing.
    pub const MAX_RECORDS: usize = 10_000;

    /// Nothing read.
    pub fn new() -> Self {
        Self::default()
    }

    /// The mark.
    pub fn mark(&self) -> Option<&str> {
        self.mark.as_deref()
    }

    /// Whether a record has to be read. Only one at the mark itself, with an id and content seen there, has not: a record
    /// without a key is read, and so is one from before the mark, which may have come late.
    pub fn is_new(&self, key: Option<&str>, id: &str, content: &Digest256) -> bool {
        let at_mark =
            matches!((key, &self.mark), (Some(key), Some(mark)) if mark::compare(key, mark) == Ordering::Equal);
        !at_mark || self.at_mark.get(id) != Some(content)
    }

    /// Takes a record that was read and accepted.
    pub fn note(&mut self, key: Option<&str>, id: &str, content: Digest256) {
        let Some(key) = key else { return };
        match self.mark.as_deref().map_or(Ordering::Greater, |mark| mark::compare(key, mark)) {
            Ordering::Less => return,
            Ordering::Equal => {}
            Ordering::Greater => {
                self.mark = Some(key.to_owned());
                self.at_mark.clear();
                self.full = false;
            }
        }
        if self.at_mark.len() == Self::MAX_RECORDS && !self.at_mark.contains_key(id) {
            self.full = true;
            self.at_mark.clear();
        }
        if !self.full {
            self.at_mark.insert(id.to_owned(), content);
        }
    }

    /// `{"mark": …, "at_mark": {id: digest}}`, for a checkpoint document.
    pub fn to_json(&self) -> Json {
        let ids: JsonObject = self.at_mark.iter().map(|(id, digest)| (id.clone(), digest.to_hex().into())).collect();
        Json::from([("mark", self.mark.as_deref().into()), ("at_mark", ids.into())])
    }

    /// Reads what [`EdgeSet::to_json`] wrote. Anything unreadable is forgotten: records are then read again.
    pub fn from_json(value: &Json) -> Self {
        let mark = value.get("mark").and_then(Json::as_str).map(str::to_owned);
        let ids = value.get("at_mark").and_then(Json::as_object).filter(|ids| ids.len() <= Self::MAX_RECORDS);
        let read = |(id, digest): (&String, &Json)| Some((id.clone(), Digest256::parse_hex(digest.as_str()?).ok()?));
        let at_mark = ids.map(|ids| ids.iter().filter_map(read).collect()).unwrap_or_default();
        Self { at_mark: if mark.is_some() { at_mark } else { BTreeMap::new() }, mark, full: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(byte: u8) -> Digest256 {
        Digest256::from_bytes([byte; 32])
    }

    /// Proves: SDK-SOURCE-INGEST-R004.33
    #[test]
    fn records_at_the_mark_are_neither_lost_nor_repeated() {
        let mut edge = EdgeSet::new();
        edge.note(Some("2026-01-01T00:00:00Z"), "a", digest(1));
        edge.note(Some("2026-01-02T00:00:00Z"), "b", digest(1));
        let edge = EdgeSet::from_json(&edge.to_json());
        assert_eq!(edge.mark(), Some("2026-01-02T00:00:00Z"));
        assert!(!edge.is_new(Some("2026-01-02T01:00:00+01:00"), "b", &digest(1)), "the same instant, read before");
        assert!(edge.is_new(Some("2026-01-02T00:00:00Z"), "b", &digest(2)), "changed again within the instant");
        assert!(edge.is_new(Some("2026-01-02T00:00:00Z"), "c", &digest(1)), "shares the timestamp");
        assert!(edge.is_new(Some("2026-01-01T00:00:00Z"), "a", &digest(1)), "came late");
        assert!(edge.is_new(None, "b", &digest(1)), "has no key");
    }

    #[test]
    fn a_full_edge_reads_again_and_forgets_nothing_newer() {
        let mut edge = EdgeSet::new();
        for index in 0..=EdgeSet::MAX_RECORDS {
            edge.note(Some("5"), &index.to_string(), digest(1));
        }
        assert!(edge.is_new(Some("5"), "0", &digest(1)));
        edge.note(Some("6"), "x", digest(1));
        assert!(!edge.is_new(Some("6"), "x", &digest(1)));
    }
}
