//! The suite of [`Sink`].

mod commit;
mod pack;
mod reconcile;

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::model::SourceReceipt;
use scion_ports::{GraphQuery, Sink};

use crate::fixtures;
use crate::report::Report;

/// Makes sinks to test.
#[async_trait]
pub trait SinkFixture: Send + Sync {
    /// A fresh, empty sink.
    async fn open(&self) -> Arc<dyn Sink>;

    /// A sink without records that has accepted the fixture pack. A store that shares its packs between graphs answers a fresh
    /// graph here.
    async fn open_with_pack(&self) -> Result<Arc<dyn Sink>, String> {
        let sink = self.open().await;
        sink.import_pack(&fixtures::pack())
            .await
            .map_err(|refusal| format!("import of the fixture pack: {refusal}"))?;
        Ok(sink)
    }

    /// The same store after a restart of whatever holds it; the old handle is dropped first. An in-memory double
    /// answers the same handle.
    async fn reopen(&self, sink: Arc<dyn Sink>) -> Arc<dyn Sink>;

    /// A way to count live records of `tickets`, when the implementation has one.
    async fn live_ids(&self, sink: &Arc<dyn Sink>) -> Option<Vec<String>>;

    /// A graph over the same store, when the implementation has one.
    async fn graph(&self, _sink: &Arc<dyn Sink>) -> Option<Arc<dyn GraphQuery>> {
        None
    }
}

/// Runs every check.
pub async fn run(fixture: &dyn SinkFixture) -> Report {
    let mut report = Report::new("Sink");
    commit::run(fixture, &mut report).await;
    reconcile::run(fixture, &mut report).await;
    pack::run(fixture, &mut report).await;
    report
}

/// A sink with the fixture pack imported.
async fn ready(fixture: &dyn SinkFixture) -> Result<Arc<dyn Sink>, String> {
    fixture.open_with_pack().await
}

/// What must be equal between a receipt and its replay.
fn identity(receipt: &SourceReceipt) -> impl PartialEq + std::fmt::Debug {
    (
        receipt.receipt_id.clone(),
        receipt.batch_digest,
        receipt.accepted_checkpoint_digest,
        receipt.raw_admissions.iter().map(|admission| admission.raw_digest).collect::<Vec<_>>(),
    )
}

/// Compares the live ids with the expected ones, when the fixture can tell.
async fn expect_live(fixture: &dyn SinkFixture, sink: &Arc<dyn Sink>, expected: &[&str]) -> Result<(), String> {
    if let Some(mut live) = fixture.live_ids(sink).await {
        live.sort_unstable();
        if live != expected {
            return Err(format!("live records are {live:?}, expected {expected:?}"));
        }
    }
    Ok(())
}
