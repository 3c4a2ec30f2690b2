//! Health bodies, every vector.

use std::sync::Arc;
use std::time::Duration;

use scion_domain::id::ConnectorName;
use scion_domain::json::Json;
use scion_ports::Clock as _;
use scion_sync::health::{HealthState, SinkReadiness};

use crate::support::PausedClock;

fn seconds(value: &Json) -> Duration {
    Duration::from_secs_f64(value.as_number().unwrap().as_f64())
}

fn same(ours: &Json, peer: &Json) -> bool {
    match (ours, peer) {
        (Json::Number(a), Json::Number(b)) => (a.as_f64() - b.as_f64()).abs() < 1e-9,
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        _ => ours == peer,
    }
}

async fn step(health: &HealthState, clock: &PausedClock, step: &[Json]) {
    let name = || ConnectorName::parse(step[1].as_str().unwrap()).unwrap();
    match step[0].as_str().unwrap() {
        "sync_registry" => {
            let names = step[1].as_array().unwrap().iter();
            health.registry_read(names.map(|name| ConnectorName::parse(name.as_str().unwrap()).unwrap()));
        }
        "record_credentials" => {
            let error = step[2].get("error").and_then(Json::as_str).unwrap_or("").to_owned();
            let ok = step[2].get("ok") == Some(&Json::from(true));
            health.credentials(&name(), if ok { Ok(()) } else { Err(error) });
        }
        "record_cycle_success" => health.succeeded(&name()),
        "record_cycle_failure" => health.failed(&name(), seconds(step[2].get("next_retry_seconds").unwrap())),
        "heartbeat" => health.heartbeat(),
        "wait" => clock.sleep(seconds(&step[1])).await,
        other => panic!("unknown step {other}"),
    }
}

#[tokio::test(start_paused = true)]
async fn bodies_and_codes_are_those_of_the_vectors() {
    let text = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/vectors/runner.json")).unwrap();
    let file = scion_domain::json::parse_with(&text, scion_domain::json::JsonLimits::DEFAULT).unwrap();
    let cases = file.get("health").unwrap().as_array().unwrap();
    assert!(cases.len() >= 15);
    for case in cases {
        let name = case.get("id").unwrap().as_str().unwrap();
        let clock = Arc::new(PausedClock::default());
        let health = HealthState::new(clock.clone(), seconds(case.get("window").unwrap()));
        for steps in case.get("steps").unwrap().as_array().unwrap() {
            step(&health, &clock, steps.as_array().unwrap()).await;
        }
        let sink = case.get("sink").unwrap();
        let readiness = match (sink.get("hangs"), sink.get("ready")) {
            (Some(Json::Bool(true)), _) => SinkReadiness::TimedOut(Duration::from_millis(200)),
            (_, Some(Json::Bool(true))) => SinkReadiness::Ready,
            _ => SinkReadiness::NotReady(sink.get("reason").and_then(Json::as_str).map(str::to_owned)),
        };
        for (route, ours) in [("health", health.live()), ("ready", health.ready(&readiness))] {
            let peer = case.get(route).unwrap();
            assert_eq!(Json::from(u64::from(ours.status)), *peer.get("status").unwrap(), "{name} {route}");
            let mut wanted = peer.get("body").unwrap().clone();
            // A peer keeps connectors that left the registry; ours are forgotten (DEVIATIONS.md).
            if let (true, "ready", Json::Object(body)) = (name == "removed-connector-stays", route, &mut wanted) {
                body.insert("connectors".into(), Json::Object(scion_domain::json::JsonObject::new()));
            }
            assert!(same(&ours.body, &wanted), "{name} {route}: {:?} against {wanted:?}", ours.body);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_sink_that_hangs_is_named_within_its_bound() {
    use crate::support::MemorySink;
    let clock = Arc::new(PausedClock::default());
    let health = HealthState::new(clock, HealthState::window_for(Duration::from_mins(1)));
    assert_eq!(health.ask(&MemorySink::default(), Duration::from_secs(5)).await, SinkReadiness::Ready);
    assert_eq!(HealthState::window_for(Duration::from_mins(1)), Duration::from_mins(3));
    assert_eq!(HealthState::window_for(Duration::from_secs(1)), Duration::from_secs(30));
}
