//! Every bound of a request, each with its own refusal.

use std::future::pending;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use scion_domain::http::{Bytes, HttpRefusal, OutboundRequest, RedirectRule};
use scion_http::{Dialer, Resolve};
use scion_lab::{Answer, Behaviour, Coding, Framing, Lab, encode};
use scion_ports::HttpDialer as _;

use crate::support::*;

fn host() -> String {
    "127.0.0.1".to_owned()
}

fn too_large(what: &'static str, limit: u64) -> HttpRefusal {
    HttpRefusal::TooLarge { host: host(), what, limit }
}

fn sized(lab: &Lab, body_bytes: u64) -> OutboundRequest {
    let mut request = hasty(lab.url("/"));
    request.limits.body_bytes = body_bytes;
    request
}

#[tokio::test]
async fn a_body_of_the_bound_passes_and_one_byte_more_does_not() {
    for framing in [Framing::Length, Framing::Chunked(7), Framing::Close] {
        for coding in [None, Some(Coding::Gzip), Some(Coding::Zstd)] {
            let mut answer = Answer::ok(vec![b'a'; 1000]).framing(framing);
            if let Some(coding) = coding {
                let body = encode(coding, &[b'a'; 1000]).await;
                answer = answer.body(body).header("content-encoding", coding.token());
            }
            let lab = Lab::always(answer).await;
            let client = client().await;
            assert_eq!(whole(&*client, sized(&lab, 1000)).await, Ok((200, vec![b'a'; 1000])));
            assert_eq!(refusal(&*client, sized(&lab, 999)).await, too_large("body", 999), "{framing:?} {coding:?}");
        }
    }
}

#[tokio::test]
async fn a_length_above_the_bound_is_refused_before_the_body() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 1048577\r\n\r\n".to_vec();
    let lab = Lab::always(Behaviour::RawThenHold(head)).await;
    let refused = client().await.send(hasty(lab.url("/"))).await.unwrap_err();
    assert_eq!(refused, too_large("body", 1024 * 1024));
}

#[tokio::test]
async fn a_refused_body_stays_refused_and_its_connection_closes() {
    let lab = Lab::always(Behaviour::EndlessBody).await;
    let mut answer = client().await.send(sized(&lab, 100_000)).await.unwrap();
    let refused = loop {
        match answer.body.chunk().await {
            Ok(piece) => assert!(piece.is_some(), "an endless body ended"),
            Err(refusal) => break refusal,
        }
    };
    assert_eq!(refused, too_large("body", 100_000));
    assert_eq!(answer.body.chunk().await, Err(refused.clone()));
    assert_eq!(answer.body.chunk().await, Err(refused));
    assert!(lab.closes_within(Duration::from_secs(2)).await);
}

#[tokio::test]
async fn a_slow_reader_slows_the_server_and_dropping_ends_it() {
    let lab = Lab::always(Behaviour::EndlessBody).await;
    let mut request = get(lab.url("/"));
    request.limits.body_bytes = 1 << 40;
    let mut answer = client().await.send(request).await.unwrap();
    assert!(answer.body.chunk().await.unwrap().is_some());
    let mut before = 0;
    for _ in 0..50 {
        tokio::time::sleep(Duration::from_millis(40)).await;
        if lab.bytes_sent() == before {
            break;
        }
        before = lab.bytes_sent();
    }
    // What the two sockets hold, and a little for hyper.
    assert!(before < 24 << 20, "{before} bytes were read ahead");
    assert_eq!(lab.bytes_sent(), before, "the server was not slowed");
    drop(answer);
    assert!(lab.closes_within(Duration::from_secs(2)).await);
}

#[tokio::test]
async fn header_fields_are_counted_and_weighed() {
    let lab = Lab::always(Behaviour::ManyHeaders(40)).await;
    let client = client().await;
    let mut request = hasty(lab.url("/"));
    request.limits.headers = 128;
    whole(&*client, request.clone()).await.unwrap();
    request.limits.headers = 39;
    assert_eq!(refusal(&*client, request.clone()).await, too_large("headers", 39));
    request.limits.headers = 128;
    request.limits.header_bytes = 100;
    assert_eq!(refusal(&*client, request).await, too_large("header bytes", 100));

    for behaviour in [Behaviour::EndlessHeaders, Behaviour::HugeHeader(1 << 20), Behaviour::ManyHeaders(10_000)] {
        let lab = Lab::always(behaviour.clone()).await;
        let refused = refusal(&*client, hasty(lab.url("/"))).await;
        assert_eq!(refused, too_large("header bytes", 64 * 1024), "{behaviour:?}");
        assert!(lab.bytes_sent() < 16 << 20);
    }
    let lab = Lab::always(Behaviour::HugeHeader(100 * 1024)).await;
    assert_eq!(refusal(&*client, hasty(lab.url("/"))).await, too_large("header bytes", 64 * 1024));
}

