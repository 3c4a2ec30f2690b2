use scion_domain::id::Digest256;
use scion_domain::ingest::{ChangeSet, Entity};
use scion_domain::sink::{SinkRefusal, StoreRefusal};
use scion_sync::request::Cursor;

use crate::graph::{code, desk};

fn one(id: &str) -> ChangeSet {
    ChangeSet { entities: vec![Entity::new("Ticket", id)], ..ChangeSet::default() }
}

/// Proves: SDK-SOURCE-INGEST-R017.2, SDK-SOURCE-INGEST-R017.3, SDK-SOURCE-INGEST-R017.4
#[tokio::test]
async fn a_batch_needs_the_accepted_contract() {
    let (graph, service, mut binding) = desk();
    let accepted = Digest256::from_bytes([7; 32]);
    for (digest, revision, fits) in [
        (None, None, true),
        (Some(accepted), None, true),
        (Some(accepted), Some(3), true),
        (Some(accepted), Some(2), false),
        (Some(Digest256::from_bytes([8; 32])), None, false),
    ] {
        (binding.contract_digest, binding.contract_revision) = (digest, revision);
        let before = graph.batches().len();
        let answer = service.submit(&binding, one("1"), Cursor::Keep).await;
        assert_eq!(answer.is_ok(), fits, "{digest:?} {revision:?}");
        assert_eq!(graph.batches().len(), before + usize::from(fits));
        if !fits {
            assert_eq!(code(answer), "contract_not_accepted");
        }
    }
    graph.write(|state| state.packs.clear());
    let (_, service, mut unknown) = desk();
    unknown.connector = "other".parse().unwrap();
    assert_eq!(code(service.submit(&unknown, one("1"), Cursor::Keep).await), "contract_not_accepted", "none exists");
}

/// Proves: SDK-SOURCE-INGEST-R017.4
#[tokio::test]
async fn a_contract_that_changes_under_a_run_is_noticed() {
    let (graph, service, mut binding) = desk();
    binding.contract_digest = Some(Digest256::from_bytes([7; 32]));
    service.submit(&binding, one("1"), Cursor::Keep).await.unwrap();
    graph.accept(&binding.connector, Digest256::from_bytes([9; 32]), 4);
    let committed = service.submit(&binding, one("2"), Cursor::Keep).await.unwrap();
    assert_eq!(committed.contract.revision, 4, "the report says what the receipt says, not what was expected");
    assert_eq!(code(service.submit(&binding, one("3"), Cursor::Keep).await), "contract_not_accepted");
    assert_eq!(graph.ids(), ["1", "2"]);
}

/// Proves: SDK-SOURCE-INGEST-R017.4
#[tokio::test]
async fn refusals_keep_the_checkpoint_and_come_through_unchanged() {
    let (graph, service, binding) = desk();
    service.submit(&binding, one("1"), Cursor::Move("c1".into())).await.unwrap();
    let before = graph.position(&binding);
    for refusal in [
        SinkRefusal::UnknownMapping { reference: "connector:desk#mappings/Ticket".into() },
        SinkRefusal::CursorPolicy { stream: "tickets".into() },
        SinkRefusal::UnknownRelation { reference: "connector:desk#relations/Ticket/x".into() },
        SinkRefusal::ContractNotAccepted { connector: "desk".into() },
        SinkRefusal::from(StoreRefusal::Full),
    ] {
        graph.write(|state| state.refuse_next = Some(refusal.clone()));
        let answer = service.submit(&binding, one("2"), Cursor::Move("c2".into())).await.unwrap_err();
        assert_eq!(answer.leaf_code(), refusal.leaf_code());
        assert_eq!(answer.to_string(), refusal.to_string());
        assert_eq!(graph.position(&binding), before, "{}", refusal.leaf_code());
        assert_eq!(service.accepted_cursor(&binding).await.unwrap(), Some("c1".into()));
    }
    let wire: Vec<&str> = ["UNKNOWN_MAPPING_REFERENCE", "CURSOR_POLICY_VIOLATION"].to_vec();
    assert!(wire.iter().all(|code| SinkRefusal::CATALOGUE.iter().any(|entry| entry.code == *code)));
    graph.write(|state| state.types = Some(["User".to_owned()].into()));
    assert_eq!(code(service.submit(&binding, one("2"), Cursor::Keep).await), "UNKNOWN_MAPPING_REFERENCE");
    assert_eq!(graph.position(&binding), before);
}

