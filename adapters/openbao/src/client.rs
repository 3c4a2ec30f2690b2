//! One call to the server.

use std::sync::Arc;
use std::time::Duration;

use scion_domain::credential::StoreSettings;
use scion_domain::http::{
    Bytes, ExchangeLimits, HeaderMap, HeaderName, HeaderValue, Method, OutboundRequest, StatusCode, Url, header,
};
use scion_domain::secret::Secret;
use scion_ports::HttpExchange;

use crate::fault::Fault;

/// The largest answer, in bytes.
const MAX_ANSWER: u64 = 1024 * 1024;

const REQUEST: HeaderName = HeaderName::from_static("x-vault-request");
const TOKEN: HeaderName = HeaderName::from_static("x-vault-token");
const NAMESPACE: HeaderName = HeaderName::from_static("x-vault-namespace");

pub(crate) struct Client {
    exchange: Arc<dyn HttpExchange>,
    address: Url,
    headers: HeaderMap,
    limits: ExchangeLimits,
}

/// An answer below 300, or a 404, whose body can say more.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
}

impl Client {
    pub(crate) fn new(settings: &StoreSettings, exchange: Arc<dyn HttpExchange>) -> Self {
        let mut headers = HeaderMap::new();
        // Without it the server refuses: it keeps requests out that were forged through a redirect.
        headers.insert(REQUEST, HeaderValue::from_static("true"));
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        let namespace = settings.namespace.as_deref().map(HeaderValue::from_str);
        if let Some(Ok(namespace)) = namespace {
            headers.insert(NAMESPACE, namespace);
        }
        let deadline = settings.deadline();
        let limits = ExchangeLimits {
            body_bytes: MAX_ANSWER,
            connect: deadline.min(Duration::from_secs(5)),
            idle: deadline,
            total: deadline,
            ..ExchangeLimits::default()
        };
        Self { exchange, address: settings.address.clone(), headers, limits }
    }

    fn url(&self, path: &str, version: Option<u32>) -> Url {
        let mut url = self.address.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push("v1").extend(path.split('/'));
        }
        if let Some(version) = version {
            url.set_query(Some(&format!("version={version}")));
        }
        url
    }

    /// Reads.
    pub(crate) async fn get(&self, path: &str, version: Option<u32>, token: &Secret<String>) -> Result<Answer, Fault> {
        self.send(OutboundRequest::new(Method::GET, self.url(path, version)), Some(token)).await
    }

    /// Writes; a login has no token yet.
    pub(crate) async fn post(&self, path: &str, body: Bytes, token: Option<&Secret<String>>) -> Result<Answer, Fault> {
        let mut request = OutboundRequest::new(Method::POST, self.url(path, None));
        request.body = body;
        request.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        self.send(request, token).await
    }

    async fn send(&self, mut request: OutboundRequest, token: Option<&Secret<String>>) -> Result<Answer, Fault> {
        request.headers.extend(self.headers.clone());
        if let Some(token) = token {
            let value = HeaderValue::from_str(token.expose());
            let mut value =
                value.map_err(|_| Fault::Unusable("needs a login whose token no header field can carry"))?;
            value.set_sensitive(true);
            request.headers.insert(TOKEN, value);
        }
        request.limits = self.limits;
        let mut response = self.exchange.send(request).await?;
        let status = response.head.status;
        if !status.is_success() && status != StatusCode::NOT_FOUND {
            tracing::debug!(status = status.as_u16(), "the secret store refuses a call");
            return Err(Fault::of_status(status));
        }
        Ok(Answer { status, body: response.bytes().await? })
    }
}
