//! Exchanges with authorities.

use std::sync::Arc;
use std::time::Duration;

use scion_domain::auth::{AuthRefusal, AuthUrl, FormRequest, MAX_TOKEN_BODY};
use scion_domain::http::{
    Bytes, ExchangeLimits, HeaderValue, HttpRefusal, Method, OutboundRequest, ResponseHead, Url, header,
};
use scion_ports::HttpExchange;

/// How authorities are reached. Redirects are never followed: a token endpoint that moves is a decision for a person.
#[derive(Clone)]
pub struct Authority {
    exchange: Arc<dyn HttpExchange>,
    limits: ExchangeLimits,
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Authority")
    }
}

/// 1 MiB and 20 s: an authority that needs more is in trouble.
pub(crate) fn limits() -> ExchangeLimits {
    ExchangeLimits {
        body_bytes: MAX_TOKEN_BODY as u64,
        idle: Duration::from_secs(10),
        total: Duration::from_secs(20),
        ..ExchangeLimits::default()
    }
}

/// The name of an authority in refusals: scheme, host and port.
pub(crate) fn named(url: &Url) -> String {
    url.origin().ascii_serialization()
}

fn refused(url: &Url, refusal: &HttpRefusal) -> AuthRefusal {
    let authority = named(url);
    match refusal {
        HttpRefusal::Connect { .. } | HttpRefusal::Timeout { .. } | HttpRefusal::Broken { .. } => {
            AuthRefusal::Unreachable { authority }
        }
        HttpRefusal::Malformed { .. } | HttpRefusal::TooLarge { .. } => {
            AuthRefusal::Malformed { authority, what: "answer" }
        }
        other => AuthRefusal::NotDialled { authority, code: other.entry().code },
    }
}

impl Authority {
    /// Through an exchange.
    pub fn new(exchange: Arc<dyn HttpExchange>) -> Self {
        Self { exchange, limits: limits() }
    }

    /// With other bounds.
    #[must_use]
    pub const fn with_limits(mut self, limits: ExchangeLimits) -> Self {
        self.limits = limits;
        self
    }

    pub(crate) async fn ask(&self, mut request: OutboundRequest) -> Result<(ResponseHead, Bytes), AuthRefusal> {
        let url = request.url.clone();
        request.limits = self.limits;
        request.headers.entry(header::ACCEPT).or_insert(HeaderValue::from_static("application/json"));
        let mut answer = self.exchange.send(request).await.map_err(|refusal| refused(&url, &refusal))?;
        let body = answer.bytes().await.map_err(|refusal| refused(&url, &refusal))?;
        Ok((answer.head, body))
    }

    /// Posts a form; answers status and body.
    pub(crate) async fn post_form(&self, url: &AuthUrl, form: &FormRequest) -> Result<(u16, Bytes), AuthRefusal> {
        let mut request = OutboundRequest::new(Method::POST, url.url().clone());
        let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
        request.headers.insert(header::CONTENT_TYPE, kind);
        if let Some(authorization) = &form.authorization {
            request.headers.insert(header::AUTHORIZATION, authorization.clone());
        }
        request.body = Bytes::copy_from_slice(form.body.expose().as_bytes());
        let (head, body) = self.ask(request).await?;
        Ok((head.status.as_u16(), body))
    }

    /// Posts JSON; answers status and body.
    pub(crate) async fn post_json(&self, url: &AuthUrl, body: String) -> Result<(u16, Bytes), AuthRefusal> {
        let mut request = OutboundRequest::new(Method::POST, url.url().clone());
        request.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        request.body = Bytes::from(body);
        let (head, body) = self.ask(request).await?;
        Ok((head.status.as_u16(), body))
    }

    /// Gets a document; `None` where there is none. An authority that is in trouble is a refusal.
    pub(crate) async fn find_document(&self, url: &Url) -> Result<Option<Bytes>, AuthRefusal> {
        let (head, body) = self.ask(OutboundRequest::new(Method::GET, url.clone())).await?;
        match head.status.as_u16() {
            200 => Ok(Some(body)),
            408 | 425 | 429 | 500..=599 => Err(AuthRefusal::Unreachable { authority: named(url) }),
            _ => Ok(None),
        }
    }

    /// Gets a document; any status but 200 is a refusal.
    pub(crate) async fn document(&self, url: &Url) -> Result<Bytes, AuthRefusal> {
        let (head, body) = self.ask(OutboundRequest::new(Method::GET, url.clone())).await?;
        match head.status.as_u16() {
            200 => Ok(body),
            408 | 425 | 429 | 500..=599 => Err(AuthRefusal::Unreachable { authority: named(url) }),
            _ => Err(AuthRefusal::Malformed { authority: named(url), what: "document" }),
        }
    }
}
