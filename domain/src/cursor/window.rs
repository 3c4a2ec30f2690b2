//! Walking windows of time.

use std::time::Duration;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::CursorRefusal;
use crate::json::Json;

/// The cursor is the start of a window. An empty window still advances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeWindowCursor {
    start: OffsetDateTime,
    window: Duration,
    end: OffsetDateTime,
}

impl TimeWindowCursor {
    /// Windows of `window` from `start` up to `end`, both RFC 3339; the end itself is not in any window.
    pub fn new(start: &str, window: Duration, end: &str) -> Result<Self, CursorRefusal> {
        let start = instant(start).ok_or(CursorRefusal::Window)?;
        let end = instant(end).ok_or(CursorRefusal::Window)?;
        if window.is_zero() || end <= start || start.checked_add(signed(window)?).is_none() {
            return Err(CursorRefusal::Window);
        }
        Ok(Self { start, window, end })
    }

    /// The start of the first window.
    pub fn first(&self) -> Option<String> {
        Some(text(self.start))
    }

    /// `[from, to)` of the window at a cursor; the last one is cut at the end.
    pub fn window_at(&self, cursor: Option<&str>) -> Result<(String, String), CursorRefusal> {
        let from = self.place(cursor)?;
        Ok((text(from), text(self.after(from).map_or(self.end, |to| to.min(self.end)))))
    }

    /// The start of the next window, `None` when it would start at or after the end.
    pub fn next(&self, _records: &[Json], cursor: Option<&str>) -> Result<Option<String>, CursorRefusal> {
        let next = self.after(self.place(cursor)?);
        Ok(next.filter(|next| *next < self.end).map(text))
    }

    fn place(&self, cursor: Option<&str>) -> Result<OffsetDateTime, CursorRefusal> {
        cursor.map_or(Ok(self.start), |text| instant(text).ok_or(CursorRefusal::Unreadable { strategy: "time window" }))
    }

    fn after(&self, from: OffsetDateTime) -> Option<OffsetDateTime> {
        from.checked_add(signed(self.window).ok()?)
    }
}

fn instant(text: &str) -> Option<OffsetDateTime> {
    OffsetDateTime::parse(text, &Rfc3339).ok()
}

fn signed(window: Duration) -> Result<time::Duration, CursorRefusal> {
    time::Duration::try_from(window).map_err(|_| CursorRefusal::Window)
}

/// RFC 3339 with a numeric offset and the fraction only when there is one, as peers write it.
fn text(instant: OffsetDateTime) -> String {
    let (hours, minutes, _) = instant.offset().as_hms();
    let sign = if hours < 0 || minutes < 0 { '-' } else { '+' };
    let fraction = match instant.nanosecond() {
        0 => String::new(),
        nanos if nanos % 1000 == 0 => format!(".{:06}", nanos / 1000),
        nanos => format!(".{nanos:09}"),
    };
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{fraction}{sign}{:02}:{:02}",
        instant.year(),
        u8::from(instant.month()),
        instant.day(),
        instant.hour(),
        instant.minute(),
        instant.second(),
        hours.unsigned_abs(),
        minutes.unsigned_abs()
    )
}
