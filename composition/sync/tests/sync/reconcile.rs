//! Deltas, withdrawals, complete live lists and empty sources.

use std::sync::{Arc, Mutex};

use scion_domain::json::Json;
use scion_domain::model::IngestMode;
use scion_sync::SyncState;

use crate::desk::declaration;
use crate::support::{Answer, Bench, FakeServer, config, connector, id, json, stream, tool};

type Result = Arc<Mutex<Json>>;

fn bench(preset: &str, result: &str) -> (Bench, Result) {
    let source = format!(
        r#"{{"source_id":"items","record_type":"Item","tools":["list"],"id_field":"id","records_path":"items",
            "cursor_field":"at","preset":{{"params_style":"args",{preset}}}}}"#
    );
    let result: Result = Arc::new(Mutex::new(json(result)));
    let answer = result.clone();
    let server = FakeServer::new(&declaration(&[&source], &["Item"]))
        .with_tool(tool("list", &["since"]), move |_| Answer::Value(answer.lock().unwrap().clone()));
    let mut bench = Bench::new(server);
    bench.config = config(&["items"]);
    (bench, result)
}

fn set(result: &Result, text: &str) {
    *result.lock().unwrap() = json(text);
}

const RECONCILE: &str = r#""reconcile_path":"live","authoritative_path":"all""#;

