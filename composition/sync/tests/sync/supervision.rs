//! Supervision: schedule, back-off, changes, registry, reconnect, drain.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use scion_domain::config::{RunnerConfig, RunnerSettings};
use scion_domain::id::ConnectorName;
use scion_domain::json::Json;
use scion_domain::mcp::{McpRefusal, ServerChange};
use scion_ports::{McpConnector, async_trait};
use scion_sync::health::{HealthState, SinkReadiness};
use scion_sync::supervisor::{Registry, Supervisor, SupervisorParts};

use crate::desk;
use crate::support::{Bench, config, connector, stream};

struct Fixed(Mutex<Result<RunnerConfig, String>>);

#[async_trait]
impl Registry for Fixed {
    async fn load(&self) -> Result<RunnerConfig, String> {
        self.0.lock().unwrap().clone()
    }
}

fn settings() -> RunnerSettings {
    RunnerSettings {
        max_concurrency: 4,
        backoff_initial: Duration::from_secs(5),
        backoff_max: Duration::from_mins(10),
        registry_refresh: Duration::from_mins(1),
    }
}

fn runner_config(bench: &Bench) -> RunnerConfig {
    RunnerConfig { settings: settings(), connectors: vec![bench.config.clone()] }
}

struct Watch {
    registry: Arc<Fixed>,
    health: Arc<HealthState>,
    task: tokio::task::JoinHandle<()>,
}

fn start(bench: &Bench) -> Watch {
    let registry = Arc::new(Fixed(Mutex::new(Ok(runner_config(bench)))));
    let health = Arc::new(HealthState::new(bench.clock.clone(), Duration::from_mins(3)));
    let server = bench.server.clone();
    let supervisor = Supervisor::new(SupervisorParts {
        registry: registry.clone(),
        connectors: Arc::new(move |_| -> Arc<dyn McpConnector> { server.clone() }),
        credentials: None,
        ports: bench.ports(),
        options: bench.options.clone(),
        health: health.clone(),
    });
    let cancel = bench.cancel.clone();
    let task = tokio::spawn(async move { supervisor.run(&cancel).await });
    Watch { registry, health, task }
}

fn bench() -> Bench {
    let mut bench = Bench::new(desk::server(&desk::tickets(25), 10));
    bench.config = config(&["tickets"]);
    bench
}

