//! Paging of sync presets against the golden vectors.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use scion_domain::json::{Json, read_dotted, write_dotted};
use scion_domain::model::SourceCheckpoint;
use scion_domain::pagination::preset;
use scion_domain::refusal::Refusal as _;
use support::Vectors;

/// Proves: SDK-SOURCE-INGEST-R004.20
#[test]
fn every_call_has_the_arguments_a_peer_sends() {
    Vectors::open("pagination").each("tool_call_arguments", |case| {
        let preset = support::preset(case.need("preset"));
        let since = Some(case.need("since")).filter(|since| !since.is_null());
        let arguments = preset::call_arguments_with(&preset, case.need("position"), since).unwrap();
        assert_eq!(&Json::Object(arguments.clone()), case.need("arguments"), "{}", case.id);
        if since.is_none_or(|since| since.as_str().is_some()) {
            let text = since.and_then(Json::as_str);
            assert_eq!(preset::call_arguments(&preset, case.need("position"), text).unwrap(), arguments, "{}", case.id);
        }
    });
}

/// Proves: SDK-SOURCE-INGEST-R004.20
#[test]
fn every_next_position_is_a_peers_or_better() {
    Vectors::open("pagination").each("next_positions", |case| {
        let preset = support::preset(case.need("preset"));
        let next = preset::next_position(&preset, case.need("position"), case.need("result"), case.list("records"));
        match case.id.as_str() {
            // Deviations, see conformance/vectors/DEVIATIONS.md.
            "cursor-same" => assert_eq!(next.unwrap_err().code(), "source_position_repeats"),
            "cursor-empty-string" => assert_eq!(next.unwrap(), None),
            "cursor-empty-page-ends" => {
                assert_eq!(next.unwrap(), Some(support::json(r#"{"cursor":"n","__empty":1}"#)));
            }
            _ => assert_eq!(&Json::from(next.unwrap()), case.need("next"), "{}", case.id),
        }
    });
}

#[test]
fn every_dotted_read_is_equal() {
    Vectors::open("pagination").each("dotted_reads", |case| {
        let read = read_dotted(case.need("value"), case.text("path")).cloned().unwrap_or_default();
        // Deviation: the empty path is the value itself, in reads as in `records_path`.
        if case.text("path").is_empty() {
            assert_eq!(&read, case.need("value"));
        } else {
            assert_eq!(&read, case.need("result"), "{}", case.id);
        }
    });
}

#[test]
fn every_dotted_write_is_equal() {
    Vectors::open("pagination").each("dotted_writes", |case| {
        let mut object = case.need("start").as_object().unwrap().clone();
        write_dotted(&mut object, case.text("path"), case.need("value").clone());
        assert_eq!(&Json::Object(object), case.need("result"), "{}", case.id);
    });
}

fn checkpoint(value: &Json) -> SourceCheckpoint {
    let text = |name: &str| value.get(name).and_then(Json::as_str);
    SourceCheckpoint {
        stream: scion_domain::id::StreamName::parse(text("stream").unwrap()).unwrap(),
        position: value.get("position").unwrap().clone(),
        content_hash: None,
        watermark: text("watermark").map(str::to_owned),
        pending_watermark: text("pending_watermark").map(str::to_owned),
    }
}

/// Proves: SDK-SOURCE-INGEST-R004.20
#[test]
fn every_checkpoint_advances_alike() {
    Vectors::open("pagination").each("checkpoints", |case| {
        let marks: Vec<_> = case.list("updated_at").iter().map(|mark| mark.as_str().map(str::to_owned)).collect();
        let next = Some(case.need("position").clone()).filter(|position| !position.is_null());
        let after = preset::advance_checkpoint(&checkpoint(case.need("current")), &marks, next);
        let mut wanted = checkpoint(case.need("result"));
        if case.id == "text-order" {
            // Deviation: numbers compare as numbers, so that record 10 is not taken for older than record 9.
            wanted.watermark = Some("10".to_owned());
        }
        assert_eq!(after, wanted, "{}", case.id);
    });
}
