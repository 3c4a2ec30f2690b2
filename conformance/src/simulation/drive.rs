//! The course of one run: disturbed cycles, then calm ones, then the verdict.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use scion_domain::config::{ConnectorConfig, EndpointSpec, EndpointTarget};
use scion_domain::digest;
use scion_domain::id::{ConnectorName, Digest256, StreamName, TenantId};
use scion_domain::json::{Json, to_compact};
use scion_domain::model::{EntityRef, SourceBatch, SourceCheckpoint};
use scion_domain::sink::SinkCapabilities;
use scion_pack::Capturer;
use scion_ports::{CheckpointStore as _, Sink as _};
use scion_sync::events::NoEvents;
use scion_sync::fault::{FaultSeam, NoFaults};
use scion_sync::stage::StageReport;
use scion_sync::{
    Committer, ConnectorWorker, CycleReport, Persistence, SourceSyncRunner, SyncPorts, SyncState, WorkerOptions,
};
use tokio_util::sync::CancellationToken;

use super::layout::{self, Layout};
use super::plant::Plant;
use super::seam::SimSeam;
use super::server::SimConnector;
use super::sink::SimSink;
use super::stores::{SimCheckpoints, SimDigests};
use super::system::System;
use super::truth::Truth;
use super::world::{World, lock};
use super::{Outcome, declare, verdict};
use crate::reference::{MemoryKeyValues, SeededEntropy, VirtualClock};

/// No cycle takes longer than this, whatever strikes.
const LONGEST: Duration = Duration::from_hours(48);

/// Everything of one run.
pub(super) struct Env {
    pub(super) world: Arc<World>,
    pub(super) system: Mutex<System>,
    pub(super) layouts: Vec<Layout>,
    pub(super) declaration: String,
    pub(super) truth: Arc<Truth>,
    pub(super) documents: MemoryKeyValues,
    /// Batches on their way that nobody waits for.
    pub(super) late: Mutex<Vec<SourceBatch>>,
    /// What a planted bug notes.
    pub(super) noted: Mutex<HashMap<EntityRef, Digest256>>,
    clock: Arc<VirtualClock>,
    jitter: Arc<SeededEntropy>,
    plant: Plant,
}

enum Ended {
    Crashed,
    Done(Box<CycleReport>),
}

pub(super) fn connector() -> ConnectorName {
    ConnectorName::parse(declare::CONNECTOR).expect("the simulated connector has a valid name")
}

pub(super) fn stream(name: &str) -> StreamName {
    StreamName::parse(name).expect("simulated streams have valid names")
}

impl Env {
    fn new(seed: u64, plant: Plant) -> Self {
        let world = Arc::new(World::new(seed));
        let layouts = layout::draw(&world);
        // Small batches, so that a page sometimes needs more than one.
        let max_records = world.pick(&[2, 3, 8, 1024]);
        let capabilities = SinkCapabilities {
            cross_stream_relationships: true,
            forward_references: true,
            replaces_relations: true,
            max_records: max_records.max(3),
            max_relationships: 4096,
            max_live_ids: 16_384,
            max_in_flight: 4,
        };
        Self {
            declaration: declare::declaration(&layouts),
            system: Mutex::new(System::new(layouts.clone(), &world)),
            layouts,
            truth: Arc::new(Truth::new(world.clone(), capabilities)),
            documents: MemoryKeyValues::default(),
            late: Mutex::default(),
            noted: Mutex::default(),
            clock: Arc::default(),
            jitter: Arc::new(SeededEntropy::new(seed)),
            plant,
            world,
        }
    }

    fn ports(self: &Arc<Self>, quiet: bool, plant: Plant) -> SyncPorts {
        let env = || self.clone();
        let far = plant.at_store(self.truth.clone());
        let sink = plant.at_sink(Arc::new(SimSink { env: env(), far, quiet }), self);
        let known = plant.at_digests(Arc::new(self.truth.graph.clone()), self);
        let digests = Arc::new(SimDigests { env: env(), far: known, quiet });
        let documents = plant.at_documents(Arc::new(SimCheckpoints { env: env(), quiet }));
        let mut committer = Committer::new(sink, digests, self.clock.clone());
        let seam: Arc<dyn FaultSeam> = if quiet { Arc::new(NoFaults) } else { Arc::new(SimSeam { env: env() }) };
        committer.faults = seam;
        SyncPorts {
            committer,
            packs: Arc::new(Capturer::new(self.clock.clone())),
            checkpoints: documents,
            repairs: None,
            entropy: self.jitter.clone(),
            events: Arc::new(NoEvents),
        }
    }

