//! Edges to the records that reference fields name.

use std::sync::{Arc, Mutex};

use scion_domain::json::Json;
use scion_sync::SyncState;
use scion_sync::sweep::references;

use crate::desk::declaration;
use crate::support::{Answer, Bench, FakeServer, config, connector, id, json, stream, tool};

fn source(edges: &str) -> String {
    format!(
        r#"{{"source_id":"cases","record_type":"Case","tools":["list"],"id_field":"id","edges":[{edges}],
            "preset":{{"params_style":"args"}}}}"#
    )
}

fn bench(edges: &str, records: &str) -> (Bench, Arc<Mutex<Json>>) {
    let records = Arc::new(Mutex::new(json(records)));
    let answer = records.clone();
    let server = FakeServer::new(&declaration(&[&source(edges)], &["Case", "Person"]))
        .with_tool(tool("list", &[]), move |_| Answer::Value(answer.lock().unwrap().clone()));
    let mut bench = Bench::new(server);
    bench.config = config(&["cases"]);
    (bench, records)
}

const HANDLER: &str = r#"{"relationship":"handledBy","target_field":"handler","target_type":"Person",
    "target_id_key":"key","target_fields":{"title":"label"}}"#;

/// Proves: SDK-SOURCE-INGEST-R004.36, SDK-SOURCE-INGEST-R017.2
#[tokio::test(start_paused = true)]
async fn each_reference_becomes_an_edge_and_one_stub() {
    let records = r#"[{"id":"1","handler":[{"key":"p","label":"Pia"},{"key":"q"},{"key":"p"}]},
        {"id":"2","handler":{"key":"p","label":"Pia"}},{"id":"3","handler":null},{"id":"4","handler":""}]"#;
    let (bench, current) = bench(HANDLER, records);
    let report = bench.stream("cases").await;
    assert_eq!((report.state, report.submitted, report.stubs), (SyncState::Complete, 4, 2), "{:?}", report.refusal);
    assert_eq!(report.relationships, 3);
    let stored = bench.sink.stored(&connector(), &stream("cases"));
    let stub = &stored.live[&id("Person:p")];
    assert_eq!(stub.mapping, "connector:acme-desk-mcp#mappings/Person");
    assert_eq!(stub.payload.get("title"), Some(&Json::from("Pia")));
    let relation = "connector:acme-desk-mcp#relations/Case/handledBy";
    assert!(stored.edges.iter().all(|(_, name, target)| name == relation && target.stream == stream("cases")));
    for batch in bench.sink.batches() {
        for edge in batch.relationships {
            assert!(edge.provenance.source_uri.contains("/relationships/"), "{}", edge.provenance.source_uri);
        }
    }
    assert_eq!(bench.stream("cases").await.batches.len(), 0);
    // An edge that is gone is replaced, because the record says that its relations are complete.
    *current.lock().unwrap() = json(r#"[{"id":"1","handler":[{"key":"q"}]}]"#);
    bench.stream("cases").await;
    let stored = bench.sink.stored(&connector(), &stream("cases"));
    let from_one: Vec<_> = stored.edges.iter().filter(|(from, ..)| *from == id("1")).collect();
    assert_eq!(from_one.len(), 1);
}

