//! What a job is: one sync pass of one connector, or of some of its streams.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use scion::ports::async_trait;
use scion::sync::{ConnectorWorker, CycleReport, SyncPorts, WorkerOptions};
use scion::work::{JobBody, JobResult};
use scion_domain::config::RunnerConfig;
use scion_domain::declaration::plan::CyclePlan;
use scion_domain::digest;
use scion_domain::id::{ConnectorName, StreamName};
use scion_domain::json::{Json, JsonObject};
use scion_domain::refusal::{Refusal as _, Retry};
use scion_domain::sync::SyncRefusal;
use scion_domain::work::ClaimedWork;
use tokio_util::sync::CancellationToken;

use crate::connectors::Connectors;

/// The kind of these jobs.
pub(crate) const KIND: &str = "source.sync";

/// The input of a job; no streams means all that the configuration selects.
pub(crate) fn payload(connector: &ConnectorName, streams: &[StreamName]) -> Json {
    let mut members = JsonObject::new();
    members.insert("connector".to_owned(), Json::from(connector.as_str()));
    if !streams.is_empty() {
        let names = streams.iter().map(|stream| Json::from(stream.as_str())).collect();
        members.insert("streams".to_owned(), Json::Array(names));
    }
    Json::Object(members)
}

fn read(payload: &Json) -> Option<(ConnectorName, BTreeSet<StreamName>)> {
    let Json::Object(members) = payload else { return None };
    let connector = ConnectorName::parse(members.get("connector")?.as_str()?).ok()?;
    let streams = match members.get("streams") {
        None => BTreeSet::new(),
        Some(list) => {
            let names = list.as_array()?.iter().map(|name| StreamName::parse(name.as_str()?).ok());
            names.collect::<Option<BTreeSet<_>>>().filter(|names| !names.is_empty())?
        }
    };
    Some((connector, streams))
}

/// Runs syncs. The effect is what the graph accepted: a batch is accepted once under its digest, and a pass that is repeated goes on
/// from the accepted checkpoint.
pub(crate) struct SyncBody {
    config: RunnerConfig,
    connectors: Connectors,
    ports: SyncPorts,
    options: WorkerOptions,
    /// Workers with an open session, for the next job of their connector.
    idle: Mutex<BTreeMap<ConnectorName, Vec<ConnectorWorker>>>,
}

impl SyncBody {
    pub(crate) fn new(config: RunnerConfig, connectors: Connectors, ports: SyncPorts, options: WorkerOptions) -> Self {
        Self { config, connectors, ports, options, idle: Mutex::default() }
    }

    /// Ends every session.
    pub(crate) async fn close(&self) {
        let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        for mut worker in idle.into_values().flatten() {
            worker.disconnect().await;
        }
    }

    fn worker(&self, name: &ConnectorName) -> Option<ConnectorWorker> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(worker) = idle.get_mut(name).and_then(Vec::pop) {
            return Some(worker);
        }
        let config = self.config.connectors.iter().find(|config| config.connector == *name)?;
        let client = self.connectors.client(config);
        Some(ConnectorWorker::new(config.clone(), client, self.ports.clone(), self.options.clone()))
    }
}

fn failed(code: &str, retryable: bool) -> JobResult {
    JobResult::Failed { code: code.to_owned(), retryable }
}

#[async_trait]
impl JobBody for SyncBody {
    async fn run(&self, work: &ClaimedWork, stop: &CancellationToken) -> JobResult {
        let Some((name, streams)) = read(&work.payload) else { return failed("work_invalid", false) };
        let Some(mut worker) = self.worker(&name) else { return failed("connector_unknown", false) };
        let plan = (!streams.is_empty())
            .then(|| CyclePlan { provision: worker.config().provision, presets: streams.iter().cloned().collect() });
        let report = worker.run_once(plan, stop).await;
        if worker.is_connected() {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).entry(name).or_default().push(worker);
        }
        if !report.success && stop.is_cancelled() {
            // Stopped in the middle, whatever the stages make of it.
            return JobResult::Cancelled;
        }
        judge(&report, &streams)
    }
}

fn judge(report: &CycleReport, streams: &BTreeSet<StreamName>) -> JobResult {
    if report.success {
        let ran = |stream: &StreamName| {
            report.run.as_ref().is_some_and(|run| run.stages.iter().any(|stage| stage.source == *stream))
        };
        if !streams.iter().all(ran) {
            return failed("stream_unknown", false);
        }
        return match serde_json::to_vec(report) {
            Ok(text) => JobResult::Done { effect_digest: digest::sha256(&text) },
            Err(_) => failed("internal_error", true),
        };
    }
    let refusal = report.refusal.as_ref().or_else(|| report.run.as_ref()?.refusal.as_ref());
    match refusal {
        Some(SyncRefusal::Cancelled) => JobResult::Cancelled,
        Some(refusal) => failed(refusal.leaf_code(), refusal.retry() != Retry::Never),
        // Held streams wait for a person.
        None => failed("stream_quarantined", false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_input_of_a_job_is_read_as_it_was_written() {
        let connector = ConnectorName::parse("desk").unwrap();
        let streams = [StreamName::parse("tickets").unwrap(), StreamName::parse("people").unwrap()];
        let (name, named) = read(&payload(&connector, &streams)).unwrap();
        assert_eq!((name, named.len()), (connector.clone(), 2));
        assert_eq!(read(&payload(&connector, &[])), Some((connector, BTreeSet::new())));
    }

    #[test]
    fn other_input_is_no_job() {
        for text in [
            "null",
            "{}",
            r#"{"connector": 1}"#,
            r#"{"connector": "A B"}"#,
            r#"{"connector": "desk", "streams": "tickets"}"#,
            r#"{"connector": "desk", "streams": []}"#,
            r#"{"connector": "desk", "streams": [1]}"#,
        ] {
            assert_eq!(read(&scion_domain::json::parse(text).unwrap()), None, "{text}");
        }
    }
}
