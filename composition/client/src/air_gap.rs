use std::fmt;
use std::sync::Arc;

use scion_domain::http::{HttpProfile, HttpRefusal, OutboundRequest, RedirectRule, Url};
use scion_ports::{HttpDialer, HttpExchange, InboundResponse, async_trait};

/// A dialer that reaches named hosts only, for programs that must not talk to the internet. The inner dialer's own egress
/// policy still holds; this one only refuses more. Redirects are never followed, because they could lead elsewhere.
#[derive(Clone)]
pub struct AirGap {
    inner: Arc<dyn HttpDialer>,
    hosts: Arc<[String]>,
}

impl AirGap {
    /// Exact host names or addresses, without ports and brackets; none at all means that nothing is reached.
    pub fn new<S: AsRef<str>>(inner: Arc<dyn HttpDialer>, hosts: &[S]) -> Self {
        let plain = |host: &S| host.as_ref().trim().trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
        Self { inner, hosts: hosts.iter().map(plain).collect() }
    }
}

impl fmt::Debug for AirGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AirGap").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

#[async_trait]
impl HttpDialer for AirGap {
    async fn open(&self, profile: &HttpProfile) -> Result<Arc<dyn HttpExchange>, HttpRefusal> {
        if profile.proxy.is_some() {
            // Where a proxy sends a request cannot be known here.
            return Err(HttpRefusal::Profile {
                kind: "proxy",
                name: profile.proxy.clone().unwrap_or_default(),
                what: "place: an air-gapped client uses no proxy",
            });
        }
        let inner = self.inner.open(profile).await?;
        Ok(Arc::new(Gapped { inner, hosts: self.hosts.clone() }))
    }
}

struct Gapped {
    inner: Arc<dyn HttpExchange>,
    hosts: Arc<[String]>,
}

impl Gapped {
    fn names(&self, url: &Url) -> bool {
        let host =
            url.host_str().unwrap_or_default().trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
        self.hosts.contains(&host)
    }
}

#[async_trait]
impl HttpExchange for Gapped {
    async fn send(&self, mut request: OutboundRequest) -> Result<InboundResponse, HttpRefusal> {
        if !self.names(&request.url) {
            let host = request.url.host_str().unwrap_or_default().to_owned();
            return Err(HttpRefusal::Destination { host, reason: "air_gap" });
        }
        request.redirects = RedirectRule::Return;
        self.inner.send(request).await
    }
}
