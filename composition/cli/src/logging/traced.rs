//! What libraries log through `tracing`, as log lines.

use std::fmt::Debug;

use scion::sync::events::EventLevel;
use scion_domain::json::{Json, JsonObject};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;

use super::Log;

struct ToLog {
    log: Log,
}

pub(super) fn install(log: Log) {
    let subscriber = tracing_subscriber::registry().with(ToLog { log });
    // A second subscriber is a test's; the first one stays.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// Our own crates are heard from `INFO` on. Of others only errors: their lines may repeat what a peer said. The MCP library
/// is not heard at all: what goes wrong with a session is a refusal, which is logged once, with its next step.
fn wanted(metadata: &Metadata<'_>) -> bool {
    if metadata.target().starts_with("rmcp") {
        return false;
    }
    let ours = metadata.target().starts_with("scion");
    *metadata.level() <= if ours { Level::INFO } else { Level::ERROR }
}

impl<S: Subscriber + for<'l> LookupSpan<'l>> Layer<S> for ToLog {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        wanted(metadata)
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let metadata = event.metadata();
        let level = match *metadata.level() {
            Level::ERROR => EventLevel::Error,
            Level::WARN => EventLevel::Warning,
            Level::INFO => EventLevel::Info,
            _ => EventLevel::Debug,
        };
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.log.write(level, &metadata.target().replace("::", "."), &fields.message, fields.others);
    }
}

#[derive(Default)]
struct Fields {
    message: String,
    others: JsonObject,
}

impl Fields {
    fn put(&mut self, field: &Field, value: Json) {
        self.others.insert(field.name().to_owned(), value);
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            value.clone_into(&mut self.message);
        } else {
            self.put(field, Json::from(value));
        }
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, Json::from(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, Json::from(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, Json::from(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::logging::LogFormat;

    #[test]
    fn our_lines_are_kept_and_chatter_of_others_is_not() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let seen = lines.clone();
        let write = Box::new(move |line: &str| seen.lock().unwrap().push(line.to_owned()));
        let log = Log::to(LogFormat::Json, EventLevel::Debug, write);
        let subscriber = tracing_subscriber::registry().with(ToLog { log });
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!(target: "scion_mcp_client::stdio", connector = "desk", n = 3, "said {}", "something");
            tracing::debug!(target: "scion_mcp_client", "too fine");
            tracing::warn!(target: "other", "not ours");
            tracing::error!(target: "rmcp::service", "a session's own words");
            tracing::error!(target: "other::service", code = -1, ok = false, "bad");
        });
        let lines = lines.lock().unwrap();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with(
            r#"{"connector": "desk", "level": "INFO", "logger": "scion_mcp_client.stdio", "message": "said something", "n": 3"#
        ));
        assert!(lines[1].contains(r#""code": -1, "level": "ERROR", "logger": "other.service""#));
    }
}
