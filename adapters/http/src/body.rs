//! The body of an answer: bounded, timed, decoded, and read only as fast as its caller reads.

mod decode;
mod raw;

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use async_trait::async_trait;
use hyper::body::Incoming;
use scion_domain::http::{Bytes, ExchangeLimits, HeaderMap, HttpRefusal, Method, StatusCode, header};
use scion_ports::BodyStream;
use tokio::time::Instant;

use decode::{Decoded, codings};
use raw::Raw;

/// A body on its way to the caller.
pub(crate) struct Body {
    source: Source,
    /// Bytes that may still come, after decoding.
    left: u64,
    limit: u64,
    host: Arc<str>,
}

enum Source {
    Plain(Raw),
    Decoded(Decoded),
    Ended(Result<(), HttpRefusal>),
}

/// Takes over a body; removes the fields that describe what is decoded. Refuses a length or an encoding that cannot be.
pub(crate) fn open(
    incoming: Incoming,
    method: &Method,
    status: StatusCode,
    headers: &mut HeaderMap,
    limits: &ExchangeLimits,
    total: Instant,
    host: &str,
) -> Result<Body, HttpRefusal> {
    let limit = limits.body_bytes;
    let none = *method == Method::HEAD || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    let codings = if none { Vec::new() } else { codings(headers).map_err(|what| malformed(host.to_owned(), what))? };
    // Encoded text may be a little longer than what it encodes.
    let on_wire = if codings.is_empty() { limit } else { limit.saturating_add(limit / 16).saturating_add(4096) };
    let host: Arc<str> = host.into();
    let raw = Raw::new(incoming, on_wire, limit, limits.idle, total, Arc::clone(&host));
    if !none && raw.declared() > on_wire {
        return Err(HttpRefusal::TooLarge { host: host.to_string(), what: "body", limit });
    }
    let source = if codings.is_empty() {
        Source::Plain(raw)
    } else {
        headers.remove(header::CONTENT_ENCODING);
        headers.remove(header::CONTENT_LENGTH);
        Source::Decoded(Decoded::new(raw, &codings))
    };
    Ok(Body { source, left: limit, limit, host })
}

fn malformed(host: String, what: &'static str) -> HttpRefusal {
    HttpRefusal::Malformed { host, what }
}

impl Body {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, HttpRefusal>> {
        let piece = match &mut self.source {
            Source::Plain(raw) => ready!(raw.poll_piece(cx)),
            Source::Decoded(decoded) => ready!(decoded.poll_piece(cx)).map_err(|error| match error {
                Some(refusal) => refusal,
                None => malformed(self.host.to_string(), "content encoding"),
            }),
            Source::Ended(outcome) => return Poll::Ready(outcome.clone().map(|()| None)),
        };
        let ended = match piece {
            Ok(Some(piece)) => match self.left.checked_sub(piece.len() as u64) {
                Some(left) => {
                    self.left = left;
                    return Poll::Ready(Ok(Some(piece)));
                }
                None => Err(HttpRefusal::TooLarge { host: self.host.to_string(), what: "body", limit: self.limit }),
            },
            Ok(None) => Ok(()),
            Err(refusal) => Err(refusal),
        };
        // The connection goes back or away here, not when the caller drops the body.
        self.source = Source::Ended(ended.clone());
        Poll::Ready(ended.map(|()| None))
    }
}

#[async_trait]
impl BodyStream for Body {
    async fn chunk(&mut self) -> Result<Option<Bytes>, HttpRefusal> {
        poll_fn(|cx| self.poll_chunk(cx)).await
    }
}
