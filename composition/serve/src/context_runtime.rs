//! What all calls of a surface share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ring::rand::{SecureRandom as _, SystemRandom};
use scion_domain::confirmation::{SealedFor, SpentStates, StateKey};
use scion_domain::fingerprint;
use scion_domain::id::{ConnectorName, Digest256};
use scion_domain::json::Json;
use scion_domain::mcp::ToolDescription;
use scion_domain::tool_context::TraceId;
use scion_ports::{Approvals, CallObserver, EffectReceipts, TokenDelegation};
use tokio::time::Instant;

use crate::confirm::Asks;

/// How long a person may take to answer a question of the enveloped era, in milliseconds.
const STATE_LIFETIME_MS: u64 = 10 * 60 * 1000;

/// What an embedder adds to the calls of a surface. Without it a destructive call needs a person's confirmation only, nobody
/// sees the calls, and no earlier result can be recovered.
#[derive(Clone, Default)]
pub struct CallGovernance {
    pub(crate) observers: Vec<Arc<dyn CallObserver>>,
    pub(crate) approvals: Option<Arc<dyn Approvals>>,
    pub(crate) receipts: Option<Arc<dyn EffectReceipts>>,
    pub(crate) delegation: Option<Arc<dyn TokenDelegation>>,
    pub(crate) actor_audience: Option<Arc<str>>,
}

impl CallGovernance {
    /// Adds one who sees the calls.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn CallObserver>) -> Self {
        self.observers.push(observer);
        self
    }

    /// Every destructive call also needs an approval of exactly its arguments, used once. Calls without a verified caller are
    /// refused.
    #[must_use]
    pub fn approvals(mut self, approvals: Arc<dyn Approvals>) -> Self {
        self.approvals = Some(approvals);
        self
    }

    /// Every destructive call leaves a receipt, and results can be recovered from it. Calls without a verified caller are
    /// refused.
    #[must_use]
    pub fn receipts(mut self, receipts: Arc<dyn EffectReceipts>) -> Self {
        self.receipts = Some(receipts);
        self
    }

    /// Tools can get tokens in the name of their callers (SDK-CONNECTOR-CONTROL-R014.8).
    #[must_use]
    pub fn delegation(mut self, delegation: Arc<dyn TokenDelegation>) -> Self {
        self.delegation = Some(delegation);
        self
    }

    /// Tools that act for their caller take tokens for this audience only, where it is not the listener's own
    /// (SDK-CONNECTOR-CONTROL-R902.4).
    #[must_use]
    pub fn actor_audience(mut self, audience: &str) -> Self {
        self.actor_audience = Some(audience.into());
        self
    }

    pub(crate) const fn needs_identity(&self) -> bool {
        self.approvals.is_some() || self.receipts.is_some()
    }
}

impl std::fmt::Debug for CallGovernance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallGovernance")
            .field("observers", &self.observers.len())
            .field("approvals", &self.approvals.is_some())
            .field("receipts", &self.receipts.is_some())
            .field("delegation", &self.delegation.is_some())
            .finish_non_exhaustive()
    }
}

/// What the call path needs to know of a tool.
pub(crate) struct ToolFacts {
    pub(crate) tool: Arc<str>,
    /// What a person is asked about, and what events name.
    pub(crate) operation: Arc<str>,
    pub(crate) asks: Asks,
    pub(crate) read_only: bool,
    /// Whether it acts for its caller (SDK-CONNECTOR-CONTROL-R902).
    pub(crate) requires_actor: bool,
    /// Whether the answer of a call that was not confirmed fits the tool's output schema.
    pub(crate) takes_plain_no: bool,
    digest: OnceLock<Digest256>,
}

impl ToolFacts {
    /// `operation` is the method behind the tool; the tool's own name without one.
    pub(crate) fn of(
        described: &ToolDescription,
        operation: Option<&str>,
        asks: Asks,
        requires_actor: bool,
    ) -> Arc<Self> {
        Arc::new(Self {
            tool: described.name.as_str().into(),
            operation: operation.unwrap_or(&described.name).into(),
            asks,
            read_only: described.hints.is_read_only(),
            requires_actor,
            takes_plain_no: described.output_schema.as_ref().is_none_or(takes_plain_no),
            digest: OnceLock::new(),
        })
    }

    /// The fingerprint of the tool's contract; worked out when it is first needed.
    pub(crate) fn digest(&self, described: &ToolDescription) -> Digest256 {
        *self.digest.get_or_init(|| fingerprint::compatibility(described).unwrap_or(Digest256::ZERO))
    }
}

/// Whether `{"cancelled": …, "operation": …}` fits a schema, as far as its root says.
fn takes_plain_no(schema: &Json) -> bool {
    let own = |name: &str| name == "cancelled" || name == "operation";
    let required = schema.get("required").and_then(Json::as_array).unwrap_or_default();
    let properties = schema.get("properties").and_then(Json::as_object);
    required.iter().all(|name| name.as_str().is_some_and(own))
        && properties.is_none_or(|properties| !properties.keys().any(|name| own(name)))
        && schema.get("additionalProperties").is_none_or(|open| *open == Json::Bool(true))
        && ["allOf", "anyOf", "oneOf", "not", "$ref", "propertyNames", "patternProperties", "maxProperties"]
            .iter()
            .all(|keyword| schema.get(keyword).is_none())
}

pub(crate) struct CallRuntime {
    pub(crate) connector: ConnectorName,
    pub(crate) governance: CallGovernance,
    origin: Instant,
    /// Made when the first question is asked; `None` when the system gives no randomness.
    key: OnceLock<Option<StateKey>>,
    spent: Mutex<SpentStates>,
    trace: OnceLock<u64>,
    calls: AtomicU64,
}

impl CallRuntime {
    pub(crate) fn new(connector: ConnectorName, governance: CallGovernance) -> Self {
        Self {
            connector,
            governance,
            origin: Instant::now(),
            key: OnceLock::new(),
            spent: Mutex::default(),
            trace: OnceLock::new(),
            calls: AtomicU64::new(0),
        }
    }

    pub(crate) fn is_observed(&self) -> bool {
        !self.governance.observers.is_empty()
    }

    /// An id for a call whose client sent none: a random half for the process, a counted one for the call.
    pub(crate) fn new_trace(&self) -> TraceId {
        let process = *self.trace.get_or_init(|| random::<8>().map_or(1, u64::from_be_bytes));
        let call = self.calls.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        TraceId::from_bytes(((u128::from(process) << 64) | u128::from(call)).to_be_bytes())
    }

    /// Seals a state; `None` when the system gives no randomness.
    pub(crate) fn seal(&self, sealed_for: &SealedFor) -> Option<String> {
        Some(self.key()?.seal(sealed_for, random()?, self.now_ms().saturating_add(STATE_LIFETIME_MS)))
    }

    /// Opens a state and spends it.
    pub(crate) fn open(&self, sealed_for: &SealedFor, state: &str) -> bool {
        let Some(key) = self.key() else { return false };
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        key.open(sealed_for, state, self.now_ms(), &mut spent)
    }

    fn key(&self) -> Option<&StateKey> {
        self.key.get_or_init(|| random().map(StateKey::new)).as_ref()
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

pub(crate) fn random<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).ok().map(|()| bytes)
}
