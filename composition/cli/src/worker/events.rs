//! The log lines of a worker.

use scion::sync::events::EventLevel;
use scion::work::{WorkEvent, WorkEvents};
use scion_domain::json::{Json, JsonObject};
use scion_domain::refusal::Refusal as _;
use scion_domain::work::Settled;

use crate::logging::Log;

/// The part of the program that logs.
const LOGGER: &str = "ingest_worker";

/// Writes what a worker does.
#[derive(Clone)]
pub(crate) struct Logged(pub(crate) Log);

impl Logged {
    pub(crate) fn say<const N: usize>(
        &self,
        level: EventLevel,
        event: &str,
        message: &str,
        members: [(&str, Json); N],
    ) {
        let mut fields: JsonObject = members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        fields.insert("event".to_owned(), Json::from(event));
        self.0.write(level, LOGGER, message, fields);
    }
}

impl WorkEvents for Logged {
    fn emit(&self, event: WorkEvent) {
        match event {
            WorkEvent::Admitted { workers } => {
                let message = format!("the lane admits {workers} workers");
                self.say(EventLevel::Info, "admitted", &message, [("workers", Json::from(u64::from(workers)))]);
            }
            WorkEvent::Claimed { work_id, attempt } => {
                let fields = [("work", Json::from(work_id.as_str())), ("attempt", Json::from(u64::from(attempt)))];
                self.say(EventLevel::Info, "job_claimed", &format!("{work_id} begins"), fields);
            }
            WorkEvent::Settled { work_id, settled, code } => {
                let (level, word) = match settled {
                    Settled::Succeeded => (EventLevel::Info, "succeeded"),
                    Settled::Retried => (EventLevel::Warning, "failed, comes back"),
                    Settled::Failed => (EventLevel::Error, "failed"),
                    Settled::DeadLetter => (EventLevel::Error, "failed too often"),
                };
                let fields = [("work", Json::from(work_id.as_str())), ("code", code.map_or(Json::Null, Json::from))];
                self.say(level, "job_settled", &format!("{work_id} {word}"), fields);
            }
            WorkEvent::GaveBack { work_id } => {
                let fields = [("work", Json::from(work_id.as_str()))];
                self.say(EventLevel::Info, "job_given_back", &format!("{work_id} is given back"), fields);
            }
            WorkEvent::Abandoned { work_id } => {
                let fields = [("work", Json::from(work_id.as_str()))];
                let message = format!("{work_id} is not acknowledged; it comes back when its lease ends");
                self.say(EventLevel::Warning, "job_abandoned", &message, fields);
            }
            WorkEvent::Refused { refusal } => {
                let fields = [("code", Json::from(refusal.code()))];
                self.say(EventLevel::Warning, "queue_refused", &refusal.to_string(), fields);
            }
            // Idle workers say nothing.
            WorkEvent::Waits { .. } => {}
        }
    }
}
