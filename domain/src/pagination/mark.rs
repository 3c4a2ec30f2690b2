//! Change marks: watermarks and high-water cursors.

use std::cmp::Ordering;

use crate::json::Json;
use crate::model::SourceCheckpoint;
use crate::time::Watermark;

/// Compares two marks: as exact numbers, as instants, or as text ([`Watermark`]). Text order alone, a peer's rule, puts
/// `100` before `99` and ignores offsets, which loses records.
pub fn compare(a: &str, b: &str) -> Ordering {
    Watermark::compare(a, b)
}

/// The latest of some marks. Of marks that mean the same, the first, so that a text does not change without reason.
pub fn latest<'a>(marks: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut best: Option<(Watermark, &str)> = None;
    for text in marks {
        let mark = Watermark::new(text);
        if best.as_ref().is_none_or(|(now, _)| mark > *now) {
            best = Some((mark, text));
        }
    }
    best.map(|(_, text)| text)
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
    let pending = latest(current.pending_watermark.iter().chain(seen).map(String::as_str));
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
            watermark: latest(current.watermark.as_deref().into_iter().chain(pending)).map(str::to_owned),
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
        assert_eq!(latest(["2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00"]), Some("2026-01-01T00:00:00Z"));
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
