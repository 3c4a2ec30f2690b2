//! The person's yes, and the approval, that a destructive call needs before its handler is entered (`wire/mcp-surface.md` 2.6;
//! SDK-CONNECTOR-CONTROL-R026.1, R050.4).

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use scion_domain::call::{Asking, Continuation, Question};
use scion_domain::confirmation::{
    CONFIRMATION_KEY, ConfirmationRefusal, QuestionForm, SealedFor, approval_request, not_confirmed, question, says_yes,
};
use scion_domain::id::Digest256;
use scion_domain::json::{Json, JsonObject, to_compact};
use scion_domain::mcp::{ToolHints, ToolResult};
use scion_domain::surface::SurfaceRefusal;
use scion_domain::tool_context::{CallEventKind, EffectIntent, ToolContextRefusal};
use scion_domain::tool_surface::{ActionAnswer, ActionKind, ActionTable, action_kind, snake_case};
use scion_domain::work::{ApprovalState, WorkRefusal};

use crate::ToolRefusal;
use crate::context_call::{CallState, lock};

/// Whether a tool is confirmed before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asks {
    /// It destroys nothing.
    Never,
    /// Every call is.
    Always,
    /// A router that was kept whole: a call is when the action this argument names destroys something.
    ByAction(String),
    /// A router that was kept whole and whose actions are known.
    ByRouter(Box<RouterAsks>),
}

/// Which actions of a router destroy something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterAsks {
    pub(crate) argument: &'static str,
    pub(crate) table: ActionTable,
    pub(crate) destroys: BTreeSet<String>,
}

impl RouterAsks {
    /// The destructive action that is meant, whichever word for it the caller used.
    fn operation(&self, arguments: &JsonObject) -> Option<&str> {
        let word = arguments.get(self.argument).and_then(Json::as_str)?;
        match self.table.resolve(word) {
            Ok(ActionAnswer::Run(action)) => self.destroys.get(&action).map(String::as_str),
            Ok(ActionAnswer::Actions(_)) | Err(_) => None,
        }
    }
}

impl Asks {
    /// What the hints of a tool say, so that none asks that is labelled read-only, and none that is labelled destructive does
    /// not.
    pub fn of(hints: ToolHints) -> Self {
        if hints.destructive == Some(true) { Self::Always } else { Self::Never }
    }

    /// The operation to confirm, if this call needs it.
    pub(crate) fn operation<'a>(&'a self, otherwise: &'a str, arguments: &'a JsonObject) -> Option<&'a str> {
        match self {
            Self::Never => None,
            Self::Always => Some(otherwise),
            Self::ByRouter(router) => router.operation(arguments),
            Self::ByAction(argument) => {
                let action = arguments.get(argument).and_then(Json::as_str)?;
                (action_kind(&snake_case(action)) == ActionKind::Destructive).then_some(action)
            }
        }
    }
}

/// Why a destructive operation does not run.
pub(crate) enum Verdict {
    /// Not confirmed: declined, no answer, no way to ask.
    No,
    /// The client must bring the answer.
    Pending { question: Question, state: String },
    /// The state does not belong to the call.
    State,
    /// Something other than the person said no.
    Refused(ToolContextRefusal),
    /// A port behind the gate does not work.
    Broken(WorkRefusal),
    /// There is no randomness to seal a state with.
    NoRandomness,
}

/// Everything a destructive operation needs before it runs, in the order that costs a person least: an approval that is there,
/// the person's yes, a receipt, and last the use of the approval.
pub(crate) async fn clear(
    call: &CallState,
    operation: &str,
    arguments: &JsonObject,
    call_digest: Digest256,
) -> Result<(), Verdict> {
    let approval = approved(call, operation, arguments).await?;
    ask(call, operation, arguments, call_digest).await?;
    open_receipt(call, call_digest, approval).await?;
    let (Some(digest), Some(approvals)) = (approval, &call.runtime.governance.approvals) else { return Ok(()) };
    match approvals.spend(&digest).await {
        Ok(()) => {
            let _ = call.approval.set(digest);
            Ok(())
        }
        Err(WorkRefusal::Settled { .. }) => Err(required(operation, SPENT)),
        Err(WorkRefusal::Unknown { .. } | WorkRefusal::Conflict { .. }) => Err(required(operation, "has no approval")),
        Err(refusal) => Err(Verdict::Broken(refusal)),
    }
}

const SPENT: &str = "its approval was used already or has expired";

fn required(operation: &str, why: &'static str) -> Verdict {
    Verdict::Refused(ToolContextRefusal::ApprovalRequired { operation: operation.to_owned(), why })
}

async fn approved(call: &CallState, operation: &str, arguments: &JsonObject) -> Result<Option<Digest256>, Verdict> {
    let governance = &call.runtime.governance;
    if governance.needs_identity() {
        call.execution().map_err(Verdict::Refused)?;
    }
    let (Some(approvals), Some(caller)) = (&governance.approvals, &call.scope.caller) else { return Ok(None) };
    let request = approval_request(&caller.tenant, &call.runtime.connector, operation, arguments);
    match approvals.request(&request).await {
        Ok(ApprovalState::Approved) => Ok(Some(request.digest)),
        Ok(ApprovalState::Pending) => Err(required(operation, "nobody has approved it yet")),
        Ok(ApprovalState::Rejected) => Err(required(operation, "its approval was denied")),
        Ok(ApprovalState::Spent) => Err(required(operation, SPENT)),
        Err(refusal) => Err(Verdict::Broken(refusal)),
    }
}

