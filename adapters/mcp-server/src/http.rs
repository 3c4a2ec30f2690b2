//! Serving over the network: streamable HTTP at `/mcp` in both eras, or the older stream of events at `/sse`, as the boundary
//! says; health and readiness beside it.
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
mod sse;
mod tls;

use std::sync::Arc;

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use scion_domain::listener::ListenerBoundary;
use scion_domain::rate_bucket::RateLimit;
use scion_domain::refusal::Refusal as _;
use scion_domain::served_route::{METRICS, check_routes};
use scion_domain::served_security::{ServedSecurityOverride, ServedSecurityProfile};
use scion_domain::surface::TransportRefusal;
use scion_domain::tool_surface::ListingPolicy;
use scion_ports::{ReadinessProbe, RouteHandler, ServedRoute, TokenVerifier, ToolSurface};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::ServeOptions;
use crate::handler::Handler;

pub(crate) use admission::Caller;
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
    /// Routes beside those that the surface declares.
    pub routes: Vec<ServedRoute>,
    /// Answers `/metrics`, to callers; without one there is no such route.
    pub metrics: Option<Arc<dyn RouteHandler>>,
    /// Answers `/ready` in place of the surface's own probe; without either there is no such route.
    pub readiness: Option<Arc<dyn ReadinessProbe>>,
    /// What may be listed at all.
    pub policy: ListingPolicy,
    /// TLS of the listener itself, as [`tls_config`] makes it.
    pub tls: Option<Arc<rustls::ServerConfig>>,
    /// Sessions of the handshake era or streams of events at once; a further one is answered 503. 1024 unless set.
    pub max_sessions: usize,
    /// How often one caller may ask; a request that comes sooner is answered −32000 with the time to wait. Ten a second and twenty
    /// at once unless set; `None` for no limit. All callers count as one where nobody is asked who they are.
    pub rate: Option<RateLimit>,
    /// Ends serving when it is cancelled.
    pub shutdown: CancellationToken,
}

impl HttpServeOptions {
    /// Options with the bounds of [`ServeOptions::default`] and nothing beside the protocol, `/health` and what the surface
    /// declares.
    pub fn new(boundary: ListenerBoundary, security: Security) -> Self {
        Self {
            boundary,
            security,
            serve: ServeOptions::default(),
            routes: Vec::new(),
            metrics: None,
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
    pub(crate) streams: sse::Streams,
    /// What the handlers of further conversations are made from.
    pub(crate) first: Arc<Handler>,
    pub(crate) limiter: Option<limiter::Limiter>,
}

/// Serves a surface on a bound listener until `options.shutdown` is cancelled; then requests under way get the boundary's time to end.
///
/// A route at a reserved path or twice at one path is [`TransportRefusal::Route`].
///
/// ```
/// use std::sync::Arc;
///
/// use scion_domain::listener::ListenerSettings;
/// use scion_domain::served_security::ServedSecurityOverride;
/// use scion_mcp_server::{HttpServeOptions, Security, serve_http};
/// use scion_serve::{Connector, Identity};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let surface = Connector::builder(Identity::new("desk", "1.0.0")).build()?;
/// let boundary = ListenerSettings::default().validate(|_| true)?;
/// let security = Security::Open(ServedSecurityOverride::new("a trial on my own machine")?);
/// let listener = tokio::net::TcpListener::bind(("127.0.0.1", 8000)).await?;
/// serve_http(listener, Arc::new(surface), HttpServeOptions::new(boundary, security)).await?;
/// # Ok(())
/// # }
/// ```
pub async fn serve_http(
    listener: TcpListener,
    surface: Arc<dyn ToolSurface>,
    mut options: HttpServeOptions,
) -> Result<(), TransportRefusal> {
    options.routes.splice(..0, surface.routes().iter().cloned());
    check_routes(options.routes.iter().map(ServedRoute::place), options.metrics.is_some())
        .map_err(|refusal| TransportRefusal::Route { code: refusal.code(), refusal })?;
    options.routes.extend(options.metrics.take().map(|metrics| ServedRoute::by(METRICS, [http::Method::GET], metrics)));
    options.readiness = options.readiness.take().or_else(|| surface.readiness());
    let port = listener.local_addr().map_err(|_| TransportRefusal::Broken)?.port();
    options.boundary = options.boundary.clone().bound_to(port);
    if let Security::Open(reason) = &options.security {
        tracing::warn!(reason = reason.reason(), "serving without a check of callers");
    }
    let policy = Arc::new(options.policy.clone());
    let (serve, shutdown) = (options.serve, options.shutdown.clone());
    // Every conversation, and every request of the enveloped era, has a handler of its own; they share what bounds them.
    let first = Arc::new(Handler::new(surface, serve, None).with_policy(policy));
    let another = Arc::clone(&first);
    let handler = move || Ok(another.another());
    // Host, origin and size are the boundary's to judge, which the library's own lists would only repeat.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        // An answer alone is JSON; one that follows notices is a stream of events.
        .with_json_response(true)
        .with_max_request_body_bytes(usize::try_from(options.boundary.max_request_bytes).unwrap_or(usize::MAX))
        .with_cancellation_token(shutdown.child_token());
    let mcp = StreamableHttpService::new(handler, Arc::new(LocalSessionManager::default()), config);
    let sessions = sessions::Sessions::new(options.max_sessions);
    let limiter = options.rate.map(limiter::Limiter::new);
    accept::run(
        listener,
        Arc::new(Shared { options, mcp, sessions, streams: sse::Streams::default(), first, limiter }),
    )
    .await;
    Ok(())
}
