//! The suite of [`CheckpointStore`].

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::json::{self, Json};
use scion_domain::model::ProgressDocument;
use scion_domain::sink::StoreRefusal;
use scion_ports::CheckpointStore;

use crate::fixtures::{connector, connector_named, stream, stream_named};
use crate::report::Report;
use crate::{ensure, must};

type Checked = Result<(), String>;

/// Makes stores to test.
#[async_trait]
pub trait CheckpointFixture: Send + Sync {
    /// A fresh, empty store.
    async fn open(&self) -> Arc<dyn CheckpointStore>;

    /// The same store after a restart.
    async fn reopen(&self, store: Arc<dyn CheckpointStore>) -> Arc<dyn CheckpointStore>;
}

/// Runs every check.
pub async fn run(fixture: &dyn CheckpointFixture) -> Report {
    let mut report = Report::new("CheckpointStore");
    report.add("O1", "something_unknown_is_absent", absent(fixture).await);
    report.add("O2", "an_advance_needs_the_expected_version", expected(fixture).await);
    report.add("O3", "a_document_survives_a_restart_exactly", exact(fixture).await);
    report.add("O4", "sources_do_not_share_documents", separate(fixture).await);
    report.add("O5", "a_reset_removes_the_document", reset(fixture).await);
    report
}

fn document(sequence: i64) -> Json {
    Json::from([("sequence", Json::from(sequence)), ("schema_version", Json::from(1_i64))])
}

async fn absent(fixture: &dyn CheckpointFixture) -> Checked {
    let store = fixture.open().await;
    let found = must!(store.load(&connector(), &stream()).await, "load");
    ensure!(found.is_none(), "an unknown source has {found:?}");
    Ok(())
}

async fn expected(fixture: &dyn CheckpointFixture) -> Checked {
    let store = fixture.open().await;
    let first = must!(store.advance(&connector(), &stream(), None, &document(1)).await, "first advance");
    for wrong in [None, Some(first + 1)] {
        match store.advance(&connector(), &stream(), wrong, &document(9)).await {
            Err(StoreRefusal::Conflict { .. }) => {}
            other => return Err(format!("expecting {wrong:?} over {first} got {other:?}")),
        }
    }
    let held = must!(store.load(&connector(), &stream()).await, "load");
    ensure!(held == Some(ProgressDocument { version: first, body: document(1) }), "a refused advance left {held:?}");
    let second = must!(store.advance(&connector(), &stream(), Some(first), &document(2)).await, "second advance");
    ensure!(second > first, "the version went from {first} to {second}");
    Ok(())
}

async fn exact(fixture: &dyn CheckpointFixture) -> Checked {
    let store = fixture.open().await;
    let body =
        must!(json::parse(r#"{"a":1234567890123456789012345678901234567890.5,"b":["é\u0000",null,-0]}"#), "fixture");
    let version = must!(store.advance(&connector(), &stream(), None, &body).await, "advance");
    let store = fixture.reopen(store).await;
    let found = must!(store.load(&connector(), &stream()).await, "load");
    ensure!(found == Some(ProgressDocument { version, body }), "the document came back as {found:?}");
    Ok(())
}

async fn separate(fixture: &dyn CheckpointFixture) -> Checked {
    let store = fixture.open().await;
    let others = [(connector_named("a"), stream_named("b/c")), (connector_named("a.b"), stream_named("c"))];
    must!(store.advance(&others[0].0, &others[0].1, None, &document(1)).await, "one");
    let found = must!(store.load(&others[1].0, &others[1].1).await, "load of the other");
    ensure!(found.is_none(), "two sources share a document");
    must!(store.advance(&others[1].0, &others[1].1, None, &document(2)).await, "the other");
    let found = must!(store.load(&others[0].0, &others[0].1).await, "load");
    ensure!(found.is_some_and(|found| found.body == document(1)), "the other source overwrote the document");
    Ok(())
}

async fn reset(fixture: &dyn CheckpointFixture) -> Checked {
    let store = fixture.open().await;
    let version = must!(store.advance(&connector(), &stream(), None, &document(1)).await, "advance");
    ensure!(
        store.reset(&connector(), &stream(), version + 1).await.is_err(),
        "a reset of another version was accepted"
    );
    must!(store.reset(&connector(), &stream(), version).await, "reset");
    ensure!(must!(store.load(&connector(), &stream()).await, "load").is_none(), "the document is still there");
    let again = must!(store.advance(&connector(), &stream(), None, &document(1)).await, "advance after the reset");
    ensure!(again > version, "version {again} was used before");
    Ok(())
}
