//! The suite of [`KeyValueStore`].

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::sink::StoreRefusal;
use scion_ports::KeyValueStore;

use crate::report::Report;
use crate::{ensure, must};

type Checked = Result<(), String>;

/// Makes stores to test.
#[async_trait]
pub trait KeyValueFixture: Send + Sync {
    /// A fresh, empty store.
    async fn open(&self) -> Arc<dyn KeyValueStore>;

    /// The same store after a restart.
    async fn reopen(&self, store: Arc<dyn KeyValueStore>) -> Arc<dyn KeyValueStore>;
}

/// Runs every check.
pub async fn run(fixture: &dyn KeyValueFixture) -> Report {
    let mut report = Report::new("KeyValueStore");
    report.add("O1", "namespaces_are_separate", namespaces(fixture).await);
    report.add("O2", "a_swap_needs_the_expected_version", swap(fixture).await);
    report.add("O2", "one_of_two_writers_wins", race(fixture).await);
    report.add("O3", "a_version_is_never_used_twice", versions(fixture).await);
    report.add("O4", "a_write_survives_a_restart", restart(fixture).await);
    report.add("O5", "a_scan_is_ordered_and_pages", scan(fixture).await);
    report.add("O6", "keys_and_values_are_bounded", bounds(fixture).await);
    report
}

async fn namespaces(fixture: &dyn KeyValueFixture) -> Checked {
    let store = fixture.open().await;
    must!(store.compare_and_swap("one", "k", None, b"1").await, "write");
    ensure!(must!(store.get("two", "k").await, "read").is_none(), "a key shows in another namespace");
    must!(store.compare_and_swap("two", "k", None, b"2").await, "write in the other namespace");
    let found = must!(store.get("one", "k").await, "read");
    ensure!(found.is_some_and(|entry| entry.value == b"1"), "the other namespace overwrote the key");
    Ok(())
}

async fn swap(fixture: &dyn KeyValueFixture) -> Checked {
    let store = fixture.open().await;
    let first = must!(store.compare_and_swap("n", "k", None, b"1").await, "create");
    for wrong in [None, Some(first + 1)] {
        match store.compare_and_swap("n", "k", wrong, b"x").await {
            Err(StoreRefusal::Conflict { .. }) => {}
            other => return Err(format!("expecting {wrong:?} over {first} got {other:?}")),
        }
    }
    ensure!(store.delete("n", "k", first + 1).await.is_err(), "a deletion of another version was accepted");
    let second = must!(store.compare_and_swap("n", "k", Some(first), b"2").await, "replace");
    ensure!(second > first, "the version went from {first} to {second}");
    let entry = must!(store.get("n", "k").await, "read");
    ensure!(entry.is_some_and(|entry| entry.version == second && entry.value == b"2"), "another value is stored");
    match store.compare_and_swap("n", "absent", Some(1), b"x").await {
        Err(StoreRefusal::Conflict { .. }) => Ok(()),
        other => Err(format!("replacing an absent key got {other:?}")),
    }
}

async fn race(fixture: &dyn KeyValueFixture) -> Checked {
    let store = fixture.open().await;
    let version = must!(store.compare_and_swap("n", "k", None, b"0").await, "create");
    let writers: Vec<_> = (0..8_u8)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move { store.compare_and_swap("n", "k", Some(version), &[writer]).await.is_ok() })
        })
        .collect();
    let mut winners = 0;
    for writer in writers {
        winners += usize::from(writer.await.unwrap_or(false));
    }
    ensure!(winners == 1, "{winners} of 8 writers replaced the same version");
    Ok(())
}

async fn versions(fixture: &dyn KeyValueFixture) -> Checked {
    let store = fixture.open().await;
    let first = must!(store.compare_and_swap("n", "k", None, b"1").await, "create");
    must!(store.delete("n", "k", first).await, "delete");
    ensure!(must!(store.get("n", "k").await, "read").is_none(), "a deleted key is there");
    let second = must!(store.compare_and_swap("n", "k", None, b"2").await, "create again");
    ensure!(second > first, "version {second} was used before");
    Ok(())
}

async fn restart(fixture: &dyn KeyValueFixture) -> Checked {
    let store = fixture.open().await;
    let version = must!(store.compare_and_swap("n", "k", None, b"\0\xff").await, "write");
    let store = fixture.reopen(store).await;
    let entry = must!(store.get("n", "k").await, "read");
    ensure!(entry.is_some_and(|entry| entry.version == version && entry.value == b"\0\xff"), "the value is lost");
    Ok(())
}

async fn scan(fixture: &dyn KeyValueFixture) -> Checked {
    let store = fixture.open().await;
    for key in ["b/2", "a/1", "b/10", "b/1", "c"] {
        must!(store.compare_and_swap("n", key, None, key.as_bytes()).await, "write");
    }
    let keys =
        |rows: Vec<(String, scion_ports::KeyValueEntry)>| rows.into_iter().map(|(key, _)| key).collect::<Vec<_>>();
    let all = keys(must!(store.scan("n", "b/", None, 10).await, "scan"));
    ensure!(all == ["b/1", "b/10", "b/2"], "the scan gave {all:?}");
    let page = keys(must!(store.scan("n", "b/", Some("b/1"), 1).await, "scan a page"));
    ensure!(page == ["b/10"], "the page gave {page:?}");
    let none = keys(must!(store.scan("n", "b%", None, 10).await, "scan a pattern"));
    ensure!(none.is_empty(), "the prefix is read as a pattern");
    Ok(())
}

async fn bounds(fixture: &dyn KeyValueFixture) -> Checked {
    let store = fixture.open().await;
    let long = "k".repeat(1025);
    let large = vec![0; (1 << 20) + 1];
    for (key, value) in [("", b"v".as_slice()), (&long, b"v"), ("k", &large)] {
        match store.compare_and_swap("n", key, None, value).await {
            Err(StoreRefusal::BadKey { .. }) => {}
            other => return Err(format!("a key of {} and a value of {} bytes got {other:?}", key.len(), value.len())),
        }
    }
    must!(store.compare_and_swap("n", &long[..1024], None, &large[..1 << 20]).await, "the largest pair");
    Ok(())
}
