//! The only place where connections to servers are made.

use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use hyper::http::uri::Uri;
use hyper_util::rt::TokioIo;
use scion_domain::egress::{CompiledEgress, EgressRefusal, Plaintext, Target};
use scion_domain::http::{HttpRefusal, Url};
use scion_domain::refusal::Refusal as _;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use tower_service::Service;

use crate::proxy::Proxy;
use crate::resolve::Resolve;
use crate::stream::Stream;
use crate::tls::{TlsSource, server_name};
use crate::{failure, race};

/// Where plain http may go. There is no profile that says otherwise.
pub(crate) const PLAINTEXT: Plaintext = Plaintext::PrivateOnly;

/// What the connections of one client have in common.
pub(crate) struct Route {
    pub(crate) egress: CompiledEgress,
    /// Whether addresses are checked here; with a proxy, whether it is asked for an address or a name.
    pub(crate) pinned: bool,
    pub(crate) resolver: Arc<dyn Resolve>,
    pub(crate) tls: Arc<TlsSource>,
    pub(crate) proxy: Option<Proxy>,
    /// The one destination of a pinned client, and its addresses.
    pub(crate) pin: Option<Pinned>,
}

/// A destination that was resolved and checked once and for all.
pub(crate) struct Pinned {
    pub(crate) target: Target,
    pub(crate) answers: Vec<IpAddr>,
}

/// One request's wish for a connection.
pub(crate) struct Attempt {
    /// When the connection must stand.
    pub(crate) by: Instant,
    dialling: AtomicBool,
    stood: OnceLock<Instant>,
}

tokio::task_local! {
    /// The attempt in whose name the pool may dial.
    pub(crate) static ATTEMPT: Arc<Attempt>;
}

impl Attempt {
    pub(crate) fn new(by: Instant) -> Self {
        Self { by, dialling: AtomicBool::new(false), stood: OnceLock::new() }
    }

    /// Whether a connection is being made and does not stand yet.
    pub(crate) fn dialling(&self) -> bool {
        self.dialling.load(Ordering::Relaxed)
    }

    /// When a connection that was made for it stood.
    pub(crate) fn stood(&self) -> Option<Instant> {
        self.stood.get().copied()
    }
}

/// The service the pool calls for a new connection.
#[derive(Clone)]
pub(crate) struct Connector(pub(crate) Arc<Route>);

impl Service<Uri> for Connector {
    type Response = TokioIo<Stream>;
    type Error = HttpRefusal;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, HttpRefusal>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), HttpRefusal>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let route = Arc::clone(&self.0);
        let attempt = ATTEMPT.try_with(Arc::clone).ok();
        Box::pin(async move {
            let url = Url::parse(&uri.to_string()).map_err(|_| HttpRefusal::Url { what: "cannot be read" })?;
            let attempt = attempt.ok_or_else(|| HttpRefusal::Connect { host: failure::host_of(&url) })?;
            attempt.dialling.store(true, Ordering::Relaxed);
            let outcome = timeout_at(attempt.by, route.connect(&url)).await;
            attempt.dialling.store(false, Ordering::Relaxed);
            let stream = match outcome {
                Ok(outcome) => outcome?,
                Err(_) => return Err(HttpRefusal::Timeout { host: failure::host_of(&url), phase: "connect" }),
            };
            let _ = attempt.stood.set(Instant::now());
            Ok(TokioIo::new(stream))
        })
    }
}

impl Route {
    /// The checked target of a URL; a pinned client has one only.
    pub(crate) fn target(&self, url: &Url) -> Result<Target, HttpRefusal> {
        let host = || failure::host_of(url);
        let target = self.egress.check_url(url, PLAINTEXT).map_err(|refusal| failure::destination(host, &refusal))?;
        match &self.pin {
            Some(pin) if pin.target.host() != target.host() || pin.target.port() != target.port() => {
                Err(HttpRefusal::Destination { host: host(), reason: "not_the_pinned_host" })
            }
            _ => Ok(target),
        }
    }

    async fn connect(&self, url: &Url) -> Result<Stream, HttpRefusal> {
        let host = || failure::host_of(url);
        let target = self.target(url)?;
        let tcp = match &self.proxy {
            None => self.direct(&target, &host).await?,
            Some(proxy) => {
                let answers = if self.pinned { Some(self.answers(&target, &host).await?) } else { None };
                let authority = self
                    .egress
                    .check_connect(&target, answers.as_deref())
                    .map_err(|refusal| failure::destination(host, &refusal))?;
                proxy.tunnel(&authority, &*self.resolver).await?
            }
        };
        if !target.is_tls() {
            return Ok(Stream::plain(tcp));
        }
        let config = self.tls.resolve().await?.config();
        let name = server_name(&target).ok_or_else(|| HttpRefusal::Tls { host: host() })?;
        let stream = TlsConnector::from(config).connect(name, tcp).await;
        stream.map(Stream::tls).map_err(|error| failure::of_handshake(&error, host()))
    }

    async fn direct(&self, target: &Target, host: &impl Fn() -> String) -> Result<TcpStream, HttpRefusal> {
        let answers = self.answers(target, host).await?;
        let addresses: Vec<SocketAddr> =
            self.egress.check_answers(target, &answers).map_err(|refusal| failure::destination(host, &refusal))?;
        let (stream, dialled) = race::connect(&addresses).await.map_err(|_| HttpRefusal::Connect { host: host() })?;
        let peer = stream.peer_addr().map_err(|_| HttpRefusal::Connect { host: host() })?;
        self.egress.check_peer(dialled, peer).map_err(|refusal| failure::destination(host, &refusal))?;
        Ok(stream)
    }

    /// What a target resolves to now, or resolved to when the client was pinned; nothing for an address literal.
    async fn answers(&self, target: &Target, host: &impl Fn() -> String) -> Result<Vec<IpAddr>, HttpRefusal> {
        if let Some(pin) = &self.pin {
            return Ok(pin.answers.clone());
        }
        match target.name() {
            None => Ok(Vec::new()),
            Some(name) => self.resolver.resolve(name).await.map_err(|_| HttpRefusal::Connect { host: host() }),
        }
    }

    /// Resolves and checks a URL once; every later connection uses what was found.
    pub(crate) async fn pin_to(&mut self, url: &Url) -> Result<(), HttpRefusal> {
        let host = || failure::host_of(url);
        let target = self.target(url)?;
        let answers = self.answers(&target, &host).await?;
        self.egress.check_answers(&target, &answers).map_err(|refusal| failure::destination(host, &refusal))?;
        self.pin = Some(Pinned { target, answers });
        Ok(())
    }
}

/// The refusal of a policy that cannot be used.
pub(crate) fn policy(refusal: &EgressRefusal) -> HttpRefusal {
    HttpRefusal::Profile { kind: "egress", name: "policy".to_owned(), what: refusal.code() }
}
