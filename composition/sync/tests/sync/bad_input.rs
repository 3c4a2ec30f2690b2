//! What a server may hand out and what becomes of it: a clear refusal, and nothing moves.

use std::sync::Mutex;

use scion_domain::json::Json;
use scion_domain::mcp::ToolHints;
use scion_sync::SyncState;

use crate::desk::{self, declaration};
use crate::support::{Answer, Bench, FakeServer, SinkFault, config, connector, id, json, stream, tool};

const LIST: &str = r#"{"source_id":"items","record_type":"Item","tools":["list"],"id_field":"id",
    "preset":{"params_style":"args"}}"#;

fn bench_with(source: &str, answer: impl Fn() -> Answer + Send + Sync + 'static) -> Bench {
    let server =
        FakeServer::new(&declaration(&[source], &["Item"])).with_tool(tool("list", &["page"]), move |_| answer());
    let mut bench = Bench::new(server);
    bench.config = config(&["items"]);
    bench
}

fn serving(text: &str) -> Bench {
    let value = json(text);
    bench_with(LIST, move || Answer::Value(value.clone()))
}

async fn refused(bench: Bench) -> &'static str {
    let report = bench.stream("items").await;
    assert_eq!(report.state, SyncState::Failed);
    assert!(report.cursor_after.is_none() && bench.sink.batches().is_empty());
    report.refusal.unwrap().code
}

