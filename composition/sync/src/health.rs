//! Liveness and readiness of a supervising process, as the bodies of its health routes (`wire/mcp-surface.md` 7.1).
//!
//! Connectors that left the registry are forgotten; a peer keeps them, so that a removed one with bad credentials holds its
//! readiness down for ever.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use scion_domain::id::ConnectorName;
use scion_domain::json::{Json, JsonNumber};
use scion_ports::{Clock, Sink};

use crate::deadline::within;

/// The longest wait for the sink's own readiness.
pub const SINK_READY_TIME: Duration = Duration::from_secs(5);

/// The answer of a health route: a status code and a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthAnswer {
    /// 200 or 503.
    pub status: u16,
    /// The body.
    pub body: Json,
}

/// What the sink says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SinkReadiness {
    /// It accepts batches.
    Ready,
    /// It does not; with its reason when it gave one.
    NotReady(Option<String>),
    /// It did not answer within this time.
    TimedOut(Duration),
}

#[derive(Clone, Debug, Default)]
struct ConnectorHealth {
    last_success: Option<Duration>,
    failures: u64,
    next_retry: Option<Duration>,
    credentials: Option<Result<(), String>>,
}

#[derive(Debug, Default)]
struct State {
    heartbeat: Duration,
    registry_read: bool,
    connectors: BTreeMap<ConnectorName, ConnectorHealth>,
}

/// The health of one process. Cheap to share.
pub struct HealthState {
    clock: Arc<dyn Clock>,
    window: Duration,
    state: Mutex<State>,
}

impl HealthState {
    /// A state whose scheduler has just beaten. `window` is the longest time between two beats.
    pub fn new(clock: Arc<dyn Clock>, window: Duration) -> Self {
        let state = State { heartbeat: clock.monotonic(), ..State::default() };
        Self { clock, window, state: Mutex::new(state) }
    }

    /// The window for a registry refresh: three refreshes, at least 30 s.
    pub fn window_for(refresh: Duration) -> Duration {
        refresh.saturating_mul(3).max(Duration::from_secs(30))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is a single assignment, so a panicked holder leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The scheduler is alive.
    pub fn heartbeat(&self) {
        self.state().heartbeat = self.clock.monotonic();
    }

    /// The registry was read; connectors it does not name are forgotten.
    pub fn registry_read(&self, names: impl IntoIterator<Item = ConnectorName>) {
        let mut state = self.state();
        let mut known = std::mem::take(&mut state.connectors);
        state.connectors = names
            .into_iter()
            .map(|name| {
                let health = known.remove(&name).unwrap_or_default();
                (name, health)
            })
            .collect();
        state.registry_read = true;
    }

    fn change(&self, name: &ConnectorName, change: impl FnOnce(&mut ConnectorHealth, Duration)) {
        let now = self.clock.monotonic();
        if let Some(health) = self.state().connectors.get_mut(name) {
            change(health, now);
        }
    }

    /// Whether the connector's credentials resolve; the error is our own message, never a value.
    pub fn credentials(&self, name: &ConnectorName, outcome: Result<(), String>) {
        self.change(name, |health, _| health.credentials = Some(outcome));
    }

    /// A cycle succeeded.
    pub fn succeeded(&self, name: &ConnectorName) {
        self.change(name, |health, now| {
            health.last_success = Some(now);
            health.failures = 0;
            health.next_retry = None;
        });
    }

    /// A cycle failed and is tried again after a wait.
    pub fn failed(&self, name: &ConnectorName, next_retry: Duration) {
        self.change(name, |health, _| {
            health.failures += 1;
            health.next_retry = Some(next_retry);
        });
    }

    /// `/health`.
    pub fn live(&self) -> HealthAnswer {
        let age = self.clock.monotonic().saturating_sub(self.state().heartbeat);
        if age > self.window {
            let body = Json::from([
                ("status", Json::from("error")),
                ("component", Json::from("scheduler_loop")),
                ("age_seconds", seconds(age)),
                ("max_age_seconds", seconds(self.window)),
            ]);
            return HealthAnswer { status: 503, body };
        }
        let body = Json::from([("status", Json::from("ok")), ("heartbeat_age_seconds", seconds(age))]);
        HealthAnswer { status: 200, body }
    }

    /// `/health/ready`, given what the sink says.
    pub fn ready(&self, sink: &SinkReadiness) -> HealthAnswer {
        let now = self.clock.monotonic();
        let state = self.state();
        let mut reasons = Vec::new();
        if !state.registry_read {
            reasons.push("registry not loaded".to_owned());
        }
        let unresolved = |(name, health): (&ConnectorName, &ConnectorHealth)| {
            (health.credentials != Some(Ok(()))).then(|| name.to_string())
        };
        let unresolved: Vec<String> = state.connectors.iter().filter_map(unresolved).collect();
        if !unresolved.is_empty() {
            reasons.push(format!("credentials unresolved: {}", unresolved.join(", ")));
        }
        match sink {
            SinkReadiness::Ready => {}
            SinkReadiness::NotReady(reason) => {
                reasons.push(reason.clone().unwrap_or_else(|| "sink not ready".to_owned()));
            }
            SinkReadiness::TimedOut(after) => {
                reasons.push(format!("sink readiness timed out after {}s", after.as_secs_f64()));
            }
        }
        let ready = reasons.is_empty();
        let connectors = state.connectors.iter().map(|(name, health)| (name.to_string(), connector_body(health, now)));
        let body = Json::from([
            ("status", Json::from(if ready { "ready" } else { "not_ready" })),
            ("connectors", Json::Object(connectors.collect())),
            ("reasons", Json::Array(reasons.into_iter().map(Json::from).collect())),
        ]);
        HealthAnswer { status: if ready { 200 } else { 503 }, body }
    }

    /// Asks the sink, for at most `limit`.
    pub async fn ask(&self, sink: &dyn Sink, limit: Duration) -> SinkReadiness {
        match within(&*self.clock, limit, sink.ready()).await {
            Some(Ok(())) => SinkReadiness::Ready,
            Some(Err(refusal)) => SinkReadiness::NotReady(Some(refusal.to_string())),
            None => SinkReadiness::TimedOut(limit),
        }
    }
}

fn connector_body(health: &ConnectorHealth, now: Duration) -> Json {
    let (ok, error) = match &health.credentials {
        None => (Json::Null, ""),
        Some(Ok(())) => (Json::from(true), ""),
        Some(Err(error)) => (Json::from(false), error.as_str()),
    };
    let ago = health.last_success.map(|at| seconds(now.saturating_sub(at)));
    Json::from([
        ("last_success_seconds_ago", Json::from(ago)),
        ("consecutive_failures", Json::from(health.failures)),
        ("next_retry_seconds", Json::from(health.next_retry.map(seconds))),
        ("credentials_ok", ok),
        ("credential_error", Json::from(error)),
    ])
}

/// Seconds with a fraction, to the millisecond.
fn seconds(duration: Duration) -> Json {
    let millis = Duration::from_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX));
    JsonNumber::from_f64(millis.as_secs_f64()).map_or(Json::Null, Json::Number)
}
