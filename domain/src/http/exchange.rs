//! The request, its bounds, and the head of the answer.

use std::fmt;
use std::time::Duration;

use super::{Bytes, HeaderMap, Method, StatusCode, Url};
use crate::egress::EgressPolicy;
use crate::redaction::{redact_headers, redact_url};

/// The bounds of one exchange. Every one of them ends the exchange with a refusal of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExchangeLimits {
    /// Bytes of the body after decompression.
    pub body_bytes: u64,
    /// Header fields of the answer.
    pub headers: usize,
    /// Bytes of all header names and values of the answer.
    pub header_bytes: usize,
    /// Until a connection stands: resolution, dial, TLS.
    pub connect: Duration,
    /// Between two pieces of the answer, head included.
    pub idle: Duration,
    /// From the call to the last byte of the body, redirects included.
    pub total: Duration,
}

impl Default for ExchangeLimits {
    /// 16 MiB, 128 header fields of 64 KiB together, 10 s to connect, 30 s idle, 30 s in all (`wire/mcp-surface.md` 6.2).
    fn default() -> Self {
        Self {
            body_bytes: 16 * 1024 * 1024,
            headers: 128,
            header_bytes: 64 * 1024,
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(30),
            total: Duration::from_secs(30),
        }
    }
}

/// What happens on a 3xx answer with a `Location`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RedirectRule {
    /// The answer is handed over as it is.
    #[default]
    Return,
    /// Followed up to this many times: each target checked as the first one was, credentials dropped on another origin, never
    /// from https to http.
    Follow(u8),
}

/// One request. Header values that hold credentials are marked sensitive ([`http::HeaderValue::set_sensitive`]).
#[derive(Clone)]
pub struct OutboundRequest {
    /// The method.
    pub method: Method,
    /// The absolute http(s) URL, without user info and fragment.
    pub url: Url,
    /// Header fields; `Host`, `Content-Length`, `Connection` and the like are set by the adapter.
    pub headers: HeaderMap,
    /// The body; empty means none.
    pub body: Bytes,
    /// The bounds.
    pub limits: ExchangeLimits,
    /// Redirects.
    pub redirects: RedirectRule,
}

impl OutboundRequest {
    /// A request with default bounds and no body.
    pub fn new(method: Method, url: Url) -> Self {
        Self {
            method,
            url,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            limits: ExchangeLimits::default(),
            redirects: RedirectRule::Return,
        }
    }
}

/// Bodies hold passwords and queries hold keys: of the one the length is shown, of the other what is no secret.
impl fmt::Debug for OutboundRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutboundRequest")
            .field("method", &self.method)
            .field("url", &redact_url(self.url.as_str()))
            .field("headers", &redact_headers(&self.headers))
            .field("body_bytes", &self.body.len())
            .field("limits", &self.limits)
            .field("redirects", &self.redirects)
            .finish()
    }
}

/// What came back before the body.
#[derive(Clone)]
pub struct ResponseHead {
    /// The status.
    pub status: StatusCode,
    /// The header fields, `Content-Encoding` and `Content-Length` removed when the adapter decoded the body.
    pub headers: HeaderMap,
    /// The URL that answered, after redirects.
    pub url: Url,
    /// How many redirects were followed.
    pub redirects: u8,
}

/// `Set-Cookie` and `Location` hold sessions and codes.
impl fmt::Debug for ResponseHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut headers = redact_headers(&self.headers);
        if let Some(place) = headers.get_mut("location") {
            *place = redact_url(place);
        }
        f.debug_struct("ResponseHead")
            .field("status", &self.status)
            .field("headers", &headers)
            .field("url", &redact_url(self.url.as_str()))
            .field("redirects", &self.redirects)
            .finish()
    }
}

/// How the exchanges of one client reach the outside. A dialer turns it into a client with its own pool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpProfile {
    /// Which addresses may be dialled.
    pub egress: EgressPolicy,
    /// The name of a TLS profile the dialer knows; `None` is the platform's roots.
    pub tls: Option<String>,
    /// The name of a proxy profile the dialer knows; `None` is no proxy.
    pub proxy: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{HeaderValue, header};

    /// Proves: SDK-CENTRALIZED-CAPABILITIES-R006
    #[test]
    fn no_debug_text_shows_a_secret() {
        let url = Url::parse("https://a.example/x?page=2&api_key=hunter2").unwrap();
        let mut request = OutboundRequest::new(Method::POST, url.clone());
        request.body = Bytes::from_static(b"password=hunter2");
        request.headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer hunter2"));
        let shown = format!("{request:?}");
        assert!(shown.contains("page=2") && shown.contains("body_bytes: 16"), "{shown}");
        let mut headers = HeaderMap::new();
        headers.insert(header::SET_COOKIE, HeaderValue::from_static("sid=hunter2"));
        headers.insert(header::LOCATION, HeaderValue::from_static("/callback?code=hunter2"));
        let head = ResponseHead { status: StatusCode::FOUND, headers, url, redirects: 0 };
        let shown = format!("{shown} {head:?}");
        assert!(shown.contains("302") && !shown.contains("hunter2"), "{shown}");
    }
}
