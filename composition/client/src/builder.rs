use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use scion_domain::auth::AuthDeclaration;
use scion_domain::egress::EgressPolicy;
use scion_domain::http::{
    CallRefusal, ClientOptions, ExchangeLimits, HeaderName, HeaderValue, RedirectRule, RetryBudget, RetryRules, header,
};
use scion_domain::id::ConnectorName;
use scion_domain::retry::RetryPolicy;
use scion_ports::{AuthFactory, Clock, Entropy, HttpDialer};

use crate::client::{Inner, Known};
use crate::{AirGap, ClientRefusal, GovernedClient, Pacing, Payments};

/// What a client works with. A root makes it once and clones it.
#[derive(Clone)]
pub struct ClientPorts {
    /// The way out.
    pub dialer: Arc<dyn HttpDialer>,
    /// Turns declarations into credentials; [`NoAuthOnly`](crate::NoAuthOnly) where there are none.
    pub auth: Arc<dyn AuthFactory>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub entropy: Arc<dyn Entropy>,
}

impl fmt::Debug for ClientPorts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientPorts")
    }
}

/// Describes a client. There is no switch for TLS verification, no proxy from the environment, and nothing of either can be set
/// on a call: both are profiles, by name.
#[derive(Clone, Debug)]
pub struct ClientBuilder {
    connector: String,
    options: Option<ClientOptions>,
    egress: EgressPolicy,
    tls: Option<String>,
    proxy: Option<String>,
    air_gap: Option<Vec<String>>,
    limits: ExchangeLimits,
    headers: Vec<(HeaderName, HeaderValue)>,
    auth: AuthDeclaration,
    redirects: RedirectRule,
    rules: RetryRules,
    budget: RetryBudget,
    pacing: Pacing,
    concurrent: Option<usize>,
    adaptive: bool,
    allow_destructive: bool,
    payments: Option<Arc<Payments>>,
}

impl ClientBuilder {
    pub(crate) fn new(connector: &str) -> Self {
        Self {
            connector: connector.to_owned(),
            options: None,
            egress: EgressPolicy::default(),
            tls: None,
            proxy: None,
            air_gap: None,
            limits: ExchangeLimits::default(),
            headers: Vec::new(),
            auth: AuthDeclaration::default(),
            redirects: RedirectRule::Return,
            rules: RetryRules::default(),
            budget: RetryBudget::default(),
            pacing: Pacing::new(None),
            concurrent: None,
            adaptive: true,
            allow_destructive: false,
            payments: None,
        }
    }

    /// Where the API lives: https, or http to this machine or a host listed as private. Every call stays below it.
    pub fn base_url(mut self, url: &str) -> Result<Self, ClientRefusal> {
        self.options = Some(ClientOptions::new(url)?);
        Ok(self)
    }

    /// How to authenticate. The declaration names secrets and holds none.
    #[must_use]
    pub fn auth(mut self, declaration: impl Into<AuthDeclaration>) -> Self {
        self.auth = declaration.into();
        self
    }

    /// How often calls may start: `per_second(10)`, `Rate::every(…)`, or the [`Pacing`] of another client of this upstream.
    #[must_use]
    pub fn rate_limit(mut self, pacing: impl Into<Pacing>) -> Self {
        self.pacing = pacing.into();
        self
    }

    /// How many calls at once, until their bodies are read; at least 1. A shared [`Pacing`] brings its own number.
    #[must_use]
    pub const fn max_concurrent(mut self, calls: usize) -> Self {
        self.concurrent = Some(calls);
        self
    }

    /// Whether an exhausted window or a `Retry-After` of the server holds every call of this client back. On unless set.
    #[must_use]
    pub const fn adaptive(mut self, adaptive: bool) -> Self {
        self.adaptive = adaptive;
        self
    }

    /// How often to try, and how long to wait in between.
    #[must_use]
    pub const fn retry(mut self, policy: RetryPolicy) -> Self {
        self.rules.policy = policy;
        self
    }

    /// The retries that requests may cause: `percent` of them over time, `reserve` from a standing start. 20 and 10 unless set.
    #[must_use]
    pub const fn retry_budget(mut self, percent: u32, reserve: u32) -> Self {
        self.budget = RetryBudget::new(percent, reserve);
        self
    }

    /// This vendor answers 403 where others answer 429: such a one with `Retry-After` or an exhausted window is waited for.
    #[must_use]
    pub const fn forbidden_can_throttle(mut self) -> Self {
        self.rules.forbidden_is_throttle = true;
        self
    }

