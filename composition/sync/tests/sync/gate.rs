//! The drift gate, holds, releases and repairs.

use std::collections::BTreeMap;

use scion_domain::drift::{self, DriftScope, RepairProposal};
use scion_domain::id::{Digest256, TenantId};
use scion_domain::json::Json;
use scion_domain::mcp::ToolDescription;
use scion_domain::model::{RepairDecision, StreamHold};
use scion_domain::source::SourceContract;
use scion_sync::SyncState;
use scion_sync::sweep::Progress;

use crate::desk;
use crate::support::{Bench, SinkFault, config, connector, json, stream, tool};

fn bench() -> Bench {
    let mut bench = Bench::new(desk::server(&desk::tickets(25), 10));
    bench.config = config(&["tickets"]);
    bench
}

fn break_it(tool: &mut ToolDescription) {
    tool.input_schema = json(r#"{"type":"object","properties":{"page":{"type":"integer"}}}"#);
}

fn progress(bench: &Bench) -> Progress {
    let document = bench.checkpoints.document(&connector(), &stream("tickets")).unwrap();
    Progress::read(&document.body).unwrap()
}

/// A peer takes the prior contract from the same pass and so misses drift between two runs.
///
/// Proves: SDK-SOURCE-INGEST-R002, SDK-SOURCE-INGEST-R007
#[tokio::test(start_paused = true)]
async fn a_tool_that_changes_between_runs_is_quarantined_until_released() {
    let bench = bench();
    assert_eq!(bench.stream("tickets").await.state, SyncState::Complete);
    bench.server.describe("desk_list_tickets", break_it);
    bench.server.forget_calls();
    let before = bench.sink.batches().len();
    for _ in 0..2 {
        let report = bench.stream("tickets").await;
        assert_eq!(report.state, SyncState::Quarantined);
        assert_eq!(report.refusal.unwrap().code, "stream_quarantined");
    }
    assert_eq!(bench.sink.batches().len(), before);
    assert!(bench.server.calls("desk_list_tickets").is_empty(), "nothing is read while held");
    let events = bench.events.named("schema_drift_quarantined");
    assert_eq!(events.len(), 1, "told once");
    let report = &events[0].fields["report"];
    assert_eq!(report.get("classification"), Some(&Json::from("BREAKING")));
    assert!(matches!(progress(&bench).hold, Some(StreamHold::Quarantined { .. })));
    bench.runner().release(&connector(), &stream("tickets")).await.unwrap();
    assert_eq!(bench.stream("tickets").await.state, SyncState::Complete);
    let again = bench.runner().release(&connector(), &stream("tickets")).await;
    assert_eq!(again.unwrap_err().leaf_code(), "stream_not_held");
}

/// Proves: SDK-SOURCE-INGEST-R002
#[tokio::test(start_paused = true)]
async fn a_quarantine_ends_by_itself_when_the_tool_is_put_back() {
    let bench = bench();
    assert_eq!(bench.stream("tickets").await.state, SyncState::Complete);
    let mut original = None;
    bench.server.describe("desk_list_tickets", |tool| {
        original = Some(tool.clone());
        break_it(tool);
    });
    assert_eq!(bench.stream("tickets").await.state, SyncState::Quarantined);
    bench.server.describe("desk_list_tickets", |tool| *tool = original.clone().unwrap());
    let before = bench.sink.batches().len();
    assert_eq!(bench.stream("tickets").await.state, SyncState::Complete);
    assert!(progress(&bench).hold.is_none());
    assert_eq!(bench.sink.batches().len(), before, "nothing had changed in between");
}

/// Proves: SDK-SOURCE-INGEST-R007
#[tokio::test(start_paused = true)]
async fn a_tool_that_changes_between_pages_is_noticed_before_the_last_commit() {
    let bench = bench();
    let server = bench.server.clone();
    let inner = desk::pages(&desk::tickets(25), 1, 10);
    bench.server.set_tool(tool("desk_list_tickets", &["page"]), move |arguments| {
        if arguments.get("page") == Some(&Json::from(3u64)) {
            server.describe("desk_list_tickets", break_it);
        }
        inner(arguments)
    });
    let report = bench.stream("tickets").await;
    assert_eq!((report.state, report.submitted), (SyncState::Quarantined, 20));
    let accepted = bench.sink.stored(&connector(), &stream("tickets")).status.accepted_checkpoint.unwrap();
    assert_eq!(
        accepted.position,
        Json::from([("page", Json::from(3u64))]),
        "the checkpoint did not move over the page"
    );
}

/// Proves: SDK-SOURCE-INGEST-R017.2, SDK-SOURCE-INGEST-R017.4
#[tokio::test(start_paused = true)]
async fn a_declaration_that_changes_between_pages_is_not_the_accepted_one() {
    let bench = bench();
    let server = bench.server.clone();
    let inner = desk::pages(&desk::tickets(25), 1, 10);
    bench.server.set_tool(tool("desk_list_tickets", &["page"]), move |arguments| {
        if arguments.get("page") == Some(&Json::from(3u64)) {
            server.declare(&desk::declaration(&[&desk::tickets_source(11)], &["Ticket"]));
        }
        inner(arguments)
    });
    let report = bench.stream("tickets").await;
    assert_eq!((report.state, report.submitted), (SyncState::Failed, 20));
    assert_eq!(report.refusal.unwrap().code, "contract_not_accepted");
}

/// Proves: SDK-SOURCE-INGEST-R017.4
#[tokio::test(start_paused = true)]
async fn without_an_accepted_contract_nothing_is_read() {
    let mut bench = bench();
    bench.config.provision = false;
    let report = bench.cycle().await;
    assert_eq!(report.refusal.unwrap().leaf_code(), "contract_not_accepted");
    assert!(bench.server.calls("desk_list_tickets").is_empty());
    assert!(bench.sink.batches().is_empty());
    bench.config.provision = true;
    let report = bench.stream("tickets").await;
    assert_eq!(report.state, SyncState::Complete);
    for batch in &report.batches {
        assert_eq!((batch.contract_iri.as_str(), batch.contract_revision), ("contract:acme-desk-mcp#Ticket", 1));
        assert_ne!(batch.contract_digest, Digest256::ZERO);
    }
    bench.config.provision = false;
    bench.server.declare(&desk::declaration(&[&desk::tickets_source(9)], &["Ticket"]));
    let report = bench.cycle().await;
    assert_eq!(
        report.refusal.unwrap().leaf_code(),
        "contract_not_accepted",
        "a changed declaration needs certification"
    );
}

/// Proves: SDK-SOURCE-INGEST-R017.5
#[tokio::test(start_paused = true)]
async fn the_report_repeats_what_the_receipts_say() {
    let bench = bench();
    bench.sink.fail_next(SinkFault::ReplyLost);
    let report = bench.stream("tickets").await;
    let batches = bench.sink.batches();
    assert_eq!(report.batches.len(), batches.len());
    for (evidence, batch) in report.batches.iter().zip(&batches) {
        assert_eq!(evidence.batch_digest, scion_domain::digest::batch(batch).unwrap().batch);
        assert_eq!(evidence.checkpoint_digest, scion_domain::digest::checkpoint(&batch.provider_checkpoint));
        assert_eq!(evidence.receipt_id, format!("source-ingest:{}", evidence.batch_digest));
    }
    let text = serde_json::to_string(&report).unwrap();
    assert!(!text.contains("Ticket 1"), "no payload in a report");
}

/// Proves: SDK-SOURCE-INGEST-R002
#[tokio::test(start_paused = true)]
async fn an_optional_field_passes_only_where_the_policy_says_so() {
    let added = |tool: &mut ToolDescription| {
        tool.input_schema = json(r#"{"type":"object","properties":{"page":{"type":"string"},"q":{"type":"string"}}}"#);
    };
    let bench = bench();
    bench.stream("tickets").await;
    bench.server.describe("desk_list_tickets", added);
    let report = bench.stream("tickets").await;
    assert_eq!(report.state, SyncState::Quarantined);
    let relaxed =
        desk::tickets_source(10).replace(r#""preset":{"#, r#""preset":{"evolution_policy":"optional_fields","#);
    let bench = self::bench();
    bench.server.declare(&desk::declaration(&[&relaxed], &["Ticket"]));
    bench.stream("tickets").await;
    bench.server.describe("desk_list_tickets", added);
    assert_eq!(bench.stream("tickets").await.state, SyncState::Complete);
}

fn proposal() -> RepairProposal {
    let contract = |text: &str| SourceContract {
        schema: json(text),
        identifier_fields: vec!["id".into()],
        fingerprint: Digest256::ZERO,
    };
    let scope = DriftScope {
        source: connector(),
        stream: stream("tickets"),
        tenant: TenantId::parse("default").unwrap(),
        observed_sample_digest: Digest256::ZERO,
    };
    let old = contract(r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}"#);
    let new = contract(r#"{"type":"object","properties":{"b":{"type":"string"}}}"#);
    let policy = scion_domain::declaration::EvolutionPolicy::Review;
    let report = drift::classify(Some(&old), Some(&new), policy, &scope);
    RepairProposal::new(report, BTreeMap::from([("a".to_owned(), "b".to_owned())]), "ada").unwrap()
}

/// Proves: SDK-SOURCE-INGEST-R003
#[tokio::test(start_paused = true)]
async fn a_proposed_repair_pauses_the_stream_until_it_is_decided() {
    for (decision, state) in
        [(RepairDecision::Accepted, SyncState::Complete), (RepairDecision::Rejected, SyncState::Quarantined)]
    {
        let bench = bench();
        bench.stream("tickets").await;
        bench.server.describe("desk_list_tickets", break_it);
        assert_eq!(bench.stream("tickets").await.state, SyncState::Quarantined);
        let proposal = proposal();
        bench.runner().propose_repair(&proposal).await.unwrap();
        assert_eq!(bench.repairs.count(), 1);
        let revision = bench.sink.pack_revision(&connector());
        let report = bench.stream("tickets").await;
        assert_eq!((report.state, report.refusal.unwrap().code), (SyncState::Paused, "repair_pending"));
        assert_eq!(bench.sink.pack_revision(&connector()), revision, "no schema is activated from here");
        bench.repairs.decide(proposal.digest(), decision);
        assert_eq!(bench.stream("tickets").await.state, state);
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R067.5
#[tokio::test(start_paused = true)]
async fn everything_published_is_imported_and_a_change_of_it_alone_is_a_new_pack() {
    let bench = Bench::new(crate::desk::server(&crate::desk::tickets(3), 10));
    let source = crate::desk::tickets_source(10);
    bench.server.declare(&crate::desk::declaration(&[&source], &["Ticket"]));
    let first = bench.cycle().await;
    assert!(first.success, "{:?}", first.refusal);
    let again = bench.cycle().await;
    assert_eq!((again.pack_digest, bench.sink.pack_revision(&connector())), (first.pack_digest, Some(1)));
    bench.server.describe("desk_list_tickets", |tool| tool.description = Some("Lists them.".into()));
    let changed = bench.cycle().await;
    assert!(changed.success, "{:?}", changed.refusal);
    assert_ne!(changed.pack_digest, first.pack_digest);
    assert_eq!(bench.sink.pack_revision(&connector()), Some(2));
}
