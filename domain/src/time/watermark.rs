//! Which of two change marks is further.

use std::cmp::Ordering;

use super::Timestamp;
use crate::canonical::decimal::Decimal;

/// A change mark as a source wrote it: a time, a number or an opaque text.
///
/// Two times compare as instants (a time without zone counts as UTC), two numbers as exact decimal values, two opaque texts byte
/// by byte. Between kinds the order is text, number, time: without a fixed order of kinds, comparing "as text otherwise"
/// would not be transitive (`9 < 10` as numbers, but `10 < 1x < 9` as texts), and a stray word in a time column must not
/// push a watermark past every real time. Digits alone are a number, also where they could be a date.
///
/// Equality is that of the order: two spellings of one instant are equal.
#[derive(Clone, Debug)]
pub struct Watermark {
    text: Box<str>,
    time: Option<Timestamp>,
    number: bool,
}

impl Watermark {
    /// Reads a mark; every text is one.
    pub fn new(text: &str) -> Self {
        let number = Decimal::parse(text).is_some();
        let time = if number { None } else { Timestamp::parse_or_utc(text).ok() };
        Self { text: text.into(), time, number }
    }

    /// The text as the source wrote it.
    pub fn as_text(&self) -> &str {
        &self.text
    }

    /// The instant, when the mark is a time.
    pub fn as_time(&self) -> Option<&Timestamp> {
        self.time.as_ref()
    }

    /// Compares two texts as marks.
    pub fn compare(a: &str, b: &str) -> Ordering {
        Self::new(a).cmp(&Self::new(b))
    }

    /// The further of two marks, with its own spelling; the first when they are equal. A watermark moved with this never goes
    /// back.
    #[must_use]
    pub fn advance(current: Option<&str>, seen: &str) -> String {
        match current {
            Some(current) if Self::compare(current, seen) != Ordering::Less => current.to_owned(),
            _ => seen.to_owned(),
        }
    }

    /// Whether a mark lies at or before a watermark, so that an incremental read may skip it. A mark of another kind is never
    /// covered: nobody knows whether `unknown` is older than a date, and a record that is read twice is better than one lost.
    pub fn covers(watermark: &str, seen: &str) -> bool {
        let (watermark, seen) = (Self::new(watermark), Self::new(seen));
        watermark.rank() == seen.rank() && seen <= watermark
    }

    fn rank(&self) -> u8 {
        match (self.number, &self.time) {
            (true, _) => 1,
            (false, Some(_)) => 2,
            (false, None) => 0,
        }
    }
}

impl Ord for Watermark {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank()).then_with(|| match (&self.time, &other.time) {
            (Some(a), Some(b)) => a.cmp(b),
            _ => match (Decimal::parse(&self.text), Decimal::parse(&other.text)) {
                (Some(a), Some(b)) => a.compare(&b),
                _ => self.text.cmp(&other.text),
            },
        })
    }
}

impl PartialOrd for Watermark {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Watermark {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Watermark {}
