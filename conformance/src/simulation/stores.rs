//! Progress documents and record digests as a run sees them, with faults and with what must hold of every call.

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::id::{ConnectorName, Digest256, RecordId, StreamName};
use scion_domain::json::Json;
use scion_domain::model::{ProgressDocument, SourceReceipt};
use scion_domain::sink::StoreRefusal;
use scion_ports::{CheckpointStore, RecordDigests};

use super::drive::Env;

fn down() -> StoreRefusal {
    StoreRefusal::Unavailable { what: "the simulation says so" }
}

/// Progress documents.
pub(super) struct SimCheckpoints {
    pub(super) env: Arc<Env>,
    /// Nothing strikes here.
    pub(super) quiet: bool,
}

impl SimCheckpoints {
    fn strikes(&self, what: &str) -> bool {
        let strikes = !self.quiet && self.env.world.strikes();
        if strikes {
            self.env.world.note(format!("{what} fails"));
        }
        strikes
    }
}

#[async_trait]
impl CheckpointStore for SimCheckpoints {
    async fn load(
        &self,
        connector: &ConnectorName,
        source: &StreamName,
    ) -> Result<Option<ProgressDocument>, StoreRefusal> {
        if self.strikes("load of progress") {
            return Err(down());
        }
        self.env.documents.load(connector, source).await
    }

    async fn advance(
        &self,
        connector: &ConnectorName,
        source: &StreamName,
        expected: Option<u64>,
        body: &Json,
    ) -> Result<u64, StoreRefusal> {
        if self.strikes("write of progress") {
            return if self.env.world.one_in(2) { Err(down()) } else { std::future::pending().await };
        }
        let receipt = body.get("last_receipt").and_then(Json::as_str);
        if receipt.is_some_and(|receipt| !self.env.truth.holds(receipt)) {
            self.env.world.broken(format!("I3 the progress of {source} names a receipt that is not durable"));
        }
        let answer = self.env.documents.advance(connector, source, expected, body).await;
        if self.strikes("reply to a write of progress") {
            return if self.env.world.one_in(2) { Err(down()) } else { std::future::pending().await };
        }
        answer
    }

    async fn reset(&self, connector: &ConnectorName, source: &StreamName, expected: u64) -> Result<(), StoreRefusal> {
        self.env.documents.reset(connector, source, expected).await
    }
}

/// Record digests.
pub(super) struct SimDigests {
    pub(super) env: Arc<Env>,
    /// What answers.
    pub(super) far: Arc<dyn RecordDigests>,
    /// Nothing strikes here.
    pub(super) quiet: bool,
}

#[async_trait]
impl RecordDigests for SimDigests {
    async fn lookup(
        &self,
        connector: &ConnectorName,
        stream: &StreamName,
        ids: &[RecordId],
    ) -> Result<Vec<Option<Digest256>>, StoreRefusal> {
        if !self.quiet && self.env.world.strikes() {
            self.env.world.note("lookup of digests fails");
            return if self.env.world.one_in(2) { Err(down()) } else { std::future::pending().await };
        }
        let answer = self.far.lookup(connector, stream, ids).await?;
        if answer != self.env.truth.graph.lookup(connector, stream, ids).await? {
            self.env.world.broken(format!("I3 a digest of {stream} is known and its record is not"));
        }
        Ok(answer)
    }

    async fn accepted(
        &self,
        connector: &ConnectorName,
        stream: &StreamName,
        digests: &[(RecordId, Digest256)],
        receipt: &SourceReceipt,
    ) -> Result<(), StoreRefusal> {
        if !self.quiet && self.env.world.strikes() {
            self.env.world.note("note of digests fails");
            return Err(down());
        }
        self.far.accepted(connector, stream, digests, receipt).await
    }
}
