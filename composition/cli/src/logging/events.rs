//! Events of a run as log lines.

use std::sync::Arc;

use scion::sync::events::{Event, EventSink};
use scion_domain::json::Json;

use super::Log;

/// The part of the program events come from.
const LOGGER: &str = "connector_sync.runner";

/// Logs every event, then hands it on.
pub(crate) struct LoggedEvents {
    log: Log,
    then: Arc<dyn EventSink>,
}

impl LoggedEvents {
    /// Logs, then hands on.
    pub(crate) fn new(log: Log, then: Arc<dyn EventSink>) -> Self {
        Self { log, then }
    }
}

impl EventSink for LoggedEvents {
    fn emit(&self, event: Event) {
        let mut fields = event.fields.clone();
        fields.insert("event".to_owned(), Json::from(event.name));
        if let Some(connector) = &event.connector {
            fields.insert("connector".to_owned(), Json::from(connector.as_str()));
        }
        self.log.write(event.level, LOGGER, &event.message, fields);
        self.then.emit(event);
    }
}
