use std::fmt;
use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use scion_domain::tool_context::{CallEvent, CallEventKind, TerminalState};
use scion_ports::CallObserver;

use crate::DURATION_BOUNDS;
use crate::label::{Bounded, MAX_CODES, MAX_TOOLS};

/// The media type of [`PrometheusMetrics::render`].
pub const METRICS_MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

type Labels = Vec<(&'static str, String)>;
type Durations = Family<Labels, Histogram, fn() -> Histogram>;

/// Counts calls for Prometheus; [`render`](Self::render) gives the text of a `/metrics` route.
pub struct PrometheusMetrics {
    registry: Registry,
    calls: Family<Labels, Counter>,
    durations: Durations,
    in_flight: Gauge,
    refusals: Family<Labels, Counter>,
    notifications_lost: Counter<u64, AtomicU64>,
    cache_hits: Counter<u64, AtomicU64>,
    tools: Bounded<PerTool>,
    codes: Bounded<Counter>,
    yes: Counter,
    no: Counter,
}

/// The series of one tool, found without building labels again.
struct PerTool {
    by_state: [Counter; 4],
    duration: Histogram,
}

fn histogram() -> Histogram {
    Histogram::new(DURATION_BOUNDS)
}

impl fmt::Debug for PrometheusMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrometheusMetrics")
    }
}

impl Default for PrometheusMetrics {
    fn default() -> Self {
        Self::new()
    }
}

impl PrometheusMetrics {
    /// Metrics that start at zero.
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("scion");
        let calls = Family::<Labels, Counter>::default();
        registry.register("tool_calls", "Tool calls that ended, by tool and state", calls.clone());
        let durations = Durations::new_with_constructor(histogram);
        let what = "How long tool calls took, waiting for a person included";
        registry.register_with_unit("tool_call_duration", what, Unit::Seconds, durations.clone());
        let in_flight = Gauge::default();
        registry.register("tool_calls_in_flight", "Tool calls under way", in_flight.clone());
        let refusals = Family::<Labels, Counter>::default();
        registry.register(
            "tool_refusals",
            "Tool calls that did not succeed, by the code of the refusal",
            refusals.clone(),
        );
        let confirmations = Family::<Labels, Counter>::default();
        registry.register("tool_confirmations", "Answers to questions for a confirmation", confirmations.clone());
        let notifications_lost = Counter::default();
        let what = "Progress notices and log lines that did not reach their client";
        registry.register("tool_notifications_lost", what, notifications_lost.clone());
        let cache_hits = Counter::default();
        registry.register("tool_cache_hits", "Values of request caches that were used again", cache_hits.clone());
        let answer = |word: &str| confirmations.get_or_create_owned(&vec![("answer", word.to_owned())]);
        let (yes, no) = (answer("yes"), answer("no"));
        Self {
            registry,
            calls,
            durations,
            in_flight,
            refusals,
            notifications_lost,
            cache_hits,
            tools: Bounded::new(MAX_TOOLS),
            codes: Bounded::new(MAX_CODES),
            yes,
            no,
        }
    }

    /// All measurements as OpenMetrics text ([`METRICS_MEDIA_TYPE`]).
    pub fn render(&self) -> String {
        let mut text = String::new();
        // Writing to a text cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    fn tool(&self, name: &str) -> std::sync::Arc<PerTool> {
        self.tools.get(name, |label| {
            let series = |state: TerminalState| {
                let labels = vec![("tool", label.to_owned()), ("state", state.as_str().to_owned())];
                self.calls.get_or_create_owned(&labels)
            };
            PerTool {
                by_state: TerminalState::ALL.map(series),
                duration: self.durations.get_or_create_owned(&vec![("tool", label.to_owned())]),
            }
        })
    }
}

impl CallObserver for PrometheusMetrics {
    fn observe(&self, event: &CallEvent<'_>) {
        match event.kind {
            CallEventKind::Started => {
                self.in_flight.inc();
            }
            CallEventKind::Asked => {}
            CallEventKind::Answered { yes } => {
                if yes { &self.yes } else { &self.no }.inc();
            }
            CallEventKind::CacheHit => {
                self.cache_hits.inc();
            }
            CallEventKind::NotificationLost => {
                self.notifications_lost.inc();
            }
            CallEventKind::Ended { result, took, .. } => {
                self.in_flight.dec();
                let tool = self.tool(event.ids.tool);
                let index = TerminalState::ALL.iter().position(|state| *state == result.state);
                if let Some(counter) = index.and_then(|index| tool.by_state.get(index)) {
                    counter.inc();
                }
                tool.duration.observe(took.as_secs_f64());
                if let Some(code) = result.reason {
                    let made = |label: &str| self.refusals.get_or_create_owned(&vec![("code", label.to_owned())]);
                    self.codes.get(code, made).inc();
                }
            }
        }
    }
}
