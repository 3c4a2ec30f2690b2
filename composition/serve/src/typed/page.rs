use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A page of records as a tool gives it: `{items, next_cursor, has_more, total}`. A source made of an operation that returns
/// one needs no further word about paging ([`scion_domain::pagination::ToolPage`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Page<T> {
    /// The records.
    pub items: Vec<T>,
    /// What to ask for the next page with; absent at the end, and for pages that are counted.
    pub next_cursor: Option<String>,
    /// Whether there is more.
    pub has_more: bool,
    /// How many there are in all, when that is known.
    pub total: Option<u64>,
}

impl<T> Page<T> {
    /// The last page, or the only one.
    pub fn last(items: Vec<T>) -> Self {
        Self { items, next_cursor: None, has_more: false, total: None }
    }

    /// A page with the cursor of the next one; no cursor, or an empty one, is the end.
    pub fn from_cursor(items: Vec<T>, cursor: Option<String>) -> Self {
        let next_cursor = cursor.filter(|cursor| !cursor.is_empty());
        Self { items, has_more: next_cursor.is_some(), next_cursor, total: None }
    }

    /// A counted page: whether there is more is what the vendor says.
    pub fn counted(items: Vec<T>, has_more: bool) -> Self {
        Self { items, next_cursor: None, has_more, total: None }
    }

    /// With the number of all records.
    #[must_use]
    pub fn of_total(mut self, total: u64) -> Self {
        self.total = Some(total);
        self
    }
}
