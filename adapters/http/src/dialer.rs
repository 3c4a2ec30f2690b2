use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use scion_domain::http::{HttpProfile, HttpRefusal, Url};
use scion_domain::id::ConnectorName;
use scion_domain::proxy::{ProxyProfiles, ProxyRefusal};
use scion_domain::tls::{TlsProfile, TlsProfiles, TlsRefusal};
use scion_ports::{CredentialProvider, HttpDialer, HttpExchange};

use crate::connector::{Route, policy};
use crate::exchange::Exchange;
use crate::material::Credentials;
use crate::proxy::Proxy;
use crate::resolve::{Resolve, SystemResolver};
use crate::tls::{ResolvedTlsProfile, TlsSource, TlsStatus};

/// What an unnamed TLS profile is called in refusals: the platform's roots, and nothing else.
const PLATFORM: &str = "platform";

/// Opens clients: the one implementation of [`HttpDialer`]. Cheap to clone.
#[derive(Clone)]
pub struct Dialer(Arc<Inner>);

struct Inner {
    tls: TlsProfiles,
    proxies: ProxyProfiles,
    credentials: Option<Credentials>,
    resolver: Arc<dyn Resolve>,
    tls_refresh: Duration,
    /// Profiles in use; clients with the same profile share its material.
    sources: Mutex<BTreeMap<String, Arc<TlsSource>>>,
}

/// Gathers what a [`Dialer`] knows. Every part has a default: no profiles, no references, the system's resolver.
pub struct DialerBuilder {
    tls: TlsProfiles,
    proxies: ProxyProfiles,
    credentials: Option<Credentials>,
    resolver: Arc<dyn Resolve>,
    tls_refresh: Duration,
}

impl DialerBuilder {
    /// The TLS profiles that clients may select.
    #[must_use]
    pub fn tls_profiles(self, tls: TlsProfiles) -> Self {
        Self { tls, ..self }
    }

    /// The proxies that clients may opt into.
    #[must_use]
    pub fn proxies(self, proxies: ProxyProfiles) -> Self {
        Self { proxies, ..self }
    }

    /// Who resolves the references of profiles, and in whose name.
    #[must_use]
    pub fn credentials(self, connector: ConnectorName, provider: Arc<dyn CredentialProvider>) -> Self {
        Self { credentials: Some(Credentials { connector, provider }), ..self }
    }

    /// Another resolver than the system's. What it answers is checked all the same.
    #[must_use]
    pub fn resolver(self, resolver: Arc<dyn Resolve>) -> Self {
        Self { resolver, ..self }
    }

    /// How old TLS material may be before a new connection reads it again: 30 seconds by default, an hour at most, zero for
    /// every connection.
    #[must_use]
    pub fn tls_refresh(self, every: Duration) -> Self {
        Self { tls_refresh: every.min(Duration::from_hours(1)), ..self }
    }

    /// The dialer. Nothing is read or resolved before a client is opened.
    pub fn build(self) -> Dialer {
        let Self { tls, proxies, credentials, resolver, tls_refresh } = self;
        Dialer(Arc::new(Inner { tls, proxies, credentials, resolver, tls_refresh, sources: Mutex::default() }))
    }
}

impl std::fmt::Debug for DialerBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DialerBuilder").field("tls", &self.tls).field("proxies", &self.proxies).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Dialer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dialer").field("tls", &self.0.tls).field("proxies", &self.0.proxies).finish_non_exhaustive()
    }
}

impl Dialer {
    /// Starts with the defaults.
    pub fn builder() -> DialerBuilder {
        DialerBuilder {
            tls: TlsProfiles::new(),
            proxies: ProxyProfiles::new(),
            credentials: None,
            resolver: Arc::new(SystemResolver),
            tls_refresh: Duration::from_secs(30),
        }
    }

    /// The profile of a name with its material, read now if nobody did lately (SDK-CONNECTOR-CONTROL-R780.4). An unknown name and
    /// unusable material are refused; there is no fallback to another profile.
    pub async fn resolve_tls_profile(&self, name: &str) -> Result<ResolvedTlsProfile, HttpRefusal> {
        self.source(Some(name))?.resolve().await
    }

    /// How a TLS profile stands: which generation of its material is in use, and why a newer one is not.
    pub fn tls_status(&self, name: &str) -> Result<TlsStatus, HttpRefusal> {
        Ok(self.source(Some(name))?.status())
    }

    /// A client for one destination alone: its name is resolved and checked now, once, and no later connection asks again
    /// (SDK-CONNECTOR-CONTROL-R028.1). Requests and redirects to other hosts are refused.
    pub async fn open_pinned(&self, profile: &HttpProfile, url: &Url) -> Result<Arc<dyn HttpExchange>, HttpRefusal> {
        let mut route = self.route(profile).await?;
        route.pin_to(url).await?;
        Ok(Arc::new(Exchange::new(route)))
    }

    async fn route(&self, profile: &HttpProfile) -> Result<Route, HttpRefusal> {
        let egress = profile.egress.compile().map_err(|refusal| policy(&refusal))?;
        let tls = self.source(profile.tls.as_deref())?;
        if profile.tls.is_some() {
            tls.resolve().await?;
        }
        let proxy = profile.proxy.as_deref().map(|name| self.proxy(name)).transpose()?;
        let resolver = Arc::clone(&self.0.resolver);
        Ok(Route { egress, pinned: profile.egress.pin_egress, resolver, tls, proxy, pin: None })
    }

    fn source(&self, name: Option<&str>) -> Result<Arc<TlsSource>, HttpRefusal> {
        let profile = match name {
            None => &TlsProfile::default(),
            Some(name) => self.0.tls.select(name).map_err(|refusal| match refusal {
                TlsRefusal::Unknown { name } => HttpRefusal::UnknownProfile { kind: "TLS", name },
                _ => HttpRefusal::UnknownProfile { kind: "TLS", name: String::new() },
            })?,
        };
        // A configured profile may be called "platform" too; the unnamed one has a key nobody can write.
        let key = name.unwrap_or_default();
        let mut sources = self.0.sources.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(source) = sources.get(key) {
            return Ok(Arc::clone(source));
        }
        let shown = name.unwrap_or(PLATFORM);
        let source = Arc::new(TlsSource::new(shown, profile.clone(), self.0.credentials.clone(), self.0.tls_refresh));
        sources.insert(key.to_owned(), Arc::clone(&source));
        Ok(source)
    }

    fn proxy(&self, name: &str) -> Result<Proxy, HttpRefusal> {
        let profile = self.0.proxies.select(name).map_err(|refusal| match refusal {
            ProxyRefusal::Unknown { name } => HttpRefusal::UnknownProfile { kind: "proxy", name },
            _ => HttpRefusal::UnknownProfile { kind: "proxy", name: String::new() },
        })?;
        Ok(Proxy { name: name.to_owned(), profile: profile.clone(), credentials: self.0.credentials.clone() })
    }
}

#[async_trait]
impl HttpDialer for Dialer {
    async fn open(&self, profile: &HttpProfile) -> Result<Arc<dyn HttpExchange>, HttpRefusal> {
        Ok(Arc::new(Exchange::new(self.route(profile).await?)))
    }
}
