use std::fmt;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, Meter, UpDownCounter};
use scion_domain::tool_context::{CallEvent, CallEventKind};
use scion_ports::CallObserver;

use crate::DURATION_BOUNDS;
use crate::label::{Bounded, MAX_CODES, MAX_TOOLS};

/// Sends the measurements through an OpenTelemetry meter. The process decides where its meter provider exports to.
pub struct OtelMetrics {
    calls: Counter<u64>,
    durations: Histogram<f64>,
    in_flight: UpDownCounter<i64>,
    refusals: Counter<u64>,
    confirmations: Counter<u64>,
    notifications_lost: Counter<u64>,
    cache_hits: Counter<u64>,
    tools: Bounded<KeyValue>,
    codes: Bounded<KeyValue>,
}

impl fmt::Debug for OtelMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OtelMetrics")
    }
}

impl OtelMetrics {
    /// Measurements on a meter, for example `opentelemetry::global::meter("scion")`.
    pub fn new(meter: &Meter) -> Self {
        let counter = |name: &'static str, what: &'static str| meter.u64_counter(name).with_description(what).build();
        Self {
            calls: counter("scion.tool.calls", "Tool calls that ended, by tool and state"),
            durations: meter
                .f64_histogram("scion.tool.call.duration")
                .with_description("How long tool calls took, waiting for a person included")
                .with_unit("s")
                .with_boundaries(DURATION_BOUNDS.to_vec())
                .build(),
            in_flight: meter
                .i64_up_down_counter("scion.tool.calls.in_flight")
                .with_description("Tool calls under way")
                .build(),
            refusals: counter("scion.tool.refusals", "Tool calls that did not succeed, by the code of the refusal"),
            confirmations: counter("scion.tool.confirmations", "Answers to questions for a confirmation"),
            notifications_lost: counter(
                "scion.tool.notifications.lost",
                "Progress notices and log lines that did not reach their client",
            ),
            cache_hits: counter("scion.tool.cache.hits", "Values of request caches that were used again"),
            tools: Bounded::new(MAX_TOOLS),
            codes: Bounded::new(MAX_CODES),
        }
    }
}

impl CallObserver for OtelMetrics {
    fn observe(&self, event: &CallEvent<'_>) {
        match event.kind {
            CallEventKind::Started => self.in_flight.add(1, &[]),
            CallEventKind::Asked => {}
            CallEventKind::Answered { yes } => {
                self.confirmations.add(1, &[KeyValue::new("answer", if yes { "yes" } else { "no" })]);
            }
            CallEventKind::CacheHit => self.cache_hits.add(1, &[]),
            CallEventKind::NotificationLost => self.notifications_lost.add(1, &[]),
            CallEventKind::Ended { result, took, .. } => {
                self.in_flight.add(-1, &[]);
                let tool = self.tools.get(event.ids.tool, |label| KeyValue::new("tool", label.to_owned()));
                let state = KeyValue::new("state", result.state.as_str());
                self.calls.add(1, &[(*tool).clone(), state]);
                self.durations.record(took.as_secs_f64(), std::slice::from_ref(&*tool));
                if let Some(code) = result.reason {
                    let code = self.codes.get(code, |label| KeyValue::new("code", label.to_owned()));
                    self.refusals.add(1, std::slice::from_ref(&*code));
                }
            }
        }
    }
}
