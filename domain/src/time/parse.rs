//! The reader of [`Timestamp`](super::Timestamp).

use super::calendar::days_since_epoch;
use super::{TimeRefusal, Timestamp};

/// Reads a time; the flag says whether it named a zone.
pub(super) fn parse(text: &str) -> Result<(Timestamp, bool), TimeRefusal> {
    if text.len() > Timestamp::MAX_BYTES {
        return Err(TimeRefusal::TooLong { bytes: text.len(), limit: Timestamp::MAX_BYTES });
    }
    let mut reader = Reader { bytes: text.as_bytes(), at: 0 };
    let days = reader.date()?;
    let mut seconds = 0;
    let mut fraction = (0, 0);
    let mut zone = None;
    if !reader.ended() {
        if !reader.skip(b"Tt ") {
            return Err(TimeRefusal::Malformed);
        }
        (seconds, fraction) = reader.clock()?;
        zone = reader.zone()?;
        if !reader.ended() {
            return Err(TimeRefusal::Malformed);
        }
    }
    let seconds = days * 86_400 + seconds - zone.unwrap_or(0);
    Ok((Timestamp { seconds, fraction, text: text.into() }, zone.is_some()))
}

struct Reader<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl Reader<'_> {
    fn ended(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// Steps over one of these bytes.
    fn skip(&mut self, any_of: &[u8]) -> bool {
        let found = self.bytes.get(self.at).is_some_and(|byte| any_of.contains(byte));
        self.at += usize::from(found);
        found
    }

    /// Exactly this many digits.
    fn digits(&mut self, count: usize) -> Result<i64, TimeRefusal> {
        let digits = self.bytes.get(self.at..self.at + count).ok_or(TimeRefusal::Malformed)?;
        if !digits.iter().all(u8::is_ascii_digit) {
            return Err(TimeRefusal::Malformed);
        }
        self.at += count;
        Ok(digits.iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0')))
    }

    fn date(&mut self) -> Result<i64, TimeRefusal> {
        let year = self.digits(4)?;
        let extended = self.skip(b"-");
        let month = self.digits(2)?;
        if extended && !self.skip(b"-") {
            return Err(TimeRefusal::Malformed);
        }
        let day = self.digits(2)?;
        days_since_epoch(year, month, day).ok_or(TimeRefusal::OutOfRange { field: "date" })
    }

    /// Seconds of the day, and where the fraction's digits stand.
    fn clock(&mut self) -> Result<(i64, (usize, usize)), TimeRefusal> {
        let hour = self.digits(2)?;
        let extended = self.skip(b":");
        let minute = self.digits(2)?;
        let more = self.bytes.get(self.at);
        let has_seconds = if extended { self.skip(b":") } else { more.is_some_and(u8::is_ascii_digit) };
        let second = if has_seconds { self.digits(2)? } else { 0 };
        let fraction = if has_seconds && self.skip(b".,") { self.fraction()? } else { (0, 0) };
        let end_of_day = hour == 24 && minute == 0 && second == 0 && fraction.0 == fraction.1;
        for (field, value, limit) in [("hour", hour, 23), ("minute", minute, 59), ("second", second, 60)] {
            if value > limit && !(field == "hour" && end_of_day) {
                return Err(TimeRefusal::OutOfRange { field });
            }
        }
        Ok((hour * 3600 + minute * 60 + second, fraction))
    }

    fn fraction(&mut self) -> Result<(usize, usize), TimeRefusal> {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        if self.at == start {
            return Err(TimeRefusal::Malformed);
        }
        let zeros = self.bytes[start..self.at].iter().rev().take_while(|digit| **digit == b'0').count();
        Ok((start, self.at - zeros))
    }

    /// Seconds east of Greenwich; `None` when the text ends here.
    fn zone(&mut self) -> Result<Option<i64>, TimeRefusal> {
        if self.ended() {
            return Ok(None);
        }
        // Some vendors put a blank before the offset.
        self.skip(b" ");
        if self.skip(b"Zz") {
            return Ok(Some(0));
        }
        let west = self.bytes.get(self.at) == Some(&b'-');
        if !self.skip(b"+-") {
            return Err(TimeRefusal::Malformed);
        }
        let hours = self.digits(2)?;
        let minutes = if self.skip(b":") || !self.ended() { self.digits(2)? } else { 0 };
        if hours > 23 || minutes > 59 {
            return Err(TimeRefusal::OutOfRange { field: "offset" });
        }
        let east = hours * 3600 + minutes * 60;
        Ok(Some(if west { -east } else { east }))
    }
}
