//! Importing packs.

use scion_domain::id::{ConnectorName, RecordType};
use scion_domain::model::{PackEntry, PackImport, PackStatus};
use scion_domain::sink::SinkRefusal;
use scion_embedded::EmbeddedGraph;
use scion_ports::Sink;

use crate::support::*;

fn tools(count: usize, expected: Option<u64>) -> PackImport {
    let mut import = pack(DECLARATION);
    import.expected_revision = expected;
    import.entries.extend((0..count).map(|n| PackEntry {
        kind: "tool".to_owned(),
        uri: format!("tool://desk/{n}"),
        media_type: "application/json".to_owned(),
        body: b"{}".to_vec(),
        ..PackEntry::default()
    }));
    import
}

#[tokio::test]
async fn importing_is_idempotent_and_guarded_by_the_revision() {
    let desk = empty();
    assert_eq!(desk.graph.pack_status(&connector()).await.unwrap(), PackStatus::default());
    let first = desk.graph.import_pack(&tools(1, None)).await.unwrap();
    assert_eq!((first.revision, first.unchanged), (1, false));
    for believed in [None, Some(1), Some(7)] {
        let again = desk.graph.import_pack(&tools(1, believed)).await.unwrap();
        assert_eq!((again.revision, again.unchanged, again.pack_digest), (1, true, first.pack_digest));
    }
    for wrong in [None, Some(2)] {
        let refusal = desk.graph.import_pack(&tools(2, wrong)).await.unwrap_err();
        assert_eq!(refusal, SinkRefusal::PackConflict { connector: "desk".to_owned() });
    }
    let second = desk.graph.import_pack(&tools(2, Some(1))).await.unwrap();
    assert_eq!(second.revision, 2);
    let status = desk.graph.pack_status(&connector()).await.unwrap();
    assert_eq!(
        status,
        PackStatus {
            accepted_digest: Some(second.pack_digest),
            revision: Some(2),
            declaration_digest: Some(scion_domain::digest::sha256(DECLARATION.as_bytes())),
        }
    );
}

/// Proves: SDK-SOURCE-INGEST-R004.27
#[tokio::test]
async fn withdrawing_more_than_half_needs_the_callers_word() {
    let desk = empty();
    desk.graph.import_pack(&tools(6, None)).await.unwrap();
    let half = desk.graph.import_pack(&tools(2, Some(1))).await.unwrap();
    assert_eq!(half.revision, 2, "four of eight is not more than half");
    let mut most = tools(0, Some(2));
    most.entries.truncate(1);
    let refusal = desk.graph.import_pack(&most).await.unwrap_err();
    assert_eq!(refusal, SinkRefusal::MassWithdrawal { before: 4, withdrawn: 3 });
    assert_eq!(desk.graph.pack_status(&connector()).await.unwrap().revision, Some(2));
    most.allow_mass_withdrawal = true;
    assert_eq!(desk.graph.import_pack(&most).await.unwrap().revision, 3);
}

#[tokio::test]
async fn a_pack_that_is_not_one_is_refused() {
    let desk = empty();
    let refused = |import: PackImport| {
        let graph = desk.graph.clone();
        async move { graph.import_pack(&import).await.unwrap_err().leaf_code() }
    };
    assert_eq!(refused(PackImport { entries: vec![], ..pack(DECLARATION) }).await, "pack_invalid");
    assert_eq!(refused(pack("{\"connector\": ")).await, "pack_invalid");
    assert_eq!(refused(pack("[]")).await, "pack_invalid");
    let stranger = ConnectorName::parse("other").unwrap();
    assert_eq!(refused(PackImport { connector: stranger, ..pack(DECLARATION) }).await, "pack_invalid");
    let mut twice = pack(DECLARATION);
    twice.entries.push(twice.entries[1].clone());
    assert_eq!(refused(twice).await, "pack_invalid");
    assert_eq!(desk.graph.pack_status(&connector()).await.unwrap(), PackStatus::default());
}

