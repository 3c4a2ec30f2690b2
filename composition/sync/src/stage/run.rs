//! Running the stages of a graph.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use scion_domain::id::{ConnectorName, Digest256, StreamName};
use scion_domain::model::SourceCheckpoint;
use scion_domain::sync::SyncRefusal;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::{StageDescriptor, StageGraph};
use crate::report::{RefusalEvidence, SourceSyncReport, SyncState};

/// What a stage came back with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageOutcome {
    /// The report of its stream.
    pub report: SourceSyncReport,
    /// The refusal that ended it, if one did.
    pub refusal: Option<SyncRefusal>,
}

/// The proof of one stage (R001.5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StageReport {
    /// The run.
    pub run: String,
    /// The stage.
    pub stage: String,
    /// For whom it ran.
    pub tenant: String,
    /// The connector.
    pub connector: ConnectorName,
    /// The source.
    pub source: StreamName,
    /// Digest of the declaration it ran under.
    pub manifest_digest: Digest256,
    /// The last receipt of each stage it depends on; `None` for one that had nothing to commit.
    pub dependency_receipts: BTreeMap<String, Option<String>>,
    /// How it ended.
    pub state: SyncState,
    /// The accepted progress before it.
    pub previous: Option<SourceCheckpoint>,
    /// The last progress it offered.
    pub offered: Option<SourceCheckpoint>,
    /// The accepted progress after it.
    pub accepted: Option<SourceCheckpoint>,
    /// Its last receipt in this run.
    pub receipt: Option<String>,
    /// Why it ended, when it did not end in order.
    pub refusal: Option<RefusalEvidence>,
    /// The report of its stream; `None` when it did not start.
    pub stream: Option<SourceSyncReport>,
}

/// The proof of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunReport {
    /// The run.
    pub run: String,
    /// Every stage, by id.
    pub stages: Vec<StageReport>,
    /// Every stage completed, or stopped at a budget.
    pub success: bool,
    /// The first refusal that failed a stage, for whoever decides about a retry.
    #[serde(skip)]
    pub refusal: Option<SyncRefusal>,
}

struct State<'g> {
    graph: &'g StageGraph,
    run: String,
    waiting: BTreeSet<&'g str>,
    places: usize,
    done: BTreeMap<String, StageReport>,
    refusal: Option<SyncRefusal>,
}

impl StageGraph {
    /// Runs every stage once. A stage starts when all it depends on are complete and its places are free. A stage whose
    /// dependency did not complete is reported as blocked; cancellation starts nothing new and lets running stages end.
    ///
    /// `execute` runs one stage; it decides for itself how it reacts to the cancellation. Dropping the returned future drops
    /// the running stages, each of which resumes from its own accepted progress.
    pub async fn run<F, R>(&self, run: &str, cancel: &CancellationToken, execute: F) -> RunReport
    where
        F: Fn(StageDescriptor) -> R,
        R: Future<Output = StageOutcome>,
    {
        let mut state = State {
            graph: self,
            run: run.to_owned(),
            waiting: self.stages.keys().map(String::as_str).collect(),
            places: self.limit,
            done: BTreeMap::new(),
            refusal: None,
        };
        let mut running = FuturesUnordered::new();
        loop {
            state.settle_waiting(cancel.is_cancelled());
            for stage in state.startable() {
                state.waiting.remove(stage.id.as_str());
                state.places -= stage.concurrency;
                let work = execute(stage.clone());
                running.push(async move { (stage, work.await) });
            }
            let Some((stage, outcome)) = running.next().await else { break };
            state.places += stage.concurrency;
            state.finish(stage, outcome);
        }
        let stages: Vec<StageReport> = state.done.into_values().collect();
        let success = stages.iter().all(|stage| stage.state.is_success());
        RunReport { run: state.run, stages, success, refusal: state.refusal }
    }
}

