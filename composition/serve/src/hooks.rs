//! What a connector registers beyond plain tools (SDK-CONNECTOR-CONTROL-R019.2): groups of tools that an operator switches off by
//! a setting, additional registrations, routes and the readiness of its listener.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use scion_domain::http::{Bytes, Method, StatusCode};
use scion_domain::json::{Json, JsonObject};
use scion_domain::surface::ConnectorRefusal;
use scion_domain::tool_surface::{tag_is_on, toggle_name};

use crate::router::Router;
use crate::{Tool, ToolRefusal};

/// Tools and routers under one tag, which an operator switches off with one setting.
pub struct ToolGroup {
    tag: String,
    toggle: String,
    tools: Vec<Tool>,
    routers: Vec<Router>,
}

impl ToolGroup {
    /// An empty group. The setting is `<TAG>TOOL`, for example `ROOMSTOOL`.
    pub fn new(tag: impl Into<String>) -> Self {
        let tag = tag.into();
        Self { toggle: toggle_name(&tag), tag, tools: Vec::new(), routers: Vec::new() }
    }

    /// Another name for the setting.
    #[must_use]
    pub fn toggle(mut self, setting: impl Into<String>) -> Self {
        self.toggle = setting.into();
        self
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds a router. It is split like every other.
    #[must_use]
    pub fn router(mut self, router: Router) -> Self {
        self.routers.push(router);
        self
    }

    /// Its tools with the tag, or none when the setting says so. A setting that is no boolean is refused.
    pub(crate) fn registered(
        self,
        settings: &BTreeMap<String, String>,
    ) -> Result<(Vec<Tool>, Vec<Router>), ConnectorRefusal> {
        let on = tag_is_on(settings.get(&self.toggle).map(String::as_str));
        if !on.map_err(|_| ConnectorRefusal::Toggle { setting: self.toggle.clone() })? {
            return Ok((Vec::new(), Vec::new()));
        }
        let (mut tools, mut routers) = (self.tools, self.routers);
        for tool in &mut tools {
            add_tag(&mut tool.spec.meta, &self.tag);
        }
        for router in &mut routers {
            router.tag(&self.tag);
        }
        Ok((tools, routers))
    }
}

fn add_tag(meta: &mut JsonObject, tag: &str) {
    let own = meta.get("fastmcp").and_then(|own| own.get("tags")).and_then(Json::as_array).unwrap_or_default();
    let mut all: BTreeSet<String> = own.iter().filter_map(Json::as_str).map(str::to_owned).collect();
    all.insert(tag.to_owned());
    let tags = Json::from(all.into_iter().map(Json::from).collect::<Vec<_>>());
    match meta.get_mut("fastmcp") {
        Some(Json::Object(own)) => drop(own.insert("tags".to_owned(), tags)),
        _ => drop(meta.insert("fastmcp".to_owned(), Json::from([("tags", tags)]))),
    }
}

/// What a result becomes before it is answered.
pub(crate) type Coercer = Arc<dyn Fn(Json) -> Result<Json, ToolRefusal> + Send + Sync>;

/// The tool with its results coerced.
pub(crate) fn coerced(tool: Tool, coercer: &Coercer) -> Tool {
    let (handler, coercer) = (tool.handler, Arc::clone(coercer));
    let handler: crate::tool::Handler = Arc::new(move |context, args| {
        let (answer, coercer) = (handler(context, args), Arc::clone(&coercer));
        Box::pin(async move { coercer(answer.await?) })
    });
    Tool { spec: tool.spec, handler }
}

/// A registration that runs after everything else is registered.
pub(crate) type Registration = Box<dyn FnOnce(&RegistrationContext<'_>) -> Vec<Tool> + Send>;

/// What an additional registration is told.
#[derive(Clone, Copy)]
pub struct RegistrationContext<'b> {
    pub(crate) server: &'b str,
    pub(crate) version: &'b str,
    pub(crate) settings: &'b BTreeMap<String, String>,
    pub(crate) client: Option<&'b Arc<dyn Any + Send + Sync>>,
    pub(crate) tools: &'b [&'b str],
}

