//! Log lines on standard error: JSON objects as `wire/mcp-surface.md` 7.1 describes them, or plain text.

mod events;
mod line;
mod stamp;
mod traced;

use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use clap::ValueEnum;
use scion::sync::events::EventLevel;
use scion_domain::json::JsonObject;

pub(crate) use events::LoggedEvents;
pub(crate) use line::LogLine;
pub(crate) use stamp::stamp;

/// The form of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// One JSON object a line.
    Json,
    /// Text for people.
    Text,
}

type Write = Box<dyn FnMut(&str) + Send>;

/// Where log lines go. Clones share it.
#[derive(Clone)]
pub(crate) struct Log {
    inner: Arc<Inner>,
}

struct Inner {
    format: LogFormat,
    least: EventLevel,
    write: Mutex<Write>,
}

impl Log {
    /// A log on standard error that drops what is below `least`.
    pub(crate) fn stderr(format: LogFormat, least: EventLevel) -> Self {
        // When standard error is gone there is nobody left to tell.
        Self::to(format, least, Box::new(|line| drop(writeln!(std::io::stderr(), "{line}"))))
    }

    /// A log that hands every line, without its newline, to a function.
    pub(crate) fn to(format: LogFormat, least: EventLevel, write: Write) -> Self {
        Self { inner: Arc::new(Inner { format, least, write: Mutex::new(write) }) }
    }

    /// Writes one line.
    pub(crate) fn write(&self, level: EventLevel, logger: &str, message: &str, fields: JsonObject) {
        if level < self.inner.least {
            return;
        }
        let line = LogLine { time: stamp(std::time::SystemTime::now()), level, logger, message, fields };
        let text = match self.inner.format {
            LogFormat::Json => line.json(),
            LogFormat::Text => line.text(),
        };
        // A line is handed over whole, so a panicked writer leaves nothing half done.
        (self.inner.write.lock().unwrap_or_else(PoisonError::into_inner))(&text);
    }

    /// Takes in what libraries log through `tracing`.
    pub(crate) fn install(&self) {
        traced::install(self.clone());
    }
}
