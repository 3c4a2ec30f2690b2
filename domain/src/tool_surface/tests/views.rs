//! Listing filters.

use std::collections::BTreeSet;

use super::super::*;
use super::{each, texts, vectors};
use crate::json::Json;
use crate::refusal::Refusal as _;
use crate::test_vectors::text;

/// What the fixture serves, with the tags of each.
const ITEMS: [(&str, &[&str]); 4] =
    [("desk_a", &["tickets"]), ("desk_b", &["rooms"]), ("note", &[]), ("connector://status", &[])];

fn field(name: &str) -> FilterField {
    match name {
        "enabled_names" => FilterField::EnabledNames,
        "disabled_names" => FilterField::DisabledNames,
        "enabled_tags" => FilterField::EnabledTags,
        "disabled_tags" => FilterField::DisabledTags,
        "query" => FilterField::Search,
        other => panic!("a field the test does not know: {other}"),
    }
}

fn shown(view: &ListingView<'_>) -> Vec<&'static str> {
    let tags = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect::<BTreeSet<_>>();
    ITEMS.iter().filter(|(name, of)| view.shows(name, &tags(of))).map(|(name, _)| *name).collect()
}

#[test]
fn surface_listing_filters() {
    each("listing_filters", |case| {
        let mut policy = ListingPolicy::everything();
        for (name, words) in case.get("policy").and_then(Json::as_object).unwrap() {
            policy = policy.rule(field(name), texts(Some(words)));
        }
        let query = case.get("query").and_then(Json::as_object).unwrap();
        let members = query.iter().map(|(name, value)| (FilterField::of_query(name).unwrap(), value.as_str().unwrap()));
        let filter = ListingFilter::read(members);
        let id = text(case, "id");
        if let Some(expected) = case.get("ok") {
            assert!(filter.is_ok(), "{id}");
            assert_eq!(shown(&ListingView::new(&policy, filter)), texts(Some(expected)), "{id}");
            return;
        }
        let code = filter.as_ref().unwrap_err().code();
        let expected = match id {
            "query-all-refused" => "listing_filter_all",
            "query-bad-char" => "listing_filter_word",
            "query-too-long" => "listing_filter_too_long",
            other => panic!("a case the test does not know: {other}"),
        };
        assert_eq!(code, expected);
        assert!(shown(&ListingView::new(&policy, filter)).is_empty(), "{id}");
    });
}

#[test]
fn surface_filter_keys() {
    let file = vectors();
    let section = file.get("filter_keys").unwrap();
    let mut seen = 0;
    for (place, of) in [("query", FilterField::of_query as fn(&str) -> _), ("headers", FilterField::of_header)] {
        for (name, keys) in section.get(place).and_then(Json::as_object).unwrap() {
            for key in texts(Some(keys)) {
                assert_eq!(of(&key), Some(field(name)), "{key}");
                seen += 1;
            }
        }
    }
    assert!(seen > 0);
    assert_eq!(FilterField::of_header("X-MCP-Query"), Some(FilterField::Search));
    assert_eq!((FilterField::of_query("page"), FilterField::of_header("accept")), (None, None));
}

#[test]
fn surface_filters_add_up_and_are_bounded() {
    let both = [(FilterField::EnabledNames, "desk_a"), (FilterField::EnabledNames, "note, desk_b")];
    let everything = ListingPolicy::everything();
    assert_eq!(shown(&ListingView::new(&everything, ListingFilter::read(both))), ["desk_a", "desk_b", "note"]);
    let many = vec!["a"; 257].join(",");
    let refusal = ListingFilter::read([(FilterField::DisabledTags, many.as_str())]).unwrap_err();
    assert_eq!(refusal.code(), "listing_filter_too_long");
}
