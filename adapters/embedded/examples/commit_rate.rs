//! Commit rate of the embedded graph against a raw SQLite loop that writes the same rows, and query times on the result.
//!
//! `cargo run --release -p scion-embedded --example commit_rate -- [records] [random]`

#![allow(clippy::print_stdout, clippy::expect_used, clippy::unwrap_used, clippy::cast_precision_loss, clippy::pedantic)]

use std::sync::Arc;
use std::time::Instant;

use scion_domain::digest;
use scion_domain::id::{ConnectorName, Digest256, MappingReference, RecordId, RecordType, StreamName};
use scion_domain::json::{Json, JsonObject, to_compact};
use scion_domain::model::{
    EntityRef, IngestMode, PackEntry, PackImport, PackServer, Provenance, SourceBatch, SourceCheckpoint, SourceRecord,
};
use scion_domain::query::{QueryAnswer, QueryRequest};
use scion_embedded::{EmbeddedGraph, StoreOptions};
use scion_ports::{GraphQuery, RecordDigests, Sink};

const PAGE: usize = 200;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let records: usize = arguments.next().map_or(200_000, |text| text.parse().expect("a number of records"));
    let random = arguments.next().is_some();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(run(records, random));
}

async fn run(records: usize, random: bool) {
    let folder = tempfile::tempdir().expect("a folder");
    let options = StoreOptions { index_titles: std::env::var_os("NO_TITLES").is_none(), ..StoreOptions::default() };
    let graph = EmbeddedGraph::open_with(&folder.path().join("graph.sqlite"), options).expect("a store");
    graph.import_pack(&pack()).await.expect("a pack");

    let (mut spent, mut mark, mut building) = (0.0, 0.0, 0.0);
    let mut previous = None;
    for page in 0..records / PAGE {
        let start = Instant::now();
        let batch = batch(page, random, previous.take());
        building += start.elapsed().as_secs_f64();
        let start = Instant::now();
        graph.commit(&batch).await.expect("a commit");
        spent += start.elapsed().as_secs_f64();
        previous = Some(batch.provider_checkpoint);
        let done = (page + 1) * PAGE;
        if done == 10_000 || done.is_multiple_of(200_000) {
            println!(
                "{done:>9} records: {:>8.0} records/s since the last line",
                done_since(done) as f64 / (spent - mark)
            );
            mark = spent;
        }
    }
    println!("commits: {:.0} records/s in all; building the batches took {building:.1} s", records as f64 / spent);
    println!("peak memory: {} KiB", peak_kib());

    let ids: Vec<RecordId> = (0..PAGE).map(|n| RecordId::parse(&id(n * 7, random)).unwrap()).collect();
    let start = Instant::now();
    for _ in 0..100 {
        graph.lookup(&connector(), &stream(), &ids).await.expect("digests");
    }
    println!("lookup of {PAGE} digests: {:.2} ms", start.elapsed().as_secs_f64() * 10.0);
    queries(&graph, random).await;
    println!("peak memory: {} KiB", peak_kib());
    drop(graph);
    let size = std::fs::metadata(folder.path().join("graph.sqlite")).map_or(0, |meta| meta.len());
    println!("file: {:.0} bytes a record", size as f64 / records as f64);
    println!("raw SQLite loop: {:.0} records/s", raw_loop(records, random));
}

/// Records since the previous line that was printed.
fn done_since(done: usize) -> usize {
    match done {
        10_000 => 10_000,
        200_000 => 190_000,
        _ => 200_000,
    }
}

async fn queries(graph: &EmbeddedGraph, random: bool) {
    let one = id(4_321, random);
    for (name, sparql) in [
        ("point by id", format!("SELECT * {{ ?r scion:recordId \"{one}\" ; bench:title ?t ; bench:status ?s }}")),
        ("point by IRI", format!("SELECT ?p ?o {{ <urn:scion:bench:items:{one}> ?p ?o }}")),
        ("by indexed value", "SELECT ?r { ?r bench:title \"Item number 4321\" }".to_owned()),
        ("count of a class", "SELECT (COUNT(?r) AS ?n) { ?r a bench:Item }".to_owned()),
        (
            "filtered scan, number",
            "SELECT (COUNT(?r) AS ?n) { ?r a bench:Item ; bench:points ?p FILTER(?p > 90) }".to_owned(),
        ),
        (
            "filtered scan, text",
            "SELECT ?r { ?r bench:owner ?o FILTER(CONTAINS(?o, \"user-77\")) } LIMIT 50000".to_owned(),
        ),
        ("equal, not indexed", "SELECT (COUNT(?r) AS ?n) { ?r bench:status \"open\" }".to_owned()),
        (
            "group",
            "SELECT ?s (COUNT(?r) AS ?n) (AVG(?p) AS ?a) { ?r bench:status ?s ; bench:points ?p } GROUP BY ?s"
                .to_owned(),
        ),
    ] {
        let request = QueryRequest { sparql, max_rows: 100_000, timeout_ms: 60_000 };
        let mut best = f64::MAX;
        let mut rows = 0;
        for _ in 0..3 {
            let start = Instant::now();
            let answer = graph.query(&request).await.expect("an answer");
            best = best.min(start.elapsed().as_secs_f64());
            rows = if let QueryAnswer::Solutions { rows, .. } = answer { rows.len() } else { 0 };
        }
        println!("{name:>24}: {:>9.2} ms, {rows} rows", best * 1000.0);
    }
}