/// Proves: SDK-SOURCE-INGEST-R004.36
#[tokio::test(start_paused = true)]
async fn a_real_record_wins_over_a_stub() {
    let edge = r#"{"relationship":"parent","target_field":"parent","target_type":"Case","target_id_template":"{id}",
        "target_fields":{}}"#;
    let (bench, records) =
        bench(edge, r#"[{"id":"2","parent":"1"},{"id":"1","title":"real"},{"id":"3","parent":"3"}]"#);
    let report = bench.stream("cases").await;
    assert_eq!((report.submitted, report.stubs, report.self_references), (3, 0, 1), "{:?}", report.refusal);
    *records.lock().unwrap() = json(r#"[{"id":"4","parent":"1"},{"id":"5","parent":"9"}]"#);
    let report = bench.stream("cases").await;
    assert_eq!((report.submitted, report.stubs), (2, 1), "only the record nobody knows gets a stub");
    let stored = bench.sink.stored(&connector(), &stream("cases"));
    assert_eq!(stored.live[&id("1")].payload.get("title"), Some(&Json::from("real")));
    *records.lock().unwrap() = json(r#"[{"id":"9","title":"nine"}]"#);
    bench.stream("cases").await;
    let stored = bench.sink.stored(&connector(), &stream("cases"));
    assert_eq!(
        stored.live[&id("9")].payload.get("title"),
        Some(&Json::from("nine")),
        "the real record replaces its stub"
    );
}

/// Proves: SDK-SOURCE-INGEST-R004.36
#[tokio::test(start_paused = true)]
async fn a_target_stream_names_the_other_sources_record_without_a_stub() {
    let edge = r#"{"relationship":"handledBy","target_field":"handler","target_type":"Person","target_id_template":"{id}",
        "target_stream":"people"}"#;
    let (bench, _) = bench(edge, r#"[{"id":"1","handler":"p"}]"#);
    let report = bench.stream("cases").await;
    assert_eq!((report.submitted, report.stubs, report.relationships), (1, 0, 1), "{:?}", report.refusal);
    let stored = bench.sink.stored(&connector(), &stream("cases"));
    assert!(stored.edges.iter().any(|(_, _, target)| target.stream == stream("people") && target.record_id == id("p")));
    let (bench, _) = self::bench(edge, "[]");
    bench.sink.capabilities.lock().unwrap().cross_stream_relationships = false;
    let report = bench.stream("cases").await;
    assert_eq!(report.refusal.unwrap().code, "capability_missing");
    assert!(bench.server.calls("list").is_empty(), "refused before anything is read");
    let (mut bench, _) = self::bench(edge, r#"[{"id":"1","handler":"p"}]"#);
    bench.sink.capabilities.lock().unwrap().cross_stream_relationships = false;
    bench.config.leave_out_foreign_edges = true;
    let report = bench.stream("cases").await;
    assert_eq!((report.submitted, report.stubs, report.relationships), (1, 0, 0), "{:?}", report.refusal);
}

/// Proves: SDK-SOURCE-INGEST-R017.4
#[tokio::test(start_paused = true)]
async fn a_mapped_nested_value_without_an_edge_is_refused_and_moves_nothing() {
    let (bench, _) = bench("", r#"[{"id":"1","title":{"text":"x"}}]"#);
    let report = bench.stream("cases").await;
    assert_eq!(report.refusal.unwrap().code, "undeclared_nested_value");
    assert!(report.cursor_after.is_none() && bench.sink.batches().is_empty());
    let (bench, _) = self::bench("", r#"[{"id":"1","other":{"text":"x"}}]"#);
    assert_eq!(bench.stream("cases").await.state, SyncState::Complete, "what no mapping takes may be nested");
}

/// A reconcile sweep keeps the stubs its records refer to, although the source does not list them.
#[tokio::test(start_paused = true)]
async fn stubs_stay_live_through_a_reconcile() {
    let source = source(HANDLER).replace(
        r#""preset":{"params_style":"args"}"#,
        r#""records_path":"items","preset":{"params_style":"args","reconcile_path":"live","authoritative_path":"all"}"#,
    );
    let result = Arc::new(Mutex::new(json(
        r#"{"items":[{"id":"1","handler":{"key":"p"}},{"id":"2","handler":{"key":"q"}}],"live":["1","2"],"all":true}"#,
    )));
    let answer = result.clone();
    let server = FakeServer::new(&declaration(&[&source], &["Case", "Person"]))
        .with_tool(tool("list", &[]), move |_| Answer::Value(answer.lock().unwrap().clone()));
    let mut bench = Bench::new(server);
    bench.config = config(&["cases"]);
    assert_eq!(bench.stream("cases").await.stubs, 2);
    assert_eq!(bench.stream("cases").await.batches.len(), 0);
    *result.lock().unwrap() = json(r#"{"items":[{"id":"1","handler":{"key":"p"}}],"live":["1"],"all":true}"#);
    let report = bench.stream("cases").await;
    assert_eq!(report.withdrawn, 2, "the record and the stub nobody refers to: {:?}", report.refusal);
    let stored = bench.sink.stored(&connector(), &stream("cases"));
    assert_eq!(stored.live.keys().map(ToString::to_string).collect::<Vec<_>>(), ["1", "Person:p"]);
}

/// Every case of the peer's edge vectors.
///
/// Proves: SDK-SOURCE-INGEST-R004.36
#[test]
fn references_are_read_as_the_vectors_say() {
    let text = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/vectors/documents.json")).unwrap();
    let file = scion_domain::json::parse_with(&text, scion_domain::json::JsonLimits::DEFAULT).unwrap();
    let edges = file.get("source_edges").unwrap();
    let record = edges.get("record").unwrap().as_object().unwrap();
    let cases = edges.get("cases").unwrap().as_array().unwrap();
    assert!(cases.len() >= 10);
    for case in cases {
        let mut spec = case.get("edge").unwrap().as_object().unwrap().clone();
        spec.insert("relationship".into(), Json::from("rel"));
        spec.insert("target_type".into(), Json::from("P"));
        let edge = source(&scion_domain::json::to_compact(&Json::Object(spec)));
        let document = declaration(&[&edge], &["Case", "P"]);
        let declared = scion_domain::declaration::ConnectorDeclaration::from_text(document.as_bytes()).unwrap();
        let found = references(&declared.sources[0].edges[0], record);
        let wanted = case.get("result").unwrap().as_array().unwrap();
        assert_eq!(found.len(), wanted.len(), "{case:?}");
        for (found, wanted) in found.iter().zip(wanted) {
            match wanted.get("target") {
                Some(Json::Object(target)) => {
                    assert_eq!(target.get("id"), Some(&Json::from(found.target_id.as_str())));
                    assert_eq!(target.get("properties"), Some(&Json::Object(found.properties.clone())));
                }
                _ => assert_eq!(wanted.get("to").unwrap().as_array().unwrap()[0], Json::from(found.target_id.as_str())),
            }
        }
    }
}
