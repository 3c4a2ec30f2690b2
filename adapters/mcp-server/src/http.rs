//! Serving over the network: streamable HTTP at `/mcp` in both eras, with health and readiness beside it.
//!
//! Everything a request must pass comes before any work, in this order: the boundary of the listener, the route, the credential,
//! the body, the caller.

mod accept;
mod admission;
mod answer;
mod body;
mod limiter;
mod ready;
mod router;
mod sessions;
mod tls;

use std::sync::Arc;

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use scion_domain::listener::ListenerBoundary;
use scion_domain::rate_bucket::RateLimit;
use scion_domain::served_security::{ServedSecurityOverride, ServedSecurityProfile};
use scion_domain::surface::TransportRefusal;
use scion_domain::tool_surface::ListingPolicy;
use scion_ports::{TokenVerifier, ToolSurface};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::ServeOptions;
use crate::handler::Handler;

pub(crate) use admission::Caller;
pub use ready::{Readiness, ReadinessProbe};
pub use router::{HttpAnswer, HttpRoute, RouteHandler};
pub use tls::tls_config;

/// How callers are known. There is no default: a listener has one or the other (SDK-CONNECTOR-CONTROL-R014.18).
#[derive(Clone)]
pub enum Security {
    /// Every request to the protocol carries a token that the verifier finds good and the profile lets in.
    Verified {
        /// Looks into tokens.
        verifier: Arc<dyn TokenVerifier>,
        /// What a token must be for, and must hold.
        profile: Arc<ServedSecurityProfile>,
    },
    /// Nobody is asked, for a written reason. Logged as a warning.
    Open(ServedSecurityOverride),
}

/// What a listener serves beside the surface, and its bounds.
#[derive(Clone)]
#[non_exhaustive]
pub struct HttpServeOptions {
    /// Who may reach it, checked before.
    pub boundary: ListenerBoundary,
    /// How callers are known.
    pub security: Security,
    /// The bounds of calls. `max_request_bytes` is the boundary's here.
    pub serve: ServeOptions,
    /// The connector's own routes.
    pub routes: Vec<HttpRoute>,
    /// Answers `/ready`; without one there is no such route.
    pub readiness: Option<Arc<dyn ReadinessProbe>>,
    /// What may be listed at all.
    pub policy: ListingPolicy,
    /// TLS of the listener itself, as [`tls_config`] makes it.
    pub tls: Option<Arc<rustls::ServerConfig>>,
    /// Sessions of the handshake era at once; a further one is answered 503. 1024 unless set.
    pub max_sessions: usize,
    /// How often one caller may ask; a request that comes sooner is answered −32000 with the time to wait. Ten a second and twenty
    /// at once unless set; `None` for no limit. All callers count as one where nobody is asked who they are.
    pub rate: Option<RateLimit>,
    /// Ends serving when it is cancelled.
    pub shutdown: CancellationToken,
}

impl HttpServeOptions {
    /// Options with the bounds of [`ServeOptions::default`] and nothing beside the protocol and `/health`.
    pub fn new(boundary: ListenerBoundary, security: Security) -> Self {
        Self {
            boundary,
            security,
            serve: ServeOptions::default(),
            routes: Vec::new(),
            readiness: None,
            policy: ListingPolicy::everything(),
            tls: None,
            max_sessions: 1024,
            rate: Some(RateLimit::default()),
            shutdown: CancellationToken::new(),
        }
    }
}

/// What the handlers of connections share.
pub(crate) struct Shared {
    pub(crate) options: HttpServeOptions,
    pub(crate) mcp: StreamableHttpService<Handler, LocalSessionManager>,
    pub(crate) sessions: sessions::Sessions,
    pub(crate) limiter: Option<limiter::Limiter>,
}

/// Serves a surface on a bound listener until `options.shutdown` is cancelled; then requests under way get the boundary's time to end.
///
/// A route of the connector at a reserved path or twice at one path is [`TransportRefusal::Route`].
pub async fn serve_http(
    listener: TcpListener,
    surface: Arc<dyn ToolSurface>,
    mut options: HttpServeOptions,
) -> Result<(), TransportRefusal> {
    router::check(&options.routes)?;
    let port = listener.local_addr().map_err(|_| TransportRefusal::Broken)?.port();
    options.boundary = options.boundary.clone().bound_to(port);
    if let Security::Open(reason) = &options.security {
        tracing::warn!(reason = reason.reason(), "serving without a check of callers");
    }
    let policy = Arc::new(options.policy.clone());
    let (serve, shutdown) = (options.serve, options.shutdown.clone());
    let handler = move || Ok(Handler::new(Arc::clone(&surface), serve, None).with_policy(Arc::clone(&policy)));
    // Host, origin and size are the boundary's to judge, which the library's own lists would only repeat.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(usize::try_from(options.boundary.max_request_bytes).unwrap_or(usize::MAX))
        .with_cancellation_token(shutdown.child_token());
    let mcp = StreamableHttpService::new(handler, Arc::new(LocalSessionManager::default()), config);
    let sessions = sessions::Sessions::new(options.max_sessions);
    let limiter = options.rate.map(limiter::Limiter::new);
    accept::run(listener, Arc::new(Shared { options, mcp, sessions, limiter })).await;
    Ok(())
}
