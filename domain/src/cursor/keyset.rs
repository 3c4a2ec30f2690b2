//! Going on from a key.

use super::CursorRefusal;
use crate::json::{Json, read_dotted};
use crate::pagination::mark;

fn key_of(record: &Json, index: usize, key: &str) -> Result<Option<String>, CursorRefusal> {
    mark::of_field(read_dotted(record, key)).map_err(|_| CursorRefusal::KeyType { index, key: key.to_owned() })
}

fn checked(key: &str) -> Result<String, CursorRefusal> {
    if key.is_empty() { Err(CursorRefusal::KeyName) } else { Ok(key.to_owned()) }
}

/// The cursor is the key of the last record read: primary-key paging, object-listing markers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeysetCursor {
    key: String,
    page_size: u64,
    until_empty: bool,
}

impl KeysetCursor {
    /// `key` is a dotted path. A page shorter than `page_size` ends the walk: the fetch function promises full pages until
    /// the end.
    pub fn new(key: &str, page_size: u64) -> Result<Self, CursorRefusal> {
        if page_size == 0 {
            return Err(CursorRefusal::PageSize);
        }
        Ok(Self { key: checked(key)?, page_size, until_empty: false })
    }

    /// Only an empty page ends the walk, for a vendor that cuts pages below the size asked for.
    #[must_use]
    pub fn until_empty(mut self) -> Self {
        self.until_empty = true;
        self
    }

    /// The key of the last record. A last record without one is refused on a full page; it would end the walk silently.
    pub fn next(&self, records: &[Json], cursor: Option<&str>) -> Result<Option<String>, CursorRefusal> {
        let count = u64::try_from(records.len()).unwrap_or(u64::MAX);
        let enough = if self.until_empty { 1 } else { self.page_size };
        let Some((last, index)) = records.last().zip(records.len().checked_sub(1)).filter(|_| count >= enough) else {
            return Ok(None);
        };
        let next = key_of(last, index, &self.key)?
            .ok_or_else(|| CursorRefusal::KeyMissing { index, key: self.key.clone() })?;
        if cursor == Some(next.as_str()) {
            return Err(CursorRefusal::Repeats { strategy: "keyset" });
        }
        Ok(Some(next))
    }
}

/// The cursor is the greatest key read so far, so that a later run reads only what changed since.
///
/// Keys compare as exact numbers, as instants, or as text ([`mark::compare`]). The mark never moves back. The fetch
/// function reads from the mark on, **inclusive**: several records can share it. [`EdgeSet`](super::EdgeSet) tells those
/// at the mark that were read before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HighWaterCursor {
    key: String,
}

impl HighWaterCursor {
    /// `key` is a dotted path.
    pub fn new(key: &str) -> Result<Self, CursorRefusal> {
        Ok(Self { key: checked(key)? })
    }

    /// The dotted path.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The greatest key of the page and the cursor; `None` after an empty page. Records without a key are read and do not
    /// move the mark; pages need no order.
    pub fn next(&self, records: &[Json], cursor: Option<&str>) -> Result<Option<String>, CursorRefusal> {
        if records.is_empty() {
            return Ok(None);
        }
        let mut keys = Vec::with_capacity(records.len());
        for (index, record) in records.iter().enumerate() {
            keys.extend(key_of(record, index, &self.key)?);
        }
        Ok(mark::latest(cursor.into_iter().chain(keys.iter().map(String::as_str))).map(str::to_owned))
    }
}
