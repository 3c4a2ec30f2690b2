use async_trait::async_trait;
use scion_domain::id::Digest256;
use scion_domain::tool_context::{
    EffectIntent, EffectOutcome, ReceiptReference, RecoveredResult, RecoveryRequest, ToolExecutionContext,
};
use scion_domain::work::WorkRefusal;

/// Keeps a durable receipt of every destructive call, so that an effect nobody saw the end of can be reconciled, and an answer
/// that was lost can be had again.
///
/// Obligations:
/// - **O1** A receipt that was opened is durable before `open` returns. One that is never settled means: it may have happened.
/// - **O2** Every `open` gives a reference of its own. A store may refuse a request that has one as [`WorkRefusal::Settled`]; one
///   that does not recovers the last.
/// - **O3** `settle` writes outcome and answer once; a second one is [`WorkRefusal::Settled`], and an unknown reference
///   [`WorkRefusal::Unknown`].
/// - **O4** `recover` gives an answer only to the tenant and actor of the original request, only as it was settled, and only for
///   the same connector, operation and arguments. `None` is what it does not have; it never makes an answer up.
#[async_trait]
pub trait EffectReceipts: Send + Sync {
    /// Opens a receipt before the effect.
    async fn open(&self, intent: &EffectIntent) -> Result<ReceiptReference, WorkRefusal>;

    /// Writes down what became of it.
    async fn settle(&self, receipt: &ReceiptReference, outcome: EffectOutcome<'_>) -> Result<(), WorkRefusal>;

    /// The result of an earlier request. `context` is the verified caller of the request that asks, and its operation the one
    /// that is asked for; `arguments_digest` is over its arguments.
    async fn recover(
        &self,
        context: &ToolExecutionContext,
        request: &RecoveryRequest,
        arguments_digest: Digest256,
    ) -> Result<Option<RecoveredResult>, WorkRefusal>;
}
