//! Opening good, old, new, foreign, damaged, locked and full files.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use scion_domain::refusal::Refusal;
use scion_domain::sink::StoreRefusal;
use scion_embedded::{EmbeddedGraph, SCHEMA_VERSION, StoreOptions};
use scion_ports::{KeyValueStore, Sink, StreamCatalog};

use crate::support::*;

/// A file as the first release wrote it, from SQL text that never changes.
const FIXTURE_V1: &str = include_str!("fixture_v1.sql");

fn write_v1(path: &Path) {
    Connection::open(path).unwrap().execute_batch(FIXTURE_V1).unwrap();
}

/// Name and text of everything in a file's schema, blanks evened out.
fn schema(path: &Path) -> Vec<(String, String)> {
    let connection = Connection::open(path).unwrap();
    let mut list = connection.prepare("SELECT name, coalesce(sql, '') FROM sqlite_schema ORDER BY name").unwrap();
    let rows = list.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?))).unwrap();
    rows.map(|row| row.unwrap())
        .map(|(name, sql)| (name, sql.split_whitespace().collect::<Vec<_>>().join(" ")))
        .collect()
}

#[tokio::test]
async fn a_file_of_the_first_schema_opens_with_everything_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v1.sqlite");
    write_v1(&path);
    let graph = EmbeddedGraph::open(&path).unwrap();
    assert_eq!(live(&graph).await, ["a", "b"]);
    assert_eq!(rows(&graph, "SELECT ?id { ?r desk:title \"abc\" ; scion:recordId ?id }").await, ["a"]);
    assert_eq!(
        rows(&graph, "SELECT ?u { <urn:scion:desk:tickets:a> desk:parent/scion:sourceUri ?u }").await,
        ["https://desk.example/b^^anyURI"]
    );
    assert_eq!(graph.get("n", "k").await.unwrap().unwrap().version, 4);
    let overview = graph.streams().await.unwrap().remove(0);
    assert_eq!((overview.live_records, overview.withdrawn_records, overview.relationships), (2, 1, 1));
    drop(graph);
    let version: i64 =
        Connection::open(&path).unwrap().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, SCHEMA_VERSION);
}

/// An upgraded file and a new one end with one schema.
#[tokio::test]
async fn migrations_lead_to_the_schema_of_a_new_file() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old.sqlite"), folder.path().join("new.sqlite"));
    write_v1(&old);
    drop(EmbeddedGraph::open(&old).unwrap());
    drop(EmbeddedGraph::open(&new).unwrap());
    assert_eq!(schema(&old), schema(&new));
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let desk = desk().await;
    drop(desk.graph);
    let path = desk.folder.path().join("graph.sqlite");
    Connection::open(&path).unwrap().pragma_update(None, "user_version", SCHEMA_VERSION + 1).unwrap();
    let expected = StoreRefusal::TooNew { found: SCHEMA_VERSION + 1, known: SCHEMA_VERSION };
    assert_eq!(EmbeddedGraph::open(&path).unwrap_err(), expected);
    assert_eq!(EmbeddedGraph::open_read_only(&path).unwrap_err(), expected);
}

#[tokio::test]
async fn foreign_and_damaged_files_are_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.sqlite");
    for bytes in
        [&b"this is no database, whatever its name says, and it is long enough to have a header"[..], &[0xff; 8192]]
    {
        fs::write(&path, bytes).unwrap();
        assert_eq!(EmbeddedGraph::open(&path).unwrap_err(), StoreRefusal::Corrupt);
        assert_eq!(EmbeddedGraph::open_read_only(&path).unwrap_err(), StoreRefusal::Corrupt);
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
    fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs(a)").unwrap();
    assert_eq!(EmbeddedGraph::open(&path).unwrap_err(), StoreRefusal::Corrupt);
    let tables: i64 =
        Connection::open(&path).unwrap().query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    assert_eq!(tables, 1);
}

