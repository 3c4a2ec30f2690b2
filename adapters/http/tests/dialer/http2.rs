//! The same promises over HTTP/2.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use scion_domain::http::{Bytes, HttpRefusal, Method, OutboundRequest, RedirectRule};
use scion_http::Dialer;
use scion_lab::{Answer, Behaviour, Coding, Lab, TestCa, TlsSetup};
use scion_ports::{HttpDialer as _, HttpExchange};

use crate::support::*;

struct World {
    ca: TestCa,
    client: Arc<dyn HttpExchange>,
    _files: Files,
}

impl World {
    async fn new() -> Self {
        let (ca, files) = (TestCa::new("lab"), Files::new());
        let profiles = only(trusting(files.write("ca.pem", &ca.pem())));
        let dialer = Dialer::builder().tls_profiles(profiles).build();
        let client = dialer.open(&with_tls(loopback())).await.unwrap();
        Self { ca, client, _files: files }
    }

    async fn lab(&self, behaviour: impl Into<Behaviour>) -> Lab {
        Lab::builder().tls(TlsSetup::new(self.ca.server(&["127.0.0.1"])).http2()).always(behaviour).await
    }
}

#[tokio::test]
async fn one_connection_carries_many_exchanges_at_once() {
    let world = World::new().await;
    let slow = Behaviour::After(Duration::from_millis(100), Box::new(Answer::ok("slow").into()));
    let lab = world.lab(slow).await;
    whole(&*world.client, hasty(lab.url("/"))).await.unwrap();
    let started = Instant::now();
    let all = join_all((0..20).map(|_| whole(&*world.client, hasty(lab.url("/"))))).await;
    assert!(all.iter().all(|one| *one == Ok((200, b"slow".to_vec()))), "{all:?}");
    assert!(started.elapsed() < Duration::from_millis(1500), "they waited for each other");
    assert_eq!(lab.connections(), 1);
    assert!(lab.received().iter().all(|received| received.http2));
    assert_eq!(lab.received()[0].header("accept-encoding"), Some("gzip, br, zstd"));
}

#[tokio::test]
async fn every_bound_holds() {
    let world = World::new().await;
    let host = || "127.0.0.1".to_owned();
    let late = |phase| HttpRefusal::Timeout { host: host(), phase };
    let large = |what, limit| HttpRefusal::TooLarge { host: host(), what, limit };
    for (behaviour, expected) in [
        (Behaviour::EndlessBody, large("body", 1024 * 1024)),
        (Behaviour::Bomb(vec![Coding::Brotli], 4 << 20), large("body", 1024 * 1024)),
        (Behaviour::Bomb(vec![Coding::Zstd, Coding::Gzip], 4 << 20), large("body", 1024 * 1024)),
        (Behaviour::ManyHeaders(200), large("headers", 128)),
        (Behaviour::HugeHeader(100 * 1024), large("header bytes", 64 * 1024)),
        (Behaviour::StallBeforeHead, late("idle")),
        (Behaviour::StallInBody(Answer::ok("half of it")), late("idle")),
        (Behaviour::DripForEver(Duration::from_millis(50)), late("total")),
        (Behaviour::ResetInBody(Answer::ok("half of it")), HttpRefusal::Broken { host: host() }),
        (Behaviour::ResetBeforeHead, HttpRefusal::Broken { host: host() }),
    ] {
        let lab = world.lab(behaviour.clone()).await;
        let late = matches!(expected, HttpRefusal::Timeout { .. });
        let request = if late { impatient(lab.url("/")) } else { hasty(lab.url("/")) };
        let refused = refusal(&*world.client, request).await;
        assert_eq!(refused, expected, "{behaviour:?}");
        assert!(!refused.before_sending());
    }
}

#[tokio::test]
async fn head_and_redirects_are_what_they_are_over_http1() {
    let world = World::new().await;
    let setup = TlsSetup::new(world.ca.server(&["127.0.0.1"])).http2();
    let lab = Lab::builder()
        .tls(setup)
        .scripted(|received| match received.path() {
            "/start" => Answer::redirect(307, "/end").into(),
            _ => Answer::ok(received.body.clone()).into(),
        })
        .await;
    let mut answer = world.client.send(OutboundRequest { method: Method::HEAD, ..hasty(lab.url("/")) }).await.unwrap();
    assert_eq!(answer.bytes().await, Ok(Bytes::new()));
    let request = OutboundRequest {
        method: Method::POST,
        body: Bytes::from_static(b"kept"),
        redirects: RedirectRule::Follow(1),
        ..hasty(lab.url("/start"))
    };
    assert_eq!(whole(&*world.client, request).await, Ok((200, b"kept".to_vec())));
    assert_eq!(lab.connections(), 1);
}

#[tokio::test]
async fn a_dropped_body_leaves_the_connection_to_others() {
    let world = World::new().await;
    let setup = TlsSetup::new(world.ca.server(&["127.0.0.1"])).http2();
    let lab = Lab::builder()
        .tls(setup)
        .scripted(|received| match received.path() {
            "/endless" => Behaviour::EndlessBody,
            _ => Answer::ok("fine").into(),
        })
        .await;
    for _ in 0..3 {
        let mut answer = world.client.send(hasty(lab.url("/endless"))).await.unwrap();
        assert!(answer.body.chunk().await.unwrap().is_some());
        drop(answer);
        assert_eq!(whole(&*world.client, hasty(lab.url("/"))).await, Ok((200, b"fine".to_vec())));
    }
    assert_eq!(lab.connections(), 1);
}
