//! The same measurements through OpenTelemetry, read back from the SDK's in-memory exporter.

#![cfg(feature = "otel")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use opentelemetry::metrics::MeterProvider as _;
use opentelemetry_sdk::metrics::data::{
    AggregatedMetrics, HistogramDataPoint, MetricData, ResourceMetrics, ScopeMetrics, SumDataPoint,
};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};
use scion_domain::json::{Json, JsonObject};
use scion_domain::mcp::ToolCall;
use scion_domain::surface::CallScope;
use scion_ports::{NoChannel, ToolSurface as _};
use scion_serve::{CallGovernance, Connector, Identity, Tool, ToolRefusal};
use scion_telemetry::OtelMetrics;

#[tokio::test(flavor = "multi_thread")]
async fn measurements_reach_the_exporter() {
    let exporter = InMemoryMetricExporter::default();
    let provider = SdkMeterProvider::builder().with_reader(PeriodicReader::builder(exporter.clone()).build()).build();
    let metrics = Arc::new(OtelMetrics::new(&provider.meter("scion")));
    let surface = Connector::builder(Identity::new("desk-mcp", "1.0.0"))
        .tool(Tool::read("desk_list").handle(|_context, _args| async { Ok::<_, ToolRefusal>(Json::from(1)) }))
        .build()
        .unwrap()
        .governed_by(CallGovernance::default().observer(metrics));
    for name in ["page", "extra"] {
        let arguments: JsonObject =
            if name == "extra" { [("x".to_owned(), Json::from(1))].into() } else { JsonObject::new() };
        let call = ToolCall { tool: "desk_list".into(), arguments };
        surface.call_tool(&CallScope::default(), Arc::new(NoChannel), call).await.unwrap();
    }
    provider.force_flush().unwrap();
    let finished = exporter.get_finished_metrics().unwrap();
    let all: Vec<_> =
        finished.iter().flat_map(ResourceMetrics::scope_metrics).flat_map(ScopeMetrics::metrics).collect();
    let sum = |name: &str| {
        let metric = all.iter().find(|metric| metric.name() == name).unwrap_or_else(|| panic!("no {name}"));
        match metric.data() {
            AggregatedMetrics::U64(MetricData::Sum(sum)) => sum.data_points().map(SumDataPoint::value).sum::<u64>(),
            AggregatedMetrics::I64(MetricData::Sum(sum)) => {
                u64::try_from(sum.data_points().map(SumDataPoint::value).sum::<i64>()).unwrap()
            }
            AggregatedMetrics::F64(MetricData::Histogram(histogram)) => {
                histogram.data_points().map(HistogramDataPoint::count).sum()
            }
            other => panic!("{name}: {other:?}"),
        }
    };
    assert_eq!(sum("scion.tool.calls"), 2);
    assert_eq!(sum("scion.tool.call.duration"), 2);
    assert_eq!(sum("scion.tool.calls.in_flight"), 0);
    assert_eq!(sum("scion.tool.refusals"), 1);
}
