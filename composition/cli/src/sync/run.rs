//! What `connector-sync` does once its command line is understood.

use std::path::PathBuf;
use std::sync::Arc;

use scion::local::{SystemClock, SystemEntropy};
use scion::pack::Capturer;
use scion::sink::{Access, OpenSink, SinkRegistry, SinkRequest};
use scion::sync::events::EventLevel;
use scion::sync::health::HealthState;
use scion::sync::{Committer, Supervisor, SupervisorParts, SyncPorts, WorkerOptions};
use scion_domain::config::{HealthAddress, RunnerConfig};
use scion_domain::id::TenantId;
use tokio_util::sync::CancellationToken;

use super::args::SyncArgs;
use super::config_file::ConfigFile;
use super::next_query::next_query;
use super::report::OnceReport;
use super::signals::drained_by;
use super::start::Start;
use super::timings::Timings;
use crate::connectors::Connectors;
use crate::health::{HealthListener, HealthParts};
use crate::logging::LogFormat;
use crate::output::{Refused, print};
use crate::{DONE, FAILED, NOT_STARTED, place};

/// Whom a command line works for: it has no tenants to tell apart.
const TENANT: &str = "local";
/// Where the health listener binds when the command line does not say.
const HEALTH_VARIABLE: &str = "RUNNER_HEALTH_ADDR";

/// The reason was told already.
struct Told;

/// Everything a run stands on.
struct Ground {
    config: RunnerConfig,
    registry: Arc<ConfigFile>,
    state_dir: PathBuf,
    open: OpenSink,
    connectors: Connectors,
    _lock: scion::local::FileLock,
}

/// Runs and gives the exit code.
pub(super) async fn run(args: &SyncArgs, start: &Start, sinks: &SinkRegistry) -> u8 {
    let outcome = async {
        let listener = if args.once { None } else { listen(args, start).await? };
        let ground = prepare(args, start, sinks).await?;
        Ok::<_, Told>((ground, listener))
    };
    let Ok((ground, listener)) = outcome.await else { return NOT_STARTED };
    let cancel = CancellationToken::new();
    let outbound = ground.connectors.outbound().clone();
    // Ends with the process.
    tokio::spawn(async move { outbound.keep_renewed().await });
    if args.once {
        drained_by(start, &cancel, once(args, start, &ground, &cancel)).await
    } else {
        drained_by(start, &cancel, supervise(start, &ground, listener, &cancel)).await;
        DONE
    }
}

async fn prepare(args: &SyncArgs, start: &Start, sinks: &SinkRegistry) -> Result<Ground, Told> {
    let told = |refused: Refused| {
        start.refuse_it(&refused);
        Told
    };
    let factory = place::sink(sinks, &args.sink).map_err(|refusal| told(refusal.into()))?;
    let connectors = Connectors::of_process().map_err(|refusal| told(refusal.into()))?;
    let registry = Arc::new(ConfigFile::new(args.config.clone()));
    let config = registry.read().await.map_err(|problems| {
        start.refuse_config(&problems);
        Told
    })?;
    let state_dir = place::state_dir(args.state_dir.as_deref()).map_err(|refusal| told(refusal.into()))?;
    place::make(&state_dir).map_err(|refusal| told(refusal.into()))?;
    let lock = place::lock(&state_dir).map_err(told)?;
    let request = SinkRequest { state_dir: state_dir.clone(), store_file: None, access: Access::Write };
    let open = factory.open(&request).await.map_err(|refusal| told(refusal.into()))?;
    Ok(Ground { config, registry, state_dir, open, connectors, _lock: lock })
}

async fn listen(args: &SyncArgs, start: &Start) -> Result<Option<HealthListener>, Told> {
    let text = args.health_addr.clone().or_else(|| std::env::var(HEALTH_VARIABLE).ok());
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else { return Ok(None) };
    let address = HealthAddress::parse(&text).map_err(|refusal| {
        start.refuse(refusal);
        Told
    })?;
    let bound = HealthListener::bind(&address, args.health_allow_non_loopback).await;
    let listener = bound.map_err(|refusal| {
        start.refuse_it(&refusal);
        Told
    })?;
    if let Some(address) = listener.address() {
        start.say(EventLevel::Info, "health_listening", &format!("health is answered at http://{address}/health"));
    }
    Ok(Some(listener))
}

fn parts(start: &Start, ground: &Ground) -> (SupervisorParts, Arc<Timings>) {
    let clock = Arc::new(SystemClock::new());
    let timings = Arc::new(Timings::new(start.events()));
    let (open, reach) = (&ground.open, ground.connectors.clone());
    let ports = SyncPorts {
        committer: Committer::new(open.sink.clone(), open.digests.clone(), clock.clone()),
        packs: Arc::new(Capturer::new(clock.clone())),
        checkpoints: open.checkpoints.clone(),
        repairs: None,
        entropy: Arc::new(SystemEntropy),
        events: timings.clone(),
    };
    let window = HealthState::window_for(ground.config.settings.registry_refresh);
    let tenant = TenantId::parse(TENANT).expect("a plain word is a tenant id");
    let parts = SupervisorParts {
        registry: ground.registry.clone(),
        connectors: Arc::new(move |config| reach.client(config)),
        credentials: Some(ground.connectors.credentials()),
        ports,
        options: WorkerOptions::new(tenant),
        health: Arc::new(HealthState::new(clock, window)),
    };
    (parts, timings)
}

async fn once(args: &SyncArgs, start: &Start, ground: &Ground, cancel: &CancellationToken) -> u8 {
    let (parts, timings) = parts(start, ground);
    let cycles = Supervisor::new(parts).run_once(&ground.config, cancel).await;
    start.clear();
    let report = OnceReport::new(&ground.config, &cycles, &timings);
    let text = if args.log_format == Some(LogFormat::Json) {
        report.json()
    } else {
        let next = if report.holds_records(ground.open.catalog.as_deref()).await {
            next_query(args.state_dir.as_deref(), &ground.state_dir, &args.sink)
        } else {
            None
        };
        report.text(next.as_deref())
    };
    if let Err(refusal) = print(&text) {
        start.refuse(refusal);
        return FAILED;
    }
    if report.success() { DONE } else { FAILED }
}

async fn supervise(start: &Start, ground: &Ground, listener: Option<HealthListener>, cancel: &CancellationToken) {
    let (parts, _) = parts(start, ground);
    // The listener outlives the drain, so that a probe sees it going on.
    let stop_listening = CancellationToken::new();
    if let Some(listener) = listener {
        let health = HealthParts { state: parts.health.clone(), sink: ground.open.sink.clone() };
        tokio::spawn(listener.serve(health, stop_listening.clone()));
    }
    Supervisor::new(parts).run(cancel).await;
    stop_listening.cancel();
    start.clear();
    start.say(EventLevel::Info, "stopped", "stopped");
}
