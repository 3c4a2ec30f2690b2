//! `ingest-worker` and `scion work` as processes.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use scion::local::SystemClock;
use scion::ports::Clock as _;
use scion::sink::Access;
use scion_domain::json::parse;
use scion_domain::work::NewWork;
use scion_engine::{DecodeLimits, Value, decode, encode};
use scion_ports::TaskQueue;
use serde_json::{Value as Json, json};

use crate::support::*;

#[path = "../../../../adapters/engine/tests/support/mod.rs"]
mod engine;

/// A lane for `capacity` workers whose leases end soon after a kill.
fn lane(place: &Place, capacity: &str) {
    let run = place.scion(&[
        "work",
        "lane",
        "--capacity",
        capacity,
        "--lease-ms",
        "1500",
        "--renew-ms",
        "300",
        "--hold-ms",
        "1500",
        "--idle-ms",
        "50",
        "--full-ms",
        "50",
    ]);
    assert_eq!(run.code, 0, "{run:?}");
}

fn submit(place: &Place, args: &[&str]) -> String {
    let run = place.scion(&[&["work", "submit"], args].concat());
    assert_eq!(run.code, 0, "{run:?}");
    run.out.trim().to_owned()
}

fn jobs(place: &Place) -> Vec<Json> {
    let run = place.scion(&["work", "list"]);
    assert_eq!(run.code, 0, "{run:?}");
    run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn statuses(place: &Place) -> Vec<String> {
    jobs(place).iter().map(|job| job["status"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn submitted_syncs_are_done_and_can_be_seen() {
    let place = Place::with_desk(25);
    // One at a time: two jobs of one stream at once would make one of them come back later.
    lane(&place, "1");
    let first = submit(&place, &["desk", "--stream", "tickets", "--key", "monday"]);
    assert_eq!(
        submit(&place, &["desk", "--stream", "tickets", "--key", "monday"]),
        first,
        "the same key, the same job"
    );
    submit(&place, &["desk", "--key", "all"]);
    submit(&place, &["nobody", "--key", "x"]);
    submit(&place, &["desk", "--stream", "none", "--key", "y"]);
    let last = submit(&place, &["desk", "--key", "withdrawn"]);
    assert_eq!(place.scion(&["work", "cancel", &last]).code, 0);
    let run = place.work(&["--once"], &[]).end();
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(run.event("admitted")["workers"], 1);
    let told: Vec<_> = jobs(&place).iter().map(|job| (job["status"].clone(), job["code"].clone())).collect();
    let expected = [
        ("succeeded", Json::Null),
        ("succeeded", Json::Null),
        ("failed", json!("connector_unknown")),
        ("failed", json!("stream_unknown")),
        ("cancelled", Json::Null),
    ];
    assert_eq!(told, expected.map(|(status, code)| (json!(status), code)));
    assert_eq!((place.ids("tickets").len(), place.ids("people").len()), (25, 2));
}

/// Proves: SDK-SOURCE-INGEST-R011
#[test]
fn nothing_is_claimed_without_a_lane() {
    let place = Place::with_desk(3);
    submit(&place, &["desk", "--key", "1"]);
    let run = place.work(&["--once"], &[]).end();
    assert_eq!(run.code, 2, "{run:?}");
    let told = run.event("start_failed");
    assert_eq!(
        (&told["code"], told["next"].as_str().unwrap().contains("scion work lane")),
        (&json!("work_lane_missing"), true)
    );
    assert_eq!(statuses(&place), ["waiting"]);
}

/// Proves: SDK-SOURCE-INGEST-R011
#[test]
fn an_engine_that_is_away_ends_it_before_anything_is_claimed() {
    let place = Place::with_desk(3);
    let endpoint = format!("unix://{}", place.path("nowhere.sock").display());
    let signed = [
        ("EPISTEMIC_GRAPH_AUTH_SECRET_REF", "env://QUEUE_SECRET"),
        ("QUEUE_SECRET", "0123456789abcdef0123456789abcdef"),
    ];
    let run = place.work(&["--engine-endpoint", &endpoint], &signed).end();
    assert_eq!(run.code, 2, "{run:?}");
    assert_eq!(run.event("start_failed")["code"], "work_unreachable");
    assert!(!place.path("state").join(scion_conformance::STORE_FILE).exists(), "no graph is made either");
    let mut text = place.command(INGEST_WORKER);
    text.args(["--config", "config.yaml", "--log-format", "text", "--engine-endpoint", &endpoint]).envs(signed);
    let run = Run::of(text.output().unwrap());
    assert_eq!(run.err, "error[work_unreachable]: the engine does not answer\n  next: try again later\n");
}

/// A peer that answers `Health` with these methods and keeps what it was asked.
fn peer(socket: &std::path::Path, ops: &[&str]) -> Arc<Mutex<Vec<String>>> {
    let listener = UnixListener::bind(socket).unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (seen, ops) = (asked.clone(), ops.iter().map(|op| (*op).to_owned()).collect::<Vec<_>>());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            loop {
                let mut head = [0; 4];
                if stream.read_exact(&mut head).is_err() {
                    break;
                }
                let mut payload = vec![0; u32::from_be_bytes(head) as usize];
                stream.read_exact(&mut payload).unwrap();
                let request = decode(&payload, DecodeLimits::default()).unwrap();
                seen.lock().unwrap().push(request.get("method").and_then(Value::as_text).unwrap().to_owned());
                let ops = Value::List(ops.iter().map(|op| op.as_str().into()).collect());
                let result = Value::map([("ops", ops), ("version", "2.27.7".into())]);
                let id = request.get("id").cloned().unwrap();
                let reply = encode(&Value::map([("id", id), ("result", result)]));
                stream.write_all(&u32::try_from(reply.len()).unwrap().to_be_bytes()).unwrap();
                stream.write_all(&reply).unwrap();
            }
        }
    });
    asked
}

/// Proves: SDK-SOURCE-INGEST-R011
#[test]
fn an_engine_that_lacks_a_method_ends_it_before_anything_is_claimed() {
    let place = Place::with_desk(3);
    let socket = place.path("eg.sock");
    let asked = peer(&socket, &["Health", "SubmitWorkItem", "RenewWorkItemLease"]);
    let endpoint = format!("unix://{}", socket.display());
    let signed = [
        ("EPISTEMIC_GRAPH_AUTH_SECRET_REF", "env://QUEUE_SECRET"),
        ("QUEUE_SECRET", "0123456789abcdef0123456789abcdef"),
    ];
    let run = place.work(&["--engine-endpoint", &endpoint], &signed).end();
    assert_eq!(run.code, 2, "{run:?}");
    let told = run.event("start_failed");
    assert_eq!(told["code"], "method_not_served");
    assert!(told["message"].as_str().unwrap().contains("ClaimWorkItem"), "{told}");
    assert_eq!(*asked.lock().unwrap(), ["Health"]);
}

/// Proves: SDK-SOURCE-INGEST-R011
#[test]
fn a_signal_drains_and_the_job_is_given_back() {
    let place = Place::new();
    let mut scenario = desk(60);
    scenario["tools"]["list_tickets"]["delay_ms"] = 150.into();
    place.write_scenario("desk", &scenario);
    place.write_config(&[("desk", "")]);
    lane(&place, "1");
    submit(&place, &["desk", "--stream", "tickets", "--key", "1"]);
    let running = place.work(&[], &[]);
    wait_until("the second page is asked for", || place.pages("desk", "list_tickets").contains(&2));
    running.signal("TERM");
    let run = running.end();
    assert_eq!(run.code, 0, "{run:?}");
    run.event("draining");
    run.event("job_given_back");
    assert_eq!(run.event("stopped")["unfinished"], 1);
    let job = jobs(&place).remove(0);
    assert_eq!((&job["status"], &job["attempts"]), (&json!("waiting"), &json!(0)));
    let before = place.ids("tickets").len();
    assert!((10..60).contains(&before), "{before} of 60");
    assert_eq!(place.work(&["--once"], &[]).end().code, 0);
    assert_eq!((statuses(&place), place.ids("tickets").len()), (vec!["succeeded".to_owned()], 60));
}

/// So many connectors with so many streams of one record each.
fn fleet(place: &Place, connectors: usize, streams: usize) {
    let mut names = Vec::new();
    for connector in 0..connectors {
        let name = format!("desk{connector:02}");
        let streams: Vec<String> = (0..streams).map(|stream| format!("s{stream:02}")).collect();
        let tools: serde_json::Map<String, Json> = streams
            .iter()
            .map(|stream| {
                (format!("list_{stream}"), json!({ "records": [{ "id": format!("{name}-{stream}"), "name": "x" }] }))
            })
            .collect();
        let sources: Vec<Json> =
            streams.iter().map(|stream| source(stream, "Person", &format!("list_{stream}"), false)).collect();
        place.write_scenario(
            &name,
            &json!({ "connector": name, "tools": tools, "declaration": {
                "connector": name, "descriptors": [], "sources": sources,
                "schema_mappings": { "Person": { "ontology_class": "Person", "fields": { "name": "name" } } },
            }}),
        );
        names.push(name);
    }
    place.write_config(&names.iter().map(|name| (name.as_str(), "")).collect::<Vec<_>>());
}

fn succeeded(place: &Place, variables: &[(&str, &str)]) -> usize {
    let mut list = place.command(SCION);
    let run = Run::of(list.args(["work", "list"]).envs(variables.iter().copied()).output().unwrap());
    assert_eq!(run.code, 0, "{run:?}");
    run.out.lines().filter(|line| line.contains(r#""succeeded""#)).count()
}

/// Submits a job for each stream, lets two processes work, kills one of them, and counts effects.
fn share_and_kill(place: &Place, queue: &dyn TaskQueue, sizes: (usize, usize), variables: &[(&str, &str)]) {
    let (connectors, streams) = sizes;
    let (jobs, kill_at) = (connectors * streams, connectors * streams / 4);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        for job in 0..jobs {
            let (connector, stream) = (format!("desk{:02}", job / streams), format!("s{:02}", job % streams));
            let payload = parse(&json!({ "connector": connector, "streams": [stream] }).to_string()).unwrap();
            let (kind, key) = ("source.sync".to_owned(), format!("job-{job}"));
            let work = NewWork { kind, key, payload, priority: 0, max_attempts: 10 };
            queue.submit(&work, SystemClock::new().unix_millis()).await.unwrap();
        }
    });
    let first = place.work_unheard(&["--once", "--workers", "2"], variables);
    let second = place.work_unheard(&["--once", "--workers", "2"], variables);
    let since = Instant::now();
    while succeeded(place, variables) < kill_at {
        assert!(since.elapsed() < Duration::from_mins(2), "{} of {kill_at}", succeeded(place, variables));
        std::thread::sleep(Duration::from_millis(20));
    }
    first.kill();
    let at_the_kill = succeeded(place, variables);
    assert_eq!(second.end_within(Duration::from_mins(3)).code, 0);
    // What the killed process had comes back when its leases end.
    let since = Instant::now();
    while succeeded(place, variables) < jobs {
        assert!(since.elapsed() < Duration::from_mins(1), "{} succeeded", succeeded(place, variables));
        assert_eq!(place.work_unheard(&["--once"], variables).end().code, 0);
    }
    assert!((kill_at..jobs).contains(&at_the_kill), "{at_the_kill} were done at the kill");
    let store = rusqlite::Connection::open(place.path("state").join(scion_conformance::STORE_FILE)).unwrap();
    let count = |sql: &str| store.query_row(sql, [], |row| row.get::<_, usize>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM record"), jobs);
    assert_eq!(count("SELECT count(*) FROM stream"), jobs);
    // A record that was accepted again would have been accepted by a later batch.
    let again = count("SELECT count(*) FROM (SELECT stream FROM receipt GROUP BY stream HAVING count(*) > 1)");
    assert_eq!(again, 0, "streams with an effect that happened twice");
}

/// Proves: SDK-SOURCE-INGEST-R010, SDK-SOURCE-INGEST-R011
#[test]
fn two_processes_share_500_jobs_and_each_effect_happens_once_though_one_is_killed() {
    let place = Place::new();
    fleet(&place, 20, 25);
    lane(&place, "8");
    let state = place.path("state");
    let open = scion::work::open_embedded(&state, Access::Write);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let queue = runtime.block_on(open).unwrap();
    share_and_kill(&place, &*queue, (20, 25), &[]);
}

/// The same with the queue in a real engine.
///
/// Proves: SDK-SOURCE-INGEST-R010, SDK-SOURCE-INGEST-R011
#[test]
fn two_processes_share_a_queue_in_the_engine_and_each_effect_happens_once_though_one_is_killed() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let Some(engine) = runtime.block_on(engine::Engine::start(engine::Mode::Signed)) else { return };
    let place = Place::new();
    fleet(&place, 4, 15);
    let endpoint = format!("unix://{}", engine.socket().display());
    let variables = [
        ("EPISTEMIC_GRAPH_ENDPOINT", endpoint.as_str()),
        ("EPISTEMIC_GRAPH_AUTH_SECRET_REF", "env://QUEUE_SECRET"),
        ("QUEUE_SECRET", engine::SECRET),
        ("EPISTEMIC_GRAPH_PRINCIPAL", "service:root"),
        ("EPISTEMIC_GRAPH_TENANT", "tenant:acme"),
    ];
    let mut lane = place.command(SCION);
    lane.args(["work", "lane", "--capacity", "6", "--lease-ms", "1500", "--renew-ms", "300", "--hold-ms", "1500"]);
    let run = Run::of(lane.args(["--idle-ms", "50", "--full-ms", "50"]).envs(variables).output().unwrap());
    assert_eq!(run.code, 0, "{run:?}");
    // Its connections are of another runtime than the one that submits.
    let queue = scion_engine::EngineWork::new(engine.client(), scion_engine::COMMONS);
    share_and_kill(&place, &queue, (4, 15), &variables);
}
