//! A server behind a URL: MCP streamable HTTP.
//!
//! The protocol library runs sessions, streams and resumption; this module is its HTTP backend on the port
//! [`HttpExchange`], so that no byte goes round the one dialer. It bounds what is read, keeps results as raw text
//! (`wire.rs`), marks credentials as sensitive, follows no redirect (one would carry them elsewhere), and says by kind why
//! a request failed.

mod body;
mod events;
mod exchange;
mod request;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig, StreamableHttpError,
};
use rmcp::transport::{DynamicTransportError, Transport};
use scion_domain::http::{HeaderValue, Url};
use scion_domain::mcp::McpRefusal;
use scion_domain::secret::Secret;
use scion_ports::{HttpExchange, RequestAuth};

use crate::fault::{End, Fault};
use crate::wire::Pending;

/// Requests of one session that may wait for their answer at once; pacing can only lower it.
const MAX_POSTS: usize = 64;
/// The longest wait before a broken notification stream is opened again.
const MAX_RESUME_DELAY: Duration = Duration::from_mins(1);

/// The error of the backend; its text says nothing, its kind everything.
#[derive(Debug)]
pub(crate) struct WireFault(pub(crate) Fault);

impl fmt::Display for WireFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the exchange failed")
    }
}

impl std::error::Error for WireFault {}

impl From<Fault> for StreamableHttpError<WireFault> {
    fn from(fault: Fault) -> Self {
        Self::Client(WireFault(fault))
    }
}

/// The fault behind a failed send, if it came from this backend.
pub(crate) fn fault_in(error: &DynamicTransportError) -> Option<Fault> {
    Some(match error.error.downcast_ref::<StreamableHttpError<WireFault>>()? {
        StreamableHttpError::Client(WireFault(fault)) => fault.clone(),
        StreamableHttpError::UnexpectedServerResponse(_)
        | StreamableHttpError::UnexpectedContentType(_)
        | StreamableHttpError::Deserialize(_)
        | StreamableHttpError::Sse(_) => Fault::Malformed,
        _ => Fault::Closed,
    })
}

/// How a request is authenticated.
#[derive(Clone)]
pub(crate) enum Authorization {
    None,
    Bearer(HeaderValue),
    Auth(Arc<dyn RequestAuth>),
}

impl Authorization {
    /// A bearer token; `None` when it holds characters a header cannot.
    pub(crate) fn bearer(token: &Secret<String>) -> Option<Self> {
        let mut value = HeaderValue::try_from(format!("Bearer {}", token.expose())).ok()?;
        value.set_sensitive(true);
        Some(Self::Bearer(value))
    }
}

/// The HTTP backend of one session.
#[derive(Clone)]
pub(crate) struct HttpWire(Arc<Shared>);

struct Shared {
    exchange: Arc<dyn HttpExchange>,
    url: Url,
    authorization: Authorization,
    pending: Pending,
    end: Arc<End>,
    limit: usize,
    /// The deadline of each operation.
    timeout: Duration,
}

/// An address as refusals show it: without user info and query, which can hold secrets.
pub(crate) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // Both fail only for addresses that have no host, which are refused anyway.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

/// Reads the address of an endpoint.
pub(crate) fn parse_url(text: &str) -> Result<Url, McpRefusal> {
    Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| McpRefusal::Unreachable { endpoint: "endpoint.url, which is not an http(s) address".to_owned() })
}

/// A transport to an address.
pub(crate) fn transport(
    exchange: Arc<dyn HttpExchange>,
    mut url: Url,
    authorization: Authorization,
    end: Arc<End>,
    limit: usize,
    timeout: Duration,
) -> WatchedTransport {
    url.set_fragment(None);
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str()).max_concurrent_requests(MAX_POSTS);
    config.reinit_on_expired_session = false;
    config.allow_stateless = true;
    let mut backoff = ExponentialBackoff::default();
    backoff.max_delay = Some(MAX_RESUME_DELAY);
    config.retry_config = Arc::new(backoff);
    let pending = Pending::learning();
    let shared = Shared { exchange, url, authorization, pending, end: Arc::clone(&end), limit, timeout };
    let inner = StreamableHttpClientTransport::with_client(HttpWire(Arc::new(shared)), config);
    WatchedTransport { inner, end }
}

/// The library's transport, with its end noticed at once.
pub(crate) struct WatchedTransport {
    inner: StreamableHttpClientTransport<HttpWire>,
    end: Arc<End>,
}

/// An opening that nobody waits for any more leaves no exchange behind.
impl Drop for WatchedTransport {
    fn drop(&mut self) {
        self.end.set(Fault::Closed);
    }
}

impl Transport<RoleClient> for WatchedTransport {
    type Error = StreamableHttpError<WireFault>;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let message = self.inner.receive().await;
        if message.is_none() {
            self.end.set(Fault::Closed);
        }
        message
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.end.set(Fault::Closed);
        self.inner.close().await
    }
}

#[cfg(test)]
mod tests {
    use super::{parse_url, shown};

    #[test]
    fn a_shown_address_has_no_secrets() {
        let url = parse_url("https://user:sk-1@host:8443/mcp?key=sk-2#sk-3").unwrap();
        assert_eq!(shown(&url), "https://host:8443/mcp");
    }

    #[test]
    fn only_http_addresses_are_endpoints() {
        for bad in ["", "host/mcp", "file:///etc/passwd", "unix:/run/x", "http://"] {
            assert!(parse_url(bad).is_err(), "{bad}");
        }
    }
}
