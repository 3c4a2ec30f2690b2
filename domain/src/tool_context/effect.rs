use std::sync::Arc;

use super::{ReceiptReference, ToolExecutionContext};
use crate::id::Digest256;
use crate::mcp::ToolResult;
use crate::writeback::EffectStatus;

/// A destructive call about to run, as a store of receipts writes it down. Ids and digests only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectIntent {
    /// Who asks for it, and in which request.
    pub context: ToolExecutionContext,
    /// The digest of its arguments.
    pub arguments_digest: Digest256,
    /// The approval it will use.
    pub approval: Option<Digest256>,
}

/// What became of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectOutcome<'a> {
    /// What is known of it at the source.
    pub status: EffectStatus,
    /// What the call answered, so that its caller can have the answer again.
    pub result: &'a ToolResult,
}

/// An earlier request whose result a caller asks for. Its ids are those of the request as its client made it; that it is the
/// caller's own is the store's to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoveryRequest {
    /// The session of the earlier request; `None` for the caller's own where the protocol has no sessions.
    pub session: Option<Arc<str>>,
    /// Its request id.
    pub request: Arc<str>,
}

/// The durable result of an earlier request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoveredResult {
    /// The answer it had.
    pub result: ToolResult,
    /// The receipt of its effect.
    pub receipt: ReceiptReference,
    /// What is known of the effect.
    pub status: EffectStatus,
}
