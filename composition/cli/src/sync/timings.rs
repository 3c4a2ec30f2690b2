//! How long each stream took, from its events.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use scion::sync::events::{Event, EventSink};
use scion_domain::json::Json;

type Key = (String, String);

/// Takes times and hands events on.
pub(crate) struct Timings {
    then: Arc<dyn EventSink>,
    streams: Mutex<HashMap<Key, Span>>,
}

#[derive(Clone, Copy)]
struct Span {
    start: Instant,
    end: Option<Instant>,
}

impl Timings {
    /// Hands on to `then`.
    pub(crate) fn new(then: Arc<dyn EventSink>) -> Self {
        Self { then, streams: Mutex::default() }
    }

    /// The time of a stream's last cycle; `None` when it never started.
    pub(crate) fn of(&self, connector: &str, stream: &str) -> Option<Duration> {
        let streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let span = streams.get(&(connector.to_owned(), stream.to_owned()))?;
        Some(span.end.unwrap_or_else(Instant::now).duration_since(span.start))
    }
}

impl EventSink for Timings {
    fn emit(&self, event: Event) {
        let stream = event.fields.get("stream").and_then(Json::as_str);
        if let (Some(connector), Some(stream)) = (&event.connector, stream) {
            let key = (connector.to_string(), stream.to_owned());
            let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
            let now = Instant::now();
            match event.name {
                "stream_started" => {
                    streams.insert(key, Span { start: now, end: None });
                }
                "stream_synced" | "stream_failed" | "stream_held" => {
                    if let Some(span) = streams.get_mut(&key) {
                        span.end = Some(now);
                    }
                }
                _ => {}
            }
        }
        self.then.emit(event);
    }
}
