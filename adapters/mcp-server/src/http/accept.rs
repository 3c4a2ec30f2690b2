//! Accepting connections, within the bounds of the listener.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::{Shared, router};

/// The largest head of a request, in bytes, and the most fields.
const HEAD_BYTES: usize = 64 * 1024;
const HEAD_FIELDS: usize = 100;
/// The time of a TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// The pause after a connection could not be accepted, for example for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// The connection of a request.
pub(super) struct Connection {
    pub(super) peer: SocketAddr,
    /// Drops it at once, whatever is under way.
    pub(super) cut: CancellationToken,
}

/// Takes connections until the shutdown, then waits for the open ones.
pub(super) async fn run(listener: TcpListener, shared: Arc<Shared>) {
    let boundary = &shared.options.boundary;
    let (graceful, shutdown) = (GracefulShutdown::new(), shared.options.shutdown.clone());
    let places = Arc::new(Semaphore::new(boundary.max_connections as usize));
    let tls = shared.options.tls.clone().map(TlsAcceptor::from);
    loop {
        // A connection beyond the bound waits in the system's own queue.
        let accepted = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            () = shutdown.cancelled() => break,
            accepted = accepted => accepted,
        };
        let Ok((stream, peer)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // Answers are small and a caller waits for each.
        let _ = stream.set_nodelay(true);
        let (shared, watcher, tls) = (Arc::clone(&shared), graceful.watcher(), tls.clone());
        tokio::spawn(async move {
            let _place = place;
            speak(stream, peer, tls, shared, watcher).await;
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(boundary.graceful_shutdown, graceful.shutdown()).await;
}

async fn speak(stream: TcpStream, peer: SocketAddr, tls: Option<TlsAcceptor>, shared: Arc<Shared>, watcher: Watcher) {
    match tls {
        None => serve(stream, peer, shared, watcher).await,
        Some(tls) => {
            if let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE, tls.accept(stream)).await {
                serve(stream, peer, shared, watcher).await;
            }
        }
    }
}

async fn serve<S>(stream: S, peer: SocketAddr, shared: Arc<Shared>, watcher: Watcher)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let keep_alive = shared.options.boundary.keep_alive;
    let cut = CancellationToken::new();
    let connection_cut = cut.clone();
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let (shared, connection) = (Arc::clone(&shared), Connection { peer, cut: connection_cut.clone() });
        async move { Ok::<_, Infallible>(router::answer(request, &connection, &shared).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // Counts from the moment a head is awaited, so it bounds an idle connection too.
        .header_read_timeout(keep_alive)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEAD_FIELDS)
        .serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        _ = watcher.watch(connection) => {}
        () = cut.cancelled() => {}
    }
}
