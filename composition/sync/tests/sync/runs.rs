//! The peer's recorded runs. Where the peer's own defects end a run, ours succeeds (DEVIATIONS.md).

use std::collections::BTreeMap;

use scion_domain::json::Json;
use scion_domain::model::SourceCheckpoint;
use scion_ports::Sink as _;

use crate::desk::{self, AGENTS, DETAILS, declaration, tickets};
use crate::support::{Bench, config, connector, json, tool};

fn bench(case: &Json) -> Bench {
    let size = usize::try_from(case.get("page_size").unwrap().as_number().unwrap().as_u64().unwrap()).unwrap();
    let mut source = desk::tickets_source(size);
    if case.get("declared_start_page").is_none_or(Json::is_null) {
        source = source.replace(r#""start_page":1,"#, "");
    }
    let server = desk::server(&tickets(25), size);
    server.declare(&declaration(&[&source, AGENTS, DETAILS], &["Ticket", "Agent", "TicketDetail"]));
    // The tool itself says where its pages start.
    server.describe("desk_list_tickets", |description| {
        description.input_schema =
            json(r#"{"type":"object","properties":{"page":{"type":"integer","default":1,"minimum":1}}}"#);
    });
    let descriptor = case.get("descriptor").unwrap();
    let presets: Vec<&str> =
        descriptor.get("presets").unwrap().as_array().unwrap().iter().filter_map(Json::as_str).collect();
    let mut bench = Bench::new(server);
    bench.config = config(&presets);
    bench.config.provision = descriptor.get("provision") != Some(&Json::from(false));
    let reference = descriptor.get("mapping_reference").and_then(Json::as_str);
    reference.unwrap_or("").clone_into(&mut bench.config.mapping_reference);
    if let Some(pages) = descriptor.get("max_pages_per_cycle") {
        bench.config.max_pages_per_cycle = u32::try_from(pages.as_number().unwrap().as_u64().unwrap()).unwrap();
    }
    bench
}

fn checkpoint(checkpoint: &SourceCheckpoint) -> Json {
    Json::from([
        ("content_hash", Json::from(checkpoint.content_hash.map(scion_domain::id::Digest256::to_hex))),
        ("pending_watermark", Json::from(checkpoint.pending_watermark.clone())),
        ("position", checkpoint.position.clone()),
        ("stream", Json::from(checkpoint.stream.as_str())),
        ("watermark", Json::from(checkpoint.watermark.clone())),
    ])
}

/// What our batches look like, in the shape of the vectors.
fn batches(bench: &Bench) -> Vec<Json> {
    let sink = bench.sink.batches();
    let row = |batch: &scion_domain::model::SourceBatch| {
        let records = batch.records.iter().map(|record| Json::from(record.entity.record_id.as_str()));
        Json::from([
            ("mode", Json::from(batch.mode.as_str())),
            ("stream", Json::from(batch.provider_checkpoint.stream.as_str())),
            ("records", Json::Array(records.collect())),
            ("checkpoint", checkpoint(&batch.provider_checkpoint)),
            ("previous", Json::from(batch.expected_previous_checkpoint.as_ref().map(checkpoint))),
            ("relationships", Json::from(batch.relationships.len() as u64)),
        ])
    };
    sink.iter().map(row).collect()
}

/// Proves: SDK-SOURCE-INGEST-R001, SDK-SOURCE-INGEST-R004
#[tokio::test(start_paused = true)]
async fn recorded_runs_are_repeated_or_bettered() {
    let text = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/vectors/runner.json")).unwrap();
    let file = scion_domain::json::parse_with(&text, scion_domain::json::JsonLimits::DEFAULT).unwrap();
    let cases = file.get("runs").unwrap().as_array().unwrap();
    // Our own results where they differ: cycles that succeed, batches in all, records in all.
    let better: BTreeMap<&str, (usize, usize, usize)> = [
        ("sweep-twice", (2, 3, 25)),
        ("provision-and-one-call-source", (2, 1, 2)),
        ("start-page-not-declared", (1, 3, 25)),
        ("exact-multiple-ends-on-an-empty-page", (1, 6, 25)),
        ("for-each-over-a-single-object-tool", (1, 25, 25)),
        ("provision-then-three-pages", (1, 3, 25)),
        ("twenty-five-pages", (1, 26, 25)),
    ]
    .into();
    let mut seen = 0;
    for case in cases {
        let name = case.get("id").unwrap().as_str().unwrap();
        let bench = bench(case);
        if !bench.config.provision {
            // The operator has certified the declaration before.
            let mut certified = Bench::new((*bench.server).clone());
            certified.sink = bench.sink.clone();
            certified.config = config(&["agents"]);
            certified.config.max_pages_per_cycle = 1;
            certified.server.set_tool(tool("desk_list_agents", &[]), |_| crate::support::Answer::Error);
            certified.cycle().await;
            assert!(bench.sink.pack_status(&connector()).await.unwrap().accepted_digest.is_some());
            bench.server.set_tool(tool("desk_list_agents", &[]), desk::whole(&desk::agents()));
        }
        let mut successes = 0;
        for _ in 0..case.get("cycles").unwrap().as_number().unwrap().as_u64().unwrap() {
            successes += usize::from(bench.cycle().await.success);
        }
        let ours = batches(&bench);
        if let Some((cycles, count, records)) = better.get(name) {
            seen += 1;
            let sent: usize = ours.iter().map(|batch| batch.get("records").unwrap().as_array().unwrap().len()).sum();
            assert_eq!((successes, ours.len(), sent), (*cycles, *count, *records), "{name}");
            continue;
        }
        let results = case.get("results").unwrap().as_array().unwrap().iter();
        let peer = results.filter(|result| result.get("acme-desk-mcp") == Some(&Json::from(true))).count();
        assert_eq!(successes, peer, "{name}");
        let wanted = case.get("batches").map_or(&[][..], |batches| batches.as_array().unwrap());
        assert_eq!(ours, wanted, "{name}");
    }
    assert_eq!(seen, better.len());
    assert!(cases.len() >= 9);
}
