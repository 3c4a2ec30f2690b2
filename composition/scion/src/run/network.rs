//! Serving on a network: the listener's boundary, its security, and the socket.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use scion_domain::http::StatusCode;
use scion_domain::listener::{ListenerBoundary, ListenerSettings};
use scion_domain::served_route::{RouteAnswer, RouteRequest};
use scion_domain::settings::{AgentConfig, TransportKind};
use scion_domain::surface::StartRefusal;
use scion_domain::tool_surface::ListingPolicy;
use scion_mcp_server::{HttpServeOptions, serve_http, tls_config};
use scion_ports::ToolSurface as _;
use scion_serve::ServedSurface;
use scion_telemetry::{METRICS_MEDIA_TYPE, PrometheusMetrics};
use tokio::net::TcpListener;

use super::declared::banner;
use super::fail;
use crate::admission::served_security;
use crate::http::Outbound;

/// Serves at `/mcp`, or at `/sse`, until the process is told to stop.
pub(super) async fn serve(
    surface: ServedSurface,
    config: &AgentConfig,
    environment: &BTreeMap<String, String>,
    policy: ListingPolicy,
) -> ExitCode {
    let boundary = match settings(config, environment).validate(|path| Path::new(path).is_file()) {
        Ok(boundary) => boundary,
        Err(refusal) => return fail(&refusal),
    };
    let outbound = match Outbound::from_environment(environment.clone()) {
        Ok(outbound) => outbound,
        Err(refusal) => return fail(&refusal),
    };
    // Nobody listens before it is settled how callers are known.
    let security = match served_security(environment, surface.connector(), &outbound).await {
        Ok(security) => security,
        Err(refusal) => return fail(&refusal),
    };
    let mut options = HttpServeOptions::new(boundary.clone(), security);
    let surface = if config.transport.metrics { measured(surface, &mut options) } else { surface };
    options.policy = policy;
    if let (Some(certificate), Some(key)) = (&config.transport.tls_certificate, &config.transport.tls_key) {
        let (Ok(certificate), Ok(key)) = (std::fs::read(certificate), std::fs::read(key)) else {
            return fail(&listen(config, "the certificate or its key cannot be read"));
        };
        options.tls = match tls_config(&certificate, &key) {
            Ok(tls) => Some(tls),
            Err(refusal) => return fail(&refusal),
        };
    }
    let (host, port) = (config.transport.host.trim_matches(['[', ']']), config.transport.port);
    let listener = match bind(host, port, &boundary).await {
        Ok(listener) => listener,
        Err(error) => return fail(&listen(config, reason(error.kind()))),
    };
    let stop = options.shutdown.clone();
    if let Some(told) = told_to_stop() {
        tokio::spawn(async move {
            told.await;
            stop.cancel();
        });
    }
    let path = if config.transport.kind == TransportKind::Sse { "/sse" } else { "/mcp" };
    banner(surface.identity(), &format!("at {host} port {port}, path {path}"));
    match serve_http(listener, Arc::new(surface), options).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => fail(&refusal),
    }
}

/// Has the calls measured, and the measurements served.
fn measured(surface: ServedSurface, options: &mut HttpServeOptions) -> ServedSurface {
    let metrics = Arc::new(PrometheusMetrics::new());
    let read = Arc::clone(&metrics);
    options.metrics = Some(Arc::new(move |_: RouteRequest| {
        let body = read.render().into_bytes();
        async move { RouteAnswer { status: StatusCode::OK, media_type: METRICS_MEDIA_TYPE, body } }
    }));
    surface.observed_by(metrics)
}

fn settings(config: &AgentConfig, environment: &BTreeMap<String, String>) -> ListenerSettings {
    let (transport, limits) = (&config.transport, &config.limits);
    let kind = if transport.kind == TransportKind::Sse { "sse" } else { "streamable-http" };
    let auth = environment.get("AUTH_TYPE").map_or("none", |text| text.trim()).to_ascii_lowercase();
    ListenerSettings {
        transport: kind.to_owned(),
        host: transport.host.clone(),
        port: transport.port.into(),
        auth_type: auth,
        allowed_hosts: transport.allowed_hosts.clone(),
        allowed_origins: transport.allowed_origins.clone(),
        tls_certfile: transport.tls_certificate.clone(),
        tls_keyfile: transport.tls_key.clone(),
        tls_terminated: transport.tls_terminated,
        trusted_proxy_cidrs: transport.trusted_proxies.clone(),
        max_request_bytes: limits.max_request_bytes.into(),
        request_body_timeout_seconds: limits.request_body.as_secs_f64(),
        limit_concurrency: limits.max_connections.into(),
        backlog: limits.listen_backlog.into(),
        timeout_keep_alive: limits.keep_alive.as_secs(),
        timeout_graceful_shutdown: limits.graceful_shutdown.as_secs(),
    }
}

async fn bind(host: &str, port: u16, boundary: &ListenerBoundary) -> std::io::Result<TcpListener> {
    let mut last = std::io::Error::from(std::io::ErrorKind::AddrNotAvailable);
    for address in tokio::net::lookup_host((host, port)).await? {
        let socket = if address.is_ipv4() { tokio::net::TcpSocket::new_v4() } else { tokio::net::TcpSocket::new_v6() }?;
        // A server that starts again takes its port back at once.
        #[cfg(unix)]
        socket.set_reuseaddr(true)?;
        match socket.bind(address).and_then(|()| socket.listen(boundary.backlog)) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Ends when the process is told to: an interrupt, or a request to terminate.
fn told_to_stop() -> Option<impl Future<Output = ()> + Send> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate()).ok()?;
        let mut interrupt = signal(SignalKind::interrupt()).ok()?;
        Some(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    {
        Some(async {
            let _ = tokio::signal::ctrl_c().await;
        })
    }
}

fn listen(config: &AgentConfig, what: &'static str) -> StartRefusal {
    StartRefusal::Listen { host: config.transport.host.clone(), port: config.transport.port, what }
}

fn reason(kind: std::io::ErrorKind) -> &'static str {
    use std::io::ErrorKind;
    match kind {
        ErrorKind::AddrInUse => "the port is taken",
        ErrorKind::AddrNotAvailable => "this machine has no such address",
        ErrorKind::PermissionDenied => "permission denied",
        _ => "the system reports an error",
    }
}
