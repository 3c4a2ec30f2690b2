//! What an operator's Prometheus and log see of calls through a surface.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io;
use std::sync::{Arc, Mutex};

use scion_domain::id::TenantId;
use scion_domain::json::{Json, JsonObject, parse};
use scion_domain::mcp::ToolCall;
use scion_domain::surface::{CallScope, CallerIdentity};
use scion_ports::{NoChannel, ToolSurface as _};
use scion_serve::{CallGovernance, Connector, Identity, Param, ServedSurface, Tool, ToolRefusal};
use scion_telemetry::{CallLog, METRICS_MEDIA_TYPE, PrometheusMetrics};
use tracing_subscriber::fmt::MakeWriter;

fn surface(governance: CallGovernance) -> ServedSurface {
    Connector::builder(Identity::new("desk-mcp", "1.0.0"))
        .tool(Tool::read("desk_list").param(Param::integer("page", "Page").between(1, 9).or(1)).handle(
            |context, _args| async move {
                context.cache().put("k", 1_u8);
                let _ = context.cache().get::<u8>("k");
                Ok::<_, ToolRefusal>(Json::from(1))
            },
        ))
        .build()
        .unwrap()
        .governed_by(governance)
}

async fn call(surface: &ServedSurface, arguments: &str) {
    let caller = CallerIdentity::new(TenantId::parse("acme").unwrap(), "ada", "cli").unwrap();
    let scope = CallScope::default().with_caller(Some(caller)).with_request(Some("token=abcdef123456".into()));
    let arguments: JsonObject = parse(arguments).unwrap().as_object().unwrap().clone();
    surface.call_tool(&scope, Arc::new(NoChannel), ToolCall { tool: "desk_list".into(), arguments }).await.unwrap();
}

#[tokio::test]
async fn calls_durations_refusals_and_cache_hits_are_counted() {
    let metrics = Arc::new(PrometheusMetrics::new());
    let surface = surface(CallGovernance::default().observer(Arc::clone(&metrics) as _));
    call(&surface, "{}").await;
    call(&surface, "{}").await;
    call(&surface, r#"{"page":77}"#).await;
    let text = metrics.render();
    for line in [
        r#"scion_tool_calls_total{tool="desk_list",state="succeeded"} 2"#,
        r#"scion_tool_calls_total{tool="desk_list",state="failed"} 1"#,
        r#"scion_tool_call_duration_seconds_count{tool="desk_list"} 3"#,
        r"scion_tool_calls_in_flight 0",
        r#"scion_tool_refusals_total{code="argument_out_of_range"} 1"#,
        r"scion_tool_cache_hits_total 2",
        r"scion_tool_notifications_lost_total 0",
        r#"scion_tool_confirmations_total{answer="yes"} 0"#,
        "# EOF",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} not in\n{text}");
    }
    assert!(METRICS_MEDIA_TYPE.starts_with("application/openmetrics-text"));
    assert!(!text.contains("acme") && !text.contains("ada"), "no tenant and no actor in a label");
}

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Lines {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R050.5
#[tokio::test]
async fn the_log_names_ids_and_ends_and_no_value() {
    let lines = Lines::default();
    let subscriber =
        tracing_subscriber::fmt().json().with_max_level(tracing::Level::DEBUG).with_writer(lines.clone()).finish();
    let guard = tracing::subscriber::set_default(subscriber);
    let surface = surface(CallGovernance::default().observer(Arc::new(CallLog)));
    call(&surface, r#"{"page":7}"#).await;
    call(&surface, r#"{"page":777777}"#).await;
    drop(guard);
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let lines: Vec<Json> = text.lines().map(|line| parse(line).unwrap()).collect();
    let fields: Vec<_> = lines.iter().map(|line| line.get("fields").unwrap()).collect();
    let of = |name: &str| fields.iter().map(|line| line.get(name).and_then(Json::as_str)).collect::<Vec<_>>();
    assert_eq!(of("event"), [Some("started"), Some("cache hit"), Some("ended"), Some("started"), Some("ended")]);
    assert_eq!(of("state"), [None, None, Some("succeeded"), None, Some("failed")]);
    assert_eq!(of("reason")[4], Some("argument_out_of_range"));
    for line in &fields {
        for (name, value) in [("tenant", "acme"), ("actor", "ada"), ("connector", "desk-mcp"), ("tool", "desk_list")] {
            assert_eq!(line.get(name).and_then(Json::as_str), Some(value));
        }
        assert_eq!(line.get("trace").and_then(Json::as_str).map(str::len), Some(32));
        assert_eq!(line.get("schema").and_then(Json::as_str).map(str::len), Some(64));
    }
    assert!(!text.contains("777777") && !text.contains("abcdef123456"), "{text}");
}
