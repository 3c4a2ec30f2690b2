//! What the tests have in common.

use std::sync::Arc;
use std::time::Duration;

use scion_domain::egress::EgressPolicy;
use scion_domain::http::{ExchangeLimits, HttpProfile, HttpRefusal, Method, OutboundRequest, Url};
use scion_domain::tls::{Material, TlsProfile, TlsProfiles, Trust};
use scion_http::{Dialer, DialerBuilder};
use scion_lab::ScriptedResolver;
use scion_ports::{HttpDialer as _, HttpExchange, InboundResponse};

/// A policy that lets loopback pass.
pub(crate) fn loopback() -> HttpProfile {
    HttpProfile { egress: EgressPolicy { allow_loopback: true, ..EgressPolicy::default() }, ..HttpProfile::default() }
}

/// A client on loopback with nothing configured.
pub(crate) async fn client() -> Arc<dyn HttpExchange> {
    Dialer::builder().build().open(&loopback()).await.unwrap()
}

/// A builder whose names come from a script.
pub(crate) fn named(resolver: &ScriptedResolver) -> DialerBuilder {
    let resolver = resolver.clone();
    Dialer::builder().resolver(Arc::new(move |name: &str| resolver.next(name)))
}

/// A profile that may reach these private hosts and nothing else inside.
pub(crate) fn listed(hosts: &[&str]) -> HttpProfile {
    let allowed_private_hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
    HttpProfile { egress: EgressPolicy { allowed_private_hosts, ..EgressPolicy::default() }, ..HttpProfile::default() }
}

/// PEM files of a test.
pub(crate) struct Files(tempfile::TempDir);

impl Files {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Writes a file and answers where it is.
    pub(crate) fn write(&self, name: &str, text: &str) -> Material {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        Material::File(path)
    }
}

/// A profile that trusts one authority.
pub(crate) fn trusting(ca: Material) -> TlsProfile {
    TlsProfile { trust: Trust::Private(ca), ..TlsProfile::default() }
}

/// One profile, named `lab`.
pub(crate) fn only(profile: TlsProfile) -> TlsProfiles {
    TlsProfiles::new().with("lab", profile).unwrap()
}

/// A policy profile with the TLS profile `lab`.
pub(crate) fn with_tls(profile: HttpProfile) -> HttpProfile {
    HttpProfile { tls: Some("lab".to_owned()), ..profile }
}

pub(crate) fn get(url: Url) -> OutboundRequest {
    OutboundRequest::new(Method::GET, url)
}

/// A request that waits long enough for a busy machine.
pub(crate) fn hasty(url: Url) -> OutboundRequest {
    within(url, [2000, 2000, 5000])
}

/// A request for tests that wait for its limits.
pub(crate) fn impatient(url: Url) -> OutboundRequest {
    within(url, [200, 200, 600])
}

fn within(url: Url, limits: [u64; 3]) -> OutboundRequest {
    let [connect, idle, total] = limits.map(Duration::from_millis);
    let limits = ExchangeLimits { body_bytes: 1024 * 1024, connect, idle, total, ..ExchangeLimits::default() };
    OutboundRequest { limits, ..get(url) }
}

/// Sends and reads to the end.
pub(crate) async fn whole(client: &dyn HttpExchange, request: OutboundRequest) -> Result<(u16, Vec<u8>), HttpRefusal> {
    let mut answer = client.send(request).await?;
    let body = answer.bytes().await?;
    Ok((answer.head.status.as_u16(), body.to_vec()))
}

/// The refusal of an exchange, wherever it comes.
pub(crate) async fn refusal(client: &dyn HttpExchange, request: OutboundRequest) -> HttpRefusal {
    match whole(client, request).await {
        Ok((status, body)) => panic!("answered {status} with {} bytes", body.len()),
        Err(refusal) => refusal,
    }
}

pub(crate) fn header<'a>(answer: &'a InboundResponse, name: &str) -> Option<&'a str> {
    answer.head.headers.get(name).and_then(|value| value.to_str().ok())
}
