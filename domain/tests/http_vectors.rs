//! Rate limits, retries, problems and client options against the golden vectors. Deviations are in
//! `conformance/vectors/DEVIATIONS.md`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::time::Duration;

use scion_domain::http::{
    AttemptEnd, AttemptFacts, CallRefusal, ClientOptions, ExchangeLimits, HeaderMap, HeaderName, HeaderValue,
    HttpRefusal, Method, Problem, RateSnapshot, ResponseRefusal, RetryRules, StatusCode, is_idempotent,
    is_retryable_status, problem_of_exchange, retry_after, throttle_wait,
};
use scion_domain::json::{Json, JsonNumber, to_compact};
use scion_domain::retry::{Attempt, Backoff, Decision, GiveUp, RetryPolicy};
use scion_domain::time::Timestamp;
use support::{Case, Vectors};

/// 2026-03-01T12:00:00Z, the time of the vectors.
const NOW_MS: i64 = 1_772_366_400_000;

fn float(value: &Json) -> f64 {
    value.as_number().unwrap().as_f64()
}

fn seconds(value: &Json) -> Option<Duration> {
    value.as_number().map(|number| Duration::from_secs_f64(number.as_f64()))
}

fn headers(value: &Json) -> HeaderMap {
    let pairs = value.as_object().unwrap().iter();
    pairs
        .map(|(name, value)| {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            (name, HeaderValue::from_str(value.as_str().unwrap()).unwrap())
        })
        .collect()
}

fn status(case: &Case<'_>) -> StatusCode {
    StatusCode::from_u16(u16::try_from(case.need("status").as_number().unwrap().as_u64().unwrap()).unwrap()).unwrap()
}

