//! The same load on each server: so many callers, each with a connection of its own, asking again as soon as the answer is read.

use std::io;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// What one span gave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    pub(crate) per_second: f64,
    pub(crate) p99_ms: f64,
}

impl Figures {
    pub(crate) fn of(mut waits: Vec<Duration>, span: Duration) -> Self {
        waits.sort_unstable();
        let last = waits.len().saturating_sub(1);
        let p99 = waits.get((waits.len() * 99 / 100).min(last)).copied().unwrap_or_default();
        #[expect(clippy::cast_precision_loss, reason = "counts of a few seconds are exact in a float")]
        let count = waits.len() as f64;
        Self { per_second: count / span.as_secs_f64(), p99_ms: p99.as_secs_f64() * 1e3 }
    }
}

pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A request of the enveloped era.
pub(crate) fn message(id: u64, method: &str, params: &str) -> String {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
    let params = if params.is_empty() { meta.to_owned() } else { format!("{params},{meta}") };
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}}}}}"#)
}

/// The one call that is measured.
pub(crate) const CALL: &str = r#""name":"echo_0","arguments":{"text":"hello over there"}"#;

/// Whether an answer is the good one.
pub(crate) fn good(answer: &[u8]) -> io::Result<()> {
    let found = answer.windows(16).any(|window| window == b"hello over there");
    if found { Ok(()) } else { Err(io::Error::other(String::from_utf8_lossy(answer).into_owned())) }
}

pub(crate) async fn http(address: &str, callers: usize, span: Duration) -> io::Result<Figures> {
    // The first calls open connections and warm the server up; they are not counted.
    run(address, callers, span / 8).await?;
    let started = Instant::now();
    let waits = run(address, callers, span).await?;
    Ok(Figures::of(waits, started.elapsed()))
}

async fn run(address: &str, callers: usize, span: Duration) -> io::Result<Vec<Duration>> {
    let until = Instant::now() + span;
    let tasks: Vec<_> = (0..callers).map(|_| tokio::spawn(caller(address.to_owned(), until))).collect();
    let mut waits = Vec::new();
    for task in tasks {
        waits.extend(task.await.map_err(io::Error::other)??);
    }
    Ok(waits)
}

#[expect(clippy::disallowed_methods, reason = "its own server on loopback")]
async fn caller(address: String, until: Instant) -> io::Result<Vec<Duration>> {
    let stream = TcpStream::connect(&address).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    tokio::spawn(connection);
    let mut waits = Vec::new();
    let body = Bytes::from(message(1, "tools/call", CALL));
    while Instant::now() < until {
        let request = Request::post("/mcp")
            .header("host", &address)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", "echo_0")
            .body(Full::new(body.clone()))
            .map_err(io::Error::other)?;
        let asked = Instant::now();
        let answer = sender.send_request(request).await.map_err(io::Error::other)?;
        let answer = answer.into_body().collect().await.map_err(io::Error::other)?.to_bytes();
        waits.push(asked.elapsed());
        good(&answer)?;
        sender.ready().await.map_err(io::Error::other)?;
    }
    Ok(waits)
}
