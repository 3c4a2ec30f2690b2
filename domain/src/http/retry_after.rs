//! `Retry-After` (RFC 9110 section 10.2.3), read in one place.

use std::time::Duration;

use crate::time::days_since_epoch;

const DAY: i64 = 86_400;

/// How long a `Retry-After` value asks to wait: whole seconds, or one of the three HTTP dates (also with a numeric zone, as
/// e-mail has it). A date in the past is no wait, an absurd number the longest one. `None` for anything else.
pub fn retry_after(value: &str, now_unix_ms: i64) -> Option<Duration> {
    let value = value.trim_matches([' ', '\t']);
    if value.is_empty() || value.len() > 64 || !value.is_ascii() {
        return None;
    }
    if value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let at = http_date(value, now_unix_ms.div_euclid(1000))?;
    let wait = at.saturating_mul(1000).saturating_sub(now_unix_ms);
    Some(Duration::from_millis(u64::try_from(wait).unwrap_or(0)))
}

/// Unix seconds of an HTTP date. `now` decides the century of a two-digit year: at most 50 years ahead (RFC 9110 5.6.7).
fn http_date(text: &str, now: i64) -> Option<i64> {
    let Some((weekday, rest)) = text.split_once(',') else { return asctime(text) };
    if weekday.is_empty() || !weekday.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return None;
    }
    let mut words = rest.split_ascii_whitespace();
    let first = words.next()?;
    let (day, month, year) = if first.contains('-') {
        let mut parts = first.split('-');
        let date = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() {
            return None;
        }
        date
    } else {
        (first, words.next()?, words.next()?)
    };
    let (clock, zone) = (words.next()?, words.next()?);
    if words.next().is_some() {
        return None;
    }
    let base = |year| Some(seconds(year, month_number(month)?, number(day, 2)?, clock)? - offset(zone)?);
    match (year.len(), number(year, 4)?) {
        (4, year) => base(year),
        (2, short) => {
            let century = now.div_euclid(36_525 * DAY / 100).saturating_add(1970).div_euclid(100) * 100;
            let mut at = base(century + short)?;
            if at > now.saturating_add(50 * 36_525 * DAY / 100) {
                at = base(century - 100 + short)?;
            }
            Some(at)
        }
        _ => None,
    }
}

/// `Sun Mar  1 12:00:30 2026`, always UTC.
fn asctime(text: &str) -> Option<i64> {
    let words: Vec<_> = text.split_ascii_whitespace().collect();
    let [weekday, month, day, clock, year] = words[..] else { return None };
    if weekday.len() != 3 || year.len() != 4 {
        return None;
    }
    seconds(number(year, 4)?, month_number(month)?, number(day, 2)?, clock)
}

fn seconds(year: i64, month: i64, day: i64, clock: &str) -> Option<i64> {
    let mut parts = clock.split(':');
    let (hour, minute, second) = (number(parts.next()?, 2)?, number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some(days_since_epoch(year, month, day)? * DAY + hour * 3600 + minute * 60 + second)
}

fn number(text: &str, digits: usize) -> Option<i64> {
    let plain = !text.is_empty() && text.len() <= digits && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

fn month_number(name: &str) -> Option<i64> {
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let at = months.iter().position(|month| month.eq_ignore_ascii_case(name))?;
    i64::try_from(at + 1).ok()
}

fn offset(zone: &str) -> Option<i64> {
    if matches!(zone, "GMT" | "UTC" | "UT" | "Z") {
        return Some(0);
    }
    let (sign, digits) =
        if let Some(digits) = zone.strip_prefix('+') { (1, digits) } else { (-1, zone.strip_prefix('-')?) };
    if digits.len() != 4 {
        return None;
    }
    let (hours, minutes) = (number(&digits[..2], 2)?, number(&digits[2..], 2)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}