fn method(case: &Case<'_>) -> Method {
    Method::from_bytes(case.text("method").as_bytes()).unwrap()
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R005
#[test]
fn every_retry_after() {
    Vectors::open("ratelimit").each("retry_after", |case| {
        let now = Timestamp::parse(case.text("now")).unwrap().unix_seconds() * 1000;
        let ours = case.need("value").as_str().and_then(|value| retry_after(value, now));
        let theirs = seconds(case.need("seconds"));
        match case.need("value").as_str() {
            // The third date form of RFC 9110.
            Some("Sun Mar  1 12:00:30 2026") => assert_eq!(ours, Some(Duration::from_secs(30))),
            // A digit of another script is no digit of HTTP.
            Some("٣") => assert_eq!(ours, None),
            value => assert_eq!(ours, theirs, "{value:?}"),
        }
    });
    assert_eq!(retry_after(&"9".repeat(64), NOW_MS), Some(Duration::from_secs(u64::MAX)));
    assert_eq!(retry_after(&"9".repeat(65), NOW_MS), None);
    assert_eq!(retry_after("Fri, 31 Feb 2026 00:00:00 GMT", NOW_MS), None);
    assert_eq!(retry_after("Sunday, 06-Nov-94 08:49:37 GMT", NOW_MS), Some(Duration::ZERO));
    assert_eq!(retry_after("Sun, 01 Mar 2026 12:00:30 EST", NOW_MS), None);
}

fn members(case: &Case<'_>, ours: Option<&RateSnapshot>, names: &[&str]) {
    let theirs = case.need("snapshot");
    let ours = ours.map(RateSnapshot::to_json).unwrap_or_default();
    for name in names {
        let number = |json: &Json| json.get(name).and_then(Json::as_number).map(|number| number.as_f64().to_string());
        assert_eq!(number(&ours), number(theirs), "{} {name}", case.id);
    }
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R005
#[test]
fn every_set_of_rate_limit_headers_has_one_reading() {
    let vectors = Vectors::open("ratelimit");
    let second = Duration::from_secs(1);
    for (section, own) in [("rate_limit_headers", true), ("base_client_headers", false)] {
        vectors.each(section, |case| {
            let given = headers(case.need("headers"));
            let text = |name: &str| given.get(name).and_then(|value| value.to_str().ok());
            let ours = RateSnapshot::read(&given, NOW_MS);
            let wait = |default: u64, cap: u64| {
                throttle_wait(ours.as_ref(), NOW_MS, Duration::from_secs(default), Duration::from_secs(cap))
            };
            // Retry-After is a number of whole seconds or a date, wherever it is read.
            if matches!(text("retry-after"), Some("1.5" | "-4")) {
                assert_eq!((ours, wait(1, 15), wait(2, 5)), (None, second, 2 * second));
                return;
            }
            // The draft's spelling is read too.
            if text("ratelimit-limit").is_some() {
                assert_eq!(ours.and_then(|rate| rate.limit), Some(9));
                assert_eq!((wait(1, 15), wait(2, 5)), (second, 2 * second));
                return;
            }
            if own {
                members(case, ours.as_ref(), &["limit", "remaining", "reset", "retry_after_s"]);
                assert_eq!(ours.is_some(), !case.need("snapshot").is_null(), "{}", case.id);
                assert_eq!(ours.map(|rate| rate.exhausted()), case.need("exhausted").as_bool(), "{}", case.id);
                assert_eq!(Some(wait(1, 15)), seconds(case.need("backoff_cap_15")), "{}", case.id);
                assert_eq!(Some(wait(2, 5)), seconds(case.need("backoff_cap_5_default_2")), "{}", case.id);
                return;
            }
            if text("retry-after").is_none() {
                members(case, ours.as_ref(), &["limit", "remaining", "reset"]);
            }
            let expected = match text("x-ratelimit-reset") {
                // Clocks differ: a reset that has come is a second away, whoever asks, and above 10^8 it is a time.
                Some("0" | "100000001" | "1772366340.0") => Some(second),
                _ => seconds(case.need("backoff_cap_60")),
            };
            assert_eq!(Some(wait(1, 60)), expected, "{}", case.id);
        });
    }
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R005
#[test]
fn the_structured_fields_of_the_draft() {
    let read = |pairs: &[(&str, &str)]| {
        let map = pairs.iter().map(|(name, value)| {
            (HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap())
        });
        RateSnapshot::read(&map.collect(), NOW_MS).map(|rate| to_compact(&rate.to_json()))
    };
    for (pairs, expected) in [
        (vec![("ratelimit", "\"default\";r=50;t=30")], Some(r#"{"remaining":50,"reset":30}"#)),
        (vec![("ratelimit", "\"day\";r=100;t=3600, \"burst; r=0\";r=1;t=5")], Some(r#"{"remaining":1,"reset":5}"#)),
        (vec![("ratelimit", "limit=100, remaining=0, reset=7")], Some(r#"{"limit":100,"remaining":0,"reset":7}"#)),
        (
            vec![("ratelimit", "\"a\";r=9"), ("ratelimit-policy", "\"a\";q=10;w=60")],
            Some(r#"{"limit":10,"remaining":9,"reset":0,"window_s":60}"#),
        ),
        (vec![("ratelimit-policy", "100;w=60, 1000;w=3600")], Some(r#"{"limit":100,"window_s":60}"#)),
        (
            vec![("ratelimit-remaining", "0"), ("ratelimit-reset", "200000000")],
            Some(r#"{"remaining":0,"reset":200000000}"#),
        ),
        (vec![("ratelimit", "nonsense")], None),
        (vec![("ratelimit", "r=-1;t=x")], None),
        (vec![("x-ratelimit-remaining", "-1")], None),
    ] {
        assert_eq!(read(&pairs).as_deref(), expected, "{pairs:?}");
    }
}

fn decide(method: &Method, number: u32, end: AttemptEnd<'_>) -> Option<Decision> {
    let facts = AttemptFacts {
        method,
        declared_safe: false,
        number,
        remaining: Duration::from_hours(1),
        now_unix_ms: NOW_MS,
        end,
    };
    let rules = RetryRules::default();
    rules.attempt(&facts).map(|attempt| rules.policy.decide(&attempt, u64::MAX))
}

/// The wait with the largest random number, which is the ceiling of the full jitter.
fn waits(decision: Option<Decision>) -> Option<Duration> {
    match decision {
        Some(Decision::After(wait)) => {
            Some(Duration::from_millis(wait.as_nanos().div_ceil(1_000_000).try_into().unwrap()))
        }
        _ => None,
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R780.3, SDK-CENTRALIZED-CAPABILITIES-R001
#[test]
fn every_retry_decision() {
    let vectors = Vectors::open("ratelimit");
    let numbers = |name: &str| -> Vec<u16> {
        let all = vectors.value(name).as_array().unwrap().iter();
        all.map(|number| u16::try_from(number.as_number().unwrap().as_u64().unwrap()).unwrap()).collect()
    };
    let retryable: Vec<u16> =
        (100..=999).filter(|code| is_retryable_status(StatusCode::from_u16(*code).unwrap())).collect();
    assert_eq!(retryable, numbers("retryable_statuses"));
    let methods = ["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"];
    let idempotent = methods.iter().filter(|name| is_idempotent(&Method::from_bytes(name.as_bytes()).unwrap()));
    let idempotent: Vec<Json> = idempotent.map(|name| Json::from(*name)).collect();
    assert_eq!(vectors.value("idempotent_methods"), &Json::from(idempotent.clone()));

    let defaults = vectors.value("policy_defaults");
    let policy = RetryPolicy::DEFAULT;
    assert_eq!(float(defaults.get("max_attempts").unwrap()).to_string(), policy.max_attempts().to_string());
    assert_eq!(seconds(defaults.get("backoff_base").unwrap()), Some(policy.ceiling(1)));
    assert_eq!(seconds(defaults.get("max_backoff").unwrap()), Some(policy.ceiling(10)));
    assert_eq!(defaults.get("retry_methods"), Some(&Json::from(idempotent)));
    assert_eq!(defaults.get("retry_statuses"), Some(vectors.value("retryable_statuses")));
    vectors.each("backoff_without_jitter", |case| {
        let attempt = u32::try_from(case.need("attempt").as_number().unwrap().as_u64().unwrap()).unwrap();
        assert_eq!(Some(policy.ceiling(attempt)), seconds(case.need("seconds")));
    });

    vectors.each("response_decisions", |case| {
        let asked = case.get("retry_after").and_then(Json::as_str).and_then(|value| retry_after(value, NOW_MS));
        let rate = asked.map(|wait| RateSnapshot { retry_after: Some(wait), ..RateSnapshot::default() });
        let decision = decide(&method(case), 1, AttemptEnd::Answer { status: status(case), rate: rate.as_ref() });
        assert_eq!(waits(decision), seconds(case.need("delay")), "{}: {decision:?}", case.id);
        if asked == Some(Duration::from_secs(121)) {
            assert_eq!(decision, Some(Decision::GiveUp(GiveUp::RetryAfterTooLong)));
        }
    });

    let host = || "a.example".to_owned();
    vectors.each("error_decisions", |case| {
        let refusal = match case.text("error") {
            "ConnectError" => HttpRefusal::Connect { host: host() },
            "ConnectTimeout" | "PoolTimeout" => HttpRefusal::Timeout { host: host(), phase: "connect" },
            "ReadTimeout" | "WriteTimeout" => HttpRefusal::Timeout { host: host(), phase: "idle" },
            "ReadError" | "WriteError" | "RemoteProtocolError" | "ProxyError" => HttpRefusal::Broken { host: host() },
            "ConnectError:CERTIFICATE_VERIFY_FAILED" => HttpRefusal::Tls { host: host() },
            other => panic!("{other}"),
        };
        let decision = decide(&method(case), 1, AttemptEnd::Failed(&refusal));
        assert_eq!(waits(decision), seconds(case.need("retry_delay")), "{}: {decision:?}", case.id);
        assert_eq!(waits(decide(&method(case), 3, AttemptEnd::Failed(&refusal))), None);
    });

    let file = vectors.value("runner_backoff_5_600").as_array().unwrap();
    let mut backoff = Backoff::new(Duration::from_secs(5), Duration::from_mins(10)).unwrap();
    for (index, delay) in file.iter().enumerate() {
        if index + 1 == file.len() {
            backoff.reset();
        }
        assert_eq!(Some(backoff.failed()), seconds(delay));
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R780.3
#[test]
fn a_policy_with_an_impossible_number_is_refused() {
    let vectors = Vectors::open("ratelimit");
    vectors.each("policy_validation", |case| {
        let input = case.need("input");
        let span = |name: &str, default: f64| {
            Duration::try_from_secs_f64(input.get(name).map_or(default, float)).map_err(|_| "not a duration")
        };
        let attempts = input.get("max_attempts").and_then(Json::as_number).map_or(Some(3), JsonNumber::as_u64);
        let policy = span("backoff_base", 0.5).and_then(|base| {
            let attempts = u32::try_from(attempts.unwrap()).unwrap();
            let longest = span("max_backoff", 30.0)?;
            RetryPolicy::new(attempts, base, longest, Duration::from_mins(2)).map_err(|_| "refused")
        });
        if input.get("backoff_factor").is_some() {
            // Delays double; there is no factor to get wrong.
            assert!(policy.unwrap().ceiling(2) == 2 * RetryPolicy::DEFAULT.ceiling(1) && case.fails());
        } else if let Some(methods) = input.get("retry_methods").and_then(Json::as_array) {
            // There is no list of methods: a call is declared safe, or its method says so.
            let all = methods
                .iter()
                .all(|name| is_idempotent(&Method::from_bytes(name.as_str().unwrap().as_bytes()).unwrap()));
            assert_eq!(all, !case.fails());
        } else if input.get("max_backoff").is_some() {
            // A longest delay below the first is a mistake.
            assert!(policy.is_err());
        } else {
            assert_eq!(policy.is_err(), case.fails(), "{}", case.id);
        }
    });
}

#[test]
fn a_forbidden_answer_is_a_throttle_only_where_that_is_known_of_the_vendor() {
    let exhausted = RateSnapshot { remaining: Some(0), ..RateSnapshot::default() };
    let rules = RetryRules { forbidden_is_throttle: true, ..RetryRules::default() };
    assert!(rules.is_throttle(StatusCode::FORBIDDEN, Some(&exhausted)));
    assert!(!rules.is_throttle(StatusCode::FORBIDDEN, Some(&RateSnapshot::default())));
    assert!(!rules.is_throttle(StatusCode::FORBIDDEN, None));
    assert!(!RetryRules::default().is_throttle(StatusCode::FORBIDDEN, Some(&exhausted)));
}

#[test]
fn a_call_declared_safe_is_repeated_like_a_read() {
    let facts = |declared_safe| AttemptFacts {
        method: &Method::POST,
        declared_safe,
        number: 1,
        remaining: Duration::from_secs(9),
        now_unix_ms: NOW_MS,
        end: AttemptEnd::Answer { status: StatusCode::SERVICE_UNAVAILABLE, rate: None },
    };
    let idempotent =
        |safe| RetryRules::default().attempt(&facts(safe)).is_some_and(|Attempt { idempotent, .. }| idempotent);
    assert!(idempotent(true) && !idempotent(false));
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R006
#[test]
fn every_problem() {
    Vectors::open("ratelimit").each("problems", |case| {
        let body = match case.need("body") {
            Json::String(text) => text.clone(),
            body if body.get("bytes").is_some() => to_compact(&Json::from([("detail", "x".repeat(3000).into())])),
            body => to_compact(body),
        };
        let problem = Problem::read(status(case), Some(case.text("content_type")), body.as_bytes());
        let (ours, theirs) = (problem.to_json(), case.need("problem"));
        match case.id.as_str() {
            "long-detail" => assert_eq!(problem.detail.map(|detail| detail.len()), Some(2048)),
            "32-extensions" => assert_eq!(ours.as_object().unwrap().len(), 34),
            id => assert_eq!(&ours, theirs, "{id}"),
        }
    });
    let kind = |text: &str| Problem { kind: text.into(), ..Problem::of_status(StatusCode::CONFLICT) };
    for (text, shown) in [
        ("https://a.example/problems/out-of-credit", "https://a.example/problems/out-of-credit"),
        ("urn:a:b", "urn:a:b"),
        ("https://a.example/p?token=abc", "about:blank"),
        ("your password is hunter2", "about:blank"),
    ] {
        assert_eq!(kind(text).safe_kind(), shown);
    }
    assert_eq!(format!("{:?}", kind("hunter2")), r#"Problem { kind: "about:blank", status: 409, .. }"#);
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R006
#[test]
fn every_failure_has_a_class_of_its_own() {
    let vectors = Vectors::open("ratelimit");
    vectors.each("response_errors", |case| {
        let given = headers(case.need("headers"));
        let rate = RateSnapshot::read(&given, NOW_MS);
        let refusal = ResponseRefusal::of_status("a.example", status(case), rate.as_ref(), NOW_MS, None);
        let class = case.need("error").as_str();
        assert_eq!(refusal.is_some(), class.is_some(), "{}", case.id);
        let Some(refusal) = refusal else { return };
        assert_eq!(refusal.is_auth(), class == Some("HttpUnauthorizedError"), "{}", case.id);
        let wait = match &refusal {
            ResponseRefusal::RateLimited { wait_ms, .. } => Some(*wait_ms),
            _ => None,
        };
        assert_eq!(wait.is_some(), class == Some("HttpRateLimitedError"), "{}", case.id);
        let asked = case.need("extensions").get("retry_after").and_then(seconds);
        assert_eq!(wait.flatten().map(Duration::from_millis), asked, "{}", case.id);
    });
    vectors.each("transport_errors", |case| {
        let host = "a.example".to_owned();
        let refusal = match case.text("cause") {
            _ if case.need("tls").as_bool().unwrap() => HttpRefusal::Tls { host },
            "ConnectError" => HttpRefusal::Connect { host },
            "ReadTimeout" => HttpRefusal::Timeout { host, phase: "idle" },
            "ConnectTimeout" => HttpRefusal::Timeout { host, phase: "connect" },
            "ReadError" => HttpRefusal::Broken { host },
            other => panic!("{other}"),
        };
        let problem = problem_of_exchange(&refusal, &Method::GET, "https://u:p@a.example/x?token=abc&q=1#f");
        // How often it was tried says less than what went wrong in the end.
        let expected = case.text("problem_type").replace("retries-exhausted", "transport-failed");
        assert_eq!((problem.kind.as_str(), problem.detail.as_deref()), (&*expected, Some(case.text("detail"))));
    });
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.10
#[test]
fn every_set_of_client_options() {
    let vectors = Vectors::open("ratelimit");
    vectors.each("client_options", |case| {
        let input = case.need("input");
        let build = |loopback: bool| -> Result<(), CallRefusal> {
            let mut options = ClientOptions::new(input.get("base_url").unwrap().as_str().unwrap())?;
            if let Some(timeout) = input.get("timeout").map(float) {
                options.total(Duration::try_from_secs_f64(timeout).unwrap_or_default())?;
            }
            for (name, value) in input.get("headers").and_then(Json::as_object).into_iter().flatten() {
                options.header(name, value.as_str().unwrap())?;
            }
            let hosts = input.get("allowed_private_hosts").and_then(Json::as_array).unwrap_or_default();
            options.profile.egress.allowed_private_hosts =
                hosts.iter().map(|host| host.as_str().unwrap().to_owned()).collect();
            options.profile.egress.allow_loopback = loopback;
            // The peer pins on request, we unless told not to; its refusals are those of an unpinned client.
            options.profile.egress.pin_egress =
                input.get("pin_egress").and_then(Json::as_bool).unwrap_or(!case.fails());
            options.check()
        };
        let loopback = input.get("allow_loopback").is_some();
        let url = input.get("base_url").unwrap().as_str().unwrap();
        if input.get("allow_plaintext").is_some() {
            assert!(build(false).is_err(), "credentials do not travel in the clear");
        } else if url.starts_with("http://") && !case.fails() {
            assert!(build(false).is_err() && build(true).is_ok(), "{url}: this machine has to be allowed");
        } else {
            assert_eq!(build(loopback).is_err(), case.fails(), "{}: {:?}", case.id, build(loopback));
        }
    });
    let limits = vectors.value("limits");
    let number = |name: &str| limits.get(name).unwrap().as_number().unwrap().as_u64().unwrap();
    let ours = ExchangeLimits::default();
    assert_eq!((ours.body_bytes, ours.total.as_secs()), (number("response_bytes"), number("timeout_seconds")));
    assert_eq!(Problem::MAX_BODY as u64, number("error_body_read"));
}

#[test]
fn a_path_stays_below_the_base_url() {
    let options = ClientOptions::new("https://a.example/api/v3").unwrap();
    let join = |path: &str| options.join(path).map(|url| url.to_string()).map_err(|refusal| refusal.entry().code);
    for (path, url) in [
        ("/user/repos", "https://a.example/api/v3/user/repos"),
        ("user?page=2", "https://a.example/api/v3/user?page=2"),
        ("", "https://a.example/api/v3/"),
        ("/a%2Fb", "https://a.example/api/v3/a%2Fb"),
        ("/versions..html", "https://a.example/api/v3/versions..html"),
        ("/q?u=https://b.example/../x", "https://a.example/api/v3/q?u=https://b.example/../x"),
        ("https://a.example/api/v3/other?page=2", "https://a.example/api/v3/other?page=2"),
        ("#fragment", "https://a.example/api/v3/"),
    ] {
        assert_eq!(join(path).as_deref(), Ok(url), "{path}");
    }
    for path in [
        "../admin",
        "/a/../../admin",
        "/%2e%2E/admin",
        "/..%2fadmin",
        "/a/..%5cb",
        "//b.example/x",
        "/\\b.example",
        "https://b.example/",
        "http://a.example/",
        "https://a.example:8443/",
        "https://u@a.example/",
        "https://a.example/other?page=2",
        "https://a.example/api/v3x",
        "https://a.example/api/v3/../admin",
        "https://a.example/api/v3/..%2fadmin",
        "javascript:x",
        "/a b",
        "/a\nb",
    ] {
        assert_eq!(join(path), Err("client_path"), "{path}");
    }
}

#[test]
fn a_link_of_the_server_may_lead_anywhere_on_its_origin() {
    let options = ClientOptions::new("https://a.example/api/v3").unwrap();
    let follow = |link: &str| options.follow(link).map(|url| url.to_string()).map_err(|refusal| refusal.entry().code);
    for (link, url) in [
        ("https://a.example/other?page=2", "https://a.example/other?page=2"),
        ("https://a.example/api/v3/user?page=2", "https://a.example/api/v3/user?page=2"),
        ("/user?page=2", "https://a.example/api/v3/user?page=2"),
    ] {
        assert_eq!(follow(link).as_deref(), Ok(url), "{link}");
    }
    let elsewhere = ["https://b.example/", "http://a.example/", "https://a.example:8443/", "https://u@a.example/"];
    for link in elsewhere.into_iter().chain(["//b.example/x", "../admin"]) {
        assert_eq!(follow(link), Err("client_path"), "{link}");
    }
}
