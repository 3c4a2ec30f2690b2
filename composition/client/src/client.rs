use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use scion_domain::auth::AuthMaterial;
use scion_domain::http::{ClientOptions, Method, RedirectRule, RetryBudget, RetryRules};
use scion_domain::id::ConnectorName;
use scion_domain::redaction::redact_message;
use scion_domain::secret::Secret;
use scion_ports::{Clock, Entropy, HttpExchange, RequestAuth};

use crate::request::Call;
use crate::{ClientBuilder, Pacing, Payments, Request};

/// A client for one vendor API. Clones share everything: connections, credentials, pace and retry budget.
#[derive(Clone)]
pub struct GovernedClient {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) connector: ConnectorName,
    pub(crate) options: ClientOptions,
    pub(crate) redirects: RedirectRule,
    pub(crate) exchange: Arc<dyn HttpExchange>,
    pub(crate) auth: Option<Arc<dyn RequestAuth>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) rules: RetryRules,
    pub(crate) budget: Mutex<RetryBudget>,
    pub(crate) pacing: Pacing,
    pub(crate) adaptive: bool,
    pub(crate) allow_destructive: bool,
    pub(crate) known: Mutex<Known>,
    pub(crate) payments: Option<Arc<Payments>>,
}

/// Secrets that are remembered; the oldest one makes room.
const MAX_KNOWN: usize = 64;

/// The secrets that were sent last, for redaction: of several callers, and from before and after a renewal.
#[derive(Default)]
pub(crate) struct Known {
    values: VecDeque<Secret<String>>,
}

impl Known {
    fn add(&mut self, text: &str) {
        if text.is_empty() || self.values.iter().any(|value| value.expose() == text) {
            return;
        }
        if self.values.len() >= MAX_KNOWN {
            self.values.pop_front();
        }
        self.values.push_back(Secret::new(text.to_owned()));
    }
}

impl Inner {
    pub(crate) fn host(&self) -> String {
        self.options.base_url.host_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn remember(&self, material: &AuthMaterial) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, value) in &material.query {
            known.add(value.expose());
        }
        for (_, value) in &material.headers {
            let Ok(text) = value.to_str() else { continue };
            // `Bearer abc`: the credential alone is a secret too.
            let bare = text.split_once(' ').map_or(text, |(_, rest)| rest);
            known.add(text);
            known.add(bare);
        }
    }

    /// Whether a part of a vendor's text stands in what was sent: credential, query or body. A server may write what it received
    /// into the type of a problem, and nothing of that belongs in a refusal.
    pub(crate) fn repeats(&self, call: &Call, text: &str) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let query = call.url.query().unwrap_or_default();
        let mut parts = text.split(['/', ':']).filter(|part| part.len() >= 6);
        known.values.iter().any(|value| !value.expose().is_empty() && text.contains(value.expose().as_str()))
            || parts.any(|part| {
                query.contains(part)
                    || call.body.windows(part.len()).any(|window| window == part.as_bytes())
                    || known.values.iter().any(|value| value.expose().contains(part))
            })
    }
}

impl fmt::Debug for GovernedClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GovernedClient")
            .field("connector", &self.inner.connector.as_str())
            .field("host", &self.inner.host())
            .finish_non_exhaustive()
    }
}

impl GovernedClient {
    /// Starts to describe a client of a connector. Its name is what secrets are scoped to.
    pub fn builder(connector: &str) -> ClientBuilder {
        ClientBuilder::new(connector)
    }

    /// A call of any method to a path below the base URL.
    pub fn request(&self, method: Method, path: &str) -> Request {
        Request::new(self.clone(), method, path)
    }

    /// A GET.
    pub fn get(&self, path: &str) -> Request {
        self.request(Method::GET, path)
    }

    /// A POST.
    pub fn post(&self, path: &str) -> Request {
        self.request(Method::POST, path)
    }

    /// A PUT.
    pub fn put(&self, path: &str) -> Request {
        self.request(Method::PUT, path)
    }

    /// A PATCH.
    pub fn patch(&self, path: &str) -> Request {
        self.request(Method::PATCH, path)
    }

    /// A DELETE; refused unless the client allows destructive calls.
    pub fn delete(&self, path: &str) -> Request {
        self.request(Method::DELETE, path)
    }

    /// A text for people or logs without the secrets this client used lately and without anything that looks like one.
    pub fn redact(&self, text: &str) -> String {
        let known = self.inner.known.lock().unwrap_or_else(PoisonError::into_inner);
        let values: Vec<&str> = known.values.iter().map(|value| value.expose().as_str()).collect();
        redact_message(text, &values)
    }

    /// The turns of this client, to share them with another one of the same upstream.
    pub fn pacing(&self) -> Pacing {
        self.inner.pacing.clone()
    }
}
