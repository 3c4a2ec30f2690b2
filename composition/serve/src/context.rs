//! What a handler knows beside its arguments, and how it talks to its caller (SDK-CONNECTOR-CONTROL-R050).

use std::sync::Arc;
use std::time::{Duration, Instant};

use scion_domain::call::LogLevel;
use scion_domain::json::{Json, JsonObject};
use scion_domain::surface::{CallScope, CallerIdentity};
use scion_domain::tool_context::{ReceiptReference, ToolContextRefusal, ToolExecutionContext, TraceId};

use crate::changes::ChangeNotifier;
use crate::context_call::{CallState, lock};
use crate::{Delivery, RequestCache, ToolRefusal, confirm, progress};

/// What a handler knows beside its arguments. Cheap to clone: the clones are the same call, and may go to tasks of their own.
///
/// ```
/// use scion_domain::call::LogLevel;
/// use scion_domain::json::{Json, JsonObject};
/// use scion_domain::mcp::ToolHints;
/// use scion_serve::{Tool, ToolRefusal};
///
/// let writing = ToolHints { read_only: Some(false), destructive: Some(false), ..ToolHints::default() };
/// Tool::with_hints("desk_clean", writing).handle(|context, _args| async move {
///     let target = JsonObject::from([("older_than_days".to_owned(), 30.into())]);
///     context.confirm_destructive("purge_tickets", &target).await?;
///     let effect = context.effect(Some("purge-2026-01"))?;
///     context.progress(1.0, Some(2.0), Some("half")).await?;
///     context.log(LogLevel::Info, "going on").await;
///     let user = context.cache().get_or_try_init("user", || async { Ok::<_, ToolRefusal>("ada".to_owned()) }).await?;
///     effect.applied();
///     Ok::<_, ToolRefusal>(Json::from(user.as_str()))
/// });
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct ToolContext {
    /// Announces that something the server shows has changed.
    pub notifier: ChangeNotifier,
    pub(crate) call: Arc<CallState>,
}

impl std::fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolContext").field("scope", self.scope()).finish_non_exhaustive()
    }
}

impl ToolContext {
    /// The request behind the call.
    pub fn scope(&self) -> &CallScope {
        &self.call.scope
    }

    /// Who is calling, where the host or the transport verified it. A tool that acts for its caller refuses without one.
    pub fn caller(&self) -> Option<&CallerIdentity> {
        self.call.scope.caller.as_ref()
    }

    /// Tenant, actor, session, request, connector, operation and deadline, bound together. Refuses with `invalid_context` where
    /// nobody verified the caller.
    pub fn execution(&self) -> Result<ToolExecutionContext, ToolContextRefusal> {
        self.call.execution()
    }

    /// The trace the call is part of: the client's, or one of its own.
    pub fn trace(&self) -> TraceId {
        self.call.trace()
    }

    /// When the time of the call is over. Its handler is dropped then.
    pub fn deadline(&self) -> Instant {
        self.call.deadline.into_std()
    }

    /// The time that is left; zero once it is over.
    pub fn time_left(&self) -> Duration {
        self.call.time_left()
    }

    /// Waits until the call is over: answered, given up by its client, or out of time. For tasks and threads that outlive the
    /// handler's own future, which is simply dropped.
    pub async fn cancelled(&self) {
        self.call.over().await;
    }

    /// Whether the call is over.
    pub fn is_cancelled(&self) -> bool {
        self.call.is_over()
    }

    /// Tells the client how far the call has come: `completed` of `total`, both from 0, in a unit of the tool's choice.
    ///
    /// Notices reach the client in order, each with more completed than the one before, whatever order the producers come in; a
    /// report that is not more is suppressed. A total once named stays and bounds what is completed. Without a progress token
    /// nothing is sent, and the summary still goes into the result. A notice that cannot be delivered is counted, and the call
    /// goes on. Refuses (`invalid_progress`) numbers that are not finite, negative or beyond the total, a total that changes, and
    /// messages of more than 512 characters; refuses (`cancelled`) when the call is over.
    pub async fn progress(
        &self,
        completed: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> Result<Delivery, ToolContextRefusal> {
        progress::report(&self.call, |rules, message| rules.report(completed, total, message), message).await
    }

    /// Like [`progress`](Self::progress), with `by` more than before: for producers that do not know of each other.
    pub async fn advance(&self, by: f64, message: Option<&str>) -> Result<Delivery, ToolContextRefusal> {
        progress::report(&self.call, |rules, message| rules.advance(by, message), message).await
    }

    /// Sends a log line to the client, without what looks like a secret and without the members of sensitive names. A line that
    /// cannot be delivered is counted, and the call goes on.
    pub async fn log(&self, level: LogLevel, data: impl Into<Json> + Send) -> Delivery {
        progress::log(&self.call, level, data.into()).await
    }

    /// Values worth keeping for the rest of this call, and no longer.
    pub fn cache(&self) -> RequestCache {
        RequestCache::of(&self.call)
    }

    /// Asks the person for a yes to one operation with exactly these arguments, and returns only with it. Every other answer, and
    /// a client that cannot be asked, is a refusal: pass it on with `?`, and the call answers `{"cancelled": true, …}`.
    ///
    /// A yes is one to this operation with these arguments; another one is asked again. In the enveloped era a call has one question
    /// only, and a second one is a no.
    ///
    /// A tool whose hints say that it is destructive need not call this: it has been confirmed before its handler is entered, and
    /// then this answers at once. In the enveloped era the client repeats the whole call with the answer, so the handler starts
    /// again from its beginning: ask before doing anything.
    pub async fn confirm_destructive(&self, operation: &str, arguments: &JsonObject) -> Result<(), ToolRefusal> {
        confirm::for_handler(&self.call, operation, arguments).await
    }

    /// Says that an effect at the source is about to be sent, and what it can be found again by. If the call ends before the
    /// [`Effect`] is settled, its state is `uncertain`.
    pub fn effect(&self, receipt: Option<&str>) -> Result<Effect, ToolContextRefusal> {
        if let Some(receipt) = receipt.map(ReceiptReference::parse).transpose()? {
            // A receipt of the embedder's store goes before it in what the caller is told.
            let _ = self.call.receipt.set(receipt);
        }
        let mut mark = lock(&self.call.effect);
        mark.marked = true;
        mark.open += 1;
        drop(mark);
        Ok(Effect { call: Arc::clone(&self.call) })
    }
}

/// An effect under way. Dropped without a word, nobody knows whether it happened.
#[must_use = "settle it with `applied` or `not_applied`"]
pub struct Effect {
    call: Arc<CallState>,
}

impl std::fmt::Debug for Effect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Effect")
    }
}

impl Effect {
    /// The source said that it happened.
    pub fn applied(self) {
        let mut mark = lock(&self.call.effect);
        mark.open = mark.open.saturating_sub(1);
        mark.applied = true;
    }

    /// The source said that it did not happen, or it was never sent.
    pub fn not_applied(self) {
        let mut mark = lock(&self.call.effect);
        mark.open = mark.open.saturating_sub(1);
    }
}