/// Proves: SDK-SOURCE-INGEST-R004.22
#[tokio::test(start_paused = true)]
async fn records_that_are_none_are_refused_by_name() {
    for (result, code) in [
        (r#"[{"id":"1"},{"id":"1"}]"#, "source_duplicate_id"),
        (r#"[{"x":1}]"#, "source_record_without_id"),
        (r#"[{"id":{}}]"#, "source_record_without_id"),
        (r#"[{"id":null}]"#, "source_record_without_id"),
        ("[1]", "source_record_not_object"),
        (r#""text""#, "source_records_missing"),
        (r#"[{"id":"a\u0000b"}]"#, "source_record_bad_id"),
    ] {
        assert_eq!(refused(serving(result)).await, code, "{result}");
    }
    let long = format!(r#"[{{"id":"{}"}}]"#, "x".repeat(10_000));
    assert_eq!(refused(serving(&long)).await, "source_record_bad_id");
}

#[tokio::test(start_paused = true)]
async fn ids_that_look_alike_or_hold_strange_characters_stay_apart() {
    let bench = serving("[{\"id\":\"a\"},{\"id\":\"\u{430}\"},{\"id\":\"a\\n\"},{\"id\":\"\\\"\"},{\"id\":\"A\"}]");
    let report = bench.stream("items").await;
    assert_eq!((report.state, report.submitted), (SyncState::Complete, 5));
    assert_eq!(bench.sink.stored(&connector(), &stream("items")).live.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn numbers_arrive_as_they_were_sent() {
    let long = "1234567890123456789012345678901234567890.5";
    let bench = serving(&format!(r#"[{{"id":"1","a":9007199254740993,"b":1e400,"c":-0,"d":{long}}}]"#));
    bench.stream("items").await;
    let stored = bench.sink.stored(&connector(), &stream("items"));
    let payload = &stored.live[&id("1")].payload;
    for (member, text) in [("a", "9007199254740993"), ("b", "1e400"), ("c", "-0"), ("d", long)] {
        assert_eq!(payload[member].as_number().unwrap().as_text(), text);
    }
}

#[tokio::test(start_paused = true)]
async fn pages_that_are_too_deep_too_large_or_too_long_are_refused() {
    let deep = format!(r#"[{{"id":"1","x":{}{}}}]"#, "[".repeat(1000), "]".repeat(1000));
    assert_eq!(refused(bench_with(LIST, move || Answer::Text(deep.clone()))).await, "source_page_unreadable");
    let mut bench = serving(r#"[{"id":"1"},{"id":"2"},{"id":"3"}]"#);
    bench.options.limits.json.max_bytes = 20;
    assert_eq!(refused(bench).await, "source_page_unreadable");
    let mut bench = serving(r#"[{"id":"1"},{"id":"2"},{"id":"3"}]"#);
    bench.options.limits.max_records = 2;
    assert_eq!(refused(bench).await, "source_page_too_long");
}

#[tokio::test(start_paused = true)]
async fn a_cursor_that_repeats_or_goes_back_is_a_named_loop() {
    let source = r#"{"source_id":"items","record_type":"Item","tools":["list"],"id_field":"id","records_path":"items",
        "preset":{"params_style":"args","pagination":"cursor","cursor_param":"page","cursor_path":"next"}}"#;
    for cursors in [&["b", "b"][..], &["b", "c", "b"][..], &["b", "c", "d", "c"][..]] {
        let calls = Mutex::new(0);
        let cursors: Vec<String> = cursors.iter().map(|cursor| (*cursor).to_owned()).collect();
        let bench = bench_with(source, move || {
            let mut calls = calls.lock().unwrap();
            *calls += 1;
            let next = &cursors[(*calls - 1) % cursors.len()];
            Answer::Value(json(&format!(r#"{{"items":[{{"id":"{calls}"}}],"next":"{next}"}}"#)))
        });
        let report = bench.stream("items").await;
        assert_eq!(report.refusal.unwrap().code, "source_position_repeats");
        assert!(report.pages < 10);
    }
}

/// Proves: SDK-SOURCE-INGEST-R004.22
#[tokio::test(start_paused = true)]
async fn a_tool_that_may_write_or_is_not_there_is_never_called() {
    for (hints, present, code) in [
        (ToolHints::default(), true, "not_read_only"),
        (ToolHints { read_only: Some(true), destructive: Some(true), ..ToolHints::default() }, true, "not_read_only"),
        (ToolHints::default(), false, "source_tool_missing"),
    ] {
        let bench = serving("[]");
        bench.server.describe("list", |tool| tool.hints = hints);
        if !present {
            bench.server.remove_tool("list");
        }
        let server = bench.server.clone();
        assert_eq!(refused(bench).await, code);
        assert!(server.calls("list").is_empty());
    }
    let bench = serving("[]");
    bench.server.describe("list", |tool| tool.input_schema = json("{}"));
    // What is no entry of a pack keeps the whole pack out, before any stream begins.
    let report = bench.cycle().await;
    assert_eq!(report.refusal.unwrap().leaf_code(), "pack_entry_malformed");
    assert!(report.run.is_none() && bench.server.calls("list").is_empty());
}

/// Proves: SDK-SOURCE-INGEST-R004.22, SDK-CONNECTOR-CONTROL-R075.3
#[tokio::test(start_paused = true)]
async fn a_declaration_that_does_not_fit_is_refused_before_anything_is_read() {
    for (presets, document, code) in [
        (&["zed"][..], declaration(&[LIST], &["Item"]), "declaration_unknown_preset"),
        (&[][..], declaration(&[], &["Item"]), "declaration_no_preset"),
        (&[][..], declaration(&[LIST], &[]), "mapping_none"),
        (&[][..], declaration(&[LIST], &["Item"]).replace("acme-desk-mcp", "other"), "declaration_other_connector"),
        (&[][..], "nope".to_owned(), "declaration_not_json"),
        (&[][..], declaration(&[LIST, LIST], &["Item"]), "declaration_duplicate_source"),
    ] {
        let mut bench = serving("[]");
        bench.server.declare(&document);
        bench.config = config(presets);
        let report = bench.cycle().await;
        assert_eq!(report.refusal.unwrap().leaf_code(), code);
        assert!(bench.server.calls("list").is_empty() && bench.sink.pack_revision(&connector()).is_none());
    }
}

/// Proves: SDK-SOURCE-INGEST-R017.4
#[tokio::test(start_paused = true)]
async fn what_the_sink_refuses_comes_through_unchanged() {
    for refusal in [
        scion_domain::sink::SinkRefusal::UnknownMapping { reference: "connector:acme-desk-mcp#mappings/X".into() },
        scion_domain::sink::SinkRefusal::CursorPolicy { stream: "items".into() },
    ] {
        let code = refusal.leaf_code();
        let bench = serving(r#"[{"id":"1"}]"#);
        bench.sink.fail_next(SinkFault::Refuse(refusal));
        assert_eq!(refused(bench).await, code);
    }
    let typed = LIST.replace(
        r#""preset":{"params_style":"args"}"#,
        r#""preset":{"params_style":"args","record_mode":"typed_entities","node_type_field":"kind"}"#,
    );
    let bench = bench_with(&typed, || Answer::Value(json(r#"[{"id":"1","kind":"Zed"}]"#)));
    assert_eq!(refused(bench).await, "UNKNOWN_MAPPING_REFERENCE");
}

/// Secrets and personal data do not reach the store, whatever the source hands out.
#[tokio::test(start_paused = true)]
async fn payloads_pass_the_privacy_guard() {
    let bench = serving(r#"[{"id":"1","api_key":"k-123","title":"ok"}]"#);
    bench.stream("items").await;
    let stored = bench.sink.stored(&connector(), &stream("items"));
    let payload = &stored.live[&id("1")].payload;
    assert_ne!(payload.get("api_key"), Some(&Json::from("k-123")));
    assert_eq!(payload.get("title"), Some(&Json::from("ok")));
}

/// A page with more records than a batch may have is cut; a stop between the parts resumes behind the committed ones.
#[tokio::test(start_paused = true)]
async fn a_page_larger_than_a_batch_is_cut() {
    let records = desk::tickets(25);
    let mut bench = Bench::new(desk::server(&records, 10));
    bench.config = config(&["tickets"]);
    bench.sink.capabilities.lock().unwrap().max_records = 4;
    bench.sink.fail_next(SinkFault::RequestLost);
    let report = bench.stream("tickets").await;
    assert_eq!((report.state, report.submitted), (SyncState::Complete, 25), "{:?}", report.refusal);
    assert_eq!(bench.sink.batches().len(), 8);
    let bench = {
        let mut bench = Bench::new(desk::server(&records, 10));
        bench.config = config(&["tickets"]);
        bench.sink.capabilities.lock().unwrap().max_records = 4;
        bench.seam.hang_at(scion_sync::fault::CommitPoint::BeforeCommit, 2);
        bench
    };
    let stopped = tokio::time::timeout(std::time::Duration::from_millis(1), bench.cycle()).await;
    assert!(stopped.is_err());
    let accepted = bench.sink.stored(&connector(), &stream("tickets")).status.accepted_checkpoint.unwrap();
    assert_eq!(accepted.position.get("__part"), Some(&Json::from(1u64)));
    let report = bench.stream("tickets").await;
    assert_eq!(
        (report.state, report.submitted, report.unchanged),
        (SyncState::Complete, 21, 4),
        "{:?}",
        report.refusal
    );
}
