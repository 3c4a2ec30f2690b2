use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use scion_domain::cursor::{HighWaterCursor, KeysetCursor, OffsetCursor, TimeWindowCursor};
use scion_domain::ingest::IngestRefusal;
use scion_domain::json::Json;
use scion_sync::mapping::RecordMap;
use scion_sync::stream::{AtEnd, CursorPage, SourceStream, SyncEnd, SyncPlan};

use crate::graph::{Graph, code, desk};

fn numbered() -> (Arc<Graph>, SourceStream) {
    let (graph, service, binding) = desk();
    (
        graph,
        SourceStream::new(binding).mapper("n", RecordMap::new("N", "{id}").unwrap().field("u", "u")).ingest(service),
    )
}

fn record(id: usize) -> Json {
    Json::from([("id", (id as u64).into()), ("u", format!("{id:04}").into())])
}

fn accepted(graph: &Graph, stream: &SourceStream) -> Option<Json> {
    graph.position(stream.binding())?.get("cursor").cloned()
}

/// Pages of two with tokens `p1`, `p2`, …; the last page has no next one.
fn tokens(pages: usize) -> impl Fn(Option<Json>) -> std::future::Ready<Result<CursorPage, IngestRefusal>> {
    move |cursor| {
        let page: usize = cursor.as_ref().map_or(0, |cursor| cursor.as_str().unwrap()[1..].parse().unwrap());
        let next = (page + 1 < pages).then(|| format!("p{}", page + 1).into());
        std::future::ready(Ok(CursorPage { records: vec![record(page * 2), record(page * 2 + 1)], next }))
    }
}

/// Proves: SDK-SOURCE-INGEST-R004.31
#[tokio::test]
async fn each_page_commits_its_next_cursor_and_a_second_run_resumes() {
    let (graph, stream) = numbered();
    let summary = stream.sync("n", &SyncPlan::default(), tokens(3)).await.unwrap().unwrap();
    assert_eq!((summary.pages, summary.counts.nodes, summary.end), (3, 6, SyncEnd::Exhausted));
    let cursors: Vec<Option<Json>> =
        graph.batches().iter().map(|batch| batch.provider_checkpoint.position.get("cursor").cloned()).collect();
    assert_eq!(cursors, [Some("p1".into()), Some("p2".into()), Some("p2".into())]);
    let again = stream.sync("n", &SyncPlan::default(), tokens(4)).await.unwrap().unwrap();
    assert_eq!((again.pages, graph.ids().len()), (2, 8), "it reads the last page again and the one that is new");
    let restart = SyncPlan { at_end: AtEnd::Restart, ..SyncPlan::default() };
    stream.sync("n", &restart, tokens(4)).await.unwrap();
    assert_eq!(accepted(&graph, &stream), None);
    assert_eq!(stream.sync("n", &restart, tokens(4)).await.unwrap().unwrap().pages, 4);
}

/// Proves: SDK-SOURCE-INGEST-R004.31
#[tokio::test]
async fn a_walk_stops_on_a_repeated_cursor_and_at_the_page_bound() {
    let (graph, stream) = numbered();
    let calls = AtomicUsize::new(0);
    let looping = |cursor: Option<Json>| {
        let page = calls.fetch_add(1, Ordering::SeqCst);
        let next = if cursor == Some("b".into()) {
            "a"
        } else if cursor.is_some() {
            "b"
        } else {
            "a"
        };
        std::future::ready(Ok(CursorPage { records: vec![record(page)], next: Some(next.into()) }))
    };
    let summary = stream.sync("n", &SyncPlan::default(), looping).await.unwrap().unwrap();
    assert_eq!((summary.end, summary.pages, graph.ids().len()), (SyncEnd::Repeated, 3, 3));
    assert_eq!(accepted(&graph, &stream), Some("b".into()), "the cursor does not go back");
    let (graph, stream) = numbered();
    let bounded = SyncPlan { max_pages: 2, ..SyncPlan::default() };
    assert_eq!(stream.sync("n", &bounded, tokens(5)).await.unwrap().unwrap().end, SyncEnd::MaxPages);
    assert_eq!(stream.sync("n", &bounded, tokens(5)).await.unwrap().unwrap().end, SyncEnd::MaxPages);
    assert_eq!(stream.sync("n", &bounded, tokens(5)).await.unwrap().unwrap().end, SyncEnd::Exhausted);
    assert_eq!((graph.ids().len(), graph.batches().len()), (10, 5), "three runs read each page once");
}

