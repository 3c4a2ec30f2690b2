use async_trait::async_trait;
use scion_domain::drift::RepairProposal;
use scion_domain::id::{ConnectorName, Digest256, StreamName};
use scion_domain::model::RepairDecision;
use scion_domain::sink::StoreRefusal;

/// Where a proposed repair of a stream is recorded, and where its outcome is read (R003). Building a candidate schema,
/// validating it, trying it and putting it in force are the graph service's; nothing here can ask for them.
///
/// Obligations:
/// - **O1** `propose` is durable when it returns, and idempotent: a proposal of the same digest stands once.
/// - **O2** `decision` of a proposal never made is [`RepairDecision::Unknown`]; of one nobody decided, [`RepairDecision::Pending`].
/// - **O3** A decision does not change once it is not pending.
/// - **O4** Neither call changes what the graph accepts.
#[async_trait]
pub trait RepairProposals: Send + Sync {
    /// Records a proposal.
    async fn propose(&self, proposal: &RepairProposal) -> Result<(), StoreRefusal>;

    /// What became of it.
    async fn decision(
        &self,
        connector: &ConnectorName,
        stream: &StreamName,
        proposal: Digest256,
    ) -> Result<RepairDecision, StoreRefusal>;
}
