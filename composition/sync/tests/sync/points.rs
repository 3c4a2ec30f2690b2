//! Every commit point is reached, and a run that stops at any of them loses nothing and repeats nothing.

use std::time::Duration;

use scion_domain::id::RecordId;
use scion_sync::fault::CommitPoint;

use crate::desk;
use crate::support::{Bench, SinkFault, config, connector, stream};

fn bench() -> Bench {
    let mut bench = Bench::new(desk::server(&desk::tickets(25), 10));
    bench.config = config(&["tickets"]);
    bench
}

#[tokio::test(start_paused = true)]
async fn every_registered_point_is_reached() {
    let bench = bench();
    // One lost reply, for the readback.
    bench.sink.fail_next(SinkFault::ReplyLost);
    assert!(bench.cycle().await.success);
    let reached = bench.seam.reached.lock().unwrap().clone();
    for point in CommitPoint::ALL {
        assert!(reached.contains_key(&point), "{point:?} has no fault seam in a run");
    }
}

#[tokio::test(start_paused = true)]
async fn a_crash_at_any_point_is_followed_by_an_undisturbed_result() {
    let expected: Vec<RecordId> = {
        let bench = bench();
        bench.cycle().await;
        bench.sink.stored(&connector(), &stream("tickets")).live.into_keys().collect()
    };
    let mut crashes = 0;
    for point in CommitPoint::ALL {
        for nth in 1..=4 {
            let bench = bench();
            bench.sink.fail_next(SinkFault::ReplyLost);
            bench.seam.hang_at(point, nth);
            // A hang outside a bounded call is a crash; inside one it is a time-out, and the run goes on by itself.
            let ended = tokio::time::timeout(Duration::from_mins(10), bench.cycle()).await;
            crashes += usize::from(ended.is_err());
            bench.seam.run_free();
            let after = bench.sink.batches();
            let report = bench.cycle().await;
            assert!(report.success, "{point:?} {nth}: {:?}", report.refusal);
            let stored = bench.sink.stored(&connector(), &stream("tickets"));
            assert_eq!(stored.live.keys().cloned().collect::<Vec<_>>(), expected, "{point:?} {nth}");
            assert_eq!(bench.sink.batches()[..after.len()], after[..], "{point:?} {nth}: nothing accepted was undone");
            let sent: usize = bench.sink.batches().iter().map(|batch| batch.records.len()).sum();
            assert_eq!(sent, 25, "{point:?} {nth}: no record was applied twice");
            assert!(bench.cycle().await.run.unwrap().stages[0].receipt.is_none(), "a third run has nothing to do");
        }
    }
    assert!(crashes > 10, "only {crashes} runs crashed");
}