    /// A fresh process. A quiet one meets no faults of its own.
    pub(super) fn worker(self: &Arc<Self>, quiet: bool) -> ConnectorWorker {
        let connect = self.plant.at_connector(Arc::new(SimConnector { env: self.clone(), quiet }));
        let mut options = WorkerOptions::new(tenant());
        options.persistence = Persistence { guard: None, access: None };
        options.streams = if self.world.one_in(3) { 1 } else { 3 };
        let pages = if quiet { 1000 } else { self.world.pick(&[1, 2, 5, 1000]) };
        ConnectorWorker::new(config(pages), connect, self.ports(quiet, self.plant), options)
    }

    async fn cycle(&self, worker: &mut ConnectorWorker) -> Option<Ended> {
        self.truth.hold(self.held().await);
        let cancel = CancellationToken::new();
        lock(&self.world.cancel).clone_from(&cancel);
        // Two streams can crash at one moment; the second crash must not strike the next process.
        tokio::select! {
            biased;
            () = self.world.crash.notified() => {}
            () = std::future::ready(()) => {}
        }
        let ended = tokio::select! {
            biased;
            () = self.world.crash.notified() => Ended::Crashed,
            report = worker.run_once(None, &cancel) => Ended::Done(Box::new(report)),
            () = tokio::time::sleep(LONGEST) => {
                self.world.broken("a cycle does not end".to_owned());
                return None;
            }
        };
        match &ended {
            Ended::Crashed => self.world.note("the process is gone"),
            Ended::Done(report) => {
                self.check_report(report);
                let code = report.refusal.as_ref().map(scion_domain::sync::SyncRefusal::leaf_code);
                self.world.note(format!("the cycle ends: success {}, {code:?}", report.success));
                for stage in report.run.iter().flat_map(|run| &run.stages) {
                    self.world.note(format!("  {}", summary(stage)));
                }
            }
        }
        Some(ended)
    }

    /// What a report says must be what the graph holds.
    fn check_report(&self, report: &CycleReport) {
        let world = &self.world;
        let stages = report.run.iter().flat_map(|run| &run.stages);
        let states: BTreeMap<&str, SyncState> =
            stages.clone().map(|stage| (stage.stage.as_str(), stage.state)).collect();
        for stage in stages {
            let id = &stage.stage;
            for checkpoint in [&stage.previous, &stage.accepted].into_iter().flatten() {
                if !self.truth.was_at(&stage.source, digest::checkpoint(checkpoint)) {
                    world.broken(format!("I3 the report of {id} names a checkpoint the graph never was at"));
                }
            }
            let all = [&stage.previous, &stage.offered, &stage.accepted];
            if all.into_iter().flatten().any(|checkpoint| checkpoint.stream != stage.source) {
                world.broken(format!("I4 {id} reports the progress of another stage"));
            }
            if stage.receipt.as_ref().is_some_and(|receipt| !self.truth.holds(receipt)) {
                world.broken(format!("I3 the report of {id} names a receipt that is not durable"));
            }
            let layout = self.layouts.iter().find(|layout| layout.name == *id);
            let waits_for = layout.and_then(|layout| layout.after).and_then(|name| states.get(name));
            if stage.stream.is_some() && waits_for.is_some_and(|state| *state != SyncState::Complete) {
                world.broken(format!("I4 {id} ran although what it depends on did not complete"));
            }
        }
    }

    /// The streams that are held now.
    async fn held(&self) -> BTreeSet<StreamName> {
        let mut held = BTreeSet::new();
        for layout in &self.layouts {
            let name = stream(layout.name);
            let document = self.documents.load(&connector(), &name).await;
            let hold = document.ok().flatten().and_then(|document| document.body.get("hold").cloned());
            if hold.is_some_and(|hold| !matches!(hold, Json::Null)) {
                held.insert(name);
            }
        }
        held
    }

    /// An operator looks at every held stream and lets it go on. Answers how many there were.
    async fn release(self: &Arc<Self>) -> usize {
        let held = self.held().await;
        let options = WorkerOptions::new(tenant());
        let runner = SourceSyncRunner::new(self.ports(true, Plant::None), options.budget, tenant());
        for name in &held {
            match runner.release(&connector(), name).await {
                Ok(()) => self.world.note(format!("{name} is released")),
                Err(refusal) => self.world.broken(format!("{name} cannot be released: {refusal}")),
            }
        }
        held.len()
    }
}

