//! One call under way.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use scion_domain::confirmation::SealedFor;
use scion_domain::id::Digest256;
use scion_domain::surface::CallScope;
use scion_domain::tool_context::{
    CallEvent, CallEventKind, CallIds, ContextParts, ProgressRules, ReceiptReference, TerminalState,
    ToolContextRefusal, ToolExecutionContext, ToolExecutionResult, TraceId, audience_of,
};
use scion_ports::CallChannel;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::confirm::Stop;
use crate::context_runtime::{CallRuntime, ToolFacts};
use crate::request_cache::Entries;

/// The time of a call whose transport sets none.
const DEFAULT_TIME: Duration = Duration::from_mins(5);
/// The most that is kept of a transport's time for answering that it is over.
const MARGIN: Duration = Duration::from_millis(250);

pub(crate) struct CallState {
    pub(crate) runtime: Arc<CallRuntime>,
    pub(crate) facts: Arc<ToolFacts>,
    pub(crate) scope: CallScope,
    pub(crate) channel: Arc<dyn CallChannel>,
    pub(crate) started: Instant,
    pub(crate) deadline: Instant,
    trace: OnceLock<TraceId>,
    digest: Option<Digest256>,
    events: Mutex<u32>,
    ended: AtomicBool,
    wake: Notify,
    pub(crate) progress: Mutex<ProgressRules>,
    /// Held while a notice is on its way, so that notices leave in their order.
    pub(crate) order: tokio::sync::Mutex<()>,
    pub(crate) undeliverable: AtomicBool,
    pub(crate) lost: AtomicU32,
    pub(crate) cache: Mutex<Option<Entries>>,
    /// Whether a yes was given to anything.
    pub(crate) confirmed: AtomicBool,
    /// Whether the yes was given to the call as a whole, before its handler was entered.
    pub(crate) confirmed_whole: AtomicBool,
    /// What a handler asked itself and got a yes to.
    pub(crate) answered: Mutex<Vec<SealedFor>>,
    /// The digest of the arguments, where a handler may ask in the enveloped era.
    pub(crate) arguments: OnceLock<Digest256>,
    pub(crate) stopped: Mutex<Option<Stop>>,
    pub(crate) effect: Mutex<EffectMark>,
    pub(crate) approval: OnceLock<Digest256>,
    pub(crate) receipt: OnceLock<ReceiptReference>,
    /// The receipt of the embedder's store, which is settled at the end.
    pub(crate) opened: OnceLock<ReceiptReference>,
}

/// What a handler said of its effects.
#[derive(Default)]
pub(crate) struct EffectMark {
    /// Whether it said anything at all.
    pub(crate) marked: bool,
    /// Effects begun whose end it has not seen.
    pub(crate) open: u32,
    /// Whether one took place.
    pub(crate) applied: bool,
}

