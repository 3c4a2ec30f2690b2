//! More than one process: queries beside a writer, and a writer that is killed.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use scion_embedded::EmbeddedGraph;
use scion_ports::{Sink, StreamCatalog};

use crate::support::*;

/// Set in the process that writes: the path of the store.
const STORE: &str = "SCION_EMBEDDED_TEST_STORE";

/// Records of each batch of the writing process.
const PAGE: u64 = 20;

/// The writing process: this test binary again, with this test alone. Does nothing when run as a test.
#[test]
fn writes_until_killed() {
    let Some(path) = std::env::var_os(STORE) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let graph = EmbeddedGraph::open(Path::new(&path)).unwrap();
        let _ = graph.import_pack(&pack(DECLARATION)).await;
        let status = graph.status(&connector(), &stream("tickets")).await.unwrap();
        let done =
            status.accepted_checkpoint.and_then(|at| at.position.get("step")?.as_number()?.as_u64()).unwrap_or(0);
        for step in done + 1.. {
            graph.commit(&page(step)).await.unwrap();
        }
    });
}

fn page(step: u64) -> scion_domain::model::SourceBatch {
    let name = |n: u64| format!("{step}-{n}");
    let mut batch = full(step, (0..PAGE).map(|n| ticket(&name(n), r#"{"title":"t","points":1}"#)).collect());
    batch.relationships = (1..PAGE).map(|n| edge(&name(n), "parent", "tickets", &name(0))).collect();
    batch
}

fn writer(path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::writes_until_killed", "--nocapture"])
        .env(STORE, path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

async fn wait_for(reader: &EmbeddedGraph, batches: u64) {
    let start = Instant::now();
    while reader.streams().await.unwrap().first().is_none_or(|tickets| tickets.batches < batches) {
        assert!(start.elapsed() < Duration::from_secs(30), "the writer does not get on");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn queries_in_one_process_see_whole_batches_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.sqlite");
    drop(EmbeddedGraph::open(&path).unwrap());
    let mut child = writer(&path);
    let reader = EmbeddedGraph::open_read_only(&path).unwrap();
    wait_for(&reader, 3).await;
    let mut last = 0;
    for _ in 0..25 {
        let counts =
            "SELECT (COUNT(DISTINCT ?r) AS ?n) (COUNT(?p) AS ?e) { ?r a desk:Ticket OPTIONAL { ?r desk:parent ?p } }";
        let row = rows(&reader, counts).await.remove(0);
        let numbers: Vec<u64> = row.split(" | ").map(|n| n.split('^').next().unwrap().parse().unwrap()).collect();
        assert_eq!(numbers[0] % PAGE, 0, "half a batch is visible");
        assert_eq!(numbers[1], numbers[0] / PAGE * (PAGE - 1), "records and edges of different states");
        assert!(numbers[0] >= last);
        last = numbers[0];
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test]
async fn a_killed_writer_leaves_whole_batches_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.sqlite");
    drop(EmbeddedGraph::open(&path).unwrap());
    let mut reached = 0;
    for round in 0..12_u64 {
        let mut child = writer(&path);
        let reader = EmbeddedGraph::open_read_only(&path).unwrap();
        wait_for(&reader, reached + 1).await;
        tokio::time::sleep(Duration::from_micros(round * 1_700)).await;
        child.kill().unwrap();
        child.wait().unwrap();
        drop(reader);

        let graph = EmbeddedGraph::open(&path).unwrap();
        let tickets = graph.streams().await.unwrap().remove(0);
        assert!(tickets.batches > reached);
        reached = tickets.batches;
        assert_eq!(tickets.checkpoint, checkpoint("tickets", reached), "every batch moved the checkpoint once");
        assert_eq!((tickets.live_records, tickets.relationships), (reached * PAGE, reached * (PAGE - 1)));
        assert_eq!(
            rows(&graph, "SELECT ?r { ?r a desk:Ticket } LIMIT 10000").await.len() as u64,
            (reached * PAGE).min(10_000)
        );
        let last = graph.commit(&page(reached)).await.unwrap();
        assert_eq!(last.disposition, scion_domain::model::Disposition::Replayed);
    }
}