impl<'g> State<'g> {
    /// Ends every waiting stage that cannot start any more.
    fn settle_waiting(&mut self, cancelled: bool) {
        loop {
            let blocked = self.waiting.iter().find_map(|id| {
                let stage = &self.graph.stages[*id];
                let broken = stage.dependencies.iter().find(|dependency| {
                    self.done.get(*dependency).is_some_and(|report| report.state != SyncState::Complete)
                });
                broken.map(|dependency| (stage, dependency))
            });
            let (stage, refusal) = match (cancelled, self.waiting.first().copied(), blocked) {
                (true, Some(id), _) => (&self.graph.stages[id], SyncRefusal::Cancelled),
                (false, _, Some((stage, dependency))) => {
                    let refusal = SyncRefusal::StageBlocked { stage: stage.id.clone(), dependency: dependency.clone() };
                    (stage, refusal)
                }
                _ => return,
            };
            self.waiting.remove(stage.id.as_str());
            let mut report = self.blank(stage);
            report.state =
                if matches!(refusal, SyncRefusal::Cancelled) { SyncState::Cancelled } else { SyncState::Blocked };
            report.refusal = Some((&refusal).into());
            self.done.insert(stage.id.clone(), report);
        }
    }

    /// The stages that may start now, first come first, in the order of their ids.
    fn startable(&self) -> Vec<&'g StageDescriptor> {
        let mut places = self.places;
        let complete =
            |dependency: &String| self.done.get(dependency).is_some_and(|report| report.state == SyncState::Complete);
        let mut ready = Vec::new();
        for id in &self.waiting {
            let stage = &self.graph.stages[*id];
            if stage.dependencies.iter().all(complete) && stage.concurrency <= places {
                places -= stage.concurrency;
                ready.push(stage);
            }
        }
        ready
    }

    fn finish(&mut self, stage: &StageDescriptor, outcome: StageOutcome) {
        let mut report = self.blank(stage);
        let StageOutcome { report: stream, refusal } = outcome;
        let foreign = |checkpoint: &Option<SourceCheckpoint>| {
            checkpoint.as_ref().is_some_and(|checkpoint| checkpoint.stream != stage.source)
        };
        let inherited = stream.source != stage.source
            || stream.connector != stage.connector
            || foreign(&stream.cursor_after)
            || foreign(&stream.cursor_offered);
        if inherited {
            let refusal = SyncRefusal::StageProgressForeign { stage: stage.id.clone() };
            report.refusal = Some((&refusal).into());
            self.refusal.get_or_insert(refusal);
        } else {
            report.state = stream.state;
            report.previous.clone_from(&stream.cursor_before);
            report.offered.clone_from(&stream.cursor_offered);
            report.accepted.clone_from(&stream.cursor_after);
            report.receipt = stream.batches.last().map(|batch| batch.receipt_id.clone());
            report.refusal.clone_from(&stream.refusal);
            report.stream = Some(stream);
            if let Some(refusal) = refusal {
                self.refusal.get_or_insert(refusal);
            }
        }
        self.done.insert(stage.id.clone(), report);
    }

    fn blank(&self, stage: &StageDescriptor) -> StageReport {
        let receipts = stage.dependencies.iter().map(|dependency| {
            let receipt = self.done.get(dependency).and_then(|report| report.receipt.clone());
            (dependency.clone(), receipt)
        });
        StageReport {
            run: self.run.clone(),
            stage: stage.id.clone(),
            // An admitted stage has both; the placeholders are never seen.
            tenant: stage.tenant.as_ref().map(ToString::to_string).unwrap_or_default(),
            connector: stage.connector.clone(),
            source: stage.source.clone(),
            manifest_digest: stage.manifest_digest.unwrap_or(Digest256::ZERO),
            dependency_receipts: receipts.collect(),
            state: SyncState::Failed,
            previous: None,
            offered: None,
            accepted: None,
            receipt: None,
            refusal: None,
            stream: None,
        }
    }
}
