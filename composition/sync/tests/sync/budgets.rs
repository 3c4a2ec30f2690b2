//! Budgets, retries and cancellation.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use scion_domain::json::Json;
use scion_domain::mcp::McpRefusal;
use scion_domain::model::IngestMode;
use scion_sync::SyncState;

use crate::desk;
use crate::support::{Answer, Bench, config, connector, stream, tool};

fn bench() -> Bench {
    let mut bench = Bench::new(desk::server(&desk::tickets(25), 10));
    bench.config = config(&["tickets"]);
    bench
}

/// Proves: SDK-SOURCE-INGEST-R004.22
#[tokio::test(start_paused = true)]
async fn a_page_budget_ends_the_cycle_and_the_next_one_resumes_exactly() {
    let mut bench = bench();
    bench.config.max_pages_per_cycle = 1;
    for (state, submitted) in [(SyncState::Partial, 10), (SyncState::Partial, 10), (SyncState::Complete, 5)] {
        let report = bench.stream("tickets").await;
        assert_eq!((report.state, report.submitted, report.pages), (state, submitted, 1));
    }
    assert_eq!(bench.server.calls("desk_list_tickets").len(), 3, "no accepted page is fetched again");
}

/// A budget must not let a sweep over unchanged pages start from the beginning for ever.
#[tokio::test(start_paused = true)]
async fn an_unchanged_sweep_under_a_budget_gets_to_its_end() {
    let mut bench = bench();
    assert_eq!(bench.stream("tickets").await.state, SyncState::Complete);
    let batches = bench.sink.batches().len();
    bench.config.max_pages_per_cycle = 1;
    assert_eq!(bench.stream("tickets").await.state, SyncState::Partial);
    let extra = bench.sink.batches();
    assert_eq!(extra.len(), batches + 1);
    let last = extra.last().unwrap();
    assert_eq!((last.mode, last.records.len()), (IngestMode::Delta, 0), "an empty delta only saves the position");
    assert_eq!(bench.stream("tickets").await.state, SyncState::Partial);
    assert_eq!(bench.stream("tickets").await.state, SyncState::Complete);
    let status = bench.sink.stored(&connector(), &stream("tickets")).status;
    assert!(!status.accepted_checkpoint.unwrap().is_mid_sweep());
}

/// Proves: SDK-SOURCE-INGEST-R004.22
#[tokio::test(start_paused = true)]
async fn record_and_time_budgets_end_the_cycle_too() {
    let mut bench = bench();
    bench.options.budget.max_records = Some(15);
    let report = bench.stream("tickets").await;
    assert_eq!((report.state, report.seen), (SyncState::Partial, 20));
    let mut bench = self::bench();
    bench.options.budget.max_time = Some(Duration::ZERO);
    let report = bench.stream("tickets").await;
    assert_eq!((report.state, report.pages), (SyncState::Partial, 0));
}

fn flaky(bench: &Bench, failures: usize, failure: impl Fn() -> Answer + Send + Sync + 'static) -> Arc<AtomicUsize> {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let inner = desk::pages(&desk::tickets(25), 1, 10);
    bench.server.set_tool(tool("desk_list_tickets", &["page"]), move |arguments| {
        if counted.fetch_add(1, Ordering::SeqCst) < failures { failure() } else { inner(arguments) }
    });
    calls
}

/// Proves: SDK-SOURCE-INGEST-R004.22
#[tokio::test(start_paused = true)]
async fn a_failing_tool_is_tried_three_times_with_growing_waits() {
    let bench = bench();
    let calls = flaky(&bench, 2, || Answer::Error);
    let report = bench.stream("tickets").await;
    assert_eq!((report.state, report.submitted), (SyncState::Complete, 25));
    assert_eq!(calls.load(Ordering::SeqCst), 5);
    let bench = self::bench();
    let calls = flaky(&bench, 99, || Answer::Error);
    let report = bench.stream("tickets").await;
    assert_eq!(report.state, SyncState::Failed);
    assert_eq!(report.refusal.unwrap().code, "tool_failed");
    assert_eq!(calls.load(Ordering::SeqCst), 3);
    assert!(report.cursor_after.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_hangs_is_given_up_and_one_that_cannot_succeed_is_not_repeated() {
    let bench = bench();
    let calls = flaky(&bench, 1, || Answer::Hang);
    assert_eq!(bench.stream("tickets").await.state, SyncState::Complete);
    assert_eq!(calls.load(Ordering::SeqCst), 4);
    let bench = self::bench();
    let refuse = || Answer::Refuse(McpRefusal::ArgumentsRefused { tool: "desk_list_tickets".into() });
    let calls = flaky(&bench, 99, refuse);
    assert_eq!(bench.stream("tickets").await.refusal.unwrap().code, "arguments_refused");
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

/// Proves: SDK-SOURCE-INGEST-R001.4
#[tokio::test(start_paused = true)]
async fn cancellation_finishes_the_page_in_flight_and_stops() {
    let bench = bench();
    let cancel = bench.cancel.clone();
    let inner = desk::pages(&desk::tickets(25), 1, 10);
    bench.server.set_tool(tool("desk_list_tickets", &["page"]), move |arguments| {
        if arguments.get("page") == Some(&Json::from(2u64)) {
            cancel.cancel();
        }
        inner(arguments)
    });
    let report = bench.stream("tickets").await;
    // The second page was read ahead while the first was committed; it is left to the next run.
    assert_eq!((report.state, report.submitted, report.pages), (SyncState::Cancelled, 10, 1));
    let mut bench = bench;
    bench.cancel = tokio_util::sync::CancellationToken::new();
    let second = bench.stream("tickets").await;
    assert_eq!((second.state, second.submitted), (SyncState::Complete, 15));
}
