//! Wrong dialers: each takes one that is right and spoils it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use scion_domain::egress::EgressPolicy;
use scion_domain::http::{Bytes, HttpProfile, HttpRefusal, OutboundRequest, RedirectRule, header};
use scion_ports::{BodyStream, HttpDialer, HttpExchange, InboundResponse};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExchangeFlaw {
    /// Nothing.
    None,
    /// Dials whatever it is asked for.
    DialsAnything,
    /// Checks the first request and none of its redirects, and sends everything along.
    FollowsBlindly,
    /// Has no bound for bodies.
    NoBodyBound,
    /// Hands compressed bytes over.
    Undecoded,
    /// Does not count header fields.
    NoHeaderCount,
    /// Does not weigh header fields.
    NoHeaderWeight,
    /// Does not count redirects.
    NoRedirectCount,
    /// Waits for connections.
    NoConnectLimit,
    /// Waits in silence.
    NoIdleLimit,
    /// Waits for the end.
    NoTotal,
    /// Follows redirects unasked.
    FollowsUnasked,
    /// Takes an error status for a failure.
    RefusesStatus,
    /// Says that nothing was sent.
    DeniesSending,
    /// Shows the URL.
    ShowsUrl,
    /// Goes on after it was dropped.
    GoesOn,
    /// Keeps the body after it was dropped.
    KeepsBody,
    /// Ends a torn body at the second call.
    ForgetsRefusal,
    /// Takes the default for a profile it does not know.
    GuessesProfile,
}

impl ExchangeFlaw {
    /// Every flaw.
    pub const ALL: &'static [Self] = &[
        Self::DialsAnything,
        Self::FollowsBlindly,
        Self::NoBodyBound,
        Self::Undecoded,
        Self::NoHeaderCount,
        Self::NoHeaderWeight,
        Self::NoRedirectCount,
        Self::NoConnectLimit,
        Self::NoIdleLimit,
        Self::NoTotal,
        Self::FollowsUnasked,
        Self::RefusesStatus,
        Self::DeniesSending,
        Self::ShowsUrl,
        Self::GoesOn,
        Self::KeepsBody,
        Self::ForgetsRefusal,
        Self::GuessesProfile,
    ];
}

/// A spoilt dialer.
pub struct FlawedDialer {
    /// The one that is right.
    pub inner: Arc<dyn HttpDialer>,
    /// What is wrong.
    pub flaw: ExchangeFlaw,
}

struct FlawedExchange {
    right: Arc<dyn HttpExchange>,
    anywhere: Arc<dyn HttpExchange>,
    flaw: ExchangeFlaw,
}

#[async_trait]
impl HttpDialer for FlawedDialer {
    async fn open(&self, profile: &HttpProfile) -> Result<Arc<dyn HttpExchange>, HttpRefusal> {
        let unpinned = EgressPolicy { pin_egress: false, allowed_private_hosts: Vec::new(), ..EgressPolicy::default() };
        let permissive = HttpProfile { egress: unpinned, ..HttpProfile::default() };
        let anywhere = self.inner.open(&permissive).await?;
        let right = match (self.inner.open(profile).await, self.flaw) {
            (Err(HttpRefusal::UnknownProfile { .. }), ExchangeFlaw::GuessesProfile) => Arc::clone(&anywhere),
            (right, _) => right?,
        };
        Ok(Arc::new(FlawedExchange { right, anywhere, flaw: self.flaw }))
    }
}

#[async_trait]
impl HttpExchange for FlawedExchange {
    async fn send(&self, mut request: OutboundRequest) -> Result<InboundResponse, HttpRefusal> {
        const LONG: Duration = Duration::from_mins(1);
        let shown = request.url.to_string();
        let limits = &mut request.limits;
        match (self.flaw, &mut request.redirects) {
            (ExchangeFlaw::NoBodyBound, _) => limits.body_bytes = u64::MAX,
            (ExchangeFlaw::NoHeaderCount, _) => limits.headers = usize::MAX,
            (ExchangeFlaw::NoHeaderWeight, _) => limits.header_bytes = usize::MAX,
            (ExchangeFlaw::NoRedirectCount, RedirectRule::Follow(limit)) => *limit = 20,
            (ExchangeFlaw::NoConnectLimit, _) => (limits.connect, limits.total) = (LONG, LONG),
            (ExchangeFlaw::NoIdleLimit, _) => limits.idle = LONG,
            (ExchangeFlaw::NoTotal, _) => limits.total = LONG,
            (ExchangeFlaw::FollowsUnasked, redirects) => *redirects = RedirectRule::Follow(5),
            (ExchangeFlaw::Undecoded, _) => limits.body_bytes = limits.body_bytes.max(1 << 20),
            _ => {}
        }
        let outcome = match self.flaw {
            ExchangeFlaw::DialsAnything => self.anywhere.send(request).await,
            ExchangeFlaw::FollowsBlindly => self.follow(request).await,
            ExchangeFlaw::GoesOn => {
                let right = Arc::clone(&self.right);
                let running = tokio::spawn(async move { right.send(request).await });
                running.await.unwrap_or(Err(HttpRefusal::Broken { host: String::new() }))
            }
            _ => self.right.send(request).await,
        };
        match (outcome, self.flaw) {
            (Ok(answer), ExchangeFlaw::RefusesStatus) if !answer.head.status.is_success() => {
                Err(HttpRefusal::Broken { host: String::new() })
            }
            (Err(HttpRefusal::Broken { host }), ExchangeFlaw::DeniesSending) => Err(HttpRefusal::Connect { host }),
            (Err(_), ExchangeFlaw::ShowsUrl) => Err(HttpRefusal::Broken { host: shown }),
            (Ok(mut answer), flaw) => {
                answer.body = Box::new(FlawedBody { inner: Some(answer.body), flaw, refused: false });
                Ok(answer)
            }
            (refused, _) => refused,
        }
    }
}

impl FlawedExchange {
    async fn follow(&self, mut request: OutboundRequest) -> Result<InboundResponse, HttpRefusal> {
        let RedirectRule::Follow(limit) = request.redirects else { return self.right.send(request).await };
        request.redirects = RedirectRule::Return;
        let mut answer = self.right.send(request.clone()).await?;
        for followed in 1..=limit {
            let place = answer.head.headers.get(header::LOCATION).and_then(|place| place.to_str().ok());
            let Some(next) = place.and_then(|place| request.url.join(place).ok()) else { break };
            request.url = next;
            answer = self.anywhere.send(request.clone()).await?;
            answer.head.redirects = followed;
        }
        Ok(answer)
    }
}

struct FlawedBody {
    inner: Option<Box<dyn BodyStream>>,
    flaw: ExchangeFlaw,
    refused: bool,
}

#[async_trait]
impl BodyStream for FlawedBody {
    async fn chunk(&mut self) -> Result<Option<Bytes>, HttpRefusal> {
        if self.refused && self.flaw == ExchangeFlaw::ForgetsRefusal {
            return Ok(None);
        }
        let Some(inner) = &mut self.inner else { return Ok(None) };
        let piece = inner.chunk().await;
        self.refused = piece.is_err();
        match (piece, self.flaw) {
            (Ok(Some(piece)), ExchangeFlaw::Undecoded) if piece.first() == Some(&0) => {
                Ok(Some(Bytes::from_static(b"\x1f")))
            }
            (piece, _) => piece,
        }
    }
}

impl Drop for FlawedBody {
    fn drop(&mut self) {
        if self.flaw == ExchangeFlaw::KeepsBody {
            std::mem::forget(self.inner.take());
        }
    }
}
