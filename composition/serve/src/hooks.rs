//! What a connector registers beyond plain tools (SDK-CONNECTOR-CONTROL-R019.2): groups of tools that an operator switches off by
//! a setting, and additional registrations.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

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