/// One stage in one line.
fn summary(stage: &StageReport) -> String {
    let at = |checkpoint: &Option<SourceCheckpoint>| {
        let text = |checkpoint: &SourceCheckpoint| {
            let mark = checkpoint.watermark.as_deref().unwrap_or("-");
            format!("{} since {mark}", to_compact(&checkpoint.position))
        };
        checkpoint.as_ref().map_or_else(|| "nothing".to_owned(), text)
    };
    let counts = stage.stream.as_ref().map(|stream| (stream.pages, stream.seen, stream.submitted, stream.withdrawn));
    let (before, after) = (at(&stage.previous), at(&stage.accepted));
    let code = stage.refusal.as_ref().map(|refusal| refusal.code);
    format!("{} {:?} {code:?}: pages, seen, sent, withdrawn {counts:?}; {before} -> {after}", stage.stage, stage.state)
}

fn tenant() -> TenantId {
    TenantId::parse("simulation").expect("the simulated tenant has a valid name")
}

fn config(max_pages_per_cycle: u32) -> ConnectorConfig {
    ConnectorConfig {
        connector: connector(),
        endpoint: EndpointSpec {
            target: EndpointTarget::Command { command: "sim".into(), args: Vec::new(), env: BTreeMap::new() },
            timeout: Duration::from_secs(30),
        },
        presets: Vec::new(),
        provision: true,
        interval: ConnectorConfig::DEFAULT_INTERVAL,
        data_resources: BTreeMap::new(),
        mapping_reference: String::new(),
        empty_authoritative_approval: "an empty table is meant".into(),
        max_pages_per_cycle,
        leave_out_foreign_edges: false,
    }
}

/// Runs one seed.
pub(super) async fn drive(seed: u64, plant: Plant) -> Outcome {
    let env = Arc::new(Env::new(seed, plant));
    for layout in &env.layouts {
        env.world.note(format!("{layout:?}"));
    }
    disturbed(&env).await;
    if !env.world.is_broken() {
        calm(&env).await;
    }
    let (violations, trace, struck) = env.world.take_parts();
    Outcome { seed, violations, trace, struck, commits: env.truth.commits() }
}

async fn disturbed(env: &Arc<Env>) {
    let mut worker = env.worker(false);
    for number in 0..2 + env.world.dice.below(5) {
        env.world.note(format!("cycle {number}"));
        let crashed = match env.cycle(&mut worker).await {
            Some(Ended::Crashed) => true,
            Some(Ended::Done(_)) => false,
            None => return,
        };
        if env.world.is_broken() {
            return;
        }
        if crashed || env.world.one_in(4) {
            worker = env.worker(false);
        }
        for _ in 0..env.world.dice.below(4) {
            lock(&env.system).change(&env.world);
        }
        if env.world.one_in(3) {
            env.release().await;
        }
    }
}

/// Two cycles without faults over a source that stands still, the comparison, and a third cycle that must do nothing.
async fn calm(env: &Arc<Env>) {
    env.world.calm();
    env.world.note("calm");
    loop {
        let Some(batch) = lock(&env.late).pop() else { break };
        let _ = env.truth.commit(&batch).await;
    }
    let mut worker = env.worker(true);
    env.release().await;
    // A contract that changed unnoticed is noticed now, by one stage after the other.
    env.cycle(&mut worker).await;
    while env.release().await > 0 {
        env.cycle(&mut worker).await;
    }
    calm_cycle(env, &mut worker).await;
    verdict::check(env);
    let before = env.truth.commits();
    calm_cycle(env, &mut worker).await;
    if env.truth.commits() != before {
        env.world.broken(format!("I5 an unchanged source submitted {} batches", env.truth.commits() - before));
    }
}

async fn calm_cycle(env: &Arc<Env>, worker: &mut ConnectorWorker) {
    if let Some(Ended::Done(report)) = env.cycle(worker).await
        && !report.success
    {
        let states = report.run.iter().flat_map(|run| &run.stages).map(|stage| (stage.stage.clone(), stage.state));
        let states: Vec<_> = states.collect();
        env.world.broken(format!("an undisturbed cycle fails: {:?}, {states:?}", report.refusal));
    }
}
