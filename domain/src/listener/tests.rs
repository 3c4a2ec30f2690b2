//! Every case of `network.json` and of the listener sections of `egress.json`.

use std::net::IpAddr;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::http::{HeaderMap, HeaderName, HeaderValue};
use crate::json::{Json, JsonNumber};
use crate::refusal::Refusal;
use crate::test_vectors::{load, section, text};

fn list(case: &Json, name: &str) -> Vec<String> {
    let items = case.get(name).and_then(Json::as_array).unwrap_or_else(|| panic!("no list {name}"));
    items.iter().map(|item| item.as_str().unwrap().to_owned()).collect()
}

fn shown<T: std::fmt::Display>(items: &[T]) -> Vec<String> {
    items.iter().map(ToString::to_string).collect()
}

#[test]
fn every_loopback_host() {
    for (file, name) in [("network.json", "loopback"), ("egress.json", "loopback_hosts")] {
        let file = load(file);
        for case in section(&file, name) {
            let host = case.get("input").or_else(|| case.get("host")).and_then(Json::as_str);
            assert_eq!(Some(is_loopback_host(host)), case.get("loopback").unwrap().as_bool(), "{host:?}");
        }
    }
}

#[test]
fn every_authority() {
    for (file, name) in [("network.json", "authorities"), ("egress.json", "host_authorities")] {
        let file = load(file);
        for case in section(&file, name) {
            let read = Authority::parse(text(case, "input")).map(|authority| authority.to_string());
            assert_eq!(read.as_deref(), case.get("ok").and_then(Json::as_str), "{case:?}");
        }
    }
}

#[test]
fn every_origin() {
    for file in ["network.json", "egress.json"] {
        let file = load(file);
        for case in section(&file, "origins") {
            let read = Origin::parse(text(case, "input")).map(|origin| origin.to_string());
            assert_eq!(read.as_deref(), case.get("ok").and_then(Json::as_str), "{case:?}");
        }
    }
}

#[test]
fn every_list_of_networks() {
    for (file, name) in [("network.json", "cidrs"), ("egress.json", "proxy_cidrs")] {
        let file = load(file);
        for case in section(&file, name) {
            let mut input = list(case, "input");
            if input == ["<65 distinct networks>"] {
                input = (0..65).map(|i| format!("10.{i}.0.0/16")).collect();
            }
            let expected = case.get("ok").map(|_| list(case, "ok"));
            assert_eq!(cidr_list(&input).ok().map(|networks| shown(&networks)), expected, "{case:?}");
        }
    }
}

fn boundary(hosts: &[&str], origins: &[&str], proxies: &[&str]) -> ListenerBoundary {
    let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let settings = ListenerSettings {
        allowed_hosts: own(hosts),
        allowed_origins: own(origins),
        tls_terminated: !proxies.is_empty(),
        trusted_proxy_cidrs: own(proxies),
        max_request_bytes: 1024,
        request_body_timeout_seconds: 1.0,
        ..ListenerSettings::default()
    };
    settings.validate(|_| false).unwrap()
}

fn headers(request: &Json) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for pair in request.get("headers").and_then(Json::as_array).unwrap_or_default() {
        let [name, value] = pair.as_array().unwrap() else { panic!("{pair:?}") };
        let name = HeaderName::from_bytes(name.as_str().unwrap().as_bytes()).unwrap();
        headers.append(name, HeaderValue::from_bytes(value.as_str().unwrap().as_bytes()).unwrap());
    }
    headers
}

