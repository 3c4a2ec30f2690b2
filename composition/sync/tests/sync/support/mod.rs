//! In-memory implementers of every port a run talks to, and a small server to sync from.

mod clock;
mod server;
mod sink;
mod stores;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use scion_domain::config::{ConnectorConfig, EndpointSpec, EndpointTarget};
use scion_domain::id::{ConnectorName, RecordId, StreamName, TenantId};
use scion_domain::json::{Json, parse};
use scion_ports::Entropy;
use scion_sync::events::{Event, EventSink};
use scion_sync::fault::{CommitPoint, FaultSeam};
use scion_sync::{Committer, ConnectorWorker, CycleReport, SourceSyncReport, SyncPorts, WorkerOptions};
use tokio_util::sync::CancellationToken;

pub use clock::PausedClock;
pub use server::{Answer, FakeServer, tool};
pub use sink::{MemorySink, SinkFault};
pub use stores::{MemoryCheckpoints, MemoryRepairs};

pub const CONNECTOR: &str = "acme-desk-mcp";

pub fn json(text: &str) -> Json {
    parse(text).unwrap_or_else(|refusal| panic!("{refusal}: {text}"))
}

pub fn connector() -> ConnectorName {
    ConnectorName::parse(CONNECTOR).unwrap()
}

pub fn stream(name: &str) -> StreamName {
    StreamName::parse(name).unwrap()
}

pub fn id(text: &str) -> RecordId {
    RecordId::parse(text).unwrap()
}

/// Randomness that repeats.
#[derive(Default)]
pub struct SeededEntropy(Mutex<u64>);

impl Entropy for SeededEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        let mut state = self.0.lock().unwrap();
        for byte in buffer {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = state.to_le_bytes()[7];
        }
    }
}

/// Keeps every event.
#[derive(Default)]
pub struct RecordedEvents(Mutex<Vec<Event>>);

impl RecordedEvents {
    pub fn all(&self) -> Vec<Event> {
        self.0.lock().unwrap().clone()
    }

    pub fn named(&self, name: &str) -> Vec<Event> {
        self.all().into_iter().filter(|event| event.name == name).collect()
    }
}

impl EventSink for RecordedEvents {
    fn emit(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

/// Counts the points a run stands at, and hangs at one of them when told to.
#[derive(Default)]
pub struct CountingSeam {
    pub reached: Mutex<BTreeMap<CommitPoint, usize>>,
    hang: Mutex<Option<(CommitPoint, usize)>>,
}

impl CountingSeam {
    /// The run stops for ever when it stands at `point` for the `nth` time from now (from 1).
    pub fn hang_at(&self, point: CommitPoint, nth: usize) {
        *self.hang.lock().unwrap() = Some((point, nth));
    }

    /// Nothing hangs any more.
    pub fn run_free(&self) {
        *self.hang.lock().unwrap() = None;
    }
}

#[scion_ports::async_trait]
impl FaultSeam for CountingSeam {
    async fn reach(&self, point: CommitPoint) {
        *self.reached.lock().unwrap().entry(point).or_default() += 1;
        let stop = {
            let mut hang = self.hang.lock().unwrap();
            match hang.as_mut() {
                Some((wanted, left)) if *wanted == point => {
                    *left -= 1;
                    let stop = *left == 0;
                    if stop {
                        *hang = None;
                    }
                    stop
                }
                _ => false,
            }
        };
        if stop {
            std::future::pending::<()>().await;
        }
    }
}

/// Everything of one test.
pub struct Bench {
    pub server: Arc<FakeServer>,
    pub sink: Arc<MemorySink>,
    pub checkpoints: Arc<MemoryCheckpoints>,
    pub repairs: Arc<MemoryRepairs>,
    pub events: Arc<RecordedEvents>,
    pub seam: Arc<CountingSeam>,
    pub clock: Arc<PausedClock>,
    pub entropy: Arc<SeededEntropy>,
    pub options: WorkerOptions,
    pub config: ConnectorConfig,
    pub cancel: CancellationToken,
}

impl Bench {
    pub fn new(server: FakeServer) -> Self {
        let mut options = WorkerOptions::new(TenantId::parse("default").unwrap());
        options.budget.page_time = Duration::from_secs(40);
        Self {
            server: Arc::new(server),
            sink: Arc::new(MemorySink::default()),
            checkpoints: Arc::default(),
            repairs: Arc::default(),
            events: Arc::default(),
            seam: Arc::default(),
            clock: Arc::default(),
            entropy: Arc::default(),
            options,
            config: config(&[]),
            cancel: CancellationToken::new(),
        }
    }

    pub fn ports(&self) -> SyncPorts {
        let mut committer = Committer::new(self.sink.clone(), self.sink.clone(), self.clock.clone());
        committer.faults = self.seam.clone();
        SyncPorts {
            committer,
            packs: Arc::new(scion_pack::Capturer::new(self.clock.clone())),
            checkpoints: self.checkpoints.clone(),
            repairs: Some(self.repairs.clone()),
            entropy: self.entropy.clone(),
            events: self.events.clone(),
        }
    }

    pub fn worker(&self) -> ConnectorWorker {
        ConnectorWorker::new(self.config.clone(), self.server.clone(), self.ports(), self.options.clone())
    }

    /// One cycle with a new worker, as after a restart.
    pub async fn cycle(&self) -> CycleReport {
        self.worker().run_once(None, &self.cancel).await
    }

    /// One cycle that must come as far as its streams; answers the report of one stream.
    pub async fn stream(&self, name: &str) -> SourceSyncReport {
        let report = self.cycle().await;
        let run = report.run.unwrap_or_else(|| panic!("no run: {:?}", report.refusal));
        let stage = run.stages.into_iter().find(|stage| stage.stage == name).unwrap();
        stage.stream.unwrap_or_else(|| panic!("not started: {:?}", stage.refusal))
    }

    pub fn runner(&self) -> scion_sync::SourceSyncRunner {
        scion_sync::SourceSyncRunner::new(self.ports(), self.options.budget, self.options.tenant.clone())
    }
}

pub fn config(presets: &[&str]) -> ConnectorConfig {
    ConnectorConfig {
        connector: connector(),
        endpoint: EndpointSpec {
            target: EndpointTarget::Command { command: "desk".into(), args: Vec::new(), env: BTreeMap::new() },
            timeout: Duration::from_secs(30),
        },
        presets: presets.iter().map(|name| stream(name)).collect(),
        provision: true,
        interval: Duration::from_mins(15),
        data_resources: BTreeMap::new(),
        mapping_reference: String::new(),
        empty_authoritative_approval: String::new(),
        max_pages_per_cycle: 1000,
        leave_out_foreign_edges: false,
    }
}
