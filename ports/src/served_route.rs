use std::fmt;
use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::http::Method;
use scion_domain::served_route::{Readiness, RouteAnswer, RouteRequest};

/// Answers a route beside the protocol. Closures do.
///
/// Obligations:
/// - **O1** The answer holds no secret and no text of a vendor's error.
/// - **O2** Answers may be made side by side. Dropping the future gives the request up.
#[async_trait]
pub trait RouteHandler: Send + Sync {
    /// Answers one request. It comes from a caller that the listener let in, like every call of a tool.
    async fn answer(&self, request: RouteRequest) -> RouteAnswer;
}

#[async_trait]
impl<F, Fut> RouteHandler for F
where
    F: Fn(RouteRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = RouteAnswer> + Send + 'static,
{
    async fn answer(&self, request: RouteRequest) -> RouteAnswer {
        self(request).await
    }
}

/// Looks whether a connector can do its work. Closures do.
///
/// Obligations:
/// - **O1** A failure is told by its stable code alone.
/// - **O2** What it finds may be shown to anybody: no secret, no payload.
/// - **O3** Dropping the future gives the look up; a listener does so after ten seconds.
#[async_trait]
pub trait ReadinessProbe: Send + Sync {
    /// Looks.
    async fn probe(&self) -> Result<Readiness, &'static str>;
}

#[async_trait]
impl<F, Fut> ReadinessProbe for F
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Readiness, &'static str>> + Send + 'static,
{
    async fn probe(&self) -> Result<Readiness, &'static str> {
        self().await
    }
}

/// An HTTP route beside the protocol, with who answers it. Only listeners serve routes.
#[derive(Clone)]
pub struct ServedRoute {
    path: String,
    methods: Vec<Method>,
    name: Option<String>,
    handler: Arc<dyn RouteHandler>,
}

impl ServedRoute {
    /// A route at an exact path from the root, answered by a closure.
    pub fn new<F, Fut>(path: impl Into<String>, methods: impl IntoIterator<Item = Method>, handler: F) -> Self
    where
        F: Fn(RouteRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = RouteAnswer> + Send + 'static,
    {
        Self::by(path, methods, Arc::new(handler))
    }

    /// A route at an exact path from the root.
    pub fn by(
        path: impl Into<String>,
        methods: impl IntoIterator<Item = Method>,
        handler: Arc<dyn RouteHandler>,
    ) -> Self {
        Self { path: path.into(), methods: methods.into_iter().collect(), name: None, handler }
    }

    /// A name for people and logs.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The methods it answers.
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// What people and logs call it: its name, or its path.
    pub fn label(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.path)
    }

    /// The path with its methods, as [`check_routes`](scion_domain::served_route::check_routes) takes them.
    pub fn place(&self) -> (&str, &[Method]) {
        (&self.path, &self.methods)
    }

    /// Answers one request.
    pub async fn answer(&self, request: RouteRequest) -> RouteAnswer {
        self.handler.answer(request).await
    }
}

impl fmt::Debug for ServedRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServedRoute").field("path", &self.path).field("methods", &self.methods).finish_non_exhaustive()
    }
}