#[tokio::test]
async fn a_truncated_or_overwritten_file_never_panics_and_says_corrupt() {
    let desk = desk().await;
    let records = (0..500).map(|n| ticket(&n.to_string(), r#"{"title":"some text to fill pages with"}"#)).collect();
    commit(&desk.graph, &full(1, records)).await;
    let path = desk.path();
    drop(desk.graph);
    let whole = fs::read(&path).unwrap();
    for cut in [100, 512, 4096, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..cut]).unwrap();
        assert_eq!(EmbeddedGraph::open(&path).unwrap_err(), StoreRefusal::Corrupt, "cut at {cut}");
    }
    let mut refused = 0;
    for page in 1..whole.len() / 4096 {
        let mut damaged = whole.clone();
        damaged[page * 4096..(page + 1) * 4096].fill(0xaa);
        fs::write(&path, &damaged).unwrap();
        match EmbeddedGraph::open(&path) {
            Err(refusal) => refused += usize::from(refusal == StoreRefusal::Corrupt),
            Ok(graph) => {
                let change = full(2, vec![ticket("3", r#"{"title":"x"}"#), ticket("499", "{}")]);
                refused += usize::from(graph.commit(&change).await.is_err_and(|no| no.leaf_code() == "store_corrupt"));
                let _ = graph.streams().await;
            }
        }
    }
    assert!(refused > 0);
}

#[tokio::test]
async fn a_read_only_store_answers_and_refuses_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.sqlite");
    assert_eq!(EmbeddedGraph::open_read_only(&path).unwrap_err().code(), "store_unavailable");
    assert!(!path.exists());
    fs::write(&path, "").unwrap();
    assert_eq!(EmbeddedGraph::open_read_only(&path).unwrap_err().code(), "store_unavailable");
    assert_eq!(EmbeddedGraph::open(folder.path()).unwrap_err().code(), "store_unavailable");

    let desk = desk().await;
    commit(&desk.graph, &full(1, vec![ticket("1", "{}")])).await;
    let reader = EmbeddedGraph::open_read_only(&desk.path()).unwrap();
    assert_eq!(live(&reader).await, ["1"]);
    assert_eq!(reader.streams().await.unwrap().len(), 1);
    for refusal in [
        reader.commit(&full(2, vec![ticket("2", "{}")])).await.unwrap_err(),
        reader.import_pack(&pack(DECLARATION)).await.unwrap_err(),
        reader.ready().await.unwrap_err(),
    ] {
        assert_eq!(refusal.leaf_code(), "store_read_only");
    }
    assert_eq!(reader.compare_and_swap("n", "k", None, b"").await, Err(StoreRefusal::ReadOnly));
    drop(desk.graph);
    assert_eq!(live(&reader).await, ["1"], "the writer is gone, the file is not");
}

#[tokio::test]
async fn a_lock_held_too_long_is_named_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.sqlite");
    let options = StoreOptions { busy_timeout: Duration::from_millis(50), ..StoreOptions::default() };
    let graph = EmbeddedGraph::open_with(&path, options.clone()).unwrap();
    graph.import_pack(&pack(DECLARATION)).await.unwrap();
    commit(&graph, &full(1, vec![ticket("1", "{}")])).await;
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let next = full(2, vec![ticket("2", "{}")]);
    assert_eq!(graph.commit(&next).await.unwrap_err().leaf_code(), "store_locked");
    assert_eq!(live(&graph).await, ["1"], "reading goes on");
    let second = EmbeddedGraph::open_with(&path, options).unwrap();
    assert_eq!(live(&second).await, ["1"], "so does opening a file that needs no migration");
    other.execute_batch("ROLLBACK").unwrap();
    commit(&graph, &next).await;
    assert_eq!(live(&second).await, ["1", "2"]);
}

#[tokio::test]
async fn a_full_store_refuses_and_keeps_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.sqlite");
    let options = StoreOptions { max_pages: Some(120), ..StoreOptions::default() };
    let graph = EmbeddedGraph::open_with(&path, options).unwrap();
    graph.import_pack(&pack(DECLARATION)).await.unwrap();
    let text = "x".repeat(2000);
    let page = |step: u64| {
        let ids =
            (0..20).map(|n| ticket(&format!("{step}-{n}"), &format!(r#"{{"title":"{step}{n}","status":"{text}"}}"#)));
        full(step, ids.collect())
    };
    let mut step = 1;
    let refusal = loop {
        match graph.commit(&page(step)).await {
            Ok(_) => step += 1,
            Err(refusal) => break refusal,
        }
        assert!(step < 100, "the store never filled up");
    };
    assert_eq!(refusal.leaf_code(), "store_full");
    assert!(step > 1);
    let kept = usize::try_from(step - 1).unwrap() * 20;
    assert_eq!(live(&graph).await.len(), kept);
    let status = graph.status(&connector(), &stream("tickets")).await.unwrap();
    assert_eq!(status.accepted_checkpoint, checkpoint("tickets", step - 1));
    drop(graph);
    let graph = EmbeddedGraph::open(&path).unwrap();
    commit(&graph, &page(step)).await;
    assert_eq!(live(&graph).await.len(), kept + 20);
}
