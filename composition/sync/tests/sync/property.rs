//! Whatever the pages are and whatever fails on the way, the store ends up equal to the source.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use scion_domain::json::Json;
use scion_domain::sink::{SinkRefusal, StoreRefusal};

use crate::desk::{self, Records};
use crate::support::{Answer, Bench, SinkFault, config, connector, stream, tool};

#[derive(Clone, Debug)]
enum Step {
    /// Change, add or remove a record.
    Put(u8, u8),
    /// A cycle, with faults of the sink and of the tool ahead of it.
    Cycle(Vec<u8>, Vec<u8>, u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let put = (0..30u8, 0..4u8).prop_map(|(id, value)| Step::Put(id, value));
    let faults = proptest::collection::vec(0..6u8, 0..4);
    let cycle = (faults.clone(), faults, 1..5u8).prop_map(|(sink, tool, pages)| Step::Cycle(sink, tool, pages));
    proptest::collection::vec(prop_oneof![3 => put, 2 => cycle], 1..20)
}

fn sink_fault(code: u8) -> SinkFault {
    match code {
        0 => SinkFault::ReplyLost,
        1 => SinkFault::RequestLost,
        2 => SinkFault::HangBefore,
        3 => SinkFault::HangAfter,
        4 => SinkFault::Refuse(SinkRefusal::Store { refusal: StoreRefusal::Full }),
        _ => SinkFault::Refuse(SinkRefusal::Store { refusal: StoreRefusal::Locked { seconds: 1 } }),
    }
}

fn record(id: u8, value: u8) -> Json {
    Json::from([("id", Json::from(u64::from(id))), ("title", Json::from(format!("v{value}")))])
}

async fn play(steps: Vec<Step>, size: usize, max_records: usize) {
    let truth: Mutex<BTreeMap<u8, u8>> = Mutex::default();
    let records: Records = Arc::default();
    let faults: Arc<Mutex<Vec<u8>>> = Arc::default();
    let mut bench = Bench::new(desk::server(&records, size));
    bench.config = config(&["tickets"]);
    bench.sink.capabilities.lock().unwrap().max_records = max_records;
    let inner = desk::pages(&records, 1, size);
    let pending = faults.clone();
    bench.server.set_tool(tool("desk_list_tickets", &["page"]), move |arguments| match pending.lock().unwrap().pop() {
        Some(0) => Answer::Error,
        Some(1) => Answer::Hang,
        _ => inner(arguments),
    });
    for step in steps {
        match step {
            Step::Put(id, value) => {
                truth.lock().unwrap().insert(id, value);
                let list = truth.lock().unwrap().iter().map(|(id, value)| record(*id, *value)).collect();
                *records.lock().unwrap() = list;
            }
            Step::Cycle(sink, tool, pages) => {
                for code in sink {
                    bench.sink.fail_next(sink_fault(code));
                }
                *faults.lock().unwrap() = tool;
                bench.config.max_pages_per_cycle = u32::from(pages);
                bench.cycle().await;
            }
        }
    }
    faults.lock().unwrap().clear();
    bench.sink.heal();
    bench.config.max_pages_per_cycle = 1000;
    // The first clean cycle may end a sweep that began before the last change; the second covers everything.
    for _ in 0..2 {
        bench.cycle().await;
    }
    let stored = bench.sink.stored(&connector(), &stream("tickets"));
    let found: BTreeMap<String, Json> =
        stored.live.into_iter().map(|(id, record)| (id.to_string(), record.payload["title"].clone())).collect();
    let wanted: BTreeMap<String, Json> =
        truth.lock().unwrap().iter().map(|(id, value)| (id.to_string(), Json::from(format!("v{value}")))).collect();
    assert_eq!(found, wanted);
    let before = bench.sink.batches().len();
    bench.cycle().await;
    assert_eq!(bench.sink.batches().len(), before, "an unchanged source sends nothing");
}

/// A store takes a batch it has seen for a repeated delivery. A record that changes back must not make one.
#[tokio::test(start_paused = true)]
async fn a_record_that_changes_back_is_submitted_again() {
    let mut steps = Vec::new();
    for value in [0, 1, 0, 1, 0] {
        steps.extend([Step::Put(1, value), Step::Cycle(vec![], vec![], 4), Step::Cycle(vec![], vec![], 1)]);
    }
    play(steps, 2, 8).await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Proves: SDK-SOURCE-INGEST-R004.20
    #[test]
    fn the_store_ends_up_equal_to_the_source(steps in steps(), size in 1..8usize, max_records in 1..9usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(play(steps, size, max_records));
    }
}
