//! The way out for endpoints that an operator configured.

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::egress::EgressPolicy;
use scion_domain::http::{CallRefusal, HttpProfile, HttpRefusal, OutboundRequest};
use scion_domain::refusal::Refusal as _;
use scion_ports::{HttpDialer, HttpExchange, InboundResponse};
use tokio::sync::OnceCell;

/// Reaches one endpoint whose URL an operator wrote, for example the MCP server of a connector. That host may be private or on
/// this machine, because the operator named it ([`EgressPolicy::for_endpoint`]); every other host must be public. The client
/// is opened at the first request and shared by all sessions.
pub struct EndpointExchange {
    dialer: Arc<dyn HttpDialer>,
    profile: Result<HttpProfile, HttpRefusal>,
    client: OnceCell<Arc<dyn HttpExchange>>,
}

impl EndpointExchange {
    /// For the endpoint at this URL. A URL that cannot be used is refused with the first request.
    pub fn new(dialer: Arc<dyn HttpDialer>, url: &str) -> Self {
        let profile = match EgressPolicy::for_endpoint(url) {
            Ok(egress) => Ok(HttpProfile { egress, ..HttpProfile::default() }),
            // The host is left out: what cannot be read may hold anything.
            Err(refusal) => Err(HttpRefusal::Destination { host: "the endpoint".to_owned(), reason: refusal.code() }),
        };
        Self { dialer, profile, client: OnceCell::new() }
    }

    /// With the TLS profile, proxy profile and private hosts of configuration keys ([`HttpProfile::from_settings`]); `owner` names them
    /// in a refusal. A key that cannot be read is refused with the first request.
    #[must_use]
    pub fn settings(mut self, owner: &str, prefix: &str, lookup: impl Fn(&str) -> Option<String>) -> Self {
        let read = HttpProfile::from_settings(prefix, lookup);
        self.profile = match (self.profile, read) {
            (Ok(mut profile), Ok(read)) => {
                profile.egress.allowed_private_hosts = read.egress.allowed_private_hosts;
                profile.egress.allow_loopback = read.egress.allow_loopback;
                (profile.tls, profile.proxy) = (read.tls, read.proxy);
                Ok(profile)
            }
            (Ok(_), Err(refusal)) => {
                let what = match refusal {
                    CallRefusal::Option { option, .. } => option,
                    _ => "setting",
                };
                Err(HttpRefusal::Profile { kind: "HTTP", name: owner.to_owned(), what })
            }
            (refused, _) => refused,
        };
        self
    }

    /// With a TLS profile the dialer knows.
    #[must_use]
    pub fn tls_profile(mut self, name: &str) -> Self {
        if let Ok(profile) = &mut self.profile {
            profile.tls = Some(name.to_owned());
        }
        self
    }

    /// Through a proxy profile the dialer knows.
    #[must_use]
    pub fn proxy_profile(mut self, name: &str) -> Self {
        if let Ok(profile) = &mut self.profile {
            profile.proxy = Some(name.to_owned());
        }
        self
    }
}

#[async_trait]
impl HttpExchange for EndpointExchange {
    async fn send(&self, request: OutboundRequest) -> Result<InboundResponse, HttpRefusal> {
        let profile = self.profile.as_ref().map_err(Clone::clone)?;
        self.client.get_or_try_init(|| self.dialer.open(profile)).await?.send(request).await
    }
}
