//! Counting records.

use super::CursorRefusal;
use crate::json::Json;

/// The cursor is the number of records read so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OffsetCursor {
    page_size: u64,
    until_empty: bool,
}

impl OffsetCursor {
    /// A page shorter than `page_size` ends the walk: the fetch function promises full pages until the end.
    pub fn new(page_size: u64) -> Result<Self, CursorRefusal> {
        if page_size == 0 {
            return Err(CursorRefusal::PageSize);
        }
        Ok(Self { page_size, until_empty: false })
    }

    /// Only an empty page ends the walk, for a vendor that cuts pages below the size asked for.
    #[must_use]
    pub fn until_empty(mut self) -> Self {
        self.until_empty = true;
        self
    }

    /// `"0"`.
    pub fn first(&self) -> Option<String> {
        Some("0".to_owned())
    }

    /// The count after this page.
    pub fn next(&self, records: &[Json], cursor: Option<&str>) -> Result<Option<String>, CursorRefusal> {
        const UNREADABLE: CursorRefusal = CursorRefusal::Unreadable { strategy: "offset" };
        let before = match cursor {
            None => 0,
            Some(text) if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) => {
                text.parse::<u64>().map_err(|_| UNREADABLE)?
            }
            Some(_) => return Err(UNREADABLE),
        };
        let count = u64::try_from(records.len()).unwrap_or(u64::MAX);
        let enough = if self.until_empty { 1 } else { self.page_size };
        if count < enough {
            return Ok(None);
        }
        before.checked_add(count).map(|after| Some(after.to_string())).ok_or(UNREADABLE)
    }
}
