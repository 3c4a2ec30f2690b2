//! Times as vendors write them, compared as instants, kept as text.
//!
//! A watermark is handed back to the vendor, so its text, zone and precision must survive. Nothing here reads a clock.

mod calendar;
mod parse;
mod serde_impls;
mod watermark;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::refusals;

pub(crate) use calendar::days_since_epoch;
pub use watermark::Watermark;

refusals! {
    /// Why a text is not a time.
    pub enum TimeRefusal {
        /// The text does not follow RFC 3339 or the accepted forms of ISO 8601.
        Malformed => "time_malformed", PeerMisbehaved, Never,
            "the text is not an RFC 3339 time", "send times like 2026-03-01T12:00:00Z";
        /// A field is outside its range, for example a 30th of February.
        OutOfRange { field: &'static str } => "time_out_of_range", PeerMisbehaved, Never,
            "the {field} of the time is outside its range", "send a time that exists";
        /// The text names no zone.
        NoZone => "time_without_zone", PeerMisbehaved, Never,
            "the time has no zone", "send an offset or Z, or read it where UTC is documented";
        /// Longer than any time.
        TooLong { bytes: usize, limit: usize } => "time_too_long", PeerMisbehaved, Never,
            "a time of {bytes} bytes; at most {limit} are read", "send fewer fraction digits";
    }
}

/// An instant with the text it was read from.
///
/// Equality and order are those of the instant, exact at any number of fraction digits: `12:00Z`, `13:00+01:00` and
/// `12:00:00.000Z` are equal. Use [`Timestamp::as_text`] to compare spellings.
#[derive(Clone)]
pub struct Timestamp {
    /// Seconds since 1970-01-01T00:00:00Z.
    seconds: i64,
    /// Where the digits of the fraction stand in `text`, without trailing zeros.
    fraction: (usize, usize),
    text: Box<str>,
}

impl Timestamp {
    /// The longest text read, in bytes.
    pub const MAX_BYTES: usize = 256;

    /// Reads a time with a zone: `Z` or an offset (`+02:00`, `+0200`, `+02`).
    ///
    /// Accepted are RFC 3339 and the ISO 8601 forms vendors send: a blank or lower-case `t` as separator, a comma as decimal mark,
    /// seconds left out, the basic form `20260301T120000Z`, `24:00:00` as the end of a day, a leap second (the instant that
    /// follows it), and a fraction of any precision. Years are 0000 to 9999.
    pub fn parse(text: &str) -> Result<Self, TimeRefusal> {
        match parse::parse(text)? {
            (time, true) => Ok(time),
            (_, false) => Err(TimeRefusal::NoZone),
        }
    }

    /// [`Timestamp::parse`], and also a time without zone or a date alone, which count as UTC. Only for places that say so:
    /// watermarks and change times of records, where a source is compared with itself.
    pub fn parse_or_utc(text: &str) -> Result<Self, TimeRefusal> {
        parse::parse(text).map(|(time, _)| time)
    }

    /// The text as it was.
    pub fn as_text(&self) -> &str {
        &self.text
    }

    /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
    pub const fn unix_seconds(&self) -> i64 {
        self.seconds
    }

    /// The digits of the fraction of a second, without trailing zeros; empty for a whole second.
    pub fn fraction_digits(&self) -> &str {
        &self.text[self.fraction.0..self.fraction.1]
    }
}

impl Ord for Timestamp {
    fn cmp(&self, other: &Self) -> Ordering {
        // Digits after the decimal point order like text once trailing zeros are gone.
        self.seconds.cmp(&other.seconds).then_with(|| self.fraction_digits().cmp(other.fraction_digits()))
    }
}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Timestamp {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Timestamp {}

impl Hash for Timestamp {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.seconds, self.fraction_digits()).hash(state);
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Timestamp({})", self.text)
    }
}

impl std::str::FromStr for Timestamp {
    type Err = TimeRefusal;
    fn from_str(text: &str) -> Result<Self, TimeRefusal> {
        Self::parse(text)
    }
}