/// Runs the component a case is about.
fn run(case: &Json) -> Result<(), ListenerRefusal> {
    let request = case.get("request").unwrap();
    let headers = headers(request);
    let peer = || {
        let client = request.get("client").and_then(Json::as_array);
        client.map(|client| client[0].as_str().unwrap().parse::<IpAddr>().unwrap())
    };
    match text(case, "boundary") {
        // Start and stop of a program are no requests here.
        _ if request.get("kind").and_then(Json::as_str) == Some("lifespan") => Ok(()),
        "host" => {
            let facts = RequestFacts { peer: None, authority: None, headers: &headers };
            boundary(&["desk.example", "127.0.0.1:8000"], &[], &[]).check_host(facts)
        }
        "origin" => boundary(&[], &["https://ui.example"], &[]).check_origin(&headers),
        "origin-empty-list" => boundary(&[], &[], &[]).check_origin(&headers),
        "peer" => boundary(&[], &[], &["10.0.0.0/8", "::1"]).check_peer(peer()),
        "body" => {
            let declared = declared_length(&headers)?;
            let mut budget = BodyBudget::new(1024, Duration::from_secs(1), declared)?;
            for piece in request.get("body").and_then(Json::as_array).unwrap_or_default() {
                match piece.as_str() {
                    Some("<1000 bytes>") => budget.take(1000)?,
                    Some("<25 bytes>") => budget.take(25)?,
                    Some(piece) => budget.take(piece.len())?,
                    // The caller has gone; the handler learns it from the connection.
                    None => return Ok(()),
                }
            }
            let stalls = request.get("stall").and_then(Json::as_bool) == Some(true);
            budget.time_left(Duration::from_secs(u64::from(stalls))).map(drop)
        }
        other => panic!("unknown boundary {other}"),
    }
}

#[test]
fn every_request() {
    let file = load("network.json");
    let mut better = 0;
    for case in section(&file, "requests") {
        let id = text(case, "id");
        let answer = run(case);
        match id {
            // An IPv4 peer of a dual-stack socket is that IPv4 peer.
            "peer-mapped" => assert_eq!(answer, Ok(()), "{id}"),
            // RFC 9110 section 8.6: digits only.
            "body-length-plus" | "body-length-underscore" => {
                assert_eq!(answer, Err(ListenerRefusal::ContentLength), "{id}");
            }
            _ => {
                check_request(case, id, answer);
                continue;
            }
        }
        better += 1;
    }
    assert_eq!(better, 3);
}

fn check_request(case: &Json, id: &str, answer: Result<(), ListenerRefusal>) {
    if case.get("reached_app").and_then(Json::as_bool) == Some(true) {
        assert_eq!(answer, Ok(()), "{id}");
        return;
    }
    let wire = answer.expect_err(id).answer();
    if let Some(close) = case.get("websocket_close").and_then(Json::as_number) {
        assert_eq!(close.as_u64(), Some(wire.websocket_close.into()), "{id}");
        assert_eq!(wire.reason, text(case, "reason"), "{id}");
        return;
    }
    let status = case.get("status").and_then(Json::as_number).and_then(JsonNumber::as_u64);
    assert_eq!(status, Some(wire.status.as_u16().into()), "{id}");
    assert_eq!(wire.body, text(case, "body"), "{id}");
    assert_eq!(wire.body.len().to_string(), text(case.get("headers").unwrap(), "content-length"), "{id}");
}

/// The settings of a case: the base with its overrides.
fn settings(file: &Json, case: &Json) -> ListenerSettings {
    let mut merged = serde_json::Map::new();
    for part in [file.get("base").unwrap(), case.get("overrides").unwrap()] {
        let serde_json::Value::Object(members) = serde_json::Value::from(part) else { panic!("{part:?}") };
        merged.extend(members);
    }
    let nan = merged.get("request_body_timeout_seconds").is_some_and(|value| value == "NaN");
    if nan {
        merged.remove("request_body_timeout_seconds");
    }
    let mut settings: ListenerSettings = serde_json::from_value(merged.into()).unwrap();
    if nan {
        settings.request_body_timeout_seconds = f64::NAN;
    }
    settings
}

fn written(boundary: &ListenerBoundary) -> serde_json::Value {
    serde_json::json!({
        "transport": boundary.transport.name(),
        "host": boundary.bind,
        "port": boundary.port,
        "auth_type": boundary.auth.name(),
        "allowed_hosts": shown(boundary.hosts()),
        "allowed_origins": shown(boundary.origins()),
        "tls_certfile": null,
        "tls_keyfile": null,
        "tls_terminated": boundary.tls == ListenerTls::Terminated,
        "trusted_proxy_cidrs": shown(boundary.proxies()),
        "max_request_bytes": boundary.max_request_bytes,
        "request_body_timeout_seconds": boundary.body_timeout.as_secs_f64(),
        "limit_concurrency": boundary.max_connections,
        "backlog": boundary.backlog,
        "timeout_keep_alive": boundary.keep_alive.as_secs(),
        "timeout_graceful_shutdown": boundary.graceful_shutdown.as_secs(),
    })
}