/// Proves: SDK-SOURCE-INGEST-R017.5
#[tokio::test]
async fn the_outcome_names_contract_revision_and_digest_of_the_receipt() {
    let (graph, service, binding) = desk();
    let change_set = ChangeSet {
        entities: vec![Entity::new("Ticket", "1"), Entity::new("User", "2"), Entity::new("Ticket", "3")],
        ..ChangeSet::default()
    };
    let outcome = service.submit(&binding, change_set, Cursor::Keep).await.unwrap();
    assert_eq!(outcome.contract.iris, ["contract:desk#Ticket", "contract:desk#User"]);
    let receipt = graph.read(|state| state.receipts.values().next().unwrap().clone());
    assert_eq!(
        (outcome.contract.revision, outcome.contract.digest),
        (receipt.contract_revision, receipt.contract_digest)
    );
    assert_eq!(outcome.receipt, receipt);
    let empty = service.submit(&binding, ChangeSet::default(), Cursor::Move("c".into())).await.unwrap();
    assert_eq!(empty.contract.iris, ["contract:desk"]);
}

#[tokio::test]
async fn submissions_to_one_stream_take_turns() {
    let (graph, service, binding) = desk();
    let submissions = (0..32).map(|n| {
        let (service, binding) = (service.clone(), binding.clone());
        tokio::spawn(async move { service.submit(&binding, one(&n.to_string()), Cursor::Keep).await })
    });
    for submission in submissions.collect::<Vec<_>>() {
        submission.await.unwrap().unwrap();
    }
    assert_eq!(graph.ids().len(), 32);
    assert_eq!(graph.position(&binding).unwrap().get("sequence"), Some(&32u64.into()));
}

/// Two processes that ingest into one stream do not refuse each other; a cursor is moved by one of them only.
#[tokio::test]
async fn another_writer_in_between_is_survived_unless_a_cursor_moves() {
    let (graph, service, binding) = desk();
    let conflict = || Some(SinkRefusal::Conflict { stream: "tickets".into() });
    service.submit(&binding, one("1"), Cursor::Move("c1".into())).await.unwrap();
    graph.write(|state| state.overtake = 2);
    service.submit(&binding, one("2"), Cursor::Keep).await.unwrap();
    assert_eq!(graph.position(&binding).unwrap().get("sequence"), Some(&4u64.into()));
    assert_eq!(service.accepted_cursor(&binding).await.unwrap(), Some("c1".into()));
    graph.write(|state| state.overtake = 1);
    assert_eq!(code(service.submit(&binding, one("3"), Cursor::Move("c2".into())).await), "conflict");
    assert_eq!(graph.ids(), ["1", "2"]);
    graph.write(|state| (state.overtake, state.refuse_next) = (0, conflict()));
    assert!(service.submit(&binding, one("3"), Cursor::Keep).await.is_ok());
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R019
#[tokio::test]
async fn a_connector_needs_only_a_binding_and_the_graph_keeps_its_progress() {
    let (graph, service, binding) = desk();
    service.submit(&binding, one("1"), Cursor::Move("c1".into())).await.unwrap();
    // A second process: nothing but the graph is shared.
    let clone = scion_sync::ingest::KnowledgeIngest::new(scion_sync::Committer::new(
        graph.clone(),
        graph.clone(),
        std::sync::Arc::new(crate::graph::RuntimeClock::new()),
    ));
    assert_eq!(clone.accepted_cursor(&binding).await.unwrap(), Some("c1".into()));
    clone.submit(&binding, one("2"), Cursor::Keep).await.unwrap();
    service.submit(&binding, one("3"), Cursor::Keep).await.unwrap();
    assert_eq!(graph.position(&binding).unwrap().get("sequence"), Some(&3u64.into()));
}