async fn wait(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R032
#[tokio::test(start_paused = true)]
async fn cycles_follow_the_interval_and_the_end_is_orderly() {
    let bench = bench();
    let watch = start(&bench);
    wait(1).await;
    assert_eq!(bench.events.named("stream_synced").len(), 1);
    assert_eq!(watch.health.ready(&SinkReadiness::Ready).status, 200);
    wait(899).await;
    wait(1).await;
    assert_eq!(bench.events.named("stream_synced").len(), 2);
    assert_eq!(bench.server.connects(), 1, "the session is kept between cycles");
    bench.cancel.cancel();
    watch.task.await.unwrap();
    assert_eq!(bench.events.named("connector_stopped").len(), 1);
    assert_eq!(bench.server.open_sessions(), 0);
}

#[tokio::test(start_paused = true)]
async fn failures_back_off_and_a_success_resets() {
    let bench = bench();
    bench.server.refuse_connect(Some(McpRefusal::Unreachable { endpoint: "desk".into() }));
    let watch = start(&bench);
    wait(1).await;
    let mut connects = vec![bench.server.connects()];
    for seconds in [5, 10, 20, 40] {
        wait(seconds).await;
        connects.push(bench.server.connects());
    }
    assert_eq!(connects, [1, 2, 3, 4, 5]);
    let events = bench.events.named("connector_failed");
    let delays: Vec<_> = events.iter().map(|event| event.fields["retry_in"].as_number().unwrap().as_f64()).collect();
    assert_eq!(delays, [5.0, 10.0, 20.0, 40.0, 80.0]);
    let ready = watch.health.ready(&SinkReadiness::Ready).body;
    let health = ready.get("connectors").unwrap().get("acme-desk-mcp").unwrap();
    assert_eq!(health.get("consecutive_failures"), Some(&Json::from(5u64)));
    bench.server.refuse_connect(None);
    wait(81).await;
    assert_eq!(bench.events.named("stream_synced").len(), 1);
    bench.cancel.cancel();
    watch.task.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn changes_cause_a_cycle_of_what_they_are_about() {
    let mut bench = bench();
    bench.config.data_resources = [("desk://tickets".to_owned(), vec![stream("tickets")])].into();
    let watch = start(&bench);
    wait(1).await;
    bench.server.announce(&ServerChange::Resource("desk://tickets".into()));
    wait(2).await;
    assert_eq!(bench.events.named("stream_synced").len(), 2);
    bench.server.announce(&ServerChange::Resource("desk://other".into()));
    wait(2).await;
    assert_eq!(bench.events.named("stream_synced").len(), 2, "a resource nobody asked about changes nothing");
    bench.server.declare(&desk::declaration(&[&desk::tickets_source(9)], &["Ticket"]));
    bench.server.announce(&ServerChange::Tools);
    wait(2).await;
    assert_eq!(bench.sink.pack_revision(&connector()), Some(2), "a list change provisions again");
    bench.cancel.cancel();
    watch.task.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_session_that_ends_is_opened_again() {
    let bench = bench();
    let watch = start(&bench);
    wait(1).await;
    bench.server.drop_session();
    wait(901).await;
    assert_eq!(bench.server.connects(), 1);
    assert_eq!(bench.events.named("connector_failed").len(), 1);
    wait(6).await;
    assert_eq!(bench.server.connects(), 2);
    assert_eq!(bench.events.named("stream_synced").len(), 2);
    bench.cancel.cancel();
    watch.task.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_registry_is_read_again_and_a_removed_connector_is_forgotten() {
    let bench = bench();
    let watch = start(&bench);
    wait(1).await;
    *watch.registry.0.lock().unwrap() = Err("configuration unreadable".into());
    wait(60).await;
    assert_eq!(bench.events.named("registry_unreadable").len(), 1);
    assert!(bench.events.named("connector_stopped").is_empty(), "the last good list stays in force");
    *watch.registry.0.lock().unwrap() = Ok(RunnerConfig { settings: settings(), connectors: Vec::new() });
    wait(60).await;
    assert_eq!(bench.events.named("connector_stopped").len(), 1);
    let ready = watch.health.ready(&SinkReadiness::Ready);
    assert_eq!((ready.status, ready.body.get("connectors")), (200, Some(&Json::from([("x", Json::Null); 0]))));
    assert_eq!(watch.health.live().status, 200);
    bench.cancel.cancel();
    watch.task.await.unwrap();
}

/// A held stream waits for a person; its connector keeps the schedule instead of backing off.
#[tokio::test(start_paused = true)]
async fn a_held_stream_does_not_make_its_connector_fail() {
    let bench = bench();
    let watch = start(&bench);
    wait(1).await;
    bench.server.describe("desk_list_tickets", |tool| {
        tool.input_schema = crate::support::json(r#"{"type":"object","properties":{"page":{"type":"integer"}}}"#);
    });
    wait(2 * 900).await;
    assert_eq!(bench.events.named("stream_held").len(), 2);
    assert!(bench.events.named("connector_failed").is_empty());
    assert_eq!(bench.events.named("change_subscription").len(), 1, "asked once per session");
    bench.cancel.cancel();
    watch.task.await.unwrap();
}

/// A connector whose configuration changes drains before its successor starts: one writer per stream.
#[tokio::test(start_paused = true)]
async fn a_changed_connector_is_restarted_after_it_has_drained() {
    let bench = bench();
    let inner = desk::pages(&desk::tickets(25), 1, 10);
    let slow = Arc::new(Mutex::new(true));
    let hang = slow.clone();
    bench.server.set_tool(crate::support::tool("desk_list_tickets", &["page"]), move |arguments| {
        if *hang.lock().unwrap() { crate::support::Answer::Hang } else { inner(arguments) }
    });
    let watch = start(&bench);
    wait(1).await;
    let mut changed = bench.config.clone();
    changed.max_pages_per_cycle = 7;
    *watch.registry.0.lock().unwrap() = Ok(RunnerConfig { settings: settings(), connectors: vec![changed] });
    *slow.lock().unwrap() = false;
    wait(300).await;
    let names: Vec<&str> = bench
        .events
        .all()
        .iter()
        .map(|event| event.name)
        .filter(|name| matches!(*name, "connector_started" | "connector_stopped"))
        .collect();
    assert_eq!(names, ["connector_started", "connector_stopped", "connector_started"]);
    assert_eq!(bench.sink.stored(&connector(), &stream("tickets")).live.len(), 25);
    bench.cancel.cancel();
    watch.task.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn one_cycle_of_many_connectors_stays_inside_the_limit() {
    let bench = bench();
    let mut config = runner_config(&bench);
    config.settings.max_concurrency = 2;
    for name in ["b", "c", "d"] {
        let mut other = bench.config.clone();
        other.connector = ConnectorName::parse(name).unwrap();
        config.connectors.push(other);
    }
    let server = bench.server.clone();
    let supervisor = Supervisor::new(SupervisorParts {
        registry: Arc::new(Fixed(Mutex::new(Ok(config.clone())))),
        connectors: Arc::new(move |_| -> Arc<dyn McpConnector> { server.clone() }),
        credentials: None,
        ports: bench.ports(),
        options: bench.options.clone(),
        health: Arc::new(HealthState::new(bench.clock.clone(), Duration::from_mins(3))),
    });
    let reports = supervisor.run_once(&config, &bench.cancel).await;
    assert_eq!(reports.iter().map(|report| report.success).collect::<Vec<_>>(), [true, false, false, false]);
    let failed = bench.events.named("connector_failed");
    assert_eq!(failed.len(), 3);
    assert!(failed.iter().all(|event| !event.fields.contains_key("retry_in")), "nobody tries again");
    assert_eq!(bench.server.open_sessions(), 0);
}
