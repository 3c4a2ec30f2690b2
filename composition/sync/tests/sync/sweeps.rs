//! Whole cycles of a worker.

use scion_domain::model::IngestMode;
use scion_sync::SyncState;

use crate::desk;
use crate::support::{Bench, config, connector, stream};

/// Proves: SDK-SOURCE-INGEST-R004.20, SDK-SOURCE-INGEST-R004.23
#[tokio::test(start_paused = true)]
async fn a_first_sweep_submits_every_record_and_a_second_one_nothing() {
    let mut bench = Bench::new(desk::server(&desk::tickets(25), 10));
    bench.config = config(&["tickets"]);
    let first = bench.stream("tickets").await;
    assert_eq!((first.state, first.exhausted), (SyncState::Complete, true), "{:?}", first.refusal);
    assert_eq!((first.pages, first.seen, first.submitted, first.unchanged), (3, 25, 25, 0));
    assert_eq!(bench.sink.stored(&connector(), &stream("tickets")).live.len(), 25);
    let batches = bench.sink.batches();
    assert!(batches.iter().all(|batch| batch.mode == IngestMode::Full));
    assert_eq!(first.batches.len(), batches.len());
    let writes = bench.checkpoints.write_count();
    let second = bench.stream("tickets").await;
    assert_eq!((second.state, second.submitted, second.unchanged), (SyncState::Complete, 0, 25));
    assert_eq!(bench.sink.batches().len(), batches.len());
    assert_eq!(bench.checkpoints.write_count(), writes, "an unchanged cycle writes nothing");
}