/// Proves: SDK-SOURCE-INGEST-R004
#[tokio::test(start_paused = true)]
async fn a_complete_live_list_withdraws_what_is_gone_and_is_sent_once() {
    let (bench, result) = bench(RECONCILE, r#"{"items":[{"id":1},{"id":2}],"live":["1","2"],"all":true}"#);
    let report = bench.stream("items").await;
    assert_eq!((report.state, report.mode, report.submitted), (SyncState::Complete, IngestMode::Reconcile, 2));
    assert_eq!(bench.stream("items").await.batches.len(), 0, "an unchanged live list is not sent again");
    set(&result, r#"{"items":[{"id":1}],"live":["1"],"all":true}"#);
    let report = bench.stream("items").await;
    assert_eq!((report.withdrawn, report.submitted), (1, 0), "{:?}", report.refusal);
    let stored = bench.sink.stored(&connector(), &stream("items"));
    assert!(stored.live.contains_key(&id("1")) && stored.withdrawn.contains(&id("2")));
    set(&result, r#"{"items":[{"id":1},{"id":2}],"live":["1","2"],"all":true}"#);
    assert_eq!(bench.stream("items").await.submitted, 1, "a withdrawn record that is back is sent again");
}

#[tokio::test(start_paused = true)]
async fn an_empty_live_list_needs_the_operators_word() {
    let (mut bench, result) = bench(RECONCILE, r#"{"items":[{"id":1}],"live":["1"],"all":true}"#);
    bench.stream("items").await;
    set(&result, r#"{"items":[],"live":[],"all":true}"#);
    let report = bench.stream("items").await;
    assert_eq!(report.refusal.unwrap().code, "empty_authoritative_snapshot");
    assert_eq!(bench.sink.stored(&connector(), &stream("items")).live.len(), 1);
    bench.config.empty_authoritative_approval = "the project was closed".into();
    let report = bench.stream("items").await;
    assert_eq!((report.state, report.withdrawn), (SyncState::Complete, 1), "{:?}", report.refusal);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_not_marked_complete_withdraws_nothing() {
    let (bench, result) = bench(RECONCILE, r#"{"items":[{"id":1},{"id":2}],"live":["1","2"],"all":true}"#);
    bench.stream("items").await;
    set(&result, r#"{"items":[{"id":1}],"live":["1"],"all":"true"}"#);
    let report = bench.stream("items").await;
    assert_eq!((report.withdrawn, report.mode), (0, IngestMode::Full));
    assert_eq!(bench.sink.stored(&connector(), &stream("items")).live.len(), 2);
    set(&result, r#"{"items":[{"id":3}],"live":["1"],"all":true}"#);
    assert_eq!(bench.stream("items").await.refusal.unwrap().code, "batch_not_live");
}

const DELTA: &str = r#""updated_since_param":"since","withdrawals_path":"gone""#;

/// Proves: SDK-SOURCE-INGEST-R004
#[tokio::test(start_paused = true)]
async fn a_delta_asks_since_the_watermark_and_withdraws_what_the_source_names() {
    let (bench, result) = bench(DELTA, r#"{"items":[{"id":1,"at":"2026-01-01"},{"id":2,"at":"2026-01-02"}]}"#);
    assert_eq!(bench.stream("items").await.mode, IngestMode::Full);
    // Inclusive: the record at the mark comes again and is told apart by its content.
    set(&result, r#"{"items":[{"id":2,"at":"2026-01-02"}],"gone":[{"id":"1","reason":"deleted"}]}"#);
    let report = bench.stream("items").await;
    assert_eq!((report.mode, report.submitted, report.unchanged, report.withdrawn), (IngestMode::Delta, 0, 1, 1));
    let calls = bench.server.calls("list");
    assert_eq!(calls.last().unwrap().get("since"), Some(&Json::from("2026-01-02")));
    // The same withdrawal again is no error, and nothing is sent.
    let report = bench.stream("items").await;
    assert_eq!((report.state, report.batches.len()), (SyncState::Complete, 0));
    // A late record with the timestamp of the mark is not lost.
    set(&result, r#"{"items":[{"id":3,"at":"2026-01-02"},{"id":2,"at":"2026-01-02"}]}"#);
    assert_eq!(bench.stream("items").await.submitted, 1);
}

/// A declaration that maps records differently submits all of them again, which a delta alone would never do.
#[tokio::test(start_paused = true)]
async fn a_changed_mapping_reads_everything_again_once() {
    let (bench, result) = bench(DELTA, r#"{"items":[{"id":1,"at":"2026-01-01"},{"id":2,"at":"2026-01-02"}]}"#);
    bench.stream("items").await;
    assert_eq!(bench.stream("items").await.mode, IngestMode::Delta);
    let source = format!(
        r#"{{"source_id":"items","record_type":"Item","tools":["list"],"id_field":"id","records_path":"items",
            "cursor_field":"at","preset":{{"params_style":"args",{DELTA}}}}}"#
    );
    bench.server.declare(&declaration(&[&source], &["Item", "Other"]));
    let report = bench.stream("items").await;
    assert_eq!((report.mode, report.submitted), (IngestMode::Full, 2), "{:?}", report.refusal);
    set(&result, r#"{"items":[]}"#);
    assert_eq!(bench.stream("items").await.mode, IngestMode::Delta);
}

/// Proves: SDK-SOURCE-INGEST-R004.20
#[tokio::test(start_paused = true)]
async fn an_incremental_source_skips_what_is_older_than_its_mark_and_reads_what_has_none() {
    let source = r#"{"source_id":"items","record_type":"Item","tools":["list"],"id_field":"id","cursor_field":"at",
        "incremental":true,"preset":{"params_style":"args"}}"#;
    let records = Arc::new(Mutex::new(json(r#"[{"id":1,"at":"2026-01-01"},{"id":2,"at":"2026-01-02"}]"#)));
    let answer = records.clone();
    let server = FakeServer::new(&declaration(&[source], &["Item"]))
        .with_tool(tool("list", &[]), move |_| Answer::Value(answer.lock().unwrap().clone()));
    let mut bench = Bench::new(server);
    bench.config = config(&["items"]);
    assert_eq!(bench.stream("items").await.submitted, 2);
    *records.lock().unwrap() = json(
        r#"[{"id":1,"at":"2026-01-01","x":1},{"id":2,"at":"2026-01-02","x":1},{"id":3,"at":"2026-01-02T00:00:00+00:00"},
            {"id":4},{"id":5,"at":"unknown"}]"#,
    );
    let report = bench.stream("items").await;
    assert_eq!((report.seen, report.submitted, report.unchanged), (5, 4, 1));
}

/// A peer takes the empty answer of an empty source for a malformed one.
#[tokio::test(start_paused = true)]
async fn an_empty_source_is_complete_and_sends_nothing() {
    let (bench, _) = bench(r#""doc_type":"x""#, r#"{"items":[]}"#);
    for _ in 0..2 {
        let report = bench.stream("items").await;
        assert_eq!((report.state, report.seen, report.batches.len()), (SyncState::Complete, 0, 0));
    }
}
