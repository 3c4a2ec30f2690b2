//! One call: its request, its answer, its refusals, its deadline.

use std::time::Duration;

use scion_client::{ClientRefusal, GovernedClient};
use scion_domain::http::{Method, ResponseRefusal, StatusCode};
use scion_domain::json::{Json, parse, to_compact};
use scion_domain::refusal::Refusal as _;
use serde::Deserialize;

use crate::support::{Script, Step, builder, code, ok, status, with};

#[derive(Debug, Deserialize, PartialEq)]
struct Repo {
    name: String,
}

/// Proves: SDK-CONNECTOR-CONTROL-R780.6, SDK-CENTRALIZED-CAPABILITIES-R003
#[tokio::test(start_paused = true)]
async fn a_call_says_who_it_is_and_stays_below_the_base() {
    let script = Script::new([ok(r#"{"name":"scion"}"#)]);
    let client = script.build(|builder| builder.header("X-Trace", "1").unwrap()).await;
    let repo: Repo = client.get("/repos/scion").query("q", "a b&c").query("n", 3).json().await.unwrap();
    assert_eq!(repo, Repo { name: "scion".into() });
    let request = &script.requests()[0];
    assert_eq!(request.url.as_str(), "https://api.example/v1/repos/scion?q=a+b%26c&n=3");
    let header = |name: &str| request.headers.get(name).and_then(|value| value.to_str().ok());
    assert!(header("user-agent").is_some_and(|agent| agent.starts_with("scion/") && agent.ends_with("(desk)")));
    assert_eq!((header("accept"), header("x-trace")), (Some("application/json"), Some("1")));
    for path in ["/files:upload", "/http:x", "/..:x"] {
        client.get(path).total_timeout(Duration::MAX).send().await.unwrap();
        assert_eq!(script.requests().last().unwrap().url.as_str(), format!("https://api.example/v1{path}"));
    }
    for path in ["../x", "//b.example", "https://b.example/", "http:x", "/../x", "/.%2e/x"] {
        assert_eq!(code(client.get(path).send().await), "client_path");
    }
    for name in ["Authorization", "X-Api-Key", "Cookie", "Host", "Content-Length", "Proxy-Authorization", "a b"] {
        assert_eq!(code(client.get("/x").header(name, "v").send().await), "client_header", "{name}");
    }
    assert_eq!(code(client.get("/x").header("x-a", "a\nb").send().await), "client_header");
    // JSON has no keys but texts.
    let unwritable = std::collections::BTreeMap::from([((1, 2), 3)]);
    assert_eq!(code(client.post("/x").json_body(&unwritable).send().await), "client_body");
    assert_eq!(script.count(), 4, "what is wrong with a call is told before anything is sent");
    let shown = format!("{:?} {client:?}", client.get("/x").query("token", "hunter2"));
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_work_is_refused_when_the_client_is_built() {
    let script = Script::new([ok("{}")]);
    let ports = script.ports();
    let built = |builder: scion_client::ClientBuilder| async { code(builder.build_with(&ports).await) };
    assert_eq!(built(GovernedClient::builder("desk")).await, "client_option");
    let named = GovernedClient::builder("No Name").base_url("https://a.example").unwrap();
    assert_eq!(built(named).await, "client_option");
    assert_eq!(built(builder().total_timeout(Duration::ZERO)).await, "client_option");
    assert_eq!(built(builder().allow_private_host("*.internal")).await, "client_egress");
    for url in ["http://a.example", "http://127.0.0.1:1", "https://10.0.0.1"] {
        assert_eq!(built(GovernedClient::builder("desk").base_url(url).unwrap()).await, "client_egress", "{url}");
    }
    for url in ["ftp://a", "/x", "https://u:p@a.example", "https://a.example/?q=1"] {
        assert!(GovernedClient::builder("desk").base_url(url).is_err(), "{url}");
    }
    let profiles = builder().tls_profile("corporate").proxy_profile("edge").allow_private_host("desk.internal");
    profiles.build_with(&ports).await.unwrap();
    let profile = script.profiles().pop().unwrap();
    assert_eq!((profile.tls.as_deref(), profile.proxy.as_deref()), (Some("corporate"), Some("edge")));
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.10, SDK-CENTRALIZED-CAPABILITIES-R003
#[tokio::test(start_paused = true)]
async fn an_envelope_holds_status_data_and_rate_limit() {
    let rate = [("x-ratelimit-limit", "60"), ("x-ratelimit-remaining", "59")];
    let big = r#"{"id":12345678901234567890123,"price":0.10000000000000000001}"#;
    let script = Script::new([with(201, &rate, big), with(204, &[], ""), ok("<html>"), status(302)]);
    let client = script.client().await;
    let envelope = client.post("/x").json_body(&["a"]).envelope().await.unwrap();
    let expected = format!(r#"{{"data":{big},"rate_limit":{{"limit":60,"remaining":59}},"status_code":201}}"#);
    assert_eq!(to_compact(&envelope.to_json()), expected);
    let empty = client.get("/x").envelope().await.unwrap().to_json();
    assert_eq!(to_compact(&empty), r#"{"data":null,"rate_limit":null,"status_code":204}"#);
    assert_eq!(code(client.get("/x").envelope().await), "response_not_json");
    assert_eq!(code(client.get("/x").envelope().await), "response_redirected");
    assert_eq!(script.requests()[0].body.as_ref(), br#"["a"]"#);
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.10, SDK-CENTRALIZED-CAPABILITIES-R006
#[tokio::test(start_paused = true)]
async fn every_class_of_failure_has_a_refusal_and_none_repeats_the_vendor() {
    let body = r#"{"type":"https://a.example/problems/credit","title":"hunter2","detail":"token hunter2"}"#;
    for (status, expected) in [
        (400, "response_rejected"),
        (401, "response_unauthorized"),
        (403, "response_forbidden"),
        (404, "response_not_found"),
        (409, "response_conflict"),
        (410, "response_not_found"),
        (412, "response_conflict"),
        (418, "response_rejected"),
        (422, "response_rejected"),
        (429, "response_rate_limited"),
        (500, "response_server"),
    ] {
        let script = Script::new([with(status, &[("content-type", "application/problem+json")], body)]);
        let client = script.client().await;
        let refusal = client.post("/x").send().await.unwrap_err();
        assert_eq!(refusal.code(), expected, "{status}");
        let shown = format!("{refusal} {refusal:?}");
        assert!(shown.contains("https://a.example/problems/credit") && !shown.contains("hunter2"), "{shown}");
        assert_eq!(refusal.is_auth(), matches!(status, 401 | 403));
        // Who wants the vendor's words asks for them.
        let response = client.post("/x").send_any().await.unwrap();
        assert_eq!((response.status().as_u16(), response.problem().await.title.as_deref()), (status, Some("hunter2")));
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_of_another_kind_is_a_typed_refusal() {
    let script = Script::new([ok("[1]"), ok("{"), ok(""), ok("\u{feff}{\"name\":\"bom\"}"), ok("null")]);
    let client = script.client().await;
    assert_eq!(code(client.get("/x").json::<Repo>().await), "response_shape");
    assert_eq!(code(client.get("/x").json::<Repo>().await), "response_not_json");
    assert_eq!(code(client.get("/x").json::<Repo>().await), "response_shape");
    assert_eq!(client.get("/x").json::<Repo>().await.unwrap().name, "bom");
    assert_eq!(client.get("/x").json::<Option<Repo>>().await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn a_success_can_tell_of_a_failure() {
    let script = Script::new([ok(r#"{"ok":true,"error":null}"#), ok(r#"{"ok":false,"error":{"m":"hunter2"}}"#)]);
    let client = script.client().await;
    let call = || client.get("/x").error_in_body("error");
    assert_eq!(call().json::<Json>().await.unwrap(), parse(r#"{"ok":true,"error":null}"#).unwrap());
    let refusal = call().envelope().await.unwrap_err();
    assert_eq!((refusal.code(), refusal.to_string().contains("hunter2")), ("response_error_in_body", false));
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.10
#[tokio::test(start_paused = true)]
async fn a_destructive_call_needs_a_client_that_allows_it() {
    let script = Script::new([with(204, &[], "")]);
    let client = script.client().await;
    assert_eq!(code(client.delete("/x").send().await), "client_destructive");
    assert_eq!(code(client.post("/purge").destructive().send().await), "client_destructive");
    assert_eq!(script.count(), 0);
    let client = script.build(scion_client::ClientBuilder::allow_destructive).await;
    assert_eq!(client.delete("/x").send().await.unwrap().status(), StatusCode::NO_CONTENT);
    assert_eq!(script.requests()[0].method, Method::DELETE);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_breaks_off_is_read_again_where_that_is_safe() {
    let steps = [Step::Cut(r#"{"na"#.into()), ok(r#"{"name":"again"}"#)];
    let script = Script::new(steps.clone());
    let client = script.client().await;
    assert_eq!(client.get("/x").json::<Repo>().await.unwrap().name, "again");
    let script = Script::new(steps.clone());
    assert_eq!(code(script.client().await.post("/x").json::<Repo>().await), "http_broken");
    assert_eq!(script.count(), 1);
    let script = Script::new(steps);
    assert_eq!(script.client().await.post("/x").safe().json::<Repo>().await.unwrap().name, "again");
    let script = Script::new([Step::Cut("part".into())]);
    let mut response = script.client().await.get("/x").send().await.unwrap();
    assert_eq!(response.chunk().await.unwrap().as_deref(), Some(&b"part"[..]));
    assert_eq!(code(response.chunk().await), "http_broken");
}

#[tokio::test(start_paused = true)]
async fn one_deadline_covers_answers_and_waits() {
    let script = Script::new([Step::Hang]);
    let client = script.build(|builder| builder.total_timeout(Duration::from_secs(3))).await;
    let before = tokio::time::Instant::now();
    assert_eq!(
        client.get("/x").send().await.unwrap_err().to_string(),
        "the call's deadline is over (request sent: true)"
    );
    assert_eq!(before.elapsed().as_secs(), 3);
    assert_eq!(script.requests()[0].limits.total, Duration::from_secs(3));

    // A wait that does not fit is not begun.
    let script = Script::new([with(429, &[("retry-after", "5")], "{}"), ok("{}")]);
    let client = script.client().await;
    let before = tokio::time::Instant::now();
    let refusal = client.get("/x").total_timeout(Duration::from_secs(4)).send().await.unwrap_err();
    assert_eq!((script.count(), before.elapsed()), (1, Duration::ZERO));
    assert!(matches!(refusal, ClientRefusal::Response(ResponseRefusal::RateLimited { wait_ms: Some(5000), .. })));
    assert_eq!(code(client.get("/x").total_timeout(Duration::from_secs(9)).send().await), "ok");
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R001
#[tokio::test(start_paused = true)]
async fn retries_stay_inside_their_budget() {
    let script = Script::new([status(503)]);
    let client = script.build(|builder| builder.retry_budget(10, 5).total_timeout(Duration::from_mins(5))).await;
    for _ in 0..100 {
        assert_eq!(code(client.get("/x").json::<Json>().await), "response_server");
    }
    // Ten for each hundred and five in reserve; the first request finds the reserve full.
    assert_eq!(script.count(), 100 + 14);
}

#[tokio::test(start_paused = true)]
async fn a_vendor_that_throttles_with_403_is_waited_for_where_that_is_said() {
    let steps = [with(403, &[("retry-after", "1")], "{}"), ok("{}")];
    let script = Script::new(steps.clone());
    assert_eq!(code(script.client().await.get("/x").send().await), "response_forbidden");
    let script = Script::new(steps);
    let client = script.build(scion_client::ClientBuilder::forbidden_can_throttle).await;
    assert_eq!(code(client.get("/x").send().await), "ok");
    assert_eq!(script.times_ms(), [0, 1000]);
}

/// Proves: SDK-CONNECTOR-CONTROL-R780.6
#[tokio::test(start_paused = true)]
async fn an_air_gapped_client_reaches_named_hosts_only() {
    let script = Script::new([with(302, &[("location", "https://b.example/")], "")]);
    let client = script.build(|builder| builder.air_gapped(&["API.example."]).follow_redirects(3)).await;
    assert_eq!(code(client.get("/x").send().await), "ok");
    assert_eq!(script.requests()[0].redirects, scion_domain::http::RedirectRule::Return);
    let client = script.build(|builder| builder.air_gapped(&["b.example"])).await;
    let refusal = client.get("/x").send().await.unwrap_err();
    assert_eq!(refusal.to_string(), "api.example may not be dialled (air_gap)");
    assert_eq!(script.count(), 1);
    let proxied = builder().air_gapped(&["api.example"]).proxy_profile("edge").build_with(&script.ports()).await;
    assert_eq!(code(proxied), "http_profile_unusable");
}
