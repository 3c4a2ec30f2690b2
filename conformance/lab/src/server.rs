use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use scion_domain::http::Url;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

use crate::behaviour::Behaviour;
use crate::received::Received;
use crate::tls::TlsSetup;
use crate::{h2, http1};

/// What a server does with each request.
type Script = Box<dyn Fn(&Received) -> Behaviour + Send + Sync>;

/// A server on loopback.
#[derive(Debug)]
pub struct Lab {
    shared: Arc<Shared>,
    address: SocketAddr,
    scheme: &'static str,
    task: JoinHandle<()>,
}

/// How a server is set up.
#[derive(Clone, Default)]
pub struct LabBuilder {
    tls: Option<TlsSetup>,
    address: Option<IpAddr>,
}

pub(crate) struct Shared {
    script: Script,
    received: Mutex<Vec<Received>>,
    connections: AtomicUsize,
    open: AtomicUsize,
    sent: AtomicU64,
}

/// What is known of a connection before its first request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Peer {
    pub(crate) connection: usize,
    pub(crate) sni: Option<String>,
    pub(crate) client_certificate: bool,
}

/// A connection that can be reset.
pub(crate) trait Wire: AsyncRead + AsyncWrite + Unpin + Send {
    /// Makes the end of the connection a reset.
    fn reset_at_end(&self);
}

impl Wire for TcpStream {
    fn reset_at_end(&self) {
        // Without it the end is an ordinary one, and the test that wanted a reset says so.
        let _ = self.set_zero_linger();
    }
}

impl Wire for tokio_rustls::server::TlsStream<TcpStream> {
    fn reset_at_end(&self) {
        self.get_ref().0.reset_at_end();
    }
}

impl Lab {
    /// A plain HTTP server on 127.0.0.1 that always does the same.
    pub async fn always(behaviour: impl Into<Behaviour>) -> Self {
        Self::builder().always(behaviour).await
    }

    /// A plain HTTP server on 127.0.0.1 that does one after the other; the last one repeats.
    pub async fn sequence(behaviours: impl IntoIterator<Item = Behaviour>) -> Self {
        Self::builder().sequence(behaviours).await
    }

    /// A plain HTTP server on 127.0.0.1 that does what a function says.
    pub async fn scripted(script: impl Fn(&Received) -> Behaviour + Send + Sync + 'static) -> Self {
        Self::builder().scripted(script).await
    }