#[tokio::test]
async fn other_submissions_do_not_move_the_cursor() {
    let (graph, stream) = numbered();
    stream.sync("n", &SyncPlan { max_pages: 1, ..SyncPlan::default() }, tokens(3)).await.unwrap();
    stream.entities(vec![scion_domain::ingest::Entity::new("N", "x")]).await.unwrap();
    assert_eq!(accepted(&graph, &stream), Some("p1".into()));
    assert_eq!(stream.sync("n", &SyncPlan::default(), tokens(3)).await.unwrap().unwrap().pages, 2);
}

#[tokio::test]
async fn a_failing_or_hanging_page_keeps_what_was_committed() {
    let (graph, stream) = numbered();
    let pages = tokens(3);
    let failing = |cursor: Option<Json>| {
        let page = if cursor == Some("p1".into()) { None } else { Some(pages(cursor)) };
        async move { page.ok_or(IngestRefusal::Client { what: "rate limited" })?.await }
    };
    assert_eq!(code(stream.sync("n", &SyncPlan::default(), failing).await), "ingest_client_failed");
    assert_eq!((graph.ids().len(), accepted(&graph, &stream)), (2, Some("p1".into())));
    let quick = SyncPlan { page_timeout: Duration::from_millis(20), ..SyncPlan::default() };
    let hanging = |_| std::future::pending::<Result<CursorPage, IngestRefusal>>();
    assert_eq!(code(stream.sync("n", &quick, hanging).await), "ingest_client_failed");
    assert_eq!(code(stream.sync("other", &quick, tokens(1)).await), "ingest_unknown_kind");
    assert_eq!(stream.best_effort().sync("other", &quick, tokens(1)).await, Ok(None));
}

/// A vendor with numbered records that answers from an offset.
fn slice(total: usize, size: usize, cursor: Option<Json>) -> std::future::Ready<Result<CursorPage, IngestRefusal>> {
    let from: usize = cursor.unwrap().as_str().unwrap().parse().unwrap();
    std::future::ready(Ok(CursorPage::of((from..total.min(from + size)).map(record).collect())))
}

/// Proves: SDK-SOURCE-INGEST-R004.33
#[tokio::test]
async fn offset_pages_resume_from_the_accepted_cursor() {
    let (graph, stream) = numbered();
    let plan = SyncPlan::with_strategy(OffsetCursor::new(2).unwrap());
    let first = stream.sync("n", &plan, |cursor| slice(5, 2, cursor)).await.unwrap().unwrap();
    assert_eq!((first.pages, first.counts.nodes, first.cursor), (3, 5, Some("4".into())));
    let second = stream.sync("n", &plan, |cursor| slice(7, 2, cursor)).await.unwrap().unwrap();
    assert_eq!((second.pages, second.cursor, graph.ids().len()), (2, Some("6".into()), 7));
}

