//! What is known after a failure: whether the request may have reached the server.

use std::time::Duration;

use scion_domain::http::{Bytes, HeaderValue, HttpProfile, HttpRefusal, Method, OutboundRequest};
use scion_http::Dialer;
use scion_lab::{Answer, Behaviour, Lab};
use scion_ports::HttpDialer as _;

use crate::support::*;

fn post(lab: &Lab, path: &str) -> OutboundRequest {
    OutboundRequest { method: Method::POST, body: Bytes::from_static(b"{}"), ..hasty(lab.url(path)) }
}

#[tokio::test]
async fn nobody_listening_is_before_sending() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
    drop(listener);
    let refused = refusal(&*client().await, hasty(url)).await;
    assert_eq!(refused, HttpRefusal::Connect { host: "127.0.0.1".into() });
    assert!(refused.before_sending());
}

#[tokio::test]
async fn a_connection_that_ends_after_the_request_is_broken() {
    for behaviour in [
        Behaviour::CloseBeforeHead,
        Behaviour::ResetBeforeHead,
        Behaviour::ResetInBody(Answer::ok("half of it")),
        Behaviour::Raw(b"HTTP/1.1 200 OK\r\ncontent-le".to_vec()),
    ] {
        let lab = Lab::always(behaviour.clone()).await;
        let refused = refusal(&*client().await, post(&lab, "/")).await;
        assert_eq!(refused, HttpRefusal::Broken { host: "127.0.0.1".into() }, "{behaviour:?}");
        assert!(!refused.before_sending());
        assert_eq!(lab.received().len(), 1, "{behaviour:?}");
    }
}

#[tokio::test]
async fn a_write_on_a_used_connection_is_sent_once() {
    let lab = Lab::sequence([Answer::ok("one").into(), Behaviour::CloseBeforeHead, Answer::ok("three").into()]).await;
    let client = client().await;
    whole(&*client, post(&lab, "/1")).await.unwrap();
    let refused = refusal(&*client, post(&lab, "/2")).await;
    assert_eq!(refused, HttpRefusal::Broken { host: "127.0.0.1".into() });
    let paths: Vec<_> = lab.received().iter().map(|received| received.path().to_owned()).collect();
    assert_eq!(paths, ["/1", "/2"], "a request was sent again");
    assert_eq!(lab.connections(), 1);
}

#[tokio::test]
async fn a_connection_that_the_server_closed_while_idle_is_replaced() {
    let lab = Lab::always(Answer::ok("x").framing(scion_lab::Framing::Close)).await;
    let client = client().await;
    for _ in 0..3 {
        whole(&*client, post(&lab, "/")).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!((lab.connections(), lab.received().len()), (3, 3));
}

#[tokio::test]
async fn an_interim_answer_alone_and_an_unasked_upgrade_are_no_answers() {
    let client = client().await;
    let lab = Lab::always(Behaviour::Raw(
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n".to_vec(),
    ))
    .await;
    let refused = refusal(&*client, hasty(lab.url("/"))).await;
    assert_eq!(refused, HttpRefusal::Malformed { host: "127.0.0.1".into(), what: "status" });
}

#[tokio::test]
async fn interim_answers_without_end_are_given_up() {
    let lab = Lab::always(Behaviour::EndlessInterim).await;
    let refused = refusal(&*client().await, get(lab.url("/"))).await;
    assert_eq!(refused, HttpRefusal::TooLarge { host: "127.0.0.1".into(), what: "interim answers", limit: 32 });
    assert!(lab.bytes_sent() < 8 * 1024 * 1024, "took {} bytes", lab.bytes_sent());
}

#[tokio::test]
async fn a_url_that_cannot_be_requested_is_the_callers_mistake() {
    let client = client().await;
    for text in ["ftp://127.0.0.1/", "http://user:hunter2@127.0.0.1/", "file:///etc/passwd", "http://127.0.0.1:0/"] {
        let refused = refusal(&*client, get(text.parse().unwrap())).await;
        assert!(matches!(refused, HttpRefusal::Url { .. }), "{text}: {refused:?}");
        assert!(refused.before_sending() && !refused.to_string().contains("hunter2"));
    }
    let long = format!("http://127.0.0.1/{}", "x".repeat(8200));
    assert!(matches!(refusal(&*client, get(long.parse().unwrap())).await, HttpRefusal::Url { .. }));
}

#[tokio::test]
async fn refusals_and_debug_texts_hold_no_secret() {
    let lab = Lab::always(Behaviour::CloseBeforeHead).await;
    let dialer = Dialer::builder().build();
    let client = dialer.open(&loopback()).await.unwrap();
    let mut request = hasty(lab.url("/private/path?key=hunter2"));
    request.headers.insert("authorization", HeaderValue::from_static("Bearer hunter2"));
    request.body = Bytes::from_static(b"hunter2");
    let refused = refusal(&*client, request).await;
    let lab = Lab::always(Answer::ok("hunter2").header("x-a", "hunter2")).await;
    let answer = client.send(get(lab.url("/"))).await.unwrap();
    for text in [format!("{refused:?} {refused}"), format!("{dialer:?}"), format!("{answer:?}")] {
        assert!(!text.contains("hunter2") && !text.contains("private"), "{text}");
    }
}

#[tokio::test]
async fn a_policy_that_cannot_be_used_opens_nothing() {
    let mut profile = HttpProfile::default();
    profile.egress.allowed_private_hosts = vec!["*.internal".into()];
    let refused = Dialer::builder().build().open(&profile).await.err().unwrap();
    assert!(matches!(refused, HttpRefusal::Profile { kind: "egress", .. }), "{refused:?}");
}