impl RegistrationContext<'_> {
    /// The connector's one declared name.
    pub fn server(&self) -> &str {
        self.server
    }

    /// Its version.
    pub fn version(&self) -> &str {
        self.version
    }

    /// A setting, as the connector was given it.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(String::as_str)
    }

    /// The declared client factory, if it is of this type.
    pub fn client_factory<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        Arc::clone(self.client?).downcast().ok()
    }

    /// The names registered so far.
    pub fn tools(&self) -> &[&str] {
        self.tools
    }
}

impl std::fmt::Debug for RegistrationContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Settings may hold secrets.
        f.debug_struct("RegistrationContext").field("server", &self.server).finish_non_exhaustive()
    }
}

type RouteFuture = Pin<Box<dyn Future<Output = RouteAnswer> + Send>>;

/// One request of a declared route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteRequest {
    /// The method; one of the route's.
    pub method: Method,
    /// The query, without `?`.
    pub query: String,
    /// The body, within the listener's bound.
    pub body: Bytes,
}

/// What a declared route answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteAnswer {
    /// The status.
    pub status: StatusCode,
    /// `content-type`.
    pub media_type: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

/// An HTTP route beside the protocol, served by listeners only.
#[derive(Clone)]
pub struct Route {
    path: String,
    methods: Vec<Method>,
    name: Option<String>,
    handler: Arc<dyn Fn(RouteRequest) -> RouteFuture + Send + Sync>,
}

impl Route {
    /// A route at an exact path from the root.
    pub fn new<F, Fut>(path: impl Into<String>, methods: impl IntoIterator<Item = Method>, handler: F) -> Self
    where
        F: Fn(RouteRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = RouteAnswer> + Send + 'static,
    {
        let handler = Arc::new(move |request| Box::pin(handler(request)) as RouteFuture);
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

    /// Answers one request.
    pub async fn answer(&self, request: RouteRequest) -> RouteAnswer {
        (self.handler)(request).await
    }
}

impl std::fmt::Debug for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Route").field("path", &self.path).field("methods", &self.methods).finish_non_exhaustive()
    }
}

/// Paths that the server answers itself.
const RESERVED: [&str; 2] = ["/health", "/ready"];

/// Every route at a path of its own, from the root, and none in the server's place.
pub(crate) fn check_routes(routes: &[Route]) -> Result<(), ConnectorRefusal> {
    let mut seen = BTreeSet::new();
    for route in routes {
        let refuse = |what| Err(ConnectorRefusal::Route { path: route.path.clone(), what });
        let plain = route.path.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'?' | b'#'));
        if !route.path.starts_with('/') || !plain || route.path.split('/').any(|part| part == "..") {
            return refuse("it is not a path from the root");
        }
        if RESERVED.contains(&route.path.trim_end_matches('/')) {
            return refuse("the server answers there itself");
        }
        if route.methods.is_empty() {
            return refuse("it answers no method");
        }
        if !route.methods.iter().all(|method| seen.insert((route.path.as_str(), method.as_str()))) {
            return refuse("it is declared twice for one method");
        }
    }
    Ok(())
}

/// Whether the connector can do its work now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readiness {
    /// Whether it can.
    pub ready: bool,
    /// What belongs to it, shown to whoever asks: no secret, no payload.
    pub detail: JsonObject,
}

type ReadinessFuture = Pin<Box<dyn Future<Output = Result<Readiness, &'static str>> + Send>>;

/// How the connector finds out whether it is ready. A failure is told by its stable code alone.
#[derive(Clone)]
pub struct ReadinessCheck(Arc<dyn Fn() -> ReadinessFuture + Send + Sync>);

impl ReadinessCheck {
    pub(crate) fn new<F, Fut>(probe: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Readiness, &'static str>> + Send + 'static,
    {
        Self(Arc::new(move || Box::pin(probe())))
    }

    /// Looks.
    pub async fn probe(&self) -> Result<Readiness, &'static str> {
        (self.0)().await
    }
}

impl std::fmt::Debug for ReadinessCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ReadinessCheck")
    }
}
