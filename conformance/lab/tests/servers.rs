//! The lab does what it says, seen from a plain socket.

#![allow(clippy::unwrap_used, reason = "a test helper that cannot go on ends the test")]
#![expect(clippy::disallowed_methods, reason = "a test looks at its own servers through a plain socket")]

use std::io;
use std::time::Duration;

use scion_lab::{
    Answer, Behaviour, Coding, ConnectProxy, Gate, Identity, Lab, Lie, ProxyPlan, TestCa, TlsSetup, hostile_cases,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Sends one GET and reads until the end, at most a second long.
async fn get(lab: &Lab, path: &str) -> (Vec<u8>, io::Result<()>) {
    let mut stream = TcpStream::connect(lab.address()).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: lab\r\nconnection: close\r\nx-note: told\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    let read = async {
        while bytes.len() < 4 << 20 {
            if stream.read_buf(&mut bytes).await? == 0 {
                return Ok(());
            }
        }
        Err(io::ErrorKind::FileTooLarge.into())
    };
    let end = tokio::time::timeout(Duration::from_millis(300), read).await;
    (bytes, end.unwrap_or(Err(io::ErrorKind::TimedOut.into())))
}

#[tokio::test]
async fn requests_and_connections_are_counted() {
    let lab = Lab::sequence([Answer::status(503).into(), Answer::ok("fine").header("x-a", "b").into()]).await;
    assert_eq!((lab.connections(), lab.received().len()), (0, 0));
    let (first, end) = get(&lab, "/one?q=1").await;
    assert!(end.is_ok());
    assert!(first.starts_with(b"HTTP/1.1 503"));
    for _ in 0..2 {
        let (later, _) = get(&lab, "/two").await;
        assert!(later.ends_with(b"\r\n\r\nfine"));
    }
    let received = lab.received();
    assert_eq!((lab.connections(), received.len()), (3, 3));
    assert_eq!((received[0].path(), received[0].query()), ("/one", Some("q=1")));
    assert_eq!(received[0].header("X-Note"), Some("told"));
    assert!(received[0].contains("told") && !received[0].contains("never"));
    assert!(lab.closes_within(Duration::from_secs(1)).await);
}

#[tokio::test]
async fn one_connection_carries_many_requests_and_both_framings() {
    let lab = Lab::scripted(|received| Answer::ok(received.body.clone()).trailer("x-end", "yes").into()).await;
    let mut stream = TcpStream::connect(lab.address()).await.unwrap();
    stream.write_all(b"POST / HTTP/1.1\r\ncontent-length: 3\r\n\r\noneP").await.unwrap();
    stream.write_all(b"OST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n").await.unwrap();
    let mut text = String::new();
    while text.matches("x-end: yes\r\n\r\n").count() < 2 {
        let mut piece = [0; 512];
        let read = stream.read(&mut piece).await.unwrap();
        text.push_str(std::str::from_utf8(&piece[..read]).unwrap());
    }
    assert!(text.contains("3\r\none\r\n0\r\n") && text.contains("3\r\ntwo\r\n0\r\n"));
    assert_eq!(lab.connections(), 1);
}

#[tokio::test]
async fn stalls_resets_and_floods_are_what_they_say() {
    let kind = |end: io::Result<()>| end.err().map(|error| error.kind());
    let body = || Answer::ok("x".repeat(1000));
    for (behaviour, expected) in [
        (Behaviour::StallBeforeHead, Some(io::ErrorKind::TimedOut)),
        (Behaviour::StallInHead, Some(io::ErrorKind::TimedOut)),
        (Behaviour::StallInBody(body()), Some(io::ErrorKind::TimedOut)),
        (Behaviour::DripForEver(Duration::from_millis(20)), Some(io::ErrorKind::TimedOut)),
        (Behaviour::EndlessHeaders, Some(io::ErrorKind::FileTooLarge)),
        (Behaviour::EndlessBody, Some(io::ErrorKind::FileTooLarge)),
        (Behaviour::ResetBeforeHead, Some(io::ErrorKind::ConnectionReset)),
        (Behaviour::ResetInBody(body()), Some(io::ErrorKind::ConnectionReset)),
        (Behaviour::CloseBeforeHead, None),
        (Behaviour::Lie(Lie::LengthTooLong), None),
    ] {
        let lab = Lab::always(behaviour.clone()).await;
        let (bytes, end) = get(&lab, "/").await;
        assert_eq!(kind(end), expected, "{behaviour:?} after {} bytes", bytes.len());
        assert!(lab.closes_within(Duration::from_secs(1)).await, "{behaviour:?} goes on without its client");
    }
}

#[tokio::test]
async fn a_bomb_says_its_codings_and_an_echo_says_everything() {
    let lab = Lab::scripted(|received| match received.path() {
        "/bomb" => Behaviour::Bomb(vec![Coding::Brotli, Coding::Gzip], 1 << 20),
        _ => Behaviour::Echo(400),
    })
    .await;
    let (bomb, _) = get(&lab, "/bomb").await;
    assert!(bomb.len() < 10_000);
    assert!(String::from_utf8_lossy(&bomb).contains("content-encoding: br, gzip\r\n"));
    let (echo, _) = get(&lab, "/echo?key=hidden").await;
    assert!(String::from_utf8_lossy(&echo).matches("hidden").count() >= 4);
}

#[tokio::test]
async fn a_gate_holds_answers_back() {
    let gate = Gate::closed();
    let lab = Lab::always(Behaviour::Gated(gate.clone(), Box::new(Answer::ok("late").into()))).await;
    let (early, end) = get(&lab, "/").await;
    assert!(early.is_empty() && end.is_err());
    gate.open();
    let (late, _) = get(&lab, "/").await;
    assert!(late.ends_with(b"late"));
}

#[tokio::test]
async fn a_proxy_records_targets_and_leads_where_its_plan_says() {
    let lab = Lab::always(Answer::ok("behind")).await;
    let plan =
        ProxyPlan { authorization: Some("Basic bGFi".into()), misroute: Some(lab.address()), ..ProxyPlan::default() };
    let proxy = ConnectProxy::start(plan).await;
    for (credential, status) in [("", "407"), ("proxy-authorization: Basic bGFi\r\n", "200")] {
        let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
        stream.write_all(format!("CONNECT vendor.test:443 HTTP/1.1\r\n{credential}\r\n").as_bytes()).await.unwrap();
        let mut piece = [0; 256];
        let read = stream.read(&mut piece).await.unwrap();
        assert!(String::from_utf8_lossy(&piece[..read]).contains(status));
    }
    assert_eq!(proxy.targets(), ["vendor.test:443", "vendor.test:443"]);
    assert_eq!(lab.received().len(), 0);
}

#[test]
fn certificates_of_every_kind_make_a_server() {
    let ca = TestCa::new("lab");
    for identity in
        [ca.server(&["lab.test", "127.0.0.1"]), ca.expired(&["lab.test"]), Identity::self_signed(&["lab.test"])]
    {
        assert!(identity.certificate_pem.contains("BEGIN CERTIFICATE") && identity.key_pem.contains("PRIVATE KEY"));
        let config = TlsSetup::new(identity).require_client(&ca).http2().server_config();
        assert_eq!(config.alpn_protocols.len(), 2);
    }
}

#[test]
fn the_catalogue_of_hostile_answers_has_one_of_each_name() {
    let names: std::collections::BTreeSet<String> = hostile_cases().into_iter().map(|case| case.name).collect();
    assert_eq!(names.len(), hostile_cases().len());
    assert!(names.len() > 70, "{}", names.len());
}
