//! The way of a call: identity, arguments, confirmation, handler, answer.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use scion_domain::call::{Asking, CallOutcome};
use scion_domain::confirmation::SealedFor;
use scion_domain::id::Digest256;
use scion_domain::json::JsonObject;
use scion_domain::mcp::ToolResult;
use scion_domain::refusal::Refusal;
use scion_domain::surface::{CallScope, SurfaceRefusal, ToolFailure};
use scion_domain::tool_context::{
    ActorContext, CallEventKind, EXECUTION_META_KEY, EffectOutcome, EffectRefusal, RecoveredResult, RecoveryRequest,
    TerminalState, ToolContextRefusal, ToolExecutionContext, ToolExecutionResult,
};
use scion_domain::writeback::EffectStatus;
use scion_ports::CallChannel;

use crate::changes::ChangeNotifier;
use crate::confirm::{self, Stop, Verdict};
use crate::context::ToolContext;
use crate::context_call::{CallState, Ending, lock};
use crate::context_runtime::CallRuntime;
use crate::surface::ServedTool;
use crate::tool::Answer;
use crate::{Args, answer};

/// The longest a receipt may take to be settled, and what it gets even when the time of the call is over.
const SETTLE: Duration = Duration::from_secs(5);
const SETTLE_LATE: Duration = Duration::from_millis(100);

/// The refusals with which a handler passes on that it was not confirmed.
const STOPS: [&str; 2] = ["confirmation_declined", "confirmation_pending"];

/// How a call comes to its end.
struct Ended {
    outcome: Result<CallOutcome, SurfaceRefusal>,
    state: TerminalState,
    reason: Option<&'static str>,
}

impl Ended {
    fn refused(state: TerminalState, refusal: &dyn Refusal) -> Self {
        Self { outcome: Ok(ToolResult::refused(refusal).into()), state, reason: Some(refusal.code()) }
    }

    fn surface(refusal: SurfaceRefusal) -> Self {
        let reason = Some(refusal.code());
        Self { outcome: Err(refusal), state: TerminalState::Failed, reason }
    }
}

pub(crate) async fn run(
    runtime: &Arc<CallRuntime>,
    tool: &ServedTool,
    notifier: &ChangeNotifier,
    scope: &CallScope,
    channel: Arc<dyn CallChannel>,
    arguments: JsonObject,
) -> Result<CallOutcome, SurfaceRefusal> {
    let digest = runtime.is_observed().then(|| tool.facts.digest(&tool.description));
    let call = Arc::new(CallState::new(runtime, &tool.facts, digest, scope, channel));
    let mut ending = Ending { call: Arc::clone(&call), entered: false };
    call.emit(CallEventKind::Started);
    let ended = answer(&call, tool, notifier, arguments, &mut ending.entered).await;
    call.close();
    // A notice that is on its way leaves before the result does; it is bounded.
    drop(call.order.lock().await);
    let result = call.result(ended.state, ended.reason);
    call.end(&result);
    let mut outcome = ended.outcome?;
    if let CallOutcome::Done(answer) = &mut outcome
        && is_worth_telling(&result)
    {
        answer.meta.insert(EXECUTION_META_KEY.to_owned(), result.meta(scope.request.as_deref()));
    }
    Ok(outcome)
}

/// A call that simply succeeded, or was refused in words, needs no metadata.
fn is_worth_telling(result: &ToolExecutionResult) -> bool {
    result.progress.is_some()
        || result.receipt.is_some()
        || result.lost > 0
        || matches!(result.state, TerminalState::Cancelled | TerminalState::Uncertain)
        || result.reason.is_some_and(|reason| ToolContextRefusal::CATALOGUE.iter().any(|entry| entry.code == reason))
}

