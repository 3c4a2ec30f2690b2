//! Progress on a terminal: one line per running stream.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use scion::sync::events::{Event, EventSink};
use scion_domain::json::Json;

use crate::output::printable;

/// How often a line moves.
const TICK: Duration = Duration::from_millis(120);

/// The lines.
pub(crate) struct Bars {
    multi: MultiProgress,
    lines: Mutex<HashMap<String, ProgressBar>>,
}

impl Bars {
    /// No line yet.
    pub(crate) fn new(multi: MultiProgress) -> Self {
        Self { multi, lines: Mutex::default() }
    }

    /// Prints above the lines.
    pub(crate) fn say(&self, message: &str) {
        self.multi.suspend(|| crate::output::tell(message));
    }

    /// Takes all lines away.
    pub(crate) fn clear(&self) {
        for (_, line) in self.lines.lock().unwrap_or_else(PoisonError::into_inner).drain() {
            line.finish_and_clear();
        }
        // A terminal that is gone needs no clearing.
        let _ = self.multi.clear();
    }

    /// A line that says everything before it is first drawn.
    fn line(&self, name: &str) -> ProgressBar {
        let line = ProgressBar::new_spinner().with_prefix(printable(name)).with_message("waiting for the first page");
        let line = match ProgressStyle::with_template("{spinner} {prefix}  {msg}  {elapsed}") {
            Ok(style) => line.with_style(style),
            Err(_) => line,
        };
        let line = self.multi.add(line);
        line.enable_steady_tick(TICK);
        line
    }
}

impl EventSink for Bars {
    fn emit(&self, event: Event) {
        let stream = event.fields.get("stream").and_then(Json::as_str);
        let (Some(connector), Some(stream)) = (&event.connector, stream) else { return };
        let name = format!("{connector}/{stream}");
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        match event.name {
            "stream_started" => {
                lines.insert(name.clone(), self.line(&name));
            }
            "page_done" => {
                if let Some(line) = lines.get(&name) {
                    line.set_message(counts(&event));
                }
            }
            "stream_synced" | "stream_failed" | "stream_held" => {
                if let Some(line) = lines.remove(&name) {
                    line.finish_and_clear();
                }
            }
            _ => {}
        }
    }
}

fn counts(event: &Event) -> String {
    let count = |name: &str| {
        event.fields.get(name).and_then(Json::as_number).map_or_else(|| "0".to_owned(), |n| n.as_text().to_owned())
    };
    format!(
        "{} pages, {} records, {} accepted, {} unchanged",
        count("pages"),
        count("records"),
        count("accepted"),
        count("unchanged")
    )
}
