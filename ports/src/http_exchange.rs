use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::http::{Bytes, HttpProfile, HttpRefusal, OutboundRequest, ResponseHead};

/// The body of an answer, piece by piece; nothing is read ahead of the caller beyond a small buffer.
///
/// Obligations:
/// - **O1** After `Ok(None)` or a refusal every further call is `Ok(None)` or the same refusal.
/// - **O2** Dropping it ends the exchange and never blocks.
#[async_trait]
pub trait BodyStream: Send {
    /// The next piece; `None` at the end.
    async fn chunk(&mut self) -> Result<Option<Bytes>, HttpRefusal>;
}

/// An answer.
pub struct InboundResponse {
    /// Status and header fields.
    pub head: ResponseHead,
    /// The body, decoded.
    pub body: Box<dyn BodyStream>,
}

impl std::fmt::Debug for InboundResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InboundResponse").field("status", &self.head.status).finish_non_exhaustive()
    }
}

impl InboundResponse {
    /// Reads the whole body; its size is bounded by the request's limits.
    pub async fn bytes(&mut self) -> Result<Bytes, HttpRefusal> {
        let Some(first) = self.body.chunk().await? else { return Ok(Bytes::new()) };
        let Some(second) = self.body.chunk().await? else { return Ok(first) };
        let mut all = Vec::with_capacity(first.len() + second.len());
        all.extend_from_slice(&first);
        all.extend_from_slice(&second);
        while let Some(chunk) = self.body.chunk().await? {
            all.extend_from_slice(&chunk);
        }
        Ok(Bytes::from(all))
    }
}

/// Sends one request and hands over its answer. It never retries and never authenticates; use cases do.
///
/// Obligations:
/// - **O1** Every address is checked against the profile's egress policy before it is dialled: the first, each redirect, each
///   time; a refusal means that no byte was sent.
/// - **O2** Every limit of the request holds, decompression included, and each has its own refusal.
/// - **O3** Redirects follow the request's rule; sensitive header fields never reach another origin, and https never becomes http.
/// - **O4** An answer of any status is an answer; only exchanges without one are refusals.
/// - **O5** No refusal, log line or `Debug` text holds a header value, a query, a body or a peer's text.
/// - **O6** Cancelled by dropping, at any await point.
#[async_trait]
pub trait HttpExchange: Send + Sync {
    /// Sends a request.
    async fn send(&self, request: OutboundRequest) -> Result<InboundResponse, HttpRefusal>;
}

/// Opens clients. There is one adapter, so that nothing goes round its checks.
#[async_trait]
pub trait HttpDialer: Send + Sync {
    /// A client with its own connection pool for a profile.
    async fn open(&self, profile: &HttpProfile) -> Result<Arc<dyn HttpExchange>, HttpRefusal>;
}
