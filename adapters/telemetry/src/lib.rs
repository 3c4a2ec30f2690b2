//! What a served connector tells its operators: metrics for Prometheus and OpenTelemetry, and a log line per call.
//!
//! Everything here implements the port [`CallObserver`](scion_ports::CallObserver) and is handed to
//! `scion_serve::CallGovernance::observer`. No label, attribute or log field holds an argument, a value or a token, and the
//! number of label values is bounded: tools of the connector, four states, the codes of refusals that are compiled in.

mod call_log;
mod label;
#[cfg(feature = "otel")]
mod otel;
mod prometheus;

pub use call_log::CallLog;
#[cfg(feature = "otel")]
pub use otel::OtelMetrics;
pub use prometheus::{METRICS_MEDIA_TYPE, PrometheusMetrics};

/// The upper bounds of the duration histogram, in seconds.
pub const DURATION_BOUNDS: [f64; 14] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0, 300.0];
