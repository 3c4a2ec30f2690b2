//! How the command talks before and while it runs: its log, its progress display, and refusals to start.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;

use indicatif::MultiProgress;
use scion::sync::events::{EventLevel, EventSink, NoEvents};
use scion_domain::config::ConfigProblems;
use scion_domain::json::{Json, JsonObject};

use super::args::SyncArgs;
use super::bars::Bars;
use super::config_file::place_of;
use crate::logging::{Log, LogFormat, LoggedEvents};
use crate::output::{Refused, tell};

/// The part of the program that starts it.
const LOGGER: &str = "connector_sync.cli";

/// The two channels of standard error.
pub(crate) struct Start {
    /// `None` when the report alone tells what happened.
    log: Option<Log>,
    bars: Option<Arc<Bars>>,
    json: bool,
}

impl Start {
    /// Decides what is shown where.
    pub(crate) fn new(args: &SyncArgs) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let format = args.log_format.unwrap_or(if terminal { LogFormat::Text } else { LogFormat::Json });
        let multi = (terminal && !args.no_progress).then(MultiProgress::new);
        let quiet = terminal && args.once && args.log_format.is_none();
        let log = (!quiet).then(|| match multi.clone() {
            None => Log::stderr(format, EventLevel::Info),
            Some(multi) => {
                let write = move |line: &str| multi.suspend(|| drop(writeln!(std::io::stderr(), "{line}")));
                Log::to(format, EventLevel::Info, Box::new(write))
            }
        });
        if let Some(log) = &log {
            log.install();
        }
        Self { log, bars: multi.map(|multi| Arc::new(Bars::new(multi))), json: format == LogFormat::Json }
    }

    /// Where the events of a run go.
    pub(crate) fn events(&self) -> Arc<dyn EventSink> {
        let shown: Arc<dyn EventSink> = match &self.bars {
            Some(bars) => bars.clone(),
            None => Arc::new(NoEvents),
        };
        match &self.log {
            Some(log) => Arc::new(LoggedEvents::new(log.clone(), shown)),
            None => shown,
        }
    }

    /// Takes the progress display away.
    pub(crate) fn clear(&self) {
        if let Some(bars) = &self.bars {
            bars.clear();
        }
    }

    /// Says something in passing.
    pub(crate) fn say(&self, level: EventLevel, event: &str, message: &str) {
        match &self.log {
            Some(log) => log.write(level, LOGGER, message, fields([("event", Json::from(event))])),
            None => {
                if let Some(bars) = &self.bars {
                    bars.say(message);
                } else {
                    tell(message);
                }
            }
        }
    }

    /// Says why there is no start.
    pub(crate) fn refuse(&self, refusal: impl Into<Refused>) {
        self.refuse_it(&refusal.into());
    }

    /// Like [`Start::refuse`].
    pub(crate) fn refuse_it(&self, refused: &Refused) {
        self.refuse_with(refused, JsonObject::new());
    }

    /// Says everything that is wrong with a configuration.
    pub(crate) fn refuse_config(&self, problems: &ConfigProblems) {
        for problem in &problems.problems {
            let refused = Refused::from(problem.refusal.clone()).at(&place_of(&problems.file, problem));
            let members = [
                ("file", Json::from(problems.file.as_str())),
                ("line", Json::from(problem.line as u64)),
                ("column", Json::from(problem.column as u64)),
                ("path", Json::from(problem.path.as_str())),
            ];
            self.refuse_with(&refused, fields(members));
        }
    }

    fn refuse_with(&self, refused: &Refused, mut members: JsonObject) {
        match &self.log {
            Some(log) if self.json => {
                let named = [("event", "start_failed"), ("code", refused.code), ("next", refused.next)];
                members.extend(fields(named.map(|(name, value)| (name, Json::from(value)))));
                log.write(EventLevel::Error, LOGGER, &refused.message, members);
            }
            _ => tell(&refused.to_string()),
        }
    }
}

fn fields<const N: usize>(members: [(&str, Json); N]) -> JsonObject {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
