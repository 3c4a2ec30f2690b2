//! One connector's cycle: connect, read the declaration, check the selection, provision or check the contract, run the stages.

mod session;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use scion_domain::config::ConnectorConfig;
use scion_domain::declaration::plan::CyclePlan;
use scion_domain::id::{ConnectorName, Digest256, StreamName, TenantId};
use scion_domain::json::Json;
use scion_domain::mcp::McpRefusal;
use scion_domain::sync::SyncRefusal;
use scion_ports::{ChangeFeed, McpConnector};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::deadline::within;
use crate::events;
use crate::report::SyncState;
use crate::source::PageLimits;
use crate::stage::{RunReport, StageDescriptor, StageGraph, StageOutcome};
use crate::sweep::{Persistence, SourceSyncRunner, SyncBudget, SyncPorts};
use session::OpenSession;

/// How a worker works, whatever the connector.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// For whom it works.
    pub tenant: TenantId,
    /// Streams of one connector side by side: 1 to 256.
    pub streams: usize,
    /// The most any page may be.
    pub limits: PageLimits,
    /// Budgets of one stream's cycle; `max_pages` comes from the connector's configuration.
    pub budget: SyncBudget,
    /// What every payload passes on its way out.
    pub persistence: Persistence,
    /// The operator allows an import to withdraw more than half of a published surface (R004.27).
    pub allow_mass_withdrawal: bool,
}

impl WorkerOptions {
    /// The defaults, for one tenant.
    pub fn new(tenant: TenantId) -> Self {
        Self {
            tenant,
            streams: 4,
            limits: PageLimits::default(),
            budget: SyncBudget::default(),
            persistence: Persistence::default(),
            allow_mass_withdrawal: false,
        }
    }
}

/// The proof of one cycle of a connector.
#[derive(Clone, Debug, Serialize)]
pub struct CycleReport {
    /// The connector.
    pub connector: ConnectorName,
    /// Digest of the accepted declaration; `None` when the cycle did not come that far.
    pub pack_digest: Option<Digest256>,
    /// The stages; `None` when the cycle did not come that far.
    pub run: Option<RunReport>,
    /// Everything asked for was done.
    pub success: bool,
    /// Why not.
    #[serde(skip)]
    pub refusal: Option<SyncRefusal>,
}

impl CycleReport {
    /// Nothing failed, but some streams are held and wait for a person.
    pub fn only_held(&self) -> bool {
        self.run.as_ref().is_some_and(|run| {
            run.stages.iter().all(|stage| {
                stage.state.is_success() || matches!(stage.state, SyncState::Quarantined | SyncState::Paused)
            })
        })
    }
}

/// Works for one connector. Keeps its session between cycles and opens a new one when it broke.
pub struct ConnectorWorker {
    config: ConnectorConfig,
    connector: Arc<dyn McpConnector>,
    ports: SyncPorts,
    options: WorkerOptions,
    session: Option<OpenSession>,
    cycles: u64,
}

impl ConnectorWorker {
    /// A worker that has not connected yet.
    pub fn new(
        config: ConnectorConfig,
        connector: Arc<dyn McpConnector>,
        ports: SyncPorts,
        options: WorkerOptions,
    ) -> Self {
        Self { config, connector, ports, options, session: None, cycles: 0 }
    }

    /// The configuration it works under.
    pub const fn config(&self) -> &ConnectorConfig {
        &self.config
    }

    /// Runs one full cycle. `plan` narrows it to what a change asks for; `None` means everything selected.
    pub async fn run_once(&mut self, plan: Option<CyclePlan>, cancel: &CancellationToken) -> CycleReport {
        let mut report = self.failed(SyncRefusal::Cancelled);
        report.refusal = self.cycle(plan, cancel, &mut report).await.err();
        report.success = report.refusal.is_none() && report.run.as_ref().is_none_or(|run| run.success);
        if report.refusal.as_ref().is_some_and(SyncRefusal::ends_session) {
            self.disconnect().await;
        }
        report
    }

    /// Follows the change notifications of the open session; `None` when there is no session or the server announces none.
    pub async fn changes(&self) -> Option<Box<dyn ChangeFeed>> {
        let open = self.session.as_ref()?;
        let resources: Vec<String> = self.config.data_resources.keys().cloned().collect();
        let clock = &*self.ports.committer.clock;
        let feed = within(clock, self.config.endpoint.timeout, open.session().changes(&resources)).await;
        let feed = feed.and_then(Result::ok);
        let event = events::change_subscription(&self.config.connector, feed.is_some(), resources.len());
        self.ports.events.emit(event);
        feed
    }

    /// What a change asks this connector to do. Also makes everything that was remembered of the server stale.
    pub fn plan_for(&self, changes: &[scion_domain::mcp::ServerChange]) -> CyclePlan {
        let Some(open) = &self.session else { return CyclePlan::default() };
        open.mark_changed();
        CyclePlan::after(&self.config, changes, open.pack_uris())
    }

