//! Many connectors at once: bounded concurrency, back-off, schedule, change notifications, registry refresh and an orderly
//! end.

mod connector;
mod credentials;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use scion_domain::config::{ConnectorConfig, RunnerConfig, RunnerSettings};
use scion_domain::id::ConnectorName;
use scion_ports::{CredentialProvider, McpConnector, async_trait};
use tokio::sync::{Mutex, Semaphore};
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::events;
use crate::health::HealthState;
use crate::sweep::SyncPorts;
use crate::worker::{ConnectorWorker, CycleReport, WorkerOptions};
use connector::Supervised;

/// The shortest time between two looks at the registry, so that a wrong setting does not make the loop spin.
const SHORTEST_REFRESH: Duration = Duration::from_secs(1);

/// Where the list of connectors comes from.
#[async_trait]
pub trait Registry: Send + Sync {
    /// Reads it. The error is one line of our own, without values.
    async fn load(&self) -> Result<RunnerConfig, String>;
}

/// Opens sessions on behalf of one connector, so that its credentials are resolved in its own scope.
pub type ConnectorFactory = Arc<dyn Fn(&ConnectorConfig) -> Arc<dyn McpConnector> + Send + Sync>;

/// Everything a supervisor is made of.
#[derive(Clone)]
pub struct SupervisorParts {
    /// The list of connectors.
    pub registry: Arc<dyn Registry>,
    /// Opens sessions.
    pub connectors: ConnectorFactory,
    /// Resolves references ahead of time, for readiness; without it the first connection tells.
    pub credentials: Option<Arc<dyn CredentialProvider>>,
    /// What every run talks to.
    pub ports: SyncPorts,
    /// How workers work.
    pub options: WorkerOptions,
    /// The health to keep up to date.
    pub health: Arc<HealthState>,
}

/// Runs connectors until it is told to stop.
pub struct Supervisor {
    parts: SupervisorParts,
    /// One lock per connector that ever ran.
    turns: std::sync::Mutex<BTreeMap<ConnectorName, Arc<Mutex<()>>>>,
}

struct Running {
    config: ConnectorConfig,
    cancel: CancellationToken,
    task: AbortHandle,
}

impl Supervisor {
    /// A supervisor that has not started.
    pub const fn new(parts: SupervisorParts) -> Self {
        Self { parts, turns: std::sync::Mutex::new(BTreeMap::new()) }
    }

    /// Runs one cycle of every connector of a configuration, at most `max_concurrency` at once, in no particular order of
    /// completion; the reports are in the order of the configuration.
    pub async fn run_once(&self, config: &RunnerConfig, cancel: &CancellationToken) -> Vec<CycleReport> {
        let slots = Arc::new(Semaphore::new(config.settings.max_concurrency.max(1)));
        let mut tasks = JoinSet::new();
        for (index, connector) in config.connectors.iter().enumerate() {
            let mut worker = self.worker(connector);
            let (slots, cancel) = (slots.clone(), cancel.clone());
            let ports = self.parts.ports.clone();
            tasks.spawn(async move {
                // The semaphore is never closed, so there is always a slot in the end.
                let _slot = slots.acquire().await;
                let report = worker.run_once(None, &cancel).await;
                worker.disconnect().await;
                if let Some(refusal) = report.refusal.as_ref().filter(|_| !report.success) {
                    ports.events.emit(events::connector_failed(&report.connector, refusal, None));
                }
                (index, report)
            });
        }
        let mut reports: Vec<(usize, CycleReport)> = Vec::new();
        while let Some(done) = tasks.join_next().await {
            // A panicked cycle has no report; its connector is missing from the answer and so counts as failed.
            reports.extend(done.ok());
        }
        reports.sort_by_key(|(index, _)| *index);
        reports.into_iter().map(|(_, report)| report).collect()
    }