async fn answer(
    call: &Arc<CallState>,
    tool: &ServedTool,
    notifier: &ChangeNotifier,
    arguments: JsonObject,
    entered: &mut bool,
) -> Ended {
    if let Err(refusal) = ToolExecutionContext::check(&call.scope) {
        return Ended::refused(TerminalState::Failed, &refusal);
    }
    if tool.facts.requires_actor
        && let Err(refusal) = ActorContext::of(&call.scope, call.runtime.governance.actor_audience.as_deref())
    {
        return Ended::refused(TerminalState::Failed, &refusal);
    }
    let arguments = match tool.inputs.check(&tool.facts.tool, arguments) {
        Ok(arguments) => arguments,
        Err(refusal) => return Ended::refused(TerminalState::Failed, &refusal),
    };
    if let Some(request) = &call.scope.recovers {
        return recover(call, request, SealedFor::call(arguments.members())).await;
    }
    let operation = tool.facts.asks.operation(&tool.facts.operation, arguments.members());
    let destroys = operation.is_some();
    if let Some(operation) = operation {
        let digest = SealedFor::call(arguments.members());
        let cleared = confirm::clear(call, operation, arguments.members(), digest);
        let Ok(verdict) = tokio::time::timeout_at(call.deadline, cleared).await else {
            let refusal = ToolContextRefusal::DeadlineExceeded { tool: tool.facts.tool.to_string() };
            return Ended::refused(TerminalState::Cancelled, &refusal);
        };
        if let Err(verdict) = verdict {
            let ended = stopped(verdict, operation, tool);
            settle(call, &ended, EffectStatus::NoEffect).await;
            return ended;
        }
        call.confirmed.store(true, Ordering::Release);
        call.confirmed_whole.store(true, Ordering::Release);
    } else if !tool.facts.read_only && matches!(call.channel.asking(), Asking::Repeated(_)) {
        let _ = call.arguments.set(SealedFor::call(arguments.members()));
    }
    *entered = destroys;
    let context = ToolContext { notifier: notifier.clone(), call: Arc::clone(call) };
    let ended = handle(call, tool, context, arguments, destroys).await;
    let status = match ended.state {
        TerminalState::Succeeded => EffectStatus::Applied,
        TerminalState::Uncertain => EffectStatus::Uncertain,
        TerminalState::Failed | TerminalState::Cancelled => EffectStatus::NoEffect,
    };
    settle(call, &ended, status).await;
    ended
}

fn stopped(verdict: Verdict, operation: &str, tool: &ServedTool) -> Ended {
    match verdict {
        Verdict::No => Ended {
            outcome: Ok(confirm::no(operation, tool.facts.takes_plain_no).into()),
            state: TerminalState::Cancelled,
            reason: Some("approval_required"),
        },
        Verdict::Pending { question, state } => Ended {
            outcome: Ok(CallOutcome::Asks { questions: vec![question], state }),
            state: TerminalState::Cancelled,
            reason: Some("confirmation_pending"),
        },
        Verdict::State => Ended::surface(SurfaceRefusal::RequestState),
        Verdict::Refused(refusal) => Ended::refused(TerminalState::Failed, &refusal),
        Verdict::Broken(refusal) => Ended::refused(TerminalState::Failed, &refusal),
        Verdict::NoRandomness => Ended::surface(SurfaceRefusal::Unavailable { what: "randomness" }),
    }
}

async fn handle(
    call: &Arc<CallState>,
    tool: &ServedTool,
    context: ToolContext,
    arguments: Args,
    destroys: bool,
) -> Ended {
    let name = || tool.facts.tool.to_string();
    // What a handler said of its effects counts; where it said nothing, a destructive one that was entered may have done it.
    let open = |guess: bool| {
        let marked = lock(&call.effect).marked;
        if marked { call.has_effect() } else { guess }
    };
    let handled = async { caught((tool.handler)(context, arguments)).await };
    match tokio::time::timeout_at(call.deadline, handled).await {
        Err(_) => {
            let seconds =
                call.scope.time_limit.map_or_else(|| (call.deadline - call.started).as_secs(), |limit| limit.as_secs());
            cut_off(call, open(destroys), "deadline_exceeded", &ToolFailure::TimedOut { tool: name(), seconds })
        }
        Ok(Err(Panicked)) => {
            let failure = ToolFailure::Panicked { tool: name() };
            cut_off(call, open(destroys), failure.code(), &failure)
        }
        Ok(Ok(Ok(value))) => {
            let result = tool.output.answer(&tool.facts.tool, value);
            let (state, reason) = if result.is_error {
                (TerminalState::Failed, Some("tool_wrong_shape"))
            } else {
                (TerminalState::Succeeded, None)
            };
            Ended { outcome: Ok(result.into()), state, reason }
        }
        Ok(Ok(Err(refusal))) => {
            // A handler that had done something before it asked did not do nothing.
            let passed_on = STOPS.contains(&refusal.code());
            if let Some(Stop { operation, verdict }) =
                lock(&call.stopped).take().filter(|_| passed_on && !call.has_effect())
            {
                return stopped(verdict, &operation, tool);
            }
            let confirmed = call.confirmed.load(Ordering::Acquire);
            if open(refusal.is_uncertain() || (confirmed && refusal.leaves_outcome_open())) {
                return uncertain(call, refusal.code());
            }
            Ended {
                reason: Some(refusal.code()),
                outcome: Ok(answer::refusal(&refusal).into()),
                state: TerminalState::Failed,
            }
        }
    }
}

