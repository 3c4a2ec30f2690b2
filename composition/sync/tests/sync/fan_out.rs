//! Reading once per parent.

use scion_domain::json::Json;
use scion_sync::SyncState;

use crate::desk::{self, DETAILS, declaration, pages, tickets, tickets_source};
use crate::support::{Answer, Bench, FakeServer, config, json, tool};

const CHILDREN: &str = r#"{"source_id":"notes","record_type":"Note","tools":["desk_notes"],"id_field":"id",
    "pagination":"page","page_param":"page","page_size":1,"start_page":1,
    "for_each":{"source":"tickets","argument":"ticket"},"preset":{"params_style":"args"}}"#;

fn bench(parents: u64, child: &str) -> Bench {
    let records = tickets(parents);
    let server = FakeServer::new(&declaration(&[&tickets_source(2), child], &["Ticket", "Note"]))
        .with_tool(tool("desk_list_tickets", &["page"]), pages(&records, 1, 2))
        .with_tool(tool("desk_notes", &["ticket", "page"]), |arguments| {
            let ticket = arguments["ticket"].as_number().unwrap().as_u64().unwrap();
            let page = arguments
                .get("page")
                .and_then(Json::as_number)
                .and_then(scion_domain::json::JsonNumber::as_u64)
                .unwrap_or(1);
            // Ticket n has n notes, one a page.
            let note = (page <= ticket).then(|| json(&format!(r#"{{"id":"{ticket}-{page}","title":"note"}}"#)));
            Answer::Value(Json::Array(note.into_iter().collect()))
        });
    let mut bench = Bench::new(server);
    bench.config = config(&["notes"]);
    bench
}

/// Proves: SDK-SOURCE-INGEST-R004.28
#[tokio::test(start_paused = true)]
async fn three_parents_are_paged_each_and_a_stop_in_between_resumes_at_the_right_one() {
    let bench = bench(3, CHILDREN);
    let report = bench.stream("notes").await;
    assert_eq!((report.state, report.submitted), (SyncState::Complete, 6), "{:?}", report.refusal);
    let mut bench = self::bench(3, CHILDREN);
    bench.config.max_pages_per_cycle = 2;
    let mut cycles = 0;
    let mut submitted = 0;
    loop {
        cycles += 1;
        let report = bench.stream("notes").await;
        submitted += report.submitted;
        if report.state == SyncState::Complete {
            break;
        }
        assert_eq!(report.state, SyncState::Partial, "{:?}", report.refusal);
        let accepted = report.cursor_after.unwrap();
        assert!(accepted.position.get("__fan").is_some(), "the position holds the parent index");
    }
    assert_eq!(submitted, 6);
    assert!(cycles > 3);
    assert_eq!(bench.stream("notes").await.submitted, 0);
}

/// Proves: SDK-SOURCE-INGEST-R004.28
#[tokio::test(start_paused = true)]
async fn too_many_parents_and_parents_without_end_have_their_own_codes() {
    let two = CHILDREN.replace(r#""preset":{"#, r#""preset":{"max_fan_out":2,"#);
    let report = bench(3, &two).stream("notes").await;
    assert_eq!(report.refusal.unwrap().code, "fan_out_exceeded");
    let server = FakeServer::new(&declaration(
        &[&tickets_source(2).replace(r#""preset":{"#, r#""preset":{"max_pages":2,"#), CHILDREN],
        &["Ticket", "Note"],
    ))
    .with_tool(tool("desk_list_tickets", &["page"]), pages(&tickets(50), 1, 2))
    .with_tool(tool("desk_notes", &["ticket", "page"]), |_| Answer::Error);
    let mut bench = Bench::new(server);
    bench.config = config(&["notes"]);
    assert_eq!(bench.stream("notes").await.refusal.unwrap().code, "parent_budget_exhausted");
}

/// Proves: SDK-SOURCE-INGEST-R004.28
#[tokio::test(start_paused = true)]
async fn an_undeclared_parent_and_a_cycle_are_refused_before_anything_is_read() {
    let orphan = CHILDREN.replace(r#""source":"tickets""#, r#""source":"nowhere""#);
    let circle = CHILDREN.replace(r#""source":"tickets""#, r#""source":"notes""#);
    for (child, code) in [(orphan, "declaration_unknown_parent"), (circle, "declaration_for_each_cycle")] {
        let bench = bench(3, &child);
        let report = bench.cycle().await;
        assert_eq!(report.refusal.unwrap().leaf_code(), code);
        assert!(bench.server.calls("desk_notes").is_empty());
    }
}

/// A tool that answers one object is a source; a peer calls it malformed.
#[tokio::test(start_paused = true)]
async fn a_single_object_tool_is_read_once_per_parent() {
    let mut bench = Bench::new(desk::server(&tickets(25), 10));
    bench.config = config(&["ticket-details"]);
    assert!(DETAILS.contains("for_each"));
    let report = bench.stream("ticket-details").await;
    assert_eq!((report.state, report.submitted, report.pages), (SyncState::Complete, 25, 25));
}
