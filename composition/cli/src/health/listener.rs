//! The socket.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use scion::ports::Sink;
use scion::sync::health::{HealthState, SINK_READY_TIME};
use scion_domain::command::CommandRefusal;
use scion_domain::config::HealthAddress;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::route::{Route, answer, refusal, route};
use crate::output::{Refused, reason};

/// Connections at once; further ones wait in the queue of the system.
const CONNECTIONS: usize = 64;
/// How long a client may take to send its request.
const REQUEST_TIME: Duration = Duration::from_secs(10);

/// What the answers are made of.
#[derive(Clone)]
pub(crate) struct HealthParts {
    /// The state of the runner.
    pub(crate) state: Arc<HealthState>,
    /// The sink that is asked whether it is ready.
    pub(crate) sink: Arc<dyn Sink>,
}

/// A bound listener.
#[derive(Debug)]
pub(crate) struct HealthListener {
    listener: TcpListener,
}

impl HealthListener {
    /// Binds. A name is resolved first, and the address it stands for is held to the same rule as a written one.
    pub(crate) async fn bind(address: &HealthAddress, allow_non_loopback: bool) -> Result<Self, Refused> {
        address.check_bind(allow_non_loopback)?;
        let failed = |error: std::io::Error| CommandRefusal::HealthBind {
            address: address.to_string(),
            what: reason(error.kind()),
        };
        let listener = TcpListener::bind((address.host.as_str(), address.port)).await.map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let resolved = HealthAddress { host: bound.ip().to_string(), port: bound.port() };
        resolved.check_bind(allow_non_loopback)?;
        Ok(Self { listener })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.listener.local_addr().ok()
    }

    /// Answers until cancelled.
    pub(crate) async fn serve(self, parts: HealthParts, cancel: CancellationToken) {
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        loop {
            // The semaphore is never closed.
            let place = tokio::select! {
                () = cancel.cancelled() => return,
                place = places.clone().acquire_owned() => place,
            };
            let accepted = tokio::select! {
                () = cancel.cancelled() => return,
                accepted = self.listener.accept() => accepted,
            };
            let Ok((stream, _)) = accepted else {
                // Out of descriptors, most likely: do not spin.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            };
            let (parts, cancel) = (parts.clone(), cancel.clone());
            tokio::spawn(async move {
                let _place = place;
                tokio::select! {
                    () = cancel.cancelled() => {}
                    () = converse(stream, parts) => {}
                }
            });
        }
    }
}

async fn converse(stream: TcpStream, parts: HealthParts) {
    let service = service_fn(move |request: Request<Incoming>| {
        let parts = parts.clone();
        async move { Ok::<_, Infallible>(respond(&parts, &request).await) }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(REQUEST_TIME);
    // A client that breaks off concerns nobody.
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}

async fn respond(parts: &HealthParts, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    match route(request.method(), request.uri()) {
        Route::Live => answer(&parts.state.live()),
        Route::Ready => {
            let readiness = parts.state.ask(&*parts.sink, SINK_READY_TIME).await;
            answer(&parts.state.ready(&readiness))
        }
        other => refusal(other),
    }
}
