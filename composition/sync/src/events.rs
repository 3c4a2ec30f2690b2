//! What a run tells the outside while it runs: structured events, free of any log library.
//!
//! Names and fields follow `wire/mcp-surface.md` 7.1; `stream_started`, `page_done`, `stream_failed` and `stream_held` are ours, so that a
//! terminal can show progress. Fields carry names, counts, codes and our own messages, never a payload or a secret.

use scion_domain::id::{ConnectorName, StreamName};
use scion_domain::json::{Json, JsonObject};
use scion_domain::sync::SyncRefusal;

use crate::report::SourceSyncReport;

/// How important an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventLevel {
    /// For progress displays.
    Debug,
    /// Ordinary life.
    Info,
    /// Something waits for a person, or will be tried again.
    Warning,
    /// Something failed.
    Error,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its stable name.
    pub name: &'static str,
    /// Its level.
    pub level: EventLevel,
    /// The connector; `None` for the process itself.
    pub connector: Option<ConnectorName>,
    /// One line for people.
    pub message: String,
    /// Its fields, without `event` and `connector`.
    pub fields: JsonObject,
}

/// Takes events. Must not block.
pub trait EventSink: Send + Sync {
    /// Takes one event.
    fn emit(&self, event: Event);
}

/// Drops every event.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEvents;

impl EventSink for NoEvents {
    fn emit(&self, _event: Event) {}
}

fn event(
    name: &'static str,
    level: EventLevel,
    connector: &ConnectorName,
    message: String,
    fields: impl IntoIterator<Item = (&'static str, Json)>,
) -> Event {
    let fields = fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    Event { name, level, connector: Some(connector.clone()), message, fields }
}

fn count(value: usize) -> Json {
    Json::from(value as u64)
}

/// A connector's worker has started.
pub fn connector_started(connector: &ConnectorName) -> Event {
    event("connector_started", EventLevel::Info, connector, format!("{connector}: started"), [])
}

/// A connector's worker has stopped.
pub fn connector_stopped(connector: &ConnectorName) -> Event {
    event("connector_stopped", EventLevel::Info, connector, format!("{connector}: stopped"), [])
}

/// A cycle failed. `retry_in` is in seconds; `None` when nobody tries again.
pub fn connector_failed(connector: &ConnectorName, refusal: &SyncRefusal, retry_in: Option<f64>) -> Event {
    let mut fields = vec![
        ("error", Json::from(refusal.to_string())),
        ("code", Json::from(refusal.leaf_code())),
        ("next", Json::from(refusal.leaf_next_step())),
    ];
    if let Some(seconds) = retry_in.and_then(scion_domain::json::JsonNumber::from_f64) {
        fields.push(("retry_in", Json::Number(seconds)));
    }
    event("connector_failed", EventLevel::Error, connector, format!("{connector}: {refusal}"), fields)
}

/// The list of connectors cannot be read; the previous one stays in force.
pub fn registry_unreadable(error: &str) -> Event {
    Event {
        name: "registry_unreadable",
        level: EventLevel::Error,
        connector: None,
        message: format!("the configuration cannot be read: {error}"),
        fields: [("error".to_owned(), Json::from(error)), ("connector".to_owned(), Json::from(""))].into(),
    }
}

/// Whether change notifications are followed.
pub fn change_subscription(connector: &ConnectorName, listening: bool, resources: usize) -> Event {
    let word = if listening { "follows" } else { "cannot follow" };
    event(
        "change_subscription",
        EventLevel::Info,
        connector,
        format!("{connector}: {word} change notifications"),
        [("listening", Json::from(listening)), ("resources", count(resources))],
    )
}

/// A declaration was imported, or found unchanged.
pub fn pack(connector: &ConnectorName, digest: &str, unchanged: bool, imported: usize) -> Event {
    let (name, word) = if unchanged { ("pack_unchanged", "unchanged") } else { ("pack_imported", "imported") };
    event(
        name,
        EventLevel::Info,
        connector,
        format!("{connector}: declaration {word}"),
        [("pack_digest", Json::from(digest)), ("imported", count(imported))],
    )
}

/// A stream starts.
pub fn stream_started(connector: &ConnectorName, stream: &StreamName) -> Event {
    event(
        "stream_started",
        EventLevel::Debug,
        connector,
        format!("{connector}/{stream}: started"),
        [("stream", Json::from(stream.as_str()))],
    )
}

/// A page is done.
pub fn page_done(report: &SourceSyncReport) -> Event {
    event(
        "page_done",
        EventLevel::Debug,
        &report.connector,
        format!("{}/{}: page {}", report.connector, report.source, report.pages),
        counts(report),
    )
}

/// A stream ended its cycle in order.
pub fn stream_synced(report: &SourceSyncReport) -> Event {
    let mut fields = counts(report);
    fields.push(("exhausted", Json::from(report.exhausted)));
    event(
        "stream_synced",
        EventLevel::Info,
        &report.connector,
        format!(
            "{}/{}: {} records read, {} accepted, {} unchanged",
            report.connector, report.source, report.seen, report.submitted, report.unchanged
        ),
        fields,
    )
}

/// A stream ended with a refusal.
pub fn stream_failed(report: &SourceSyncReport, refusal: &SyncRefusal) -> Event {
    event(
        "stream_failed",
        EventLevel::Error,
        &report.connector,
        format!("{}/{}: {refusal}", report.connector, report.source),
        [
            ("stream", Json::from(report.source.as_str())),
            ("error", Json::from(refusal.to_string())),
            ("code", Json::from(refusal.leaf_code())),
            ("next", Json::from(refusal.leaf_next_step())),
        ],
    )
}

/// A stream is held and was not read.
pub fn stream_held(report: &SourceSyncReport, refusal: &SyncRefusal) -> Event {
    let mut event = stream_failed(report, refusal);
    event.name = "stream_held";
    event.level = EventLevel::Warning;
    event
}

/// A stream was quarantined because its tool changed.
pub fn schema_drift_quarantined(connector: &ConnectorName, stream: &StreamName, report: Json) -> Event {
    event(
        "schema_drift_quarantined",
        EventLevel::Warning,
        connector,
        format!("{connector}/{stream}: the tool changed its contract; nothing was submitted"),
        [("stream", Json::from(stream.as_str())), ("report", report)],
    )
}

fn counts(report: &SourceSyncReport) -> Vec<(&'static str, Json)> {
    vec![
        ("stream", Json::from(report.source.as_str())),
        ("pages", Json::from(report.pages)),
        ("records", Json::from(report.seen)),
        ("accepted", Json::from(report.submitted)),
        ("unchanged", Json::from(report.unchanged)),
    ]
}
