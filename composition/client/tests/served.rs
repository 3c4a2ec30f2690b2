//! The client over the real dialer and real sockets.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use scion_client::{
    ClientPorts, GovernedClient, LinkHeader, NoAuthOnly, SafeCall, per_second, safe_get_json, safe_post_json,
};
use scion_domain::json::{Json, parse};
use scion_domain::refusal::Refusal as _;
use scion_http::Dialer;
use scion_lab::{Answer, Behaviour, Lab};
use scion_local::{SystemClock, SystemEntropy};

fn ports() -> ClientPorts {
    ClientPorts {
        dialer: Arc::new(Dialer::builder().build()),
        auth: Arc::new(NoAuthOnly),
        clock: Arc::new(SystemClock::new()),
        entropy: Arc::new(SystemEntropy),
    }
}

fn builder(lab: &Lab) -> scion_client::ClientBuilder {
    GovernedClient::builder("desk").base_url(lab.url("/").as_str()).unwrap().allow_loopback()
}

/// Proves: SDK-CONNECTOR-CONTROL-R033
#[tokio::test]
async fn a_post_reaches_an_allowed_private_host_and_no_other() {
    let lab = Lab::scripted(|received| match received.path() {
        "/json" => Answer::ok(format!(r#"{{"got":{}}}"#, received.text())).into(),
        "/html" => Answer::html().into(),
        _ => Answer::status(404).into(),
    })
    .await;
    let ports = ports();
    let allowed = SafeCall::to_private_hosts(["127.0.0.1"]);
    let url = |path: &str| lab.url(path).to_string();
    let body = parse(r#"{"a":1}"#).unwrap();
    let post = async |path: &str, call: &SafeCall| safe_post_json(&ports, &url(path), &body, call).await;

    let refusal = post("/json", &SafeCall::default()).await.unwrap_err();
    assert_eq!((refusal.code(), lab.connections()), ("client_egress", 0), "nothing was dialled");
    let other = SafeCall::to_private_hosts(["10.0.0.1"]);
    assert!(post("/json", &other).await.is_err());
    assert_eq!(lab.received().len(), 0);

    assert_eq!(post("/json", &allowed).await.unwrap(), parse(r#"{"got":{"a":1}}"#).unwrap());
    assert_eq!(post("/html", &allowed).await.unwrap_err().code(), "response_not_json");
    assert_eq!(post("/gone", &allowed).await.unwrap_err().code(), "response_not_found");
    // The same allowance on the reading side.
    assert_eq!(safe_get_json(&ports, &url("/html"), &SafeCall::default()).await.unwrap_err().code(), "client_egress");
    assert_eq!(safe_get_json(&ports, &url("/html"), &allowed).await.unwrap_err().code(), "response_not_json");
    let received = lab.received();
    assert_eq!(received[0].header("content-type"), Some("application/json"));
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R001, SDK-CONNECTOR-CONTROL-R780.3
#[tokio::test]
async fn a_503_on_a_read_is_tried_again_and_a_post_is_not() {
    let lab = Lab::sequence([Behaviour::from(Answer::status(503)), Answer::ok("{}").into()]).await;
    let client = builder(&lab).build_with(&ports()).await.unwrap();
    assert_eq!(client.get("/x").json::<Json>().await.unwrap(), parse("{}").unwrap());
    assert_eq!(lab.received().len(), 2);
    let lab = Lab::always(Answer::status(503)).await;
    let client = builder(&lab).build_with(&ports()).await.unwrap();
    assert_eq!(client.post("/x").json::<Json>().await.unwrap_err().code(), "response_server");
    assert_eq!(lab.received().len(), 1);
}

#[tokio::test]
async fn a_server_that_stalls_or_breaks_off_meets_the_deadline() {
    let half = Answer::ok(r#"{"a": "0123456789"}"#);
    for behaviour in [
        Behaviour::StallBeforeHead,
        Behaviour::StallInHead,
        Behaviour::StallInBody(half.clone()),
        Behaviour::DripForEver(Duration::from_millis(20)),
    ] {
        let lab = Lab::always(behaviour.clone()).await;
        let client = builder(&lab).total_timeout(Duration::from_millis(300)).build_with(&ports()).await.unwrap();
        let started = std::time::Instant::now();
        let refusal = client.get("/x").json::<Json>().await.unwrap_err();
        assert!(matches!(refusal.code(), "client_deadline" | "http_timeout"), "{behaviour:?}: {refusal}");
        assert!(started.elapsed() < Duration::from_secs(2), "{behaviour:?}");
    }
    let lab = Lab::sequence([Behaviour::ResetInBody(half), Answer::ok("{}").into()]).await;
    let client = builder(&lab).build_with(&ports()).await.unwrap();
    assert_eq!(client.get("/x").json::<Json>().await.unwrap(), parse("{}").unwrap());
}

#[tokio::test]
async fn pages_come_over_the_wire() {
    let lab = Lab::scripted(|received| {
        let page: u32 =
            received.query().and_then(|query| query.strip_prefix("page=")).map_or(1, |page| page.parse().unwrap());
        let answer = Answer::ok(format!(r#"[{{"id":{page}}}]"#));
        if page < 3 {
            answer.header("link", format!("</repos?page={}>; rel=next", page + 1)).into()
        } else {
            answer.into()
        }
    })
    .await;
    let client = builder(&lab).rate_limit(per_second(100)).build_with(&ports()).await.unwrap();
    let all: Vec<Json> = client.get("/repos").pages(LinkHeader).all().await.unwrap();
    assert_eq!(all.len(), 3);
    assert_eq!(lab.connections(), 1, "pages share a connection");
}
