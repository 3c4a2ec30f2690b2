//! Plain exchanges.

use scion_domain::http::{Bytes, HeaderValue, HttpProfile, HttpRefusal, Method, OutboundRequest, header};
use scion_http::Dialer;
use scion_lab::{Answer, Behaviour, Coding, Framing, Lab, TestCa, TlsSetup, encode};
use scion_ports::HttpDialer as _;

use crate::support::*;

/// Proves: SDK-CONNECTOR-CONTROL-R028
#[tokio::test]
async fn strict_by_default_and_loopback_only_when_allowed() {
    let lab = Lab::always(Answer::ok("inside")).await;
    let strict = Dialer::builder().build().open(&HttpProfile::default()).await.unwrap();
    for url in [lab.url("/"), lab.url_as("localhost", "/"), lab.url_as("[::1]", "/")] {
        let refused = refusal(&*strict, get(url)).await;
        assert!(matches!(refused, HttpRefusal::Destination { .. }), "{refused:?}");
        assert!(refused.before_sending());
    }
    assert_eq!(lab.connections(), 0, "a refused destination was dialled");
    assert_eq!(whole(&*client().await, get(lab.url("/"))).await, Ok((200, b"inside".to_vec())));
}

#[tokio::test]
async fn a_connection_is_used_again_and_every_status_is_an_answer() {
    let lab = Lab::scripted(|received| {
        let status = received.path()[1..].parse().unwrap();
        Answer::status(status).body(if status == 304 { "" } else { "text" }).header("x-seen", "yes").into()
    })
    .await;
    let client = client().await;
    for status in [200, 201, 301, 304, 400, 401, 404, 429, 500, 503] {
        let mut answer = client.send(get(lab.url(&format!("/{status}")))).await.unwrap();
        assert_eq!(answer.head.status.as_u16(), status);
        assert_eq!(header(&answer, "x-seen"), Some("yes"));
        assert_eq!((answer.head.redirects, answer.head.url.path()), (0, &*format!("/{status}")));
        answer.bytes().await.unwrap();
        assert_eq!(answer.bytes().await, Ok(Bytes::new()), "after the end comes the end");
    }
    assert_eq!(lab.connections(), 1);
}

#[tokio::test]
async fn the_adapter_writes_the_fields_of_a_connection() {
    let lab = Lab::always(Answer::ok("")).await;
    let client = client().await;
    let mut request = OutboundRequest::new(Method::POST, lab.url("/in?q=1"));
    for (name, value) in [
        ("host", "evil.test"),
        ("content-length", "99"),
        ("transfer-encoding", "chunked"),
        ("connection", "x-secret, close"),
        ("te", "trailers"),
        ("upgrade", "h2c"),
        ("keep-alive", "1"),
        ("proxy-connection", "close"),
        ("x-own", "kept"),
    ] {
        request.headers.insert(name, HeaderValue::from_static(value));
    }
    request.body = Bytes::from_static(b"{}");
    whole(&*client, request.clone()).await.unwrap();
    request.body = Bytes::new();
    request.headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("zstd"));
    whole(&*client, request).await.unwrap();
    let mut part = get(lab.url("/part"));
    part.headers.insert(header::RANGE, HeaderValue::from_static("bytes=0-1"));
    whole(&*client, part).await.unwrap();

    let received = lab.received();
    assert_eq!(received[0].header("host"), Some(&*lab.address().to_string()));
    assert_eq!(received[0].body, b"{}");
    assert_eq!(received[0].target, "/in?q=1");
    assert_eq!(received[0].header("content-length"), Some("2"));
    for name in ["transfer-encoding", "connection", "te", "upgrade", "keep-alive", "proxy-connection"] {
        assert_eq!(received[0].header(name), None, "{name}");
    }
    assert_eq!(received[0].header("x-own"), Some("kept"));
    assert_eq!(received[0].header("accept-encoding"), Some("gzip, br, zstd"));
    assert_eq!(
        (received[1].header("content-length"), received[1].header("accept-encoding")),
        (Some("0"), Some("zstd"))
    );
    assert_eq!(received[2].header("accept-encoding"), Some("identity"));
    assert_eq!(received[2].header("content-length"), None);
}

#[tokio::test]
async fn bodies_are_decoded_in_every_coding_and_framing() {
    let text = "many words, ".repeat(10_000);
    for coding in Coding::ALL {
        let once = encode(*coding, text.as_bytes()).await;
        let twice = encode(Coding::Gzip, &once).await;
        for framing in [Framing::Length, Framing::Chunked(1000), Framing::Close] {
            for (name, bytes) in [(coding.token().to_owned(), &once), (format!("{}, gzip", coding.token()), &twice)] {
                let answer = Answer::ok(bytes.clone()).header("content-encoding", &name).framing(framing);
                let lab = Lab::always(answer).await;
                let mut answer = client().await.send(get(lab.url("/"))).await.unwrap();
                assert_eq!(answer.bytes().await.unwrap(), text.as_bytes(), "{name} {framing:?}");
                assert_eq!(header(&answer, "content-encoding"), None);
                assert_eq!(header(&answer, "content-length"), None);
            }
        }
    }
}

#[tokio::test]
async fn answers_without_a_body_are_not_decoded() {
    let lab = Lab::scripted(|received| match received.path() {
        "/empty" => Answer::ok("").header("content-encoding", "gzip").into(),
        "/chunks" => Answer::ok("").header("content-encoding", "br").framing(Framing::Chunked(10)).into(),
        "/304" => Answer::status(304).header("content-encoding", "gzip").into(),
        _ => {
            Behaviour::Raw(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 99999999999\r\n\r\n".to_vec())
        }
    })
    .await;
    let client = client().await;
    for (path, status) in [("/empty", 200), ("/chunks", 200), ("/304", 304)] {
        assert_eq!(whole(&*client, get(lab.url(path))).await, Ok((status, vec![])), "{path}");
    }
    let mut answer = client.send(OutboundRequest::new(Method::HEAD, lab.url("/head"))).await.unwrap();
    assert_eq!(header(&answer, "content-length"), Some("99999999999"));
    assert_eq!(answer.bytes().await, Ok(Bytes::new()));
}

#[tokio::test]
async fn http2_is_spoken_where_the_server_offers_it() {
    let ca = TestCa::new("lab");
    let lab = Lab::builder().tls(TlsSetup::new(ca.server(&["127.0.0.1"])).http2()).always(Answer::ok("two")).await;
    let files = Files::new();
    let profiles = only(trusting(files.write("ca.pem", &ca.pem())));
    let dialer = Dialer::builder().tls_profiles(profiles).build();
    let client = dialer.open(&with_tls(loopback())).await.unwrap();
    let all = futures_util::future::join_all((0..20).map(|_| whole(&*client, get(lab.url("/"))))).await;
    assert!(all.iter().all(|one| *one == Ok((200, b"two".to_vec()))), "{all:?}");
    assert!(lab.received().iter().all(|received| received.http2));
}
