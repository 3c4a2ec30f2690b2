//! Stages side by side.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use scion_domain::id::{Digest256, TenantId};
use scion_domain::sync::SyncRefusal;
use scion_sync::stage::{RunReport, StageDescriptor, StageGraph, StageOutcome};
use scion_sync::{SourceSyncReport, SyncState};
use tokio_util::sync::CancellationToken;

use crate::desk::{self, declaration};
use crate::support::{Answer, Bench, FakeServer, connector, json, stream, tool};

fn stage(id: &str, after: &[&str]) -> StageDescriptor {
    StageDescriptor {
        id: id.to_owned(),
        tenant: Some(TenantId::parse("t").unwrap()),
        connector: connector(),
        source: stream(id),
        manifest_digest: Some(Digest256::ZERO),
        dependencies: after.iter().map(|id| (*id).to_owned()).collect(),
        concurrency: 1,
    }
}

fn outcome(stage: &StageDescriptor, state: SyncState) -> StageOutcome {
    let mut report = SourceSyncReport::start(stage.connector.clone(), stage.source.clone());
    report.state = state;
    StageOutcome { report, refusal: None }
}

async fn run(stages: Vec<StageDescriptor>, limit: usize, failing: &str) -> (RunReport, usize) {
    let running = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let graph = StageGraph::admit(stages, limit).unwrap();
    let execute = |stage: StageDescriptor| {
        let (running, most) = (running.clone(), most.clone());
        let state = if stage.id == failing { SyncState::Failed } else { SyncState::Complete };
        async move {
            let now = running.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(now, Ordering::SeqCst);
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            running.fetch_sub(1, Ordering::SeqCst);
            outcome(&stage, state)
        }
    };
    let report = graph.run("r", &CancellationToken::new(), execute).await;
    (report, most.load(Ordering::SeqCst))
}

fn states(report: &RunReport) -> Vec<(&str, SyncState)> {
    report.stages.iter().map(|stage| (stage.stage.as_str(), stage.state)).collect()
}

/// Proves: SDK-SOURCE-INGEST-R001.2
#[tokio::test(start_paused = true)]
async fn independent_stages_overlap_and_dependent_ones_wait() {
    let (report, most) = run(vec![stage("a", &[]), stage("b", &[]), stage("c", &["a", "b"])], 4, "").await;
    assert_eq!(most, 2);
    assert!(report.success);
    let (_, most) = run(vec![stage("a", &[]), stage("b", &[]), stage("c", &[])], 1, "").await;
    assert_eq!(most, 1);
    let wide = StageDescriptor { concurrency: 2, ..stage("a", &[]) };
    let (_, most) = run(vec![wide, stage("b", &[])], 2, "").await;
    assert_eq!(most, 1, "a stage takes as many places as it says");
}

/// Proves: SDK-SOURCE-INGEST-R001.4, SDK-SOURCE-INGEST-R001.5
#[tokio::test(start_paused = true)]
async fn a_failed_stage_blocks_what_depends_on_it_and_nothing_else() {
    let stages = vec![stage("a", &[]), stage("b", &["a"]), stage("c", &["b"]), stage("d", &[])];
    let (report, _) = run(stages, 4, "a").await;
    assert_eq!(
        states(&report),
        [("a", SyncState::Failed), ("b", SyncState::Blocked), ("c", SyncState::Blocked), ("d", SyncState::Complete)]
    );
    assert!(!report.success);
    assert_eq!(report.stages[1].refusal.as_ref().unwrap().code, "stage_blocked");
    assert!(report.stages[1].accepted.is_none());
}

/// Proves: SDK-SOURCE-INGEST-R001.4
#[tokio::test(start_paused = true)]
async fn a_stage_that_answers_with_anothers_progress_is_refused() {
    let graph = StageGraph::admit(vec![stage("a", &[])], 1).unwrap();
    let report =
        graph.run("r", &CancellationToken::new(), |_| async { outcome(&stage("b", &[]), SyncState::Complete) }).await;
    assert!(!report.success);
    assert!(matches!(report.refusal, Some(SyncRefusal::StageProgressForeign { .. })));
    assert!(report.stages[0].stream.is_none() && report.stages[0].accepted.is_none());
}

