//! Change marks: watermarks and high-water cursors.

use std::cmp::Ordering;
use std::str::FromStr as _;

use bigdecimal::BigDecimal;
use time::format_description::well_known::Rfc3339;
use time::{Date, OffsetDateTime, PrimitiveDateTime};

use crate::json::Json;
use crate::model::SourceCheckpoint;

/// The longest number that is compared as one, in characters. Longer text is compared as text.
const MAX_NUMBER: usize = 256;

/// The largest exponent, either way, of a number that is compared as one.
const MAX_EXPONENT: i64 = 4096;

/// What a mark turns out to be.
enum Kind {
    Number(BigDecimal),
    Instant(OffsetDateTime),
    Text,
}

/// Compares two marks: as exact numbers when both are numbers, as instants when both are timestamps (any offset, any
/// precision to the nanosecond), else as text. Text order alone, a peer's rule, puts `100` before `99` and ignores offsets,
/// which loses records.
pub fn compare(a: &str, b: &str) -> Ordering {
    match (kind(a), kind(b)) {
        (Kind::Number(x), Kind::Number(y)) => x.cmp(&y),
        (Kind::Instant(x), Kind::Instant(y)) => x.cmp(&y),
        _ => a.cmp(b),
    }
}

/// The later of two marks. Of two that mean the same, the first, so that a text does not change without reason.
pub fn later<'a>(a: &'a str, b: &'a str) -> &'a str {
    if compare(b, a) == Ordering::Greater { b } else { a }
}

fn kind(text: &str) -> Kind {
    if text.len() <= MAX_NUMBER
        && let Some(first) = text.bytes().next()
        && (first.is_ascii_digit() || first == b'-')
    {
        if let Some(number) = number(text) {
            return Kind::Number(number);
        }
        if let Some(instant) = instant(text) {
            return Kind::Instant(instant);
        }
    }
    Kind::Text
}

fn number(text: &str) -> Option<BigDecimal> {
    crate::json::parse(text).ok()?.as_number()?;
    let number = BigDecimal::from_str(text).ok()?;
    // A huge exponent would make the comparison itself expensive.
    (number.fractional_digit_count().abs() <= MAX_EXPONENT).then_some(number)
}

/// Reads a timestamp: RFC 3339, or a date, or a date and time without offset, which then count as UTC.
pub(crate) fn instant(text: &str) -> Option<OffsetDateTime> {
    use time::macros::format_description;
    if let Ok(instant) = OffsetDateTime::parse(text, &Rfc3339) {
        return Some(instant);
    }
    let spaced = text.replacen(' ', "T", 1);
    if let Ok(instant) = OffsetDateTime::parse(&spaced, &Rfc3339) {
        return Some(instant);
    }
    if text.len() == 10 {
        let date = Date::parse(text, format_description!("[year]-[month]-[day]")).ok()?;
        return Some(date.midnight().assume_utc());
    }
    let whole = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]");
    let parts = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond]");
    PrimitiveDateTime::parse(&spaced, whole)
        .or_else(|_| PrimitiveDateTime::parse(&spaced, parts))
        .ok()
        .map(PrimitiveDateTime::assume_utc)
}

/// The mark of a record field: text as it is, a number as its own digits; `None` for absent, `null` and empty text.
/// `Err` for anything else.
pub fn of_field(value: Option<&Json>) -> Result<Option<String>, &'static str> {
    match value {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok((!text.is_empty()).then(|| text.clone())),
        Some(Json::Number(number)) => Ok(Some(number.as_text().to_owned())),
        Some(other) => Err(other.kind()),
    }
}

/// The checkpoint after a page. During a sweep the highest mark gathers in `pending_watermark`; when `next` is `None` the
/// sweep is exhausted, the position becomes `{}` and the pending mark becomes the watermark. The watermark never moves
/// back. A digest the source vouches for belongs to one page: the caller sets it anew.
pub fn advance_checkpoint(
    current: &SourceCheckpoint,
    updated_at: &[Option<String>],
    next: Option<Json>,
) -> SourceCheckpoint {
    let seen = updated_at.iter().flatten().filter(|mark| !mark.is_empty());
    let pending = seen.chain(&current.pending_watermark).map(String::as_str).reduce(later);
    match next {
        Some(position) => SourceCheckpoint {
            stream: current.stream.clone(),
            position,
            content_hash: None,
            watermark: current.watermark.clone(),
            pending_watermark: pending.map(str::to_owned),
        },
        None => SourceCheckpoint {
            stream: current.stream.clone(),
            position: Json::Object(crate::json::JsonObject::new()),
            content_hash: None,
            watermark: current.watermark.as_deref().into_iter().chain(pending).reduce(later).map(str::to_owned),
            pending_watermark: None,
        },
    }
}