    /// Supervises until cancelled, then drains: every stream finishes the page in flight, commits and stops.
    pub async fn run(&self, cancel: &CancellationToken) {
        let mut running: BTreeMap<ConnectorName, Running> = BTreeMap::new();
        let mut tasks = JoinSet::new();
        let mut slots: Option<(usize, Arc<Semaphore>)> = None;
        let mut refresh = Duration::from_mins(1);
        while !cancel.is_cancelled() {
            match self.parts.registry.load().await {
                Ok(config) => {
                    refresh = config.settings.registry_refresh.max(SHORTEST_REFRESH);
                    let size = config.settings.max_concurrency.max(1);
                    if slots.as_ref().is_none_or(|(known, _)| *known != size) {
                        slots = Some((size, Arc::new(Semaphore::new(size))));
                    }
                    if let Some((_, slots)) = &slots {
                        self.reconcile(&config, slots, &mut running, &mut tasks, cancel).await;
                    }
                }
                Err(error) => self.parts.ports.events.emit(events::registry_unreadable(&error)),
            }
            self.parts.health.heartbeat();
            self.wait(refresh, cancel, &mut tasks).await;
        }
        while tasks.join_next().await.is_some() {
            self.parts.health.heartbeat();
        }
    }

    /// Waits for the next refresh, with a beat at least every ten seconds, and takes ended workers in.
    async fn wait(&self, refresh: Duration, cancel: &CancellationToken, tasks: &mut JoinSet<()>) {
        let clock = self.parts.ports.committer.clock.clone();
        let end = clock.monotonic().saturating_add(refresh);
        loop {
            let left = end.saturating_sub(clock.monotonic());
            if left.is_zero() || cancel.is_cancelled() {
                return;
            }
            tokio::select! {
                biased;
                () = cancel.cancelled() => return,
                Some(_) = tasks.join_next() => {}
                () = clock.sleep(left.min(Duration::from_secs(10))) => self.parts.health.heartbeat(),
            }
        }
    }

    /// Brings the running workers in line with the registry: removed and changed ones drain, new and changed ones start.
    async fn reconcile(
        &self,
        config: &RunnerConfig,
        slots: &Arc<Semaphore>,
        running: &mut BTreeMap<ConnectorName, Running>,
        tasks: &mut JoinSet<()>,
        cancel: &CancellationToken,
    ) {
        self.parts.health.registry_read(config.connectors.iter().map(|connector| connector.connector.clone()));
        running.retain(|name, worker| {
            let kept = config.connectors.iter().any(|wanted| wanted.connector == *name && *wanted == worker.config);
            if !kept {
                worker.cancel.cancel();
            }
            // A worker whose task has ended although nobody stopped it has panicked: it is started anew.
            kept && !worker.task.is_finished()
        });
        for wanted in &config.connectors {
            self.check_credentials(wanted).await;
            if running.contains_key(&wanted.connector) {
                continue;
            }
            let token = cancel.child_token();
            let turn = self.turn(&wanted.connector);
            let supervised = self.supervised(wanted, config.settings.clone(), slots.clone(), token.clone());
            let task = tasks.spawn(async move {
                // A changed connector may still be draining under its old configuration: one writer at a time.
                let _turn = turn.lock_owned().await;
                supervised.run().await;
            });
            running.insert(wanted.connector.clone(), Running { config: wanted.clone(), cancel: token, task });
        }
    }

    async fn check_credentials(&self, config: &ConnectorConfig) {
        if let Some(provider) = &self.parts.credentials {
            let outcome = credentials::check(&**provider, config).await;
            self.parts.health.credentials(&config.connector, outcome);
        }
    }

    fn turn(&self, name: &ConnectorName) -> Arc<Mutex<()>> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.entry(name.clone()).or_default().clone()
    }

    fn worker(&self, config: &ConnectorConfig) -> ConnectorWorker {
        let connector = (self.parts.connectors)(config);
        ConnectorWorker::new(config.clone(), connector, self.parts.ports.clone(), self.parts.options.clone())
    }

    fn supervised(
        &self,
        config: &ConnectorConfig,
        settings: RunnerSettings,
        slots: Arc<Semaphore>,
        cancel: CancellationToken,
    ) -> Supervised {
        Supervised {
            worker: self.worker(config),
            settings,
            slots,
            cancel,
            ports: self.parts.ports.clone(),
            health: self.parts.health.clone(),
            credentials_known: self.parts.credentials.is_some(),
            followed: false,
        }
    }
}