/// The end of a call that was cut off before its handler said how it went.
fn cut_off(call: &CallState, may_have_happened: bool, reason: &'static str, failure: &ToolFailure) -> Ended {
    if may_have_happened {
        return uncertain(call, reason);
    }
    Ended { outcome: Ok(ToolResult::refused(failure).into()), state: TerminalState::Failed, reason: Some(reason) }
}

/// The end of a call whose effect may have happened.
fn uncertain(call: &CallState, reason: &'static str) -> Ended {
    let receipt =
        call.opened.get().or_else(|| call.receipt.get()).map_or("none", |receipt| receipt.as_str()).to_owned();
    let refusal = EffectRefusal::Uncertain { tool: call.facts.tool.to_string(), reason, receipt };
    Ended { outcome: Ok(ToolResult::refused(&refusal).into()), state: TerminalState::Uncertain, reason: Some(reason) }
}

/// Writes the outcome into the receipt. A receipt that cannot be settled stays open, which means: it may have happened.
async fn settle(call: &CallState, ended: &Ended, status: EffectStatus) {
    let (Some(receipts), Some(receipt)) = (&call.runtime.governance.receipts, call.opened.get()) else { return };
    let Ok(CallOutcome::Done(result)) = &ended.outcome else { return };
    let settled = receipts.settle(receipt, EffectOutcome { status, result });
    let _ = tokio::time::timeout(call.time_left().clamp(SETTLE_LATE, SETTLE), settled).await;
}

/// The result of an earlier request, from its receipt or not at all. The tool does not run.
async fn recover(call: &CallState, request: &RecoveryRequest, arguments: Digest256) -> Ended {
    let unavailable = |what| Ended::refused(TerminalState::Failed, &ToolContextRefusal::RecoveryUnavailable { what });
    let Some(receipts) = &call.runtime.governance.receipts else { return unavailable("nobody keeps results here") };
    let context = match call.execution() {
        Ok(context) => context,
        Err(refusal) => return Ended::refused(TerminalState::Failed, &refusal),
    };
    match tokio::time::timeout_at(call.deadline, receipts.recover(&context, request, arguments)).await {
        Ok(Ok(Some(RecoveredResult { result, receipt, status }))) => {
            let _ = call.receipt.set(receipt);
            let state = match status {
                EffectStatus::Applied => TerminalState::Succeeded,
                EffectStatus::NoEffect => TerminalState::Failed,
                EffectStatus::Uncertain => TerminalState::Uncertain,
            };
            Ended { outcome: Ok(result.into()), state, reason: None }
        }
        Ok(Ok(None)) => unavailable("the request is not known here"),
        Ok(Err(_)) | Err(_) => unavailable("the store of results does not answer"),
    }
}

struct Panicked;

/// A handler that panics costs one answer.
async fn caught(mut handler: Answer) -> Result<<Answer as Future>::Output, Panicked> {
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| handler.as_mut().poll(cx))) {
        Ok(polled) => polled.map(Ok),
        Err(_) => std::task::Poll::Ready(Err(Panicked)),
    })
    .await
}