    /// A server with TLS or another address.
    pub fn builder() -> LabBuilder {
        LabBuilder::default()
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// A URL of it, by its address. The path begins with a slash.
    pub fn url(&self, path: &str) -> Url {
        format!("{}://{}{path}", self.scheme, self.address).parse().expect("a path of a URL")
    }

    /// A URL of it by a host name, which the resolver of the test knows.
    pub fn url_as(&self, host: &str, path: &str) -> Url {
        format!("{}://{host}:{}{path}", self.scheme, self.port()).parse().expect("a host and a path of a URL")
    }

    /// Every request so far, in order of arrival.
    pub fn received(&self) -> Vec<Received> {
        self.shared.received().clone()
    }

    /// Accepted connections so far, failed handshakes included.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Connections that are open now.
    pub fn open_connections(&self) -> usize {
        self.shared.open.load(Ordering::SeqCst)
    }

    /// Bytes the network took so far, head and body: what a client reads is at most this.
    pub fn bytes_sent(&self) -> u64 {
        self.shared.sent.load(Ordering::SeqCst)
    }

    /// Waits until every connection is closed; `false` when one is still open after `patience`.
    pub async fn closes_within(&self, patience: Duration) -> bool {
        let closed = async {
            while self.open_connections() > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(patience, closed).await.is_ok()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl LabBuilder {
    /// Speaks TLS.
    #[must_use]
    pub fn tls(mut self, setup: TlsSetup) -> Self {
        self.tls = Some(setup);
        self
    }

    /// Listens on another address of this machine, such as 127.0.0.2 or `::1`.
    #[must_use]
    pub fn on(mut self, address: IpAddr) -> Self {
        self.address = Some(address);
        self
    }

    /// Starts a server that always does the same.
    pub async fn always(self, behaviour: impl Into<Behaviour>) -> Lab {
        let behaviour = behaviour.into();
        self.scripted(move |_| behaviour.clone()).await
    }

    /// Starts a server that does one after the other; the last one repeats.
    pub async fn sequence(self, behaviours: impl IntoIterator<Item = Behaviour>) -> Lab {
        let behaviours: Vec<Behaviour> = behaviours.into_iter().collect();
        assert!(!behaviours.is_empty(), "a sequence has a behaviour");
        self.scripted(move |received| behaviours[received.number.min(behaviours.len() - 1)].clone()).await
    }

    /// Starts a server that does what a function says.
    pub async fn scripted(self, script: impl Fn(&Received) -> Behaviour + Send + Sync + 'static) -> Lab {
        let address = self.address.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let listener = TcpListener::bind((address, 0)).await.expect("a free port on loopback");
        let address = listener.local_addr().expect("a bound listener has an address");
        let shared = Arc::new(Shared {
            script: Box::new(script),
            received: Mutex::default(),
            connections: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            sent: AtomicU64::new(0),
        });
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let acceptor = self.tls.map(|setup| TlsAcceptor::from(setup.server_config()));
        let task = tokio::spawn(accept(listener, Arc::clone(&shared), acceptor));
        Lab { shared, address, scheme, task }
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("connections", &self.connections).finish_non_exhaustive()
    }
}

impl Shared {
    /// Records a request and decides on it.
    pub(crate) fn decide(&self, mut received: Received) -> (Received, Behaviour) {
        {
            let mut all = self.received();
            received.number = all.len();
            all.push(received.clone());
        }
        let behaviour = (self.script)(&received);
        (received, behaviour)
    }

    pub(crate) fn count_sent(&self, bytes: usize) {
        self.sent.fetch_add(bytes as u64, Ordering::SeqCst);
    }

    fn received(&self) -> std::sync::MutexGuard<'_, Vec<Received>> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts an open connection for as long as it lives.
struct Open(Arc<Shared>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, acceptor: Option<TlsAcceptor>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                let connection = shared.connections.fetch_add(1, Ordering::SeqCst);
                shared.open.fetch_add(1, Ordering::SeqCst);
                let open = Open(Arc::clone(&shared));
                connections.spawn(serve(stream, connection, acceptor.clone(), open));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, connection: usize, acceptor: Option<TlsAcceptor>, open: Open) {
    // Small writes have to arrive one by one, or a drip is no drip.
    let _ = stream.set_nodelay(true);
    let peer = Peer { connection, ..Peer::default() };
    let Some(acceptor) = acceptor else {
        if speaks_http2(&stream).await {
            return h2::serve(stream, peer, &open.0).await;
        }
        return http1::serve(Box::new(stream), peer, &open.0).await;
    };
    let Ok(stream) = acceptor.accept(stream).await else { return };
    let (sni, client_certificate, http2) = {
        let session = stream.get_ref().1;
        let client_certificate = session.peer_certificates().is_some_and(|chain| !chain.is_empty());
        (session.server_name().map(str::to_owned), client_certificate, session.alpn_protocol() == Some(b"h2"))
    };
    let peer = Peer { sni, client_certificate, ..peer };
    if http2 {
        h2::serve(stream, peer, &open.0).await;
    } else {
        http1::serve(Box::new(stream), peer, &open.0).await;
    }
}

/// Whether a client begins with the preface of HTTP/2 in the clear. `PRI` is no method of HTTP/1.1.
async fn speaks_http2(stream: &TcpStream) -> bool {
    let mut start = [0; 3];
    loop {
        match stream.peek(&mut start).await {
            Ok(3) => return &start == b"PRI",
            Ok(read @ 1..=2) if b"PRI".starts_with(&start[..read]) => {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            _ => return false,
        }
    }
}