/// The same payload text, id, time and digest in one table with one unique index, in the same transactions.
fn raw_loop(records: usize, random: bool) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    let mut connection = rusqlite::Connection::open(folder.path().join("raw.sqlite")).expect("a file");
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             CREATE TABLE record(id INTEGER PRIMARY KEY, stream INTEGER, record_id TEXT, payload TEXT, updated_at TEXT, digest BLOB);
             CREATE UNIQUE INDEX record_identity ON record(stream, record_id);",
        )
        .expect("a schema");
    let mut spent = 0.0;
    for page in 0..records / PAGE {
        let rows: Vec<(String, String)> = (0..PAGE)
            .map(|n| (id(page * PAGE + n, random), to_compact(&Json::Object(payload(page * PAGE + n)))))
            .collect();
        let start = Instant::now();
        let transaction = connection.transaction().expect("a transaction");
        let mut add = transaction
            .prepare_cached("INSERT INTO record(stream, record_id, payload, updated_at, digest) VALUES(1, ?1, ?2, '2026-01-01T00:00:00Z', ?3)")
            .expect("a statement");
        for (id, payload) in &rows {
            add.execute((id, payload, [7u8; 32])).expect("a row");
        }
        drop(add);
        transaction.commit().expect("a commit");
        spent += start.elapsed().as_secs_f64();
    }
    records as f64 / spent
}

fn connector() -> ConnectorName {
    ConnectorName::parse("bench").unwrap()
}

fn stream() -> StreamName {
    StreamName::parse("items").unwrap()
}

fn id(n: usize, random: bool) -> String {
    if random { digest::sha256(&n.to_le_bytes()).to_hex()[..24].to_owned() } else { format!("item-{n:010}") }
}

fn payload(n: usize) -> JsonObject {
    let text = |prefix: &str| Json::from(format!("{prefix}{n}"));
    let members = [
        ("title", text("Item number ")),
        ("status", Json::from(["open", "closed", "waiting"][n % 3])),
        ("points", Json::from((n % 100) as u64)),
        ("owner", Json::from(format!("user-{}", n % 100))),
        ("created", Json::from("2026-01-01T00:00:00Z")),
        ("url", text("https://items.example/items/")),
        ("body", Json::from(format!("{n} {}", "lorem ipsum dolor sit amet ".repeat(9)))),
        ("open", Json::from(n.is_multiple_of(2))),
        ("kind", Json::from("task")),
        ("number", Json::from(n as u64)),
    ];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn batch(page: usize, random: bool, previous: Option<SourceCheckpoint>) -> SourceBatch {
    let mapping = MappingReference::of(&connector(), &RecordType::parse("Item").unwrap()).unwrap();
    let records = (0..PAGE)
        .map(|n| {
            let n = page * PAGE + n;
            let (id, payload) = (id(n, random), payload(n));
            SourceRecord {
                entity: EntityRef { stream: stream(), record_id: RecordId::parse(&id).unwrap() },
                mapping_reference: mapping.clone(),
                content_digest: digest::record_content(&Digest256::ZERO, &payload),
                payload,
                updated_at: Some("2026-01-01T00:00:00Z".to_owned()),
                provenance: Provenance {
                    connector: connector(),
                    adapter_kind: "mcp_tool".to_owned(),
                    server: "bench".to_owned(),
                    tool: "list_items".to_owned(),
                    tool_schema_sha256: Digest256::ZERO,
                    source_uri: format!("mcp-tool://bench/list_items/{id}"),
                },
                complete_relations: Arc::new([]),
            }
        })
        .collect();
    SourceBatch {
        connector: connector(),
        mode: IngestMode::Full,
        strict_schema: true,
        records,
        relationships: Vec::new(),
        provider_checkpoint: SourceCheckpoint {
            position: Json::from([("page", Json::from(page as u64 + 1))]),
            ..SourceCheckpoint::start(stream())
        },
        expected_previous_checkpoint: previous,
        authoritative_live_ids: None,
        empty_authoritative_approval: None,
        withdrawals: Vec::new(),
    }
}

fn pack() -> PackImport {
    let fields = payload(0).keys().map(|name| format!("\"{name}\": \"{name}\"")).collect::<Vec<_>>().join(", ");
    let declaration = format!(
        r#"{{"connector": "bench", "sources": [{{"source_id": "items", "record_type": "Item", "tools": ["list_items"],
        "id_field": "number", "title_field": "title"}}],
        "schema_mappings": {{"Item": {{"ontology_class": "Item", "fields": {{{fields}}}}}}}, "resources": [], "descriptors": []}}"#
    );
    PackImport {
        connector: connector(),
        server: PackServer::default(),
        entries: vec![PackEntry {
            kind: "resource".to_owned(),
            uri: "connector://resources".to_owned(),
            media_type: "application/json".to_owned(),
            body: declaration.into_bytes(),
            ..PackEntry::default()
        }],
        expected_revision: None,
        allow_mass_withdrawal: false,
    }
}

/// The most memory this process ever had, where the system says so.
fn peak_kib() -> String {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|text| text.lines().find_map(|line| line.strip_prefix("VmHWM:").map(|rest| rest.trim().to_owned())))
        .map_or_else(|| "?".to_owned(), |text| text.trim_end_matches(" kB").to_owned())
}