    /// A handle that notices changes while a cycle runs.
    pub fn change_marker(&self) -> Option<Arc<dyn Fn() + Send + Sync>> {
        let tools = self.session.as_ref()?.tools().clone();
        Some(Arc::new(move || tools.mark_changed()))
    }

    /// Whether a session is open.
    pub const fn is_connected(&self) -> bool {
        self.session.is_some()
    }

    /// The report of a cycle that did not start.
    pub(crate) fn failed(&self, refusal: SyncRefusal) -> CycleReport {
        CycleReport {
            connector: self.config.connector.clone(),
            pack_digest: None,
            run: None,
            success: false,
            refusal: Some(refusal),
        }
    }

    /// Ends the session.
    pub async fn disconnect(&mut self) {
        if let Some(open) = self.session.take() {
            let clock = self.ports.committer.clock.clone();
            let _ = within(&*clock, Duration::from_secs(10), open.session().close()).await;
        }
    }

    async fn cycle(
        &mut self,
        plan: Option<CyclePlan>,
        cancel: &CancellationToken,
        report: &mut CycleReport,
    ) -> Result<(), SyncRefusal> {
        self.cycles += 1;
        if cancel.is_cancelled() {
            return Err(SyncRefusal::Cancelled);
        }
        self.connect(cancel).await?;
        let Some(open) = &mut self.session else { return Err(SyncRefusal::Cancelled) };
        open.read_declaration().await?;
        let presets = open.select(&self.config)?;
        let names: Vec<StreamName> = presets.iter().map(|preset| preset.name.clone()).collect();
        let plan = plan.unwrap_or_else(|| CyclePlan::full(&self.config, &names));
        if plan.provision {
            let (receipt, entries) = open.provision(&self.ports, self.options.allow_mass_withdrawal).await?;
            let imported = if receipt.unchanged { 0 } else { entries };
            let digest = receipt.pack_digest.to_hex();
            self.ports.events.emit(events::pack(&self.config.connector, &digest, receipt.unchanged, imported));
        }
        let binding = open.binding(&self.ports);
        let accepted = binding.accepted().await?;
        report.pack_digest = Some(accepted);
        let mut budget = self.options.budget;
        budget.max_pages = u64::from(self.config.max_pages_per_cycle);
        let runner = SourceSyncRunner::new(self.ports.clone(), budget, self.options.tenant.clone());
        let mut streams = BTreeMap::new();
        let mut stages = Vec::new();
        for preset in presets.iter().filter(|preset| plan.presets.contains(&preset.name)) {
            let stream = open.stream(preset, &self.config, &self.options)?;
            stages.push(StageDescriptor {
                id: preset.name.to_string(),
                tenant: Some(self.options.tenant.clone()),
                connector: self.config.connector.clone(),
                source: preset.name.clone(),
                manifest_digest: Some(accepted),
                dependencies: dependencies(&preset.hints, &plan),
                concurrency: 1,
            });
            streams.insert(preset.name.to_string(), stream);
        }
        let graph = StageGraph::admit(stages, self.options.streams)?;
        let run = format!("{}-{}-{}", self.config.connector, self.ports.committer.clock.unix_millis(), self.cycles);
        let (runner, streams, binding) = (&runner, &streams, &binding);
        let execute = |stage: StageDescriptor| async move {
            let (plan, source) = &streams[&stage.id];
            let (report, refusal) = runner.sync_with_refusal(plan, source, binding, cancel).await;
            StageOutcome { report, refusal }
        };
        let run = graph.run(&run, cancel, execute).await;
        let refusal = run.refusal.clone();
        report.run = Some(run);
        refusal.map_or(Ok(()), Err)
    }

    /// Opens a session unless one is open.
    pub async fn connect(&mut self, cancel: &CancellationToken) -> Result<(), SyncRefusal> {
        if self.session.is_some() {
            return Ok(());
        }
        let limit = self.config.endpoint.timeout;
        let connect = within(&*self.ports.committer.clock, limit, self.connector.connect(&self.config.endpoint));
        let session = until_cancelled(cancel, connect).await?;
        let session = session.ok_or_else(|| McpRefusal::Timeout {
            operation: format!("connecting to {}", self.config.connector),
            seconds: limit.as_secs(),
        })??;
        self.session = Some(OpenSession::new(session.into(), self.config.connector.clone(), &self.ports));
        Ok(())
    }
}

async fn until_cancelled<T>(cancel: &CancellationToken, work: impl Future<Output = T>) -> Result<T, SyncRefusal> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(SyncRefusal::Cancelled),
        out = work => Ok(out),
    }
}

/// The stages a preset names in its `depends_on` hint, as far as they are part of this cycle.
fn dependencies(hints: &scion_domain::json::JsonObject, plan: &CyclePlan) -> Vec<String> {
    let named = hints.get("depends_on").and_then(Json::as_array).unwrap_or_default();
    let named = named.iter().filter_map(Json::as_str);
    named.filter(|name| plan.presets.iter().any(|preset| preset.as_str() == *name)).map(str::to_owned).collect()
}