/// A poisoned lock only means that another thread panicked between two of these small updates; the data is still whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CallState {
    pub(crate) fn new(
        runtime: &Arc<CallRuntime>,
        facts: &Arc<ToolFacts>,
        digest: Option<Digest256>,
        scope: &CallScope,
        channel: Arc<dyn CallChannel>,
    ) -> Self {
        let started = Instant::now();
        let limit = scope.time_limit.map_or(DEFAULT_TIME, |limit| limit.saturating_sub(MARGIN.min(limit / 20)));
        Self {
            runtime: Arc::clone(runtime),
            facts: Arc::clone(facts),
            scope: scope.clone(),
            channel,
            started,
            deadline: started.checked_add(limit).unwrap_or(started + DEFAULT_TIME),
            trace: OnceLock::new(),
            digest,
            events: Mutex::new(0),
            ended: AtomicBool::new(false),
            wake: Notify::new(),
            progress: Mutex::default(),
            order: tokio::sync::Mutex::new(()),
            undeliverable: AtomicBool::new(false),
            lost: AtomicU32::new(0),
            cache: Mutex::new(None),
            confirmed: AtomicBool::new(false),
            confirmed_whole: AtomicBool::new(false),
            answered: Mutex::default(),
            arguments: OnceLock::new(),
            stopped: Mutex::new(None),
            effect: Mutex::default(),
            approval: OnceLock::new(),
            receipt: OnceLock::new(),
            opened: OnceLock::new(),
        }
    }

    pub(crate) fn trace(&self) -> TraceId {
        *self.trace.get_or_init(|| self.scope.trace.unwrap_or_else(|| self.runtime.new_trace()))
    }

    /// Tells the observers.
    pub(crate) fn emit(&self, kind: CallEventKind<'_>) {
        let observers = &self.runtime.governance.observers;
        if observers.is_empty() {
            return;
        }
        let caller = self.scope.caller.as_ref();
        let expected = self.runtime.governance.actor_audience.as_deref();
        let ids = CallIds {
            tenant: caller.map(|caller| caller.tenant.as_str()),
            actor: caller.map(|caller| caller.principal.as_str()),
            audience: self.scope.token.as_ref().and_then(|token| audience_of(token, expected)),
            connector: self.runtime.connector.as_str(),
            tool: &self.facts.tool,
            operation: &self.facts.operation,
            session: self.scope.session.as_deref(),
            request: self.scope.request.as_deref(),
            trace: self.trace(),
        };
        // Held over the delivery: the events of a call reach an observer in the order of their sequence.
        let mut events = lock(&self.events);
        *events += 1;
        let event = CallEvent { ids, schema_digest: self.digest.unwrap_or(Digest256::ZERO), sequence: *events, kind };
        for observer in observers {
            observer.observe(&event);
        }
    }

    /// The identity the call is bound to.
    pub(crate) fn execution(&self) -> Result<ToolExecutionContext, ToolContextRefusal> {
        ToolExecutionContext::bind(ContextParts {
            scope: &self.scope,
            connector: &self.runtime.connector,
            operation: &self.facts.operation,
            deadline: self.deadline.into_std(),
            reports_progress: self.channel.wants_progress(),
        })
    }

    pub(crate) fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    pub(crate) fn is_over(&self) -> bool {
        self.ended.load(Ordering::Acquire) || self.time_left().is_zero()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Waits until the call is over.
    pub(crate) async fn over(&self) {
        let notified = self.wake.notified();
        tokio::pin!(notified);
        notified.as_mut().enable();
        if !self.has_ended() {
            let _ = tokio::time::timeout_at(self.deadline, notified).await;
        }
    }

    /// No more notices, no more cache. `true` the first time.
    pub(crate) fn close(&self) -> bool {
        let first = !self.ended.swap(true, Ordering::AcqRel);
        if first {
            self.wake.notify_waiters();
            *lock(&self.cache) = None;
        }
        first
    }

    /// How the call ended, with what is known of its progress and effect.
    pub(crate) fn result(&self, state: TerminalState, reason: Option<&'static str>) -> ToolExecutionResult {
        ToolExecutionResult {
            state,
            reason,
            progress: lock(&self.progress).last().cloned(),
            receipt: self.opened.get().or_else(|| self.receipt.get()).cloned(),
            lost: self.lost.load(Ordering::Relaxed),
        }
    }

    /// Tells the observers of the end.
    pub(crate) fn end(&self, result: &ToolExecutionResult) {
        let approval = self.approval.get().copied();
        self.emit(CallEventKind::Ended { result, approval, took: self.started.elapsed() });
    }

    /// Whether an effect may have happened, should the call end without saying so.
    pub(crate) fn has_effect(&self) -> bool {
        let effect = lock(&self.effect);
        effect.open > 0 || effect.applied
    }
}

/// Sees to it that a call which is dropped ends like every other: for its observers, and for tasks that watch it.
pub(crate) struct Ending {
    pub(crate) call: Arc<CallState>,
    /// Whether the handler of a destructive tool has been entered.
    pub(crate) entered: bool,
}

impl Drop for Ending {
    fn drop(&mut self) {
        if self.call.close() {
            let marked = lock(&self.call.effect).marked;
            let uncertain = self.call.has_effect() || (self.entered && !marked);
            let state = if uncertain { TerminalState::Uncertain } else { TerminalState::Cancelled };
            self.call.end(&self.call.result(state, Some("cancelled")));
        }
    }
}
