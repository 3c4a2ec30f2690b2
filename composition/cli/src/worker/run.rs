//! What `ingest-worker` does once its command line is understood.

use std::io::IsTerminal as _;
use std::sync::Arc;

use scion::local::{SystemClock, SystemEntropy};
use scion::pack::Capturer;
use scion::sink::{Access, SinkRegistry, SinkRequest};
use scion::sync::events::EventLevel;
use scion::sync::{Committer, SyncPorts, WorkerOptions as SyncOptions};
use scion::work::{WorkerOptions, WorkerParts, run_ingest_worker};
use scion_domain::config::ConfigProblem;
use scion_domain::id::TenantId;
use scion_domain::json::Json;
use scion_domain::work::WorkRefusal;
use tokio_util::sync::CancellationToken;

use super::args::WorkerArgs;
use super::body::{KIND, SyncBody};
use super::events::Logged;
use crate::connectors::Connectors;
use crate::logging::{Log, LogFormat, LoggedEvents};
use crate::output::{Refused, tell};
use crate::sync::{ConfigFile, Signals, place_of};
use crate::{DONE, FAILED, NOT_STARTED, place};

/// Runs and gives the exit code.
pub(super) async fn run(args: &WorkerArgs, sinks: &SinkRegistry) -> u8 {
    let terminal = std::io::stderr().is_terminal();
    let format = args.log_format.unwrap_or(if terminal { LogFormat::Text } else { LogFormat::Json });
    let log = Log::stderr(format, EventLevel::Info);
    log.install();
    let logged = Logged(log.clone());
    let refuse = |refused: &Refused, event: &str| {
        if format == LogFormat::Json {
            let fields = [("code", Json::from(refused.code)), ("next", Json::from(refused.next))];
            logged.say(EventLevel::Error, event, &refused.message, fields);
        } else {
            tell(&refused.to_string());
        }
    };
    let ground = match prepare(args, sinks, &log, &logged).await {
        Ok(ground) => ground,
        Err(refused) => {
            for one in &refused {
                refuse(one, "start_failed");
            }
            return NOT_STARTED;
        }
    };
    let stop = CancellationToken::new();
    let options = WorkerOptions {
        lane: args.queue.lane.clone(),
        kinds: vec![KIND.to_owned()],
        workers: args.workers,
        name: name(),
        until_empty: args.once,
    };
    let work = run_ingest_worker(ground.parts, options, &stop);
    tokio::pin!(work);
    let mut signals = Signals::listen().ok();
    let outcome = loop {
        tokio::select! {
            biased;
            outcome = &mut work => break outcome,
            () = async { match &mut signals { Some(signals) => signals.next().await, None => std::future::pending().await } } => {
                if stop.is_cancelled() {
                    // What was acknowledged is durable; everything else comes back when its lease ends.
                    std::process::exit(crate::sync::ENDED_BY_SIGNAL);
                }
                logged.say(EventLevel::Info, "draining", "draining: jobs end at a safe point; a second signal ends at once", []);
                stop.cancel();
            }
        }
    };
    ground.body.close().await;
    match outcome {
        Ok(report) => {
            let fields = [
                ("succeeded", Json::from(report.succeeded)),
                ("failed", Json::from(report.failed)),
                ("unfinished", Json::from(report.unfinished)),
            ];
            let message = format!(
                "stopped: {} jobs succeeded, {} failed, {} given back",
                report.succeeded, report.failed, report.unfinished
            );
            logged.say(EventLevel::Info, "stopped", &message, fields);
            DONE
        }
        Err(refusal) => {
            refuse(&refusal.into(), "ended");
            FAILED
        }
    }
}

struct Ground {
    parts: WorkerParts,
    body: Arc<SyncBody>,
}

async fn prepare(args: &WorkerArgs, sinks: &SinkRegistry, log: &Log, logged: &Logged) -> Result<Ground, Vec<Refused>> {
    let one = |refused: Refused| vec![refused];
    let factory = place::sink(sinks, &args.sink).map_err(|no| one(no.into()))?;
    let connectors = Connectors::of_process().map_err(|no| one(no.into()))?;
    let config = ConfigFile::new(args.config.clone()).read().await.map_err(|problems| {
        let at =
            |problem: &ConfigProblem| Refused::from(problem.refusal.clone()).at(&place_of(&problems.file, problem));
        problems.problems.iter().map(at).collect::<Vec<_>>()
    })?;
    let credentials = || Ok(connectors.credentials());
    let open = args.queue.open(Access::Write, credentials).await.map_err(one)?;
    // Nothing is claimed and no graph is made before the queue is known to answer, to serve everything and to have the lane.
    let ready = async {
        open.queue.ready().await?;
        open.admission.ready().await?;
        let lane = open.admission.lane(&args.queue.lane).await?;
        lane.map(|_| ()).ok_or_else(|| WorkRefusal::LaneMissing { lane: args.queue.lane.clone() })
    };
    ready.await.map_err(|no: WorkRefusal| one(no.into()))?;
    let state_dir = place::state_dir(args.queue.state_dir.as_deref()).map_err(|no| one(no.into()))?;
    place::make(&state_dir).map_err(|no| one(no.into()))?;
    let request = SinkRequest { state_dir, store_file: None, access: Access::Write };
    let sink = factory.open(&request).await.map_err(|no| one(no.into()))?;
    let clock = Arc::new(SystemClock::new());
    let events = Arc::new(LoggedEvents::new(log.clone(), Arc::new(scion::sync::events::NoEvents)));
    let ports = SyncPorts {
        committer: Committer::new(sink.sink, sink.digests, clock.clone()),
        packs: Arc::new(Capturer::new(clock.clone())),
        checkpoints: sink.checkpoints,
        repairs: None,
        entropy: Arc::new(SystemEntropy),
        events,
    };
    let tenant = TenantId::parse("local").expect("a plain word is a tenant id");
    let outbound = connectors.outbound().clone();
    // Ends with the process.
    tokio::spawn(async move { outbound.keep_renewed().await });
    let body = Arc::new(SyncBody::new(config, connectors, ports, SyncOptions::new(tenant)));
    let parts = WorkerParts {
        queue: open.queue,
        admission: open.admission,
        body: body.clone(),
        clock,
        events: Arc::new(logged.clone()),
    };
    Ok(Ground { parts, body })
}

/// Tells processes apart in the queue, also across machines and after a restart.
fn name() -> String {
    use scion::ports::Entropy as _;
    let mut random = [0; 4];
    SystemEntropy.fill(&mut random);
    format!("worker-{}-{:08x}", std::process::id(), u32::from_be_bytes(random))
}
