//! The health listener, spoken to over a plain socket.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;

use crate::support::{Place, Running, wait_until};

/// A port that was free a moment ago.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

fn ask(port: u16, method: &str, path: &str) -> Option<Answer> {
    #[expect(clippy::disallowed_methods, reason = "a test speaks to the listener by hand")]
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    write!(stream, "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() })
}

fn started(place: &Place, port: u16) -> Running {
    let running = place.start(&["--config", "config.yaml", "--health-addr", &port.to_string()]);
    wait_until("it is ready", || ask(port, "GET", "/health/ready").is_some_and(|answer| answer.status == 200));
    running
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R032
#[test]
fn every_request_of_the_vectors() {
    let text = include_str!("../../../../conformance/vectors/runner.json");
    let vectors: Value = serde_json::from_str(text).unwrap();
    let cases = vectors["health_http"].as_array().unwrap();
    assert!(!cases.is_empty());
    let place = Place::with_desk(1);
    let port = free_port();
    let running = started(&place, port);
    for case in cases {
        let (method, path) = (case["method"].as_str().unwrap(), case["path"].as_str().unwrap());
        let answer = ask(port, method, path).unwrap();
        let expected = match (method, path) {
            // Deviations: a query string is ignored, HEAD is answered, other methods are 405 rather than 501.
            ("GET", "/health?x=1") | ("HEAD", "/health") => 200,
            ("POST", "/health") => 405,
            _ => case["status"].as_u64().unwrap(),
        };
        assert_eq!(u64::from(answer.status), expected, "{method} {path}");
        assert!(answer.head.contains(&format!("server: {}", case["server"].as_str().unwrap())), "{}", answer.head);
        assert!(answer.head.contains("cache-control: no-store"), "{}", answer.head);
        if expected == 200 {
            assert!(answer.head.contains("content-type: application/json"), "{}", answer.head);
        }
        if method == "HEAD" {
            assert!(answer.body.is_empty() && answer.head.contains("content-length: "), "{}", answer.head);
        } else if expected == 200 && path.starts_with("/health?") || path == "/health" && method == "GET" {
            assert!(answer.body.starts_with(r#"{"status": "ok", "heartbeat_age_seconds": "#), "{}", answer.body);
        } else if expected != 200 {
            assert!(answer.body.is_empty() && (expected == 404 || answer.head.contains("allow: get, head")));
        }
    }
    let ready = ask(port, "GET", "/health/ready").unwrap();
    assert!(
        ready.body.starts_with(r#"{"status": "ready", "reasons": [], "connectors": {"desk": {"last_success"#),
        "{}",
        ready.body
    );
    running.signal("TERM");
    assert_eq!(running.end().code, 0);
}

#[test]
fn a_connector_without_its_secret_is_not_ready_and_says_so() {
    let place = Place::with_desk(1);
    let text = std::fs::read_to_string(place.path("config.yaml")).unwrap();
    place.write("config.yaml", &format!("{text}      env: {{DESK_TOKEN: 'env://SCION_TEST_ABSENT'}}\n"));
    let port = free_port();
    let running = place.start(&["--config", "config.yaml", "--health-addr", &format!("127.0.0.1:{port}")]);
    let body = || ask(port, "GET", "/health/ready").map(|answer| (answer.status, answer.body)).unwrap_or_default();
    wait_until("it knows", || body().1.contains("credentials unresolved: desk"));
    assert_eq!(body().0, 503);
    assert_eq!(ask(port, "GET", "/health").unwrap().status, 200, "alive all the same");
    running.signal("TERM");
    assert_eq!(running.end().code, 0);
}

#[test]
fn every_bind_of_the_vectors() {
    let text = include_str!("../../../../conformance/vectors/runner.json");
    let vectors: Value = serde_json::from_str(text).unwrap();
    let cases = vectors["health_bind"].as_array().unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        let place = Place::with_desk(1);
        let address = format!("{}:0", case["host"].as_str().unwrap());
        let mut args = vec!["--config", "config.yaml", "--health-addr", &address];
        if case["allow"] == true {
            args.push("--health-allow-non-loopback");
        }
        if case["ok"] == "bound" {
            let running = place.start(&args);
            wait_until("it works", || !place.journal("desk").is_empty());
            running.signal("TERM");
            let run = running.end();
            assert_eq!(run.code, 0, "{run:?}");
            run.event("health_listening");
        } else {
            let run = place.sync(&args);
            assert_eq!((run.code, &run.event("start_failed")["code"]), (2, &"health_not_loopback".into()), "{run:?}");
        }
    }
}

#[test]
fn a_port_that_is_taken() {
    let place = Place::with_desk(1);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let run = place.sync(&["--config", "config.yaml", "--health-addr", &port]);
    assert_eq!((run.code, &run.event("start_failed")["code"]), (2, &"health_bind_failed".into()), "{run:?}");
}
