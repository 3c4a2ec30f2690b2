//! Cursor strategies: where a connector's own `fetch_page(cursor)` starts and goes on (R004.33).
//!
//! A strategy is a pure value. [`CursorStrategy::first`] gives the first cursor, [`CursorStrategy::next`] the one after a
//! page, `None` when there is no further page. A run that resumes starts from the accepted cursor instead of the first.

mod edge;
mod keyset;
mod offset;
mod window;

pub use edge::EdgeSet;
pub use keyset::{HighWaterCursor, KeysetCursor};
pub use offset::OffsetCursor;
pub use window::TimeWindowCursor;

use crate::json::Json;
use crate::refusals;

refusals! {
    /// Why a strategy cannot be made or cannot go on.
    pub enum CursorRefusal {
        /// A page size of zero.
        PageSize => "cursor_page_size", CallerMistake, Never,
            "a page size must be at least 1", "give the page size the fetch function uses";
        /// A window without length, or not inside the calendar.
        Window => "cursor_window", CallerMistake, Never,
            "a window must be longer than zero and end after it starts", "correct start, window and end";
        /// A key without a name.
        KeyName => "cursor_key_name", CallerMistake, Never,
            "the name of the key is empty", "name the field to continue from";
        /// A stored cursor that is not of this strategy.
        Unreadable { strategy: &'static str } => "cursor_unreadable", CallerMistake, Never,
            "the stored cursor is not one of the {strategy} strategy", "reset the stream, or use the strategy it was made with";
        /// The last record has no key to continue from.
        KeyMissing { index: usize, key: String } => "cursor_key_missing", PeerMisbehaved, Never,
            "record {index}, the last of its page, has no `{key}` to continue from", "use a key that every record has";
        /// A key that is neither text nor a number.
        KeyType { index: usize, key: String } => "cursor_key_type", PeerMisbehaved, Never,
            "`{key}` of record {index} is neither text nor a number", "use a key of text or numbers";
        /// A page leads back to where it came from.
        Repeats { strategy: &'static str } => "cursor_repeats", PeerMisbehaved, Never,
            "the page leads back to the cursor it was read with ({strategy})", "make the fetch function start after its cursor";
    }
}

/// One of the known strategies. `TimeWindow` and `HighWater` give windows and marks as RFC 3339 text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CursorStrategy {
    /// Counts the records read.
    Offset(OffsetCursor),
    /// Goes on from the last record's key.
    Keyset(KeysetCursor),
    /// Walks fixed windows of time.
    TimeWindow(TimeWindowCursor),
    /// Goes on from the greatest key read.
    HighWater(HighWaterCursor),
}

impl CursorStrategy {
    /// The cursor of the first page of a stream nothing was accepted of yet.
    pub fn first(&self) -> Option<String> {
        match self {
            Self::Offset(strategy) => strategy.first(),
            Self::Keyset(_) | Self::HighWater(_) => None,
            Self::TimeWindow(strategy) => strategy.first(),
        }
    }

    /// The cursor after a page read with `cursor`; `None` ends the walk.
    pub fn next(&self, records: &[Json], cursor: Option<&str>) -> Result<Option<String>, CursorRefusal> {
        match self {
            Self::Offset(strategy) => strategy.next(records, cursor),
            Self::Keyset(strategy) => strategy.next(records, cursor),
            Self::TimeWindow(strategy) => strategy.next(records, cursor),
            Self::HighWater(strategy) => strategy.next(records, cursor),
        }
    }
}

macro_rules! into_strategy {
    ($($strategy:ident => $variant:ident),*) => {
        $(impl From<$strategy> for CursorStrategy {
            fn from(strategy: $strategy) -> Self {
                Self::$variant(strategy)
            }
        })*
    };
}

into_strategy!(OffsetCursor => Offset, KeysetCursor => Keyset, TimeWindowCursor => TimeWindow, HighWaterCursor => HighWater);
