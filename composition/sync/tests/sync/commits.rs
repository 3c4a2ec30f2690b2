//! Commits whose outcome is not clear at once.

use scion_domain::model::{IngestMode, SourceBatch, SourceCheckpoint};
use scion_domain::sink::{SinkRefusal, StoreRefusal};
use scion_sync::SyncState;

use crate::desk;
use crate::support::{Bench, SinkFault, config, connector, stream};

fn bench() -> Bench {
    let mut bench = Bench::new(desk::server(&desk::tickets(25), 10));
    bench.config = config(&["tickets"]);
    bench
}

/// Proves: SDK-SOURCE-INGEST-R001.2, SDK-SOURCE-INGEST-R001.4
#[tokio::test(start_paused = true)]
async fn an_unknown_outcome_is_settled_by_reading_and_never_sent_blindly_again() {
    for (fault, sent_again) in [
        (SinkFault::ReplyLost, false),
        (SinkFault::HangAfter, false),
        (SinkFault::RequestLost, true),
        (SinkFault::HangBefore, true),
    ] {
        let bench = bench();
        bench.sink.fail_next(fault.clone());
        let report = bench.stream("tickets").await;
        assert_eq!((report.state, report.submitted), (SyncState::Complete, 25), "{fault:?} {:?}", report.refusal);
        assert_eq!(bench.sink.batches().len(), 3, "{fault:?}");
        assert_eq!(report.batches[0].replayed, !sent_again, "{fault:?}");
        assert_eq!(
            report.batches[0].batch_digest,
            scion_domain::digest::batch(&bench.sink.batches()[0]).unwrap().batch
        );
        assert_eq!(report.batches[0].contract_revision, 1);
    }
}

/// Proves: SDK-SOURCE-INGEST-R001.4
#[tokio::test(start_paused = true)]
async fn a_receipt_of_another_batch_ends_the_run_and_the_next_one_resumes() {
    let bench = bench();
    bench.sink.fail_next(SinkFault::WrongReceipt);
    let report = bench.stream("tickets").await;
    assert_eq!(report.state, SyncState::Failed);
    assert_eq!(report.refusal.unwrap().code, "receipt_mismatch");
    assert_eq!((report.submitted, report.batches.len()), (0, 0));
    let second = bench.stream("tickets").await;
    assert_eq!((second.state, second.submitted), (SyncState::Complete, 15));
    assert_eq!(bench.sink.batches().len(), 3, "the batch that was applied is not applied twice");
}

/// Proves: SDK-SOURCE-INGEST-R001.4
#[tokio::test(start_paused = true)]
async fn a_store_that_never_settles_ends_the_run_within_the_deadline() {
    let bench = bench();
    for _ in 0..50 {
        bench.sink.fail_next(SinkFault::HangBefore);
        bench.sink.status_faults.lock().unwrap().push_back(SinkRefusal::OutcomeUnknown);
    }
    // The first status call of the run must succeed.
    bench.sink.status_faults.lock().unwrap().clear();
    let started = tokio::time::Instant::now();
    let report = bench.stream("tickets").await;
    assert_eq!(report.refusal.unwrap().code, "commit_unsettled");
    assert!(started.elapsed().as_secs() < 200, "{:?}", started.elapsed());
    assert!(bench.sink.batches().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_locked_store_is_waited_for_and_a_full_one_is_not() {
    let bench = bench();
    let locked = SinkRefusal::Store { refusal: StoreRefusal::Locked { seconds: 5 } };
    bench.sink.fail_next(SinkFault::Refuse(locked.clone()));
    assert_eq!(bench.stream("tickets").await.state, SyncState::Complete);
    let bench = self::bench();
    for _ in 0..100 {
        bench.sink.fail_next(SinkFault::Refuse(locked.clone()));
    }
    let report = bench.stream("tickets").await;
    assert_eq!(report.refusal.unwrap().code, "store_locked", "after the deadline, what stood in the way is named");
    let bench = self::bench();
    bench.sink.fail_next(SinkFault::Refuse(SinkRefusal::Store { refusal: StoreRefusal::Full }));
    let report = bench.stream("tickets").await;
    assert_eq!(report.refusal.unwrap().code, "store_full");
    assert!(report.cursor_after.is_none());
}

#[tokio::test(start_paused = true)]
async fn no_more_batches_are_under_way_than_the_sink_admits() {
    use std::sync::atomic::Ordering;
    for limit in [1, 3] {
        let bench = Bench::new(desk::server(&desk::tickets(25), 10));
        bench.sink.capabilities.lock().unwrap().max_in_flight = limit;
        assert!(bench.cycle().await.success);
        assert!(bench.sink.most_under_way.load(Ordering::SeqCst) <= limit);
    }
}

/// Proves: SDK-SOURCE-INGEST-R004.22
#[tokio::test(start_paused = true)]
async fn a_second_writer_ends_the_run_without_moving_the_cursor() {
    let records = desk::tickets(25);
    let server = desk::server(&records, 10);
    let mut bench = Bench::new(server);
    bench.config = config(&["tickets"]);
    let sink = bench.sink.clone();
    let inner = desk::pages(&records, 1, 10);
    bench.server.set_tool(crate::support::tool("desk_list_tickets", &["page"]), move |arguments| {
        // Another writer moves the stream while the second page is being read.
        if arguments.get("page").is_some_and(|page| *page == scion_domain::json::Json::from(2u64)) {
            let accepted = sink.stored(&connector(), &stream("tickets")).status.accepted_checkpoint;
            let moved =
                SourceCheckpoint { watermark: Some("foreign".into()), ..SourceCheckpoint::start(stream("tickets")) };
            if accepted.as_ref() != Some(&moved) {
                sink.apply_foreign(&SourceBatch {
                    connector: connector(),
                    mode: IngestMode::Delta,
                    strict_schema: false,
                    records: Vec::new(),
                    relationships: Vec::new(),
                    provider_checkpoint: moved,
                    expected_previous_checkpoint: accepted,
                    authoritative_live_ids: None,
                    empty_authoritative_approval: None,
                    withdrawals: Vec::new(),
                });
            }
        }
        inner(arguments)
    });
    let report = bench.stream("tickets").await;
    assert_eq!((report.state, report.submitted), (SyncState::Failed, 10));
    assert_eq!(report.refusal.unwrap().code, "conflict");
    let accepted = bench.sink.stored(&connector(), &stream("tickets")).status.accepted_checkpoint.unwrap();
    assert_eq!(accepted.watermark.as_deref(), Some("foreign"), "the other writer's progress stands");
}