#[test]
fn every_configuration() {
    let file = load("network.json");
    for case in section(&file, "configs") {
        let id = text(case, "id");
        let checked = settings(&file, case).validate(|_| false);
        let Some(expected) = case.get("ok") else {
            assert!(checked.is_err(), "{id}");
            continue;
        };
        let mut expected = serde_json::Value::from(expected);
        let sorted = |hosts: &mut serde_json::Value| {
            let mut list: Vec<String> = serde_json::from_value(hosts.clone()).unwrap();
            // It is reached under the address it is bound to, too.
            list.extend((id == "loopback-range").then(|| "127.9.9.9:8000".to_owned()));
            list.sort();
            *hosts = list.into();
        };
        sorted(&mut expected["allowed_hosts"]);
        let mut have = written(&checked.unwrap_or_else(|error| panic!("{id}: {error}")));
        let mut hosts: Vec<String> = serde_json::from_value(have["allowed_hosts"].take()).unwrap();
        hosts.sort();
        have["allowed_hosts"] = hosts.into();
        assert_eq!(have, expected, "{id}");
    }
}

#[test]
fn every_bound() {
    let file = load("network.json");
    let bounds = file.get("bounds").and_then(Json::as_object).unwrap();
    let number = |value: &Json| value.as_number().map(JsonNumber::as_f64).unwrap();
    let mut seen = 0;
    for (name, bound) in bounds {
        let (low, high) = match bound.as_array() {
            Some([low, high]) => (number(low), number(high)),
            _ => (0.0, number(bound)),
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounds are small whole numbers")]
        let (low, high) = (low as u64, high as u64);
        match name.as_str() {
            "hosts" => assert_eq!((low, high), (1, MAX_HOSTS as u64)),
            "origins" => assert_eq!((low, high), (0, MAX_ORIGINS as u64)),
            "cidrs" => assert_eq!((low, high), (1, MAX_CIDRS as u64)),
            "header_value_bytes" => assert_eq!(high, MAX_HEADER_VALUE_BYTES as u64),
            "origin_characters" => assert_eq!(high, MAX_ORIGIN_CHARACTERS as u64),
            name => {
                for (value, good) in [(low - 1, false), (low, true), (high, true), (high + 1, false)] {
                    let settings: ListenerSettings =
                        serde_json::from_value(serde_json::json!({ name: value })).unwrap();
                    assert_eq!(settings.validate(|_| false).is_ok(), good, "{name} {value}");
                }
            }
        }
        seen += 1;
    }
    assert_eq!(seen, 11);
}

#[test]
fn an_exposed_listener_says_what_it_lacks() {
    let exposed = ListenerSettings { host: "::".into(), ..ListenerSettings::default() };
    let needs = |settings: &ListenerSettings| settings.validate(|_| true).unwrap_err().to_string();
    assert!(needs(&exposed).ends_with("needs authentication"));
    let exposed = ListenerSettings { auth_type: "static".into(), ..exposed };
    assert!(needs(&exposed).contains("needs TLS"));
    let files = (Some("c.pem".to_owned()), Some("k.pem".to_owned()));
    let exposed = ListenerSettings { tls_certfile: files.0, tls_keyfile: files.1, ..exposed };
    assert!(needs(&exposed).ends_with("needs allowed_hosts"));
    let complete = ListenerSettings { allowed_hosts: vec!["desk.example".into()], ..exposed.clone() };
    assert_eq!(shown(complete.validate(|_| true).unwrap().hosts()), ["desk.example"]);
    assert_eq!(complete.validate(|path| path != "k.pem").unwrap_err().code(), "listener_tls_file");
    let twice = ListenerSettings { tls_terminated: true, ..complete };
    assert_eq!(twice.validate(|_| true).unwrap_err().code(), "listener_tls_twice");
    let unused = ListenerSettings { trusted_proxy_cidrs: vec!["10.0.0.0/8".into()], ..ListenerSettings::default() };
    assert_eq!(unused.validate(|_| true).unwrap_err().code(), "listener_cidrs_unused");
}

#[test]
fn a_chosen_port_enters_the_usual_hosts_when_it_is_bound() {
    let boundary = ListenerSettings { port: 0, ..ListenerSettings::default() }.validate(|_| false).unwrap();
    let bound = boundary.bound_to(49_152);
    assert_eq!(shown(bound.hosts()), ["127.0.0.1:49152", "[::1]:49152", "localhost:49152", "testserver"]);
    let default = bound.bound_to(80);
    assert!(shown(default.hosts()).contains(&"localhost".to_owned()));
    let listed = boundary_of_one().bound_to(9);
    assert_eq!(shown(listed.hosts()), ["desk.example"]);
}

fn boundary_of_one() -> ListenerBoundary {
    boundary(&["desk.example"], &[], &[])
}

#[test]
fn the_checks_come_in_order_and_the_target_must_agree_with_the_host() {
    let boundary = boundary(&["desk.example"], &[], &["10.0.0.0/8"]);
    let mut headers = HeaderMap::new();
    headers.insert("host", HeaderValue::from_static("evil.example"));
    headers.insert("origin", HeaderValue::from_static("https://evil.example"));
    headers.insert("content-length", HeaderValue::from_static("9999"));
    let admit = |headers: &HeaderMap, peer: &str, authority| {
        boundary.admit(RequestFacts { peer: peer.parse().ok(), authority, headers })
    };
    assert_eq!(admit(&headers, "192.168.0.1", None), Err(ListenerRefusal::Peer));
    assert_eq!(admit(&headers, "10.0.0.1", None), Err(ListenerRefusal::Host));
    assert_eq!(admit(&headers, "10.0.0.1", Some("desk.example")), Err(ListenerRefusal::Host));
    headers.insert("host", HeaderValue::from_static("desk.example"));
    assert_eq!(admit(&headers, "10.0.0.1", Some("desk.example")), Err(ListenerRefusal::Origin));
    headers.remove("origin");
    assert_eq!(admit(&headers, "10.0.0.1", None), Err(ListenerRefusal::TooLarge));
    headers.insert("content-length", HeaderValue::from_static("99999999999999999999999"));
    assert_eq!(admit(&headers, "10.0.0.1", None), Err(ListenerRefusal::TooLarge));
    headers.remove("content-length");
    headers.remove("host");
    assert!(admit(&headers, "10.0.0.1", Some("DESK.example.")).is_ok());
    assert_eq!(admit(&headers, "10.0.0.1", None), Err(ListenerRefusal::Host));
    let long = HeaderValue::from_str(&"a".repeat(MAX_HEADER_VALUE_BYTES + 1)).unwrap();
    headers.insert("host", long);
    assert_eq!(admit(&headers, "10.0.0.1", None), Err(ListenerRefusal::Host));
}

proptest! {
    #[test]
    fn any_text_gets_an_answer_and_what_is_read_reads_again(text in any::<String>(), plain in "[ -~]{0,40}") {
        for text in [text, plain] {
            if let Some(authority) = Authority::parse(&text) {
                prop_assert_eq!(Authority::parse(&authority.to_string()), Some(authority));
            }
            if let Some(origin) = Origin::parse(&text) {
                prop_assert_eq!(Origin::parse(&origin.to_string()), Some(origin));
            }
            if let Some(network) = Cidr::parse(&text) {
                prop_assert_eq!(Cidr::parse(&network.to_string()), Some(network));
            }
            let _ = is_loopback_host(Some(&text));
        }
    }

    #[test]
    fn a_network_holds_its_own_addresses(bits in any::<u32>(), other in any::<u32>(), length in 0u32..=32) {
        let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
        let at = |bits| IpAddr::V4(std::net::Ipv4Addr::from_bits(bits));
        let network = Cidr::parse(&format!("{}/{length}", at(bits & mask))).unwrap();
        prop_assert_eq!(network.contains(at(other)), other & mask == bits & mask);
    }
}