/// Proves: SDK-SOURCE-INGEST-R004.33
#[tokio::test]
async fn keyset_window_and_high_water_walks() {
    let (_, stream) = numbered();
    let keyset = SyncPlan::with_strategy(KeysetCursor::new("id", 2).unwrap());
    let after = |cursor: Option<Json>| {
        let from = cursor.map_or(0, |cursor| cursor.as_str().unwrap().parse::<usize>().unwrap() + 1);
        std::future::ready(Ok(CursorPage::of((from..5.min(from + 2)).map(record).collect())))
    };
    let summary = stream.sync("n", &keyset, after).await.unwrap().unwrap();
    assert_eq!((summary.counts.nodes, summary.cursor), (5, Some("3".into())));

    let (graph_windows, windows) = numbered();
    let day = Duration::from_hours(24);
    let plan =
        SyncPlan::with_strategy(TimeWindowCursor::new("2026-03-01T00:00:00Z", day, "2026-03-04T00:00:00Z").unwrap());
    let third_day = |cursor: Option<Json>| {
        let records =
            if cursor.unwrap().as_str().unwrap().starts_with("2026-03-03") { vec![record(1)] } else { vec![] };
        std::future::ready(Ok(CursorPage::of(records)))
    };
    let summary = windows.sync("n", &plan, third_day).await.unwrap().unwrap();
    assert_eq!((summary.pages, summary.counts.nodes), (3, 1));
    assert_eq!(graph_windows.batches()[0].records.len(), 0, "an empty window still advances");

    let (graph_marks, marks) = numbered();
    let plan = SyncPlan::with_strategy(HighWaterCursor::new("u").unwrap());
    let total = AtomicUsize::new(4);
    let since = |cursor: Option<Json>| {
        let mark = cursor.map(|cursor| cursor.as_str().unwrap().to_owned());
        let all = (0..total.load(Ordering::SeqCst)).rev().map(record);
        let new =
            all.filter(|record| mark.as_deref().is_none_or(|mark| record.get("u").unwrap().as_str().unwrap() >= mark));
        std::future::ready(Ok(CursorPage::of(new.collect())))
    };
    marks.sync("n", &plan, since).await.unwrap();
    assert_eq!(accepted(&graph_marks, &marks), Some("0003".into()));
    total.store(6, Ordering::SeqCst);
    let changes = marks.sync("n", &plan, since).await.unwrap().unwrap();
    assert_eq!(graph_marks.ids().len(), 6);
    assert!(changes.counts.nodes <= 4, "only what changed since the accepted mark, and the mark itself");
}

/// Proves: SDK-SOURCE-INGEST-R004.33
#[tokio::test]
async fn a_strategy_that_refuses_stops_before_the_page_is_committed() {
    let (graph, stream) = numbered();
    let plan = SyncPlan::with_strategy(KeysetCursor::new("missing", 1).unwrap());
    let page = |_| std::future::ready(Ok(CursorPage::of(vec![record(1)])));
    assert_eq!(code(stream.sync("n", &plan, page).await), "cursor_key_missing");
    stream.sync("n", &SyncPlan::default(), tokens(2)).await.unwrap();
    let offset = SyncPlan::with_strategy(OffsetCursor::new(1).unwrap());
    assert_eq!(code(stream.sync("n", &offset, page).await), "cursor_unreadable", "a cursor of another kind");
    assert_eq!(graph.ids().len(), 4);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// However a run is cut into runs, batches and refused commits, every record arrives, and no page is read again that
    /// was committed.
    ///
    /// Proves: SDK-SOURCE-INGEST-R004.31, SDK-SOURCE-INGEST-R004.33
    #[test]
    fn a_walk_resumes_exactly(
        total in 1usize..60, size in 1usize..7, max_pages in 1usize..5, batch in 1usize..9, refused in prop::collection::vec(0usize..12, 0..4),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let (graph, stream) = numbered();
            let stream = stream.batch_size(batch).unwrap();
            let plan = SyncPlan { max_pages, ..SyncPlan::with_strategy(OffsetCursor::new(size as u64).unwrap()) };
            let committed = std::sync::Mutex::new(BTreeSet::new());
            let mut reads = 0;
            loop {
                let refuse = refused.contains(&reads);
                reads += 1;
                let floor: usize = accepted(&graph, &stream).map_or(0, |cursor| cursor.as_str().unwrap().parse().unwrap());
                let answer = stream.sync("n", &plan, |cursor: Option<Json>| {
                    let from: usize = cursor.as_ref().unwrap().as_str().unwrap().parse().unwrap();
                    assert!(from >= floor, "a committed page is not read again");
                    committed.lock().unwrap().insert(from);
                    if refuse {
                        let policy = scion_domain::sink::SinkRefusal::CursorPolicy { stream: "s".into() };
                        graph.write(|state| state.refuse_next = Some(policy));
                    }
                    slice(total, size, cursor)
                }).await;
                match answer {
                    Err(refusal) => assert_eq!(refusal.leaf_code(), "CURSOR_POLICY_VIOLATION"),
                    Ok(summary) if summary.as_ref().unwrap().end == SyncEnd::Exhausted => break,
                    Ok(_) => {}
                }
                graph.write(|state| state.refuse_next = None);
            }
            assert_eq!(graph.ids().len(), total);
            assert!(committed.lock().unwrap().iter().all(|from| from % size == 0));
        });
    }
}
