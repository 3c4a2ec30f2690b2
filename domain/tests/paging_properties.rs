//! Properties of paging: nothing is skipped, nothing goes back, everything ends.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::time::Duration;

use proptest::prelude::*;
use scion_domain::cursor::{CursorStrategy, HighWaterCursor, KeysetCursor, OffsetCursor, TimeWindowCursor};
use scion_domain::declaration::{ForEach, SyncPreset};
use scion_domain::id::{RecordId, StreamName};
use scion_domain::json::{Json, JsonObject};
use scion_domain::pagination::http::{Walk, WalkMode, WalkOptions};
use scion_domain::pagination::{SeenPositions, fan, mark, preset};
use scion_domain::source::RawRecord;
use support::json;

#[derive(Clone, Copy, Debug)]
enum Paging {
    Page,
    Offset,
    Cursor,
}

/// A source of `total` records that answers at most `cap` of them at once.
#[derive(Clone, Copy, Debug)]
struct Source {
    paging: Paging,
    total: u64,
    cap: u64,
    asked: u64,
    size_param: bool,
    size_declared: bool,
}

impl Source {
    fn preset(self) -> SyncPreset {
        let mut members = json(r#"{"server":"s","tool":"t","params_style":"args","records_path":"items"}"#);
        let Json::Object(object) = &mut members else { unreachable!() };
        let mut put = |name: &str, value: Json| object.insert(name.to_owned(), value);
        match self.paging {
            Paging::Page => put("pagination", "page".into()),
            Paging::Offset => put("pagination", "offset".into()),
            Paging::Cursor => put("pagination", "cursor".into()),
        };
        put("page_param", "p".into());
        put("cursor_param", "c".into());
        put("cursor_path", "next".into());
        if self.size_param {
            put("page_size_param", "n".into());
        }
        if self.size_declared {
            put("page_size", self.asked.into());
        }
        support::preset(&members)
    }

    /// The length of this server's pages. One declared without being asked for is what the server really does.
    fn page_length(self, arguments: &JsonObject) -> u64 {
        let asked = arguments.get("n").map(|n| n.as_number().unwrap().as_u64().unwrap());
        match asked {
            Some(asked) => asked.min(self.cap),
            None if self.size_declared => self.asked,
            None => self.cap,
        }
    }

    fn answer(self, arguments: &JsonObject) -> Json {
        let length = self.page_length(arguments);
        let number = |name: &str| arguments.get(name).and_then(|value| value.as_number()?.as_u64());
        let from = match self.paging {
            Paging::Page => number("p").unwrap() * length,
            Paging::Offset => number("p").unwrap(),
            Paging::Cursor => number("c").unwrap_or(0),
        };
        let to = (from + length).min(self.total);
        let items: Vec<Json> = (from..to.max(from)).map(|id| Json::from([("id", id.into())])).collect();
        let next = (to < self.total).then_some(to);
        Json::from([("items", items.into()), ("next", next.into())])
    }
}

fn sources() -> impl Strategy<Value = Source> {
    let paging = prop_oneof![Just(Paging::Page), Just(Paging::Offset), Just(Paging::Cursor)];
    (paging, 0..40u64, 1..9u64, 1..9u64, any::<bool>(), any::<bool>()).prop_map(
        |(paging, total, cap, asked, size_param, size_declared)| Source {
            paging,
            total,
            cap,
            asked,
            size_param,
            size_declared,
        },
    )
}

proptest! {
    /// Proves: SDK-SOURCE-INGEST-R004.20
    #[test]
    fn a_sweep_reads_every_record_once_and_ends(source in sources()) {
        let preset = source.preset();
        let mut position = json("{}");
        let mut seen = SeenPositions::new();
        let mut ids = Vec::new();
        loop {
            prop_assert!(seen.admit("t", &position).is_ok());
            let arguments = preset::call_arguments(&preset, &position, None).unwrap();
            let page = preset::page(&preset, &position, source.answer(&arguments), false).unwrap();
            ids.extend(page.records.iter().map(|record| record.id.to_string()));
            match page.next_position {
                Some(next) => position = next,
                None => break,
            }
        }
        prop_assert_eq!(ids, (0..source.total).map(|id| id.to_string()).collect::<Vec<_>>());
    }

    /// Proves: SDK-SOURCE-INGEST-R004.28
    #[test]
    fn a_fan_out_reads_every_page_of_every_parent_once(pages in proptest::collection::vec(1..4usize, 0..6)) {
        let parents: Vec<Json> = (0..pages.len()).map(|index| Json::from(format!("k{index}"))).collect();
        let mut position = json("{}");
        let mut read = Vec::new();
        while !parents.is_empty() {
            let (index, page) = fan::resume(&position, &parents).unwrap();
            let number = page.get("page").map_or(0, |n| usize::try_from(n.as_number().unwrap().as_u64().unwrap()).unwrap());
            read.push((index, number));
            let next = (number + 1 < pages[index]).then(|| Json::from([("page", Json::from(number as u64 + 1))]));
            match fan::advance(index, &parents, next) {
                Some(next) => position = next,
                None => break,
            }
        }
        let wanted: Vec<_> = pages.iter().enumerate().flat_map(|(index, count)| (0..*count).map(move |n| (index, n))).collect();
        prop_assert_eq!(read, wanted);
    }

    #[test]
    fn every_walk_ends_within_its_bound(
        mode in 0..6usize,
        max_pages in 0..8usize,
        max_items in proptest::option::of(0..20usize),
        answers in proptest::collection::vec((0..4usize, 0..5usize, any::<bool>()), 1..30),
    ) {
        let options = WalkOptions {
            mode: WalkMode::ALL[mode],
            items_path: "items".to_owned(),
            base_url: Some("https://api.example".to_owned()),
            max_pages,
            max_items,
            ..WalkOptions::default()
        };
        let mut walk = Walk::start("/items", options).unwrap();
        let mut pages = 0;
        for (count, next, goes_on) in answers.into_iter().cycle() {
            if walk.request().is_none() {
                break;
            }
            pages += 1;
            let items: Vec<Json> = (0..count).map(|id| Json::from([("id", (id as u64 + next as u64).into())])).collect();
            let cursor = goes_on.then(|| format!("c{next}"));
            let url = goes_on.then(|| format!("/items?page={next}"));
            let link = format!("</items?page={next}>; rel=next");
            let answer = Json::from([("items", items.into()), ("next_cursor", cursor.into()), ("next", url.into())]);
            walk.accept(&answer, goes_on.then_some(link.as_str())).unwrap();
        }
        prop_assert!(pages <= max_pages.max(1));
        let result = walk.finish();
        prop_assert!(max_items.is_none_or(|max| result.data.len() <= max));
        prop_assert!(result.pages == pages);
    }

    /// Proves: SDK-SOURCE-INGEST-R004.33
    #[test]
    fn cursors_never_go_back(pages in proptest::collection::vec(proptest::collection::vec(any::<i32>(), 0..5), 1..10)) {
        let strategy = CursorStrategy::from(HighWaterCursor::new("k").unwrap());
        let mut cursor: Option<String> = None;
        for page in pages {
            let records: Vec<Json> = page.into_iter().map(|key| Json::from([("k", i64::from(key).into())])).collect();
            if let Some(next) = strategy.next(&records, cursor.as_deref()).unwrap() {
                if let Some(before) = &cursor {
                    prop_assert_ne!(mark::compare(&next, before), std::cmp::Ordering::Less);
                }
                cursor = Some(next);
            }
        }
    }

    /// Proves: SDK-SOURCE-INGEST-R004.33
    #[test]
    fn counted_and_keyed_walks_read_everything_once(total in 0..50u64, size in 1..9u64, cap in 1..9u64) {
        let capped = cap < size;
        let offset = OffsetCursor::new(size).unwrap();
        let keyset = KeysetCursor::new("id", size).unwrap();
        let strategies: [CursorStrategy; 2] = if capped {
            [offset.until_empty().into(), keyset.until_empty().into()]
        } else {
            [offset.into(), keyset.into()]
        };
        for strategy in strategies {
            let mut cursor = strategy.first();
            let mut ids = Vec::new();
            loop {
                let at = cursor.as_deref().map(|text| text.parse::<u64>().unwrap());
                let from = match &strategy {
                    CursorStrategy::Offset(_) => at.unwrap_or(0),
                    _ => at.map_or(0, |last| last + 1),
                };
                let to = (from + size.min(cap)).min(total);
                let page: Vec<u64> = (from..to.max(from)).collect();
                let records: Vec<Json> = page.iter().map(|id| Json::from([("id", (*id).into())])).collect();
                ids.extend(page);
                match strategy.next(&records, cursor.as_deref()).unwrap() {
                    Some(next) => cursor = Some(next),
                    None => break,
                }
            }
            prop_assert_eq!(ids, (0..total).collect::<Vec<_>>());
        }
    }

    /// Proves: SDK-SOURCE-INGEST-R004.33
    #[test]
    fn windows_join_without_gap_or_overlap(days in 1..20u64, hours in 1..100u64) {
        let end = format!("2026-03-{:02}T00:00:00Z", 1 + days);
        let strategy = TimeWindowCursor::new("2026-03-01T00:00:00Z", Duration::from_hours(hours), &end).unwrap();
        let mut cursor = strategy.first();
        let mut reached = cursor.clone().unwrap();
        while let Some(at) = cursor {
            let (from, to) = strategy.window_at(Some(&at)).unwrap();
            prop_assert_eq!(&from, &reached);
            prop_assert_eq!(mark::compare(&from, &to), std::cmp::Ordering::Less);
            reached = to;
            cursor = strategy.next(&[], Some(&at)).unwrap();
        }
        prop_assert_eq!(mark::compare(&reached, &end), std::cmp::Ordering::Equal);
    }

    #[test]
    fn any_result_is_answered(result in any_json(), position in any_json(), extra in 0..4usize) {
        let extra = [
            "",
            r#","pagination":"cursor","cursor_param":"c","cursor_path":"a","more_path":"b""#,
            r#","pagination":"page","page_param":"p","records_path":"a","updated_field":"b""#,
            r#","records_is_mapping":true,"records_path":"a","reconcile_path":"b","authoritative_path":"c""#,
        ][extra];
        let preset = support::preset(&json(&format!(r#"{{"server":"s","tool":"t"{extra}}}"#)));
        let _ = preset::call_arguments(&preset, &position, None);
        let _ = preset::page(&preset, &position, result, false);
    }
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        "[a-c\u{0}]{0,3}".prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            proptest::collection::btree_map("(a|b|c|id|cursor|page|__fan|__empty)", inner, 0..4).prop_map(Json::from),
        ]
    })
}

fn child() -> (SyncPreset, ForEach) {
    let preset = support::preset(&json(
        r#"{"server":"s","tool":"t","max_fan_out":2,"for_each":{"source":"parents","argument":"q.parent","field":"a.key"}}"#,
    ));
    let for_each = preset.for_each.clone().unwrap();
    (preset, for_each)
}

fn parent(id: &str, key: Json) -> RawRecord {
    let payload = JsonObject::from([("a".to_owned(), Json::from([("key", key)]))]);
    RawRecord { id: RecordId::parse(id).unwrap(), payload, updated_at: None }
}

/// Proves: SDK-SOURCE-INGEST-R004.28
#[test]
fn parents_are_distinct_and_bounded() {
    use scion_domain::refusal::Refusal as _;
    let (preset, for_each) = child();
    assert_eq!(preset.name, StreamName::parse("tickets").unwrap());
    let mut parents = fan::ParentValues::new(&preset, &for_each);
    parents.add(&[parent("1", "x".into()), parent("2", "x".into()), parent("3", Json::Null)]).unwrap();
    parents.add(&[parent("4", 7.into()), parent("5", "".into())]).unwrap();
    let refusal = parents.clone().add(&[parent("6", "z".into())]).unwrap_err();
    assert_eq!(refusal.code(), "fan_out_exceeded");
    let values = parents.into_values();
    assert_eq!(values, [json("\"x\""), json("7")]);
    let bound = fan::bind(&preset, &for_each, &values[0]);
    let arguments = preset::call_arguments(&bound, &json("{}"), None).unwrap();
    assert_eq!(Json::Object(arguments), json(r#"{"params_json":"{\"q\": {\"parent\": \"x\"}}"}"#));
}

/// Proves: SDK-SOURCE-INGEST-R004.28
#[test]
fn a_changed_parent_list_starts_again() {
    let parents = [json("\"a\""), json("\"b\"")];
    let position = fan::advance(0, &parents, None).unwrap();
    assert_eq!(position, json(r#"{"__fan":1,"__fan_value":"b"}"#));
    assert_eq!(fan::resume(&position, &parents).unwrap(), (1, json("{}")));
    let inserted = [json("\"a\""), json("\"new\""), json("\"b\"")];
    assert_eq!(fan::resume(&position, &inserted).unwrap(), (0, json("{}")));
    assert_eq!(fan::resume(&position, &parents[..1]).unwrap(), (0, json("{}")));
    // A peer's position has the index alone.
    assert_eq!(fan::resume(&json(r#"{"__fan":1,"page":3}"#), &parents).unwrap(), (1, json(r#"{"page":3}"#)));
    assert!(fan::resume(&json(r#"{"__fan":"1"}"#), &parents).is_err());
}