async fn open_receipt(
    call: &CallState,
    arguments_digest: Digest256,
    approval: Option<Digest256>,
) -> Result<(), Verdict> {
    let Some(receipts) = &call.runtime.governance.receipts else { return Ok(()) };
    if call.opened.get().is_some() {
        // One receipt for one call, however often its handler asks.
        return Ok(());
    }
    let context = call.execution().map_err(Verdict::Refused)?;
    match receipts.open(&EffectIntent { context, arguments_digest, approval }).await {
        Ok(receipt) => {
            let _ = call.opened.set(receipt);
            Ok(())
        }
        Err(WorkRefusal::Settled { .. }) => {
            let what = "the request was carried out before";
            Err(Verdict::Refused(ToolContextRefusal::RecoveryUnavailable { what }))
        }
        Err(refusal) => Err(Verdict::Broken(refusal)),
    }
}

async fn ask(call: &CallState, operation: &str, arguments: &JsonObject, call_digest: Digest256) -> Result<(), Verdict> {
    let connector = call.runtime.connector.as_str();
    let yes = match call.channel.asking() {
        Asking::Unsupported => false,
        Asking::Direct => {
            call.emit(CallEventKind::Asked);
            let question = question(connector, operation, arguments, QuestionForm::Handshake);
            call.channel.ask(&question).await.is_ok_and(|reply| says_yes(&reply))
        }
        Asking::Repeated(continuation) => {
            let sealed_for =
                SealedFor::new(call.scope.caller.as_ref(), &call.facts.tool, call_digest, operation, arguments);
            match &continuation.state {
                Some(state) if !call.runtime.open(&sealed_for, state) => return Err(Verdict::State),
                Some(_) => confirmed_by(continuation),
                None if continuation.replies.is_empty() => {
                    let state = call.runtime.seal(&sealed_for).ok_or(Verdict::NoRandomness)?;
                    call.emit(CallEventKind::Asked);
                    let question = question(connector, operation, arguments, QuestionForm::Enveloped);
                    return Err(Verdict::Pending { question, state });
                }
                // An answer to a question that was never asked.
                None => false,
            }
        }
    };
    call.emit(CallEventKind::Answered { yes });
    if yes { Ok(()) } else { Err(Verdict::No) }
}

fn confirmed_by(continuation: &Continuation) -> bool {
    continuation.replies.get(CONFIRMATION_KEY).is_some_and(says_yes)
}

/// What a handler that asked for a confirmation was told.
pub(crate) struct Stop {
    pub(crate) operation: String,
    pub(crate) verdict: Verdict,
}

/// The confirmation that a handler asks for itself.
pub(crate) async fn for_handler(call: &CallState, operation: &str, arguments: &JsonObject) -> Result<(), ToolRefusal> {
    if call.confirmed_whole.load(Ordering::Acquire) {
        return Ok(());
    }
    if call.facts.read_only {
        return Err(ConfirmationRefusal::ReadOnly { tool: call.facts.tool.to_string() }.into());
    }
    let digest = call.arguments.get().copied().unwrap_or_else(|| SealedFor::call(arguments));
    // A yes is one to this operation with these arguments, and to no other that the same handler goes on to.
    let question = SealedFor::new(None, "", digest, operation, arguments);
    let (known, asked) = {
        let answered = lock(&call.answered);
        (answered.contains(&question), !answered.is_empty())
    };
    if known {
        return Ok(());
    }
    // The client brings one answer with a repeated call; to a second question there is none.
    let cleared = if asked && matches!(call.channel.asking(), Asking::Repeated(_)) {
        Err(Verdict::No)
    } else {
        clear(call, operation, arguments, digest).await
    };
    let Err(verdict) = cleared else {
        lock(&call.answered).push(question);
        call.confirmed.store(true, Ordering::Release);
        return Ok(());
    };
    let name = || operation.to_owned();
    let refusal = match &verdict {
        Verdict::No | Verdict::State => ConfirmationRefusal::Declined { operation: name() }.into(),
        Verdict::Pending { .. } => ConfirmationRefusal::Pending { operation: name() }.into(),
        Verdict::Refused(refusal) => refusal.clone().into(),
        Verdict::Broken(refusal) => refusal.clone().into(),
        Verdict::NoRandomness => SurfaceRefusal::Unavailable { what: "randomness" }.into(),
    };
    *lock(&call.stopped) = Some(Stop { operation: name(), verdict });
    Err(refusal)
}

/// The answer of a call that was not confirmed. Where the tool's output schema has no room for it, it is an error that says so
/// in words.
pub(crate) fn no(operation: &str, takes_plain_no: bool) -> ToolResult {
    let value = Json::Object(not_confirmed(operation));
    let text = to_compact(&value);
    if takes_plain_no {
        ToolResult { texts: vec![text], structured: Some(value), ..ToolResult::default() }
    } else {
        ToolResult { texts: vec![text], is_error: true, ..ToolResult::default() }
    }
}