fn timeout(phase: &'static str) -> HttpRefusal {
    HttpRefusal::Timeout { host: host(), phase }
}

#[tokio::test]
async fn silence_and_slowness_end_at_their_limits() {
    let every = Duration::from_millis(50);
    for (behaviour, phase) in [
        (Behaviour::StallBeforeHead, "idle"),
        (Behaviour::StallInHead, "idle"),
        (Behaviour::StallInBody(Answer::ok("half of it")), "idle"),
        (Behaviour::DripForEver(every), "total"),
        (Behaviour::After(Duration::from_millis(300), Box::new(Answer::ok("late").into())), "idle"),
    ] {
        let lab = Lab::always(behaviour.clone()).await;
        let started = Instant::now();
        let refused = refusal(&*client().await, impatient(lab.url("/"))).await;
        assert_eq!(refused, timeout(phase), "{behaviour:?}");
        assert!(!refused.before_sending());
        assert!(started.elapsed() < Duration::from_millis(2500), "{behaviour:?} took {:?}", started.elapsed());
    }
}

#[tokio::test]
async fn the_total_covers_a_reader_that_dawdles() {
    let lab = Lab::always(Behaviour::EndlessBody).await;
    let mut request = impatient(lab.url("/"));
    request.limits.body_bytes = 1 << 40;
    let mut answer = client().await.send(request).await.unwrap();
    tokio::time::sleep(Duration::from_millis(650)).await;
    assert_eq!(answer.body.chunk().await, Err(timeout("total")));
}

#[tokio::test]
async fn the_total_covers_redirects() {
    let lab = Lab::scripted(|_| {
        Behaviour::After(Duration::from_millis(110), Box::new(Answer::redirect(302, "/again").into()))
    })
    .await;
    let request = OutboundRequest { redirects: RedirectRule::Follow(50), ..impatient(lab.url("/")) };
    let started = Instant::now();
    assert_eq!(refusal(&*client().await, request).await, timeout("total"));
    assert!(started.elapsed() < Duration::from_millis(2500));
    assert!(lab.received().len() > 2);
}

struct NoAnswer;

#[async_trait::async_trait]
impl Resolve for NoAnswer {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        pending().await
    }
}

#[tokio::test]
async fn a_connection_that_does_not_stand_in_time_sent_nothing() {
    let profile = loopback();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let dialer = Dialer::builder().resolver(Arc::new(NoAnswer)).build();
    let client = dialer.open(&profile).await.unwrap();
    for (url, host) in [("https://vendor.test/", "vendor.test"), (&*format!("https://127.0.0.1:{port}/"), "127.0.0.1")]
    {
        for total in [200, 600] {
            let mut request = impatient(url.parse().unwrap());
            request.limits.total = Duration::from_millis(total);
            request.limits.idle = Duration::from_millis(50);
            let refused = refusal(&*client, request).await;
            assert_eq!(refused, HttpRefusal::Timeout { host: host.into(), phase: "connect" });
            assert!(refused.before_sending());
        }
    }
}

#[tokio::test]
async fn a_cancelled_exchange_leaves_nothing_behind() {
    let lab = Lab::always(Behaviour::StallBeforeHead).await;
    let client = client().await;
    let sent = tokio::time::timeout(Duration::from_millis(100), client.send(get(lab.url("/")))).await;
    assert!(sent.is_err() && lab.received().len() == 1);
    assert!(lab.closes_within(Duration::from_secs(2)).await);
}

#[tokio::test]
async fn an_empty_answer_has_an_empty_body_under_the_smallest_bound() {
    let lab = Lab::always(Answer::ok("")).await;
    let mut answer = client().await.send(sized(&lab, 0)).await.unwrap();
    assert_eq!(answer.bytes().await, Ok(Bytes::new()));
}

/// Bounds beyond what a clock can hold are as good as none, and no reason to panic.
#[tokio::test]
async fn endless_bounds_of_time_are_kept_like_others() {
    let lab = Lab::always(Answer::ok("fine")).await;
    let mut request = get(lab.url("/"));
    let limits = &mut request.limits;
    (limits.total, limits.connect, limits.idle) = (Duration::MAX, Duration::MAX, Duration::MAX);
    assert_eq!(whole(&*client().await, request).await.unwrap(), (200, b"fine".to_vec()));
}
