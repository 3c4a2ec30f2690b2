//! What the tests have in common.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use scion_domain::egress::EgressPolicy;
use scion_domain::http::{ExchangeLimits, HttpProfile, HttpRefusal, Method, OutboundRequest, Url};
use scion_http::{Dialer, Resolve};
use scion_lab::ScriptedResolver;
use scion_ports::{HttpDialer as _, HttpExchange, InboundResponse};

/// The resolver of the lab behind the trait of the dialer.
pub(crate) struct Names(pub(crate) ScriptedResolver);

#[async_trait]
impl Resolve for Names {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.0.next(name).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// A policy that lets loopback pass.
pub(crate) fn loopback() -> HttpProfile {
    HttpProfile { egress: EgressPolicy { allow_loopback: true, ..EgressPolicy::default() }, ..HttpProfile::default() }
}

/// A client on loopback with nothing configured.
pub(crate) async fn client() -> Arc<dyn HttpExchange> {
    Dialer::builder().build().open(&loopback()).await.unwrap()
}

/// A dialer with names.
pub(crate) fn named(resolver: &ScriptedResolver) -> Dialer {
    Dialer::builder().resolver(Arc::new(Names(resolver.clone()))).build()
}

pub(crate) fn get(url: Url) -> OutboundRequest {
    OutboundRequest::new(Method::GET, url)
}

/// A request with short limits.
pub(crate) fn hasty(url: Url) -> OutboundRequest {
    OutboundRequest {
        limits: ExchangeLimits {
            body_bytes: 1024 * 1024,
            connect: Duration::from_millis(200),
            idle: Duration::from_millis(200),
            total: Duration::from_millis(600),
            ..ExchangeLimits::default()
        },
        ..get(url)
    }
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