/// The checkpoint after a page of a source that hands out its own, opaque watermark (`checkpoint_path`): the newest one
/// handed out wins, since nothing can be said about its order.
pub fn advance_opaque(current: &SourceCheckpoint, handed_out: Option<String>, next: Option<Json>) -> SourceCheckpoint {
    let newest = handed_out.or_else(|| current.pending_watermark.clone());
    match next {
        Some(position) => SourceCheckpoint {
            stream: current.stream.clone(),
            position,
            content_hash: None,
            watermark: current.watermark.clone(),
            pending_watermark: newest,
        },
        None => SourceCheckpoint {
            stream: current.stream.clone(),
            position: Json::Object(crate::json::JsonObject::new()),
            content_hash: None,
            watermark: newest.or_else(|| current.watermark.clone()),
            pending_watermark: None,
        },
    }
}

/// An opaque watermark as text: plain text stays as it is, everything else is its JSON text. [`opaque_value`] undoes it.
pub fn opaque_text(value: &Json) -> String {
    match value {
        Json::String(text) if crate::json::parse(text).is_err() => text.clone(),
        other => crate::json::to_compact(other),
    }
}

/// The value of a text made by [`opaque_text`].
pub fn opaque_value(text: &str) -> Json {
    crate::json::parse(text).unwrap_or_else(|_| Json::String(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn marks_compare_as_what_they_are() {
        for (small, large) in [
            ("9", "10"),
            ("9007199254740992", "9007199254740993"),
            ("-2", "-1.5"),
            ("1e3", "1001"),
            ("2026-01-02T00:30:00+02:00", "2026-01-01T23:00:00Z"),
            ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000000001Z"),
            ("2026-01-01", "2026-01-01T00:00:01Z"),
            ("2026-01-01 10:00:00", "2026-01-01T10:00:00.5"),
            ("abc", "abd"),
        ] {
            assert_eq!(compare(small, large), Ordering::Less, "{small} {large}");
            assert_eq!(compare(large, small), Ordering::Greater, "{small} {large}");
        }
        assert_eq!(compare("1.0", "1"), Ordering::Equal);
        assert_eq!(later("2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00"), "2026-01-01T00:00:00Z");
        // Far exponents stay cheap.
        assert_eq!(compare("1e999999999", "2"), Ordering::Less);
    }

    #[test]
    fn opaque_marks_come_back_as_they_were() {
        for text in ["\"9\"", "9", "{\"seq\":4}", "\"abc\"", "\"{\\\"a\\\":1}\"", "[1,null]", "true", "\"\""] {
            let value = crate::json::parse(text).unwrap();
            assert_eq!(opaque_value(&opaque_text(&value)), value, "{text}");
        }
    }

    fn marks() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<i64>().prop_map(|n| n.to_string()),
            (2000..2100i32, 1..13u8, 1..29u8, 0..24u8)
                .prop_map(|(y, m, d, h)| format!("{y}-{m:02}-{d:02}T{h:02}:00:00Z")),
            "[a-z0-9.:-]{0,12}",
        ]
    }

    proptest! {
        #[test]
        fn the_watermark_never_moves_back(
            start in proptest::option::of(marks()),
            pages in proptest::collection::vec(proptest::collection::vec(proptest::option::of(marks()), 0..4), 1..6),
        ) {
            let mut now = SourceCheckpoint::start(crate::id::StreamName::parse("s").unwrap());
            now.watermark = start;
            for (index, page) in pages.iter().enumerate() {
                let next = (index % 2 == 0).then(|| Json::from([("page", Json::from(1u64))]));
                let after = advance_checkpoint(&now, page, next);
                if let Some(before) = &now.watermark {
                    let later = after.watermark.as_deref().unwrap();
                    prop_assert_ne!(compare(later, before), Ordering::Less);
                }
                now = after;
            }
        }

        #[test]
        fn comparison_is_antisymmetric(a in marks(), b in marks()) {
            prop_assert_eq!(compare(&a, &b), compare(&b, &a).reverse());
        }
    }
}
