use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::Stream;
use hyper::body::{Body as _, Incoming};
use scion_domain::http::{Bytes, HttpRefusal};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::failure;

/// The body as it comes from the wire, within its bounds of size and time.
pub(super) struct Raw {
    incoming: Incoming,
    left: u64,
    /// The bound that is named when `left` is used up.
    limit: u64,
    idle: Duration,
    total: Instant,
    /// Runs while a piece is awaited.
    timer: Option<Pin<Box<Sleep>>>,
    awaited: bool,
    host: Arc<str>,
}

impl Raw {
    pub(super) fn new(
        incoming: Incoming,
        left: u64,
        limit: u64,
        idle: Duration,
        total: Instant,
        host: Arc<str>,
    ) -> Self {
        Self { incoming, left, limit, idle, total, timer: None, awaited: false, host }
    }

    /// The bytes the peer announced, or 0.
    pub(super) fn declared(&self) -> u64 {
        self.incoming.size_hint().lower()
    }

    pub(super) fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, HttpRefusal>> {
        loop {
            let frame = match Pin::new(&mut self.incoming).poll_frame(cx) {
                Poll::Pending => return self.poll_timer(cx),
                Poll::Ready(None) => return Poll::Ready(Ok(None)),
                Poll::Ready(Some(Err(error))) => {
                    return Poll::Ready(Err(failure::of_body(&error, self.host.to_string())));
                }
                Poll::Ready(Some(Ok(frame))) => frame,
            };
            self.awaited = false;
            let now = Instant::now();
            if now >= self.total {
                return Poll::Ready(Err(self.timeout("total")));
            }
            let Ok(piece) = frame.into_data() else { continue };
            if piece.is_empty() {
                continue;
            }
            let Some(left) = self.left.checked_sub(piece.len() as u64) else {
                let host = self.host.to_string();
                return Poll::Ready(Err(HttpRefusal::TooLarge { host, what: "body", limit: self.limit }));
            };
            self.left = left;
            return Poll::Ready(Ok(Some(piece)));
        }
    }

    fn poll_timer(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, HttpRefusal>> {
        let timer = match &mut self.timer {
            Some(timer) => timer,
            none => none.insert(Box::pin(sleep_until(self.total))),
        };
        if !self.awaited {
            self.awaited = true;
            timer.as_mut().reset(self.total.min(Instant::now() + self.idle));
        }
        if timer.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        let phase = if Instant::now() >= self.total { "total" } else { "idle" };
        Poll::Ready(Err(self.timeout(phase)))
    }

    fn timeout(&self, phase: &'static str) -> HttpRefusal {
        HttpRefusal::Timeout { host: self.host.to_string(), phase }
    }
}

/// For the decoders; a refusal travels inside the error.
impl Stream for Raw {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        self.poll_piece(cx).map(|piece| piece.map_err(io::Error::other).transpose())
    }
}
