//! The context of one call: who makes it, until when, how far it has come and how it ended (SDK-CONNECTOR-CONTROL-R050).

mod actor;
mod effect;
mod event;
mod execution;
mod progress;
mod result;

#[cfg(test)]
mod tests;

use crate::refusals;

pub use actor::{ACTOR_META_KEY, ActorContext, ActorRefusal, DelegationRefusal, audience_of};
pub use effect::{EffectIntent, EffectOutcome, RecoveredResult, RecoveryRequest};
pub use event::{CallEvent, CallEventKind, CallIds, TraceId};
pub use execution::{ContextParts, ToolExecutionContext};
pub use progress::{MAX_PROGRESS_MESSAGE, ProgressRules, ProgressStep, ToolProgress};
pub use result::{EXECUTION_META_KEY, ReceiptReference, TerminalState, ToolExecutionResult};

/// The member of a call's `_meta` with which a client asks for the result of an earlier request, `{request, session?}`, in
/// place of a second effect.
pub const RECOVERY_META_KEY: &str = "team.knuckles/recover";

refusals! {
    /// The closed reasons for which a call is not made, or does not come to its own end.
    pub enum ToolContextRefusal {
        /// Nobody verified who is calling, or two parts of the identity contradict each other.
        InvalidContext { what: &'static str } => "invalid_context", Denied, Never,
            "the call has no sound identity: {what}", "call through a transport that verifies its callers";
        /// The tool reports progress that cannot be.
        InvalidProgress { what: &'static str } => "invalid_progress", CallerMistake, Never,
            "the progress is not acceptable: {what}", "fix the tool";
        /// A destructive operation without the yes it needs.
        ApprovalRequired { operation: String, why: &'static str } => "approval_required", Denied, Never,
            "`{operation}` is destructive and {why}", "have exactly this call approved, then make it again";
        /// The time of the call is over.
        DeadlineExceeded { tool: String } => "deadline_exceeded", Unavailable, Later,
            "the time for `{tool}` is over", "call again with less to do";
        /// The client gave the call up.
        Cancelled => "cancelled", CallerMistake, Never,
            "the call was cancelled", "call again";
        /// A notice did not reach the client. The call goes on.
        DeliveryFailed => "delivery_failed", Unavailable, Never,
            "a notice did not reach the client", "nothing was repeated because of it";
        /// Nobody keeps the results of earlier requests, or not of this one.
        RecoveryUnavailable { what: &'static str } => "recovery_unavailable", Unavailable, Never,
            "an earlier result cannot be had: {what}", "read the state at the source; nothing was done again";
    }
}

refusals! {
    /// What is said of an effect that nobody saw the end of.
    pub enum EffectRefusal {
        /// It may have happened.
        Uncertain { tool: String, reason: &'static str, receipt: String } => "effect_uncertain", Unavailable, AfterReadback,
            "it is not known whether `{tool}` took effect ({reason}); receipt: {receipt}",
            "reconcile with the receipt, or read the state at the source, before calling again";
    }
}
