use async_trait::async_trait;
use scion_domain::work::{DecisionProposal, DecisionQuestion, WorkRefusal};

/// Asks a decision service for a proposal. The proposal is observed and logged; it authorises nothing.
///
/// Obligations:
/// - **O1** A proposal names one of the candidates or abstains.
/// - **O2** No effect follows from asking.
/// - **O3** A service that does not answer in time is a refusal, and the caller goes on with its own rule.
#[async_trait]
pub trait DecisionRunner: Send + Sync {
    /// Asks.
    async fn propose(&self, question: &DecisionQuestion) -> Result<DecisionProposal, WorkRefusal>;
}
