//! The way to the graph and back, on which requests and replies get lost, repeated and late.

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::id::{ConnectorName, StreamName};
use scion_domain::model::{PackImport, PackReceipt, PackStatus, SourceBatch, SourceReceipt, StreamStatus};
use scion_domain::sink::{SinkCapabilities, SinkRefusal, StoreRefusal};
use scion_ports::Sink;

use super::drive::Env;
use super::world::lock;

/// The graph as a run sees it.
pub(super) struct SimSink {
    pub(super) env: Arc<Env>,
    /// What is at the other end.
    pub(super) far: Arc<dyn Sink>,
    /// Nothing strikes here.
    pub(super) quiet: bool,
}

fn down() -> SinkRefusal {
    StoreRefusal::Unavailable { what: "the simulation says so" }.into()
}

impl SimSink {
    fn strikes(&self) -> bool {
        !self.quiet && self.env.world.strikes()
    }

    /// Requests that got lost on the way may still arrive, in any order.
    async fn deliver_late(&self) {
        while !lock(&self.env.late).is_empty() && self.env.world.one_in(2) {
            let batch = {
                let mut late = lock(&self.env.late);
                let index = usize::try_from(self.env.world.dice.below(late.len() as u64)).unwrap_or(0);
                late.swap_remove(index)
            };
            let arrived = self.far.commit(&batch).await.is_ok();
            self.env.world.note(format!("a late batch arrives, accepted: {arrived}"));
        }
    }

    /// A call without an effect.
    async fn before_read(&self, what: &str) -> Result<(), SinkRefusal> {
        self.deliver_late().await;
        if !self.strikes() {
            return Ok(());
        }
        let kind = self.env.world.dice.below(3);
        self.env.world.note(format!("{what}: sink fault {kind}"));
        match kind {
            0 => Err(down()),
            1 => std::future::pending().await,
            _ => {
                self.env.world.late().await;
                Ok(())
            }
        }
    }

    async fn commit_badly(&self, batch: &SourceBatch) -> Result<SourceReceipt, SinkRefusal> {
        let kind = self.env.world.dice.below(8);
        self.env.world.note(format!("commit of {}: fault {kind}", batch.provider_checkpoint.stream));
        match kind {
            // The request is lost.
            0 => Err(SinkRefusal::OutcomeUnknown),
            1 => std::future::pending().await,
            // The reply is lost.
            2 => self.far.commit(batch).await.and(Err(SinkRefusal::OutcomeUnknown)),
            3 => {
                self.far.commit(batch).await?;
                std::future::pending().await
            }
            // The request is delivered twice.
            4 => {
                self.far.commit(batch).await?;
                self.far.commit(batch).await
            }
            // The request comes late, the caller knows nothing.
            5 => {
                lock(&self.env.late).push(batch.clone());
                Err(SinkRefusal::OutcomeUnknown)
            }
            6 => {
                let answer = self.far.commit(batch).await;
                self.env.world.late().await;
                answer
            }
            _ => Err(down()),
        }
    }
}

#[async_trait]
impl Sink for SimSink {
    fn capabilities(&self) -> SinkCapabilities {
        self.far.capabilities()
    }

    async fn ready(&self) -> Result<(), SinkRefusal> {
        self.far.ready().await
    }

    async fn import_pack(&self, import: &PackImport) -> Result<PackReceipt, SinkRefusal> {
        self.before_read("import").await?;
        let answer = self.far.import_pack(import).await;
        if self.strikes() {
            self.env.world.note("import: the reply is lost");
            return Err(SinkRefusal::OutcomeUnknown);
        }
        answer
    }

    async fn pack_status(&self, connector: &ConnectorName) -> Result<PackStatus, SinkRefusal> {
        self.before_read("pack status").await?;
        self.far.pack_status(connector).await
    }

    async fn commit(&self, batch: &SourceBatch) -> Result<SourceReceipt, SinkRefusal> {
        self.deliver_late().await;
        let answer = if self.strikes() { self.commit_badly(batch).await } else { self.far.commit(batch).await };
        if let Ok(receipt) = &answer
            && !self.env.truth.holds(&receipt.receipt_id)
        {
            self.env.world.broken("I3 a receipt was given for a batch that is not durable".to_owned());
        }
        answer
    }

    async fn status(&self, connector: &ConnectorName, stream: &StreamName) -> Result<StreamStatus, SinkRefusal> {
        self.before_read("status").await?;
        self.far.status(connector, stream).await
    }
}
