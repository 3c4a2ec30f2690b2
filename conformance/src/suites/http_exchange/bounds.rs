use std::time::{Duration, Instant};

use scion_domain::http::{HttpRefusal, OutboundRequest, RedirectRule};
use scion_ports::HttpDialer;

use super::server::{Server, Then};
use super::{Checked, open, request, whole};
use crate::{ensure, must};

/// 64 KiB of zeros in gzip (RFC 1952), about a hundred bytes.
const ZEROS: &str = "1f8b0800000000000203edc101010000008090feafee080a00000000000000000000000000000000000000000000000000000000000000\
    00000000000000000000000000000000000000000000000000000000000000006aeb8e97d700000100";

/// Sends a request that must end with one refusal.
async fn ends(dialer: &dyn HttpDialer, sent: OutboundRequest, right: fn(&HttpRefusal) -> bool) -> Checked {
    let client = open(dialer).await?;
    match whole(&*client, sent).await? {
        Err(refusal) if right(&refusal) => Ok(()),
        Err(refusal) => Err(format!("ended with {refusal:?}")),
        Ok((status, body)) => Err(format!("answered {status} with {} bytes", body.len())),
    }
}

fn too_large(refusal: &HttpRefusal, expected: &str, bound: u64) -> bool {
    matches!(refusal, HttpRefusal::TooLarge { what, limit, .. } if *what == expected && *limit == bound)
}

pub(super) async fn body(dialer: &dyn HttpDialer) -> Checked {
    for head in ["content-length: 2000", "connection: close"] {
        let raw = format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{}", "x".repeat(2000));
        let server = must!(Server::always(raw.as_bytes(), Then::Close).await, "listen");
        let mut sent = request(server.url("/"));
        sent.limits.body_bytes = 1999;
        ends(dialer, sent.clone(), |refusal| too_large(refusal, "body", 1999)).await?;
        sent.limits.body_bytes = 2000;
        must!(whole(&*open(dialer).await?, sent).await?, "a body of the bound");
    }
    Ok(())
}

pub(super) async fn decoded_body(dialer: &dyn HttpDialer) -> Checked {
    let digits: Vec<u8> = ZEROS.bytes().filter(u8::is_ascii_hexdigit).collect();
    let text = |pair: &[u8]| u8::from_str_radix(&String::from_utf8_lossy(pair), 16).unwrap_or_default();
    let zeros: Vec<u8> = digits.chunks(2).map(text).collect();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n", zeros.len());
    let server = must!(Server::always(&[head.as_bytes(), &zeros].concat(), Then::Close).await, "listen");
    let client = open(dialer).await?;
    let answer = must!(whole(&*client, request(server.url("/"))).await?, "a decoded body");
    ensure!(answer.1.len() == 65536 && answer.1.iter().all(|byte| *byte == 0), "the body was not decoded");
    let mut sent = request(server.url("/"));
    sent.limits.body_bytes = 1000;
    ends(dialer, sent, |refusal| too_large(refusal, "body", 1000)).await
}

pub(super) async fn header_count(dialer: &dyn HttpDialer) -> Checked {
    let raw = format!("HTTP/1.1 200 OK\r\n{}content-length: 0\r\n\r\n", "x-a: b\r\n".repeat(30));
    let server = must!(Server::always(raw.as_bytes(), Then::Close).await, "listen");
    let mut sent = request(server.url("/"));
    sent.limits.headers = 30;
    ends(dialer, sent, |refusal| too_large(refusal, "headers", 30)).await
}

pub(super) async fn header_weight(dialer: &dyn HttpDialer) -> Checked {
    let raw = format!("HTTP/1.1 200 OK\r\nx-a: {}\r\ncontent-length: 0\r\n\r\n", "b".repeat(3000));
    let server = must!(Server::always(raw.as_bytes(), Then::Close).await, "listen");
    let mut sent = request(server.url("/"));
    sent.limits.header_bytes = 3000;
    ends(dialer, sent, |refusal| too_large(refusal, "header bytes", 3000)).await
}

pub(super) async fn redirects(dialer: &dyn HttpDialer) -> Checked {
    let server = must!(Server::redirect(302, "/again").await, "listen");
    let sent = OutboundRequest { redirects: RedirectRule::Follow(3), ..request(server.url("/")) };
    ends(dialer, sent, |refusal| too_large(refusal, "redirects", 3)).await?;
    ensure!(server.heads().len() == 4, "{} requests were sent for 3 redirects", server.heads().len());
    Ok(())
}

/// A server that takes the connection and never shakes hands.
pub(super) async fn connect(dialer: &dyn HttpDialer) -> Checked {
    let server = must!(Server::always(b"", Then::Hold).await, "listen");
    let mut url = server.url("/");
    ensure!(url.set_scheme("https").is_ok(), "a URL becomes https");
    let mut sent = request(url);
    sent.limits.connect = Duration::from_millis(150);
    ends(dialer, sent, |refusal| {
        refusal.before_sending() && matches!(refusal, HttpRefusal::Timeout { phase: "connect", .. })
    })
    .await
}

pub(super) async fn idle(dialer: &dyn HttpDialer) -> Checked {
    for raw in [&b""[..], b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok"] {
        let server = must!(Server::always(raw, Then::Hold).await, "listen");
        let mut sent = request(server.url("/"));
        sent.limits.idle = Duration::from_millis(150);
        ends(dialer, sent, |refusal| {
            !refusal.before_sending() && matches!(refusal, HttpRefusal::Timeout { phase: "idle", .. })
        })
        .await?;
    }
    Ok(())
}

pub(super) async fn total(dialer: &dyn HttpDialer) -> Checked {
    let server = must!(Server::always(b"HTTP/1.1 200 OK\r\n\r\n", Then::Drip).await, "listen");
    let mut sent = request(server.url("/"));
    sent.limits.total = Duration::from_millis(400);
    let started = Instant::now();
    ends(dialer, sent, |refusal| {
        !refusal.before_sending() && matches!(refusal, HttpRefusal::Timeout { phase: "total", .. })
    })
    .await?;
    ensure!(started.elapsed() >= Duration::from_millis(350), "ended before the total");
    Ok(())
}
