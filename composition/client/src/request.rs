use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use scion_domain::http::{Bytes, CallRefusal, HeaderMap, HeaderValue, Method, Url, checked_header, header};
use scion_domain::json::{Json, to_compact};
use scion_domain::pagination::http::WalkOptions;
use scion_domain::redaction::redact_url;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::pages::Pages;
use crate::response::{Whole, typed};
use crate::{ClientRefusal, Envelope, GovernedClient, PaymentContext, Response};

/// A call that is being described. What is wrong with it is told when it is sent.
#[must_use = "a call is made by sending it"]
#[derive(Clone)]
pub struct Request {
    pub(crate) client: GovernedClient,
    pub(crate) call: Call,
    fault: Option<CallRefusal>,
}

/// A call as it is sent.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) safe: bool,
    pub(crate) destructive: bool,
    pub(crate) total: Duration,
    pub(crate) body_bytes: u64,
    pub(crate) error_path: Option<String>,
    pub(crate) payment: Option<Arc<PaymentContext>>,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.call.method)
            .field("url", &redact_url(self.call.url.as_str()))
            .finish_non_exhaustive()
    }
}

impl Request {
    pub(crate) fn new(client: GovernedClient, method: Method, path: &str) -> Self {
        let options = &client.inner.options;
        let (url, fault) = match options.join(path) {
            Ok(url) => (url, None),
            Err(refusal) => (options.base_url.clone(), Some(refusal)),
        };
        let call = Call {
            destructive: method == Method::DELETE,
            method,
            url,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            safe: false,
            total: options.limits.total,
            body_bytes: options.limits.body_bytes,
            error_path: None,
            payment: None,
        };
        Self { client, call, fault }
    }

    fn failed(mut self, refusal: CallRefusal) -> Self {
        self.fault.get_or_insert(refusal);
        self
    }

    /// Adds a query parameter.
    #[expect(clippy::needless_pass_by_value, reason = "an author writes numbers and texts here, not references")]
    pub fn query(mut self, name: &str, value: impl ToString) -> Self {
        self.call.url.query_pairs_mut().append_pair(name, &value.to_string());
        self
    }

    /// Adds several query parameters.
    pub fn query_pairs<N: AsRef<str>, V: AsRef<str>>(mut self, pairs: impl IntoIterator<Item = (N, V)>) -> Self {
        for (name, value) in pairs {
            self.call.url.query_pairs_mut().append_pair(name.as_ref(), value.as_ref());
        }
        self
    }

    /// Sets a header field. Credentials are refused: the client's declaration brings them.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        match checked_header(name, value) {
            Ok((name, value)) => {
                self.call.headers.insert(name, value);
                self
            }
            Err(refusal) => self.failed(refusal),
        }
    }

    /// A JSON body.
    pub fn json_body<T: Serialize + ?Sized>(mut self, body: &T) -> Self {
        match serde_json::to_vec(body) {
            Ok(text) => {
                self.call.body = Bytes::from(text);
                self.call.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
                self
            }
            Err(_) => self.failed(CallRefusal::Body),
        }
    }

    /// A JSON body with its numbers as they are.
    pub fn json_value(mut self, body: &Json) -> Self {
        self.call.body = Bytes::from(to_compact(body));
        self.call.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        self
    }

    /// A form body.
    pub fn form<N: AsRef<str>, V: AsRef<str>>(self, pairs: impl IntoIterator<Item = (N, V)>) -> Self {
        let mut scratch = self.call.url.clone();
        scratch.query_pairs_mut().clear().extend_pairs(pairs);
        let text = scratch.query().unwrap_or_default().to_owned();
        self.body("application/x-www-form-urlencoded", text)
    }

    /// Any body.
    pub fn body(mut self, content_type: &str, body: impl Into<Bytes>) -> Self {
        self.call.body = body.into();
        self.header(header::CONTENT_TYPE.as_str(), content_type)
    }

    /// Declares that sending this call twice does what sending it once does, so that it may be retried although its method does
    /// not say so: a search by POST, a write with an idempotency key.
    pub const fn safe(mut self) -> Self {
        self.call.safe = true;
        self
    }

    /// Declares that this call destroys something: the client must allow that.
    pub const fn destructive(mut self) -> Self {
        self.call.destructive = true;
        self
    }

    /// The one deadline of this call.
    pub const fn total_timeout(mut self, total: Duration) -> Self {
        self.call.total = total;
        self
    }

    /// The largest body, after decompression.
    pub const fn max_bytes(mut self, bytes: u64) -> Self {
        self.call.body_bytes = bytes;
        self
    }

    /// For a vendor that answers failures with success: when the JSON body has something at this dotted path (anything but null,
    /// false, an empty text, list or object), the answer is a failure.
    pub fn error_in_body(mut self, path: &str) -> Self {
        self.call.error_path = Some(path.to_owned());
        self
    }

    /// In which context a payment for this call may be approved. Without one, a challenge is refused with `no_context`.
    pub fn pay_in(mut self, context: &PaymentContext) -> Self {
        self.call.payment = Some(Arc::new(context.clone()));
        self
    }

    pub(crate) fn checked(&self) -> Result<(), ClientRefusal> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone().into());
        }
        if self.call.destructive && !self.client.inner.allow_destructive {
            return Err(CallRefusal::Destructive { method: self.call.method.to_string() }.into());
        }
        Ok(())
    }

    /// Makes the call. An answer of 4xx or 5xx is a refusal; the body of any other is read by the caller.
    pub async fn send(self) -> Result<Response, ClientRefusal> {
        self.checked()?;
        self.client.inner.stream(&self.call, false).await
    }

    /// Makes the call and hands over its answer, whatever its status is.
    pub async fn send_any(self) -> Result<Response, ClientRefusal> {
        self.checked()?;
        self.client.inner.stream(&self.call, true).await
    }

    pub(crate) async fn whole(&self) -> Result<Whole, ClientRefusal> {
        self.checked()?;
        self.client.inner.whole(&self.call).await
    }

    /// Makes the call and reads its body. Unlike with [`Request::send`], a body that breaks off is a reason to try again.
    pub async fn bytes(self) -> Result<Bytes, ClientRefusal> {
        Ok(self.whole().await?.body)
    }

    /// Makes the call and reads a JSON body. `Json` keeps every digit; an empty body is null.
    pub async fn json<T: DeserializeOwned + 'static>(self) -> Result<T, ClientRefusal> {
        let whole = self.whole().await?;
        if self.call.error_path.is_some() {
            return typed(&whole.host, &whole.json()?);
        }
        whole.decode()
    }

    /// Makes the call and answers `{status_code, data, rate_limit}`.
    pub async fn envelope(self) -> Result<Envelope, ClientRefusal> {
        let whole = self.whole().await?;
        Ok(Envelope { status_code: whole.head.status.as_u16(), data: whole.json()?, rate_limit: whole.rate })
    }

    /// Reads a list over its pages. The mode is one of [`pages`](crate::pages), or whole [`WalkOptions`].
    pub fn pages(self, mode: impl Into<WalkOptions>) -> Pages {
        Pages::new(self, mode.into())
    }
}