    /// The one deadline of a call, waits and retries included; 30 s unless set.
    #[must_use]
    pub const fn total_timeout(mut self, total: Duration) -> Self {
        self.limits.total = total;
        self
    }

    /// All bounds of a call.
    #[must_use]
    pub const fn limits(mut self, limits: ExchangeLimits) -> Self {
        self.limits = limits;
        self
    }

    /// A header field of every call. Credentials are refused: declare them with [`ClientBuilder::auth`].
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, ClientRefusal> {
        self.headers.push(scion_domain::http::checked_header(name, value)?);
        Ok(self)
    }

    /// Follows up to so many redirects. Without it a redirect is an answer.
    #[must_use]
    pub const fn follow_redirects(mut self, at_most: u8) -> Self {
        self.redirects = RedirectRule::Follow(at_most);
        self
    }

    /// The egress policy.
    #[must_use]
    pub fn egress(mut self, policy: EgressPolicy) -> Self {
        self.egress = policy;
        self
    }

    /// A host that may be private: an exact name or address.
    #[must_use]
    pub fn allow_private_host(mut self, host: &str) -> Self {
        self.egress.allowed_private_hosts.push(host.to_owned());
        self
    }

    /// This machine may be called.
    #[must_use]
    pub const fn allow_loopback(mut self) -> Self {
        self.egress.allow_loopback = true;
        self
    }

    /// Only these hosts may be called, whatever the egress policy allows ([`AirGap`]).
    #[must_use]
    pub fn air_gapped(mut self, hosts: &[&str]) -> Self {
        self.air_gap = Some(hosts.iter().map(|host| (*host).to_owned()).collect());
        self
    }

    /// The name of a TLS profile.
    #[must_use]
    pub fn tls_profile(mut self, name: &str) -> Self {
        self.tls = Some(name.to_owned());
        self
    }

    /// The name of a proxy profile.
    #[must_use]
    pub fn proxy_profile(mut self, name: &str) -> Self {
        self.proxy = Some(name.to_owned());
        self
    }

    /// DELETE, and calls marked [`destructive`](crate::Request::destructive), are refused without this.
    #[must_use]
    pub const fn allow_destructive(mut self) -> Self {
        self.allow_destructive = true;
        self
    }

    /// Pays what a server asks for with 402, within the budget and after approval. Without it a 402 is a refusal like any other.
    #[must_use]
    pub fn payments(mut self, payments: Arc<Payments>) -> Self {
        self.payments = Some(payments);
        self
    }

    /// Opens the client. No call is made yet, but credentials may be checked.
    pub async fn build_with(self, ports: &ClientPorts) -> Result<GovernedClient, ClientRefusal> {
        let bad = |option, what| CallRefusal::Option { option, what };
        let connector =
            ConnectorName::parse(&self.connector).map_err(|_| bad("connector", "is not a connector name"))?;
        let mut options = self.options.ok_or(bad("base_url", "is not set"))?;
        options.limits = self.limits;
        options.profile.egress = self.egress;
        options.profile.tls = self.tls;
        options.profile.proxy = self.proxy;
        standard_headers(&mut options, &connector);
        for (name, value) in self.headers {
            options.headers.insert(name, value);
        }
        options.check()?;
        let exchange = match self.air_gap {
            None => ports.dialer.open(&options.profile).await?,
            Some(hosts) => AirGap::new(ports.dialer.clone(), &hosts).open(&options.profile).await?,
        };
        let auth = match &self.auth {
            AuthDeclaration::NoAuth(_) => None,
            declaration => Some(ports.auth.open(&connector, declaration, exchange.clone()).await?),
        };
        let pacing = match self.concurrent {
            None => self.pacing,
            Some(calls) => self.pacing.concurrent(calls),
        };
        let inner = Inner {
            connector,
            options,
            redirects: self.redirects,
            exchange,
            auth,
            clock: ports.clock.clone(),
            entropy: ports.entropy.clone(),
            rules: self.rules,
            budget: Mutex::new(self.budget),
            pacing,
            adaptive: self.adaptive,
            allow_destructive: self.allow_destructive,
            known: Mutex::new(Known::default()),
            payments: self.payments,
        };
        Ok(GovernedClient { inner: Arc::new(inner) })
    }
}

/// `User-Agent` and `Accept`, unless the author sets others.
fn standard_headers(options: &mut ClientOptions, connector: &ConnectorName) {
    options.headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
    // A connector name is made of header characters.
    if let Ok(agent) = HeaderValue::from_str(&format!("scion/{} ({connector})", env!("CARGO_PKG_VERSION"))) {
        options.headers.insert(header::USER_AGENT, agent);
    }
}