/// Another process imports a new declaration: the next commit is admitted under it, not under what this one remembers.
#[tokio::test]
async fn a_contract_that_moved_is_read_again() {
    let desk = desk().await;
    let other = EmbeddedGraph::open(&desk.path()).unwrap();
    commit(&desk.graph, &full(1, vec![ticket("1", r#"{"title":"a"}"#)])).await;
    let renamed = PackImport {
        expected_revision: Some(1),
        ..pack(&DECLARATION.replace("\"title\": \"title\"", "\"title\": \"name\""))
    };
    other.import_pack(&renamed).await.unwrap();
    let receipt = commit(&desk.graph, &full(2, vec![ticket("1", r#"{"title":"b"}"#)])).await;
    assert_eq!(receipt.contract_revision, 2);
    assert_eq!(rows(&desk.graph, "SELECT ?t { ?r desk:name ?t }").await, ["b"]);
    assert!(rows(&desk.graph, "SELECT ?t { ?r desk:title ?t }").await.is_empty());
    // A type the old contract did not have, and one the new one has no more.
    let grown = DECLARATION
        .replace("\"Person\": {\"ontology_class\"", "\"Robot\": {\"fields\": {}}, \"Person\": {\"ontology_class\"");
    other.import_pack(&PackImport { expected_revision: Some(2), ..pack(&grown) }).await.unwrap();
    commit(&desk.graph, &full(3, vec![record("tickets", "Robot", "r2", "{}")])).await;
    other.import_pack(&PackImport { expected_revision: Some(3), ..pack(DECLARATION) }).await.unwrap();
    let refusal = desk.graph.commit(&full(4, vec![record("tickets", "Robot", "r3", "{}")])).await.unwrap_err();
    assert_eq!(refusal.leaf_code(), "UNKNOWN_MAPPING_REFERENCE");
    let replay = commit(&desk.graph, &full(3, vec![record("tickets", "Robot", "r2", "{}")])).await;
    assert_eq!(replay.contract_revision, 3, "a batch that was committed stays committed, whatever is declared now");
}

#[tokio::test]
async fn an_index_can_be_added_later_and_covers_what_is_there() {
    let desk = desk().await;
    commit(
        &desk.graph,
        &full(1, vec![ticket("1", r#"{"status":"open","tags":["x","y"]}"#), ticket("2", r#"{"status":"shut"}"#)]),
    )
    .await;
    let ticket_type = RecordType::parse("Ticket").unwrap();
    desk.graph.index(&connector(), &ticket_type, "status").await.unwrap();
    desk.graph.index(&connector(), &ticket_type, "tags").await.unwrap();
    desk.graph.index(&connector(), &ticket_type, "tags").await.unwrap();
    assert!(desk.graph.index(&connector(), &ticket_type, "nothing").await.is_err());
    let open = "SELECT ?id { ?r desk:status \"open\" ; scion:recordId ?id }";
    assert_eq!(rows(&desk.graph, open).await, ["1"]);
    commit(
        &desk.graph,
        &full(2, vec![ticket("1", r#"{"status":"shut","tags":["y"]}"#), ticket("3", r#"{"status":"open"}"#)]),
    )
    .await;
    assert_eq!(rows(&desk.graph, open).await, ["3"]);
    assert!(rows(&desk.graph, "SELECT ?r { ?r desk:tag \"x\" }").await.is_empty());
    assert_eq!(rows(&desk.graph, "SELECT ?r { ?r desk:tag \"y\" }").await.len(), 1);
    let long = "z".repeat(500);
    commit(
        &desk.graph,
        &full(
            3,
            vec![
                ticket("4", &format!(r#"{{"status":"{long}a"}}"#)),
                ticket("5", &format!(r#"{{"status":"{long}b"}}"#)),
            ],
        ),
    )
    .await;
    assert_eq!(
        rows(&desk.graph, &format!("SELECT ?id {{ ?r desk:status \"{long}b\" ; scion:recordId ?id }}")).await,
        ["5"]
    );
}
