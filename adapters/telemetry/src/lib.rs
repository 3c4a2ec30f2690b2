//! Metrics of a served connector, for Prometheus and OpenTelemetry.