/// Proves: SDK-SOURCE-INGEST-R001.4
#[tokio::test(start_paused = true)]
async fn cancellation_starts_nothing_new() {
    let cancel = CancellationToken::new();
    let graph = StageGraph::admit(vec![stage("a", &[]), stage("b", &[])], 1).unwrap();
    let execute = |stage: StageDescriptor| {
        let cancel = cancel.clone();
        async move {
            cancel.cancel();
            outcome(&stage, SyncState::Complete)
        }
    };
    let report = graph.run("r", &cancel, execute).await;
    assert_eq!(states(&report), [("a", SyncState::Complete), ("b", SyncState::Cancelled)]);
}

fn two_sources(second: &str) -> FakeServer {
    let first =
        r#"{"source_id":"one","record_type":"Item","tools":["one"],"id_field":"id","preset":{"params_style":"args"}}"#;
    FakeServer::new(&declaration(&[first, second], &["Item"]))
        .with_tool(tool("one", &[]), |_| Answer::Value(json(r#"[{"id":"1"}]"#)))
        .with_tool(tool("two", &[]), |_| Answer::Value(json(r#"[{"id":"2"}]"#)))
}

const TWO: &str = r#"{"source_id":"two","record_type":"Item","tools":["two"],"id_field":"id",
    "preset":{"params_style":"args","depends_on":["one"]}}"#;

/// Proves: SDK-SOURCE-INGEST-R001.3, SDK-SOURCE-INGEST-R001.5
#[tokio::test(start_paused = true)]
async fn a_worker_runs_streams_as_stages_and_binds_dependency_receipts() {
    let bench = Bench::new(two_sources(TWO));
    let run = bench.cycle().await.run.unwrap();
    assert!(run.success);
    let receipt = run.stages[0].receipt.clone();
    assert!(receipt.is_some());
    assert_eq!(run.stages[1].dependency_receipts["one"], receipt);
    for stage in &run.stages {
        let status = bench.sink.stored(&connector(), &stage.source).status;
        assert_eq!(stage.accepted, status.accepted_checkpoint);
        assert_eq!(stage.receipt, status.last_receipt_id);
    }
    let bench = Bench::new(two_sources(TWO));
    bench.server.set_tool(tool("one", &[]), |_| Answer::Value(json("[1]")));
    let report = bench.cycle().await;
    assert!(!report.success);
    assert_eq!(states(report.run.as_ref().unwrap()), [("one", SyncState::Failed), ("two", SyncState::Blocked)]);
    assert!(bench.server.calls("two").is_empty());
}

/// A stage is killed after another committed; the restart reads only what is missing.
///
/// Proves: SDK-SOURCE-INGEST-R001.2, SDK-SOURCE-INGEST-R001.4
#[tokio::test(start_paused = true)]
async fn a_killed_stage_resumes_at_its_own_boundary() {
    let records = desk::tickets(25);
    let bench = Bench::new(desk::server(&records, 10));
    let inner = desk::pages(&records, 1, 10);
    bench.server.set_tool(tool("desk_list_tickets", &["page"]), move |arguments| {
        if arguments.get("page") == Some(&3u64.into()) { Answer::Hang } else { inner(arguments) }
    });
    let killed = tokio::time::timeout(std::time::Duration::from_secs(5), bench.cycle()).await;
    assert!(killed.is_err(), "the run hangs in the third page");
    assert_eq!(bench.sink.stored(&connector(), &stream("agents")).live.len(), 2, "the other stage has committed");
    bench.server.set_tool(tool("desk_list_tickets", &["page"]), desk::pages(&records, 1, 10));
    bench.server.forget_calls();
    let report = bench.cycle().await;
    assert!(report.success, "{:?}", report.refusal);
    let stage = report.run.unwrap().stages.into_iter().find(|stage| stage.stage == "tickets").unwrap();
    let stream_report = stage.stream.unwrap();
    assert_eq!((stream_report.pages, stream_report.submitted), (1, 5), "no accepted page is read again");
}
