//! The connector as its author declares it, and the checks that turn it into a surface.

use std::future::Future;
use std::sync::Arc;

use scion_domain::declaration::{DECLARATION_MEDIA_TYPE, DECLARATION_URI, SOURCE_META_KEY};
use scion_domain::id::ConnectorName;
use scion_domain::json::Json;
use scion_domain::mcp::{ResourceDescription, ToolDescription};
use scion_domain::refusal::Refusal as _;
use scion_domain::served_route::{Readiness, check_routes};
use scion_domain::surface::{ConnectorRefusal, SurfaceIdentity};
use scion_domain::tool_context::ACTOR_META_KEY;
use scion_domain::tool_surface::{RiskDeclaration, RouterMode, ToolVersion};
use scion_ports::{ReadinessProbe, ServedRoute};

use crate::answer::Output;
use crate::assemble::{Declared, Risk};
use crate::changes::ChangeNotifier;
use crate::confirm::Asks;
use crate::content::ContentState;
use crate::context_runtime::ToolFacts;
use crate::declaration::{self, BoundSource};
use crate::hooks::{RegistrationContext, ToolGroup};
use crate::operation_tools::OperationSet;
use crate::router::Router;
use crate::surface::{ServedResource, ServedTool};
use crate::tool::ToolBuilder;
use crate::{
    BoundOperation, Identity, Mapping, Operations, ResourceModel, ServedContent, ServedSurface, Source, TextResource,
    Tool, ToolRefusal, checks,
};

/// Where the server says that it is well (1.1).
const STATUS_URI: &str = "connector://status";

/// Entry point for a connector declared in code.
#[derive(Debug)]
pub struct Connector;

impl Connector {
    /// Starts a declaration. The identity is given here and nowhere else (R071).
    pub fn builder(identity: Identity) -> ConnectorBuilder {
        ConnectorBuilder {
            identity,
            title: None,
            instructions: None,
            declared: Declared::default(),
            sources: Vec::new(),
            mappings: Vec::new(),
            models: Vec::new(),
            texts: Vec::new(),
            content: None,
            notifier: ChangeNotifier::default(),
            routes: Vec::new(),
            readiness: None,
        }
    }
}

/// A declaration under way.
pub struct ConnectorBuilder {
    identity: Identity,
    title: Option<String>,
    instructions: Option<String>,
    declared: Declared,
    sources: Vec<(String, Source)>,
    mappings: Vec<(String, Mapping)>,
    models: Vec<ResourceModel>,
    texts: Vec<TextResource>,
    content: Option<ServedContent>,
    notifier: ChangeNotifier,
    routes: Vec<ServedRoute>,
    readiness: Option<Arc<dyn ReadinessProbe>>,
}

impl ConnectorBuilder {
    /// A name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// How to use the server, for models and people.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: Tool) -> Self {
        self.declared.tools.push(tool);
        self
    }

    /// Adds one tool for each operation of a client (R020). Their prefix is the client's own or, without one, the connector's
    /// name without its `-mcp`, `-agent`, `-api` or `-server`.
    #[must_use]
    pub fn operations<A: Operations>(self, api: Arc<A>) -> Self {
        self.bound_operations(A::PREFIX, A::operations(api))
    }

    /// Adds one tool for each operation, for operations that are generated rather than written.
    #[must_use]
    pub fn bound_operations(mut self, prefix: Option<&str>, operations: Vec<BoundOperation>) -> Self {
        self.declared.operations.push(OperationSet { prefix: prefix.map(str::to_owned), operations });
        self
    }

    /// The operation manifest: what the API's own description says about operations, by their names. It goes before what
    /// the operations say themselves. Its form is in `docs/src/tools.md`.
    #[must_use]
    pub fn manifest(mut self, manifest: Json) -> Self {
        self.declared.manifest = Some(manifest);
        self
    }

    /// Adds a tool that routes an `action`. Unless [`Self::router_mode`] says otherwise, each of its actions becomes a tool
    /// of its own, save those that an operation's tool serves already (R020.2).
    #[must_use]
    pub fn router(mut self, router: Router) -> Self {
        self.declared.routers.push(router);
        self
    }

    /// Whether routers are split, as they are unless said otherwise, or kept whole for callers that still use them.
    #[must_use]
    pub fn router_mode(mut self, mode: RouterMode) -> Self {
        self.declared.mode = mode;
        self
    }

    /// Declares how dangerous tools are, by tool or by the actions of a router. Once anything is declared, a tool without a
    /// class prevents the start. A class among `read_classes` passes from a router only to actions that read (R020.5).
    #[must_use]
    pub fn risk_classes<'a>(
        mut self,
        declared: impl IntoIterator<Item = (String, RiskDeclaration)>,
        read_classes: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let risk = self.declared.risk.get_or_insert_with(Risk::default);
        risk.declared.extend(declared);
        risk.read_classes.extend(read_classes.into_iter().map(str::to_owned));
        self
    }

    /// Adds a tool beside the connector's own surface (R032). Additional tools are registered after all others, whenever
    /// they are added, and never replace one: a name that is taken is refused.
    #[must_use]
    pub fn additional_tool(mut self, tool: Tool) -> Self {
        self.declared.additional.push(tool);
        self
    }

    /// Adds tools under a tag, which a setting such as `ROOMSTOOL` switches off (R019.2). Where there are such groups, plain
    /// tools are refused beside them; a single one more is an [`Self::inline_tool`].
    #[must_use]
    pub fn tool_group(mut self, group: ToolGroup) -> Self {
        self.declared.groups.push(group);
        self
    }

    /// Adds a tool beside groups of tools. It is registered before them.
    #[must_use]
    pub fn inline_tool(mut self, tool: Tool) -> Self {
        self.declared.inline.push(tool);
        self
    }

    /// The settings: what switches groups off, and what additional registrations read. Nothing else is read from anywhere.
    #[must_use]
    pub fn settings(mut self, settings: impl IntoIterator<Item = (String, String)>) -> Self {
        self.declared.settings.extend(settings);
        self
    }

    /// Changes every result of an operation before it is answered.
    #[must_use]
    pub fn coerce_results(
        mut self,
        coercer: impl Fn(Json) -> Result<Json, ToolRefusal> + Send + Sync + 'static,
    ) -> Self {
        self.declared.coercer = Some(Arc::new(coercer));
        self
    }

    /// What additional registrations make clients with.
    #[must_use]
    pub fn client_factory<T: Send + Sync + 'static>(mut self, factory: Arc<T>) -> Self {
        self.declared.client = Some(factory);
        self
    }

    /// Adds tools that depend on the connector's name, settings or client. It runs after everything else is registered.
    #[must_use]
    pub fn register(
        mut self,
        registration: impl FnOnce(&RegistrationContext<'_>) -> Vec<Tool> + Send + 'static,
    ) -> Self {
        self.declared.registrations.push(Box::new(registration));
        self
    }

    /// Adds an HTTP route, for listeners. Some paths are the server's own (`served_route::check_routes`).
    #[must_use]
    pub fn route(mut self, route: ServedRoute) -> Self {
        self.routes.push(route);
        self
    }

    /// How listeners answer `/ready`. `/health` says only that the process lives.
    #[must_use]
    pub fn readiness<F, Fut>(mut self, probe: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Readiness, &'static str>> + Send + 'static,
    {
        self.readiness = Some(Arc::new(probe));
        self
    }

    /// Declares a source by tool name, for tools that are generated rather than written (R075.2).
    #[must_use]
    pub fn source(mut self, tool: impl Into<String>, source: Source) -> Self {
        self.sources.push((tool.into(), source));
        self
    }

    /// Maps a record type, for sources that do not carry the mapping themselves.
    #[must_use]
    pub fn mapping(mut self, record_type: impl Into<String>, mapping: Mapping) -> Self {
        self.mappings.push((record_type.into(), mapping));
        self
    }

    /// Adds a resource model with its relations.
    #[must_use]
    pub fn resource_model(mut self, model: ResourceModel) -> Self {
        self.models.push(model);
        self
    }

    /// Serves a text. A text at `connector://resources` or `connector://status` replaces the built-in one.
    #[must_use]
    pub fn text_resource(mut self, resource: TextResource) -> Self {
        self.texts.push(resource);
        self
    }

    /// Serves skills, prompts, ontologies, shapes, a seed graph and data resources (R073). Without it only the tools are
    /// served, beside `connector://resources` and `connector://status`.
    #[must_use]
    pub fn content(mut self, content: ServedContent) -> Self {
        self.content = Some(content);
        self
    }

    /// Announces changes of the surface to be built, from outside a tool.
    pub fn notifier(&self) -> ChangeNotifier {
        self.notifier.clone()
    }

    /// Checks everything and gives the surface to serve. The first fault is the refusal; nothing is repaired or left out.
    pub fn build(mut self) -> Result<ServedSurface, ConnectorRefusal> {
        let connector =
            ConnectorName::parse(&self.identity.name).map_err(|refusal| ConnectorRefusal::Name { refusal })?;
        if self.identity.version.trim().is_empty() {
            return Err(ConnectorRefusal::NoVersion);
        }
        check_routes(self.routes.iter().map(ServedRoute::place), false)
            .map_err(|refusal| ConnectorRefusal::Route { code: refusal.code(), refusal })?;
        let (tools, known) = std::mem::take(&mut self.declared).assemble(&self.identity)?;
        let specs: Vec<_> = tools.iter().map(|tool| &tool.spec).collect();

        let on_tools =
            specs.iter().flat_map(|spec| spec.sources.iter().map(|source| BoundSource { tool: &spec.name, source }));
        let by_name = self.sources.iter().map(|(tool, source)| BoundSource { tool, source });
        let sources: Vec<BoundSource<'_>> = on_tools.chain(by_name).collect();
        sources.iter().try_for_each(|bound| checks::source(bound, &specs))?;
        let mappings = declaration::mappings(&sources, &self.mappings)?;
        let described: Vec<_> = specs
            .iter()
            .map(|spec| Ok(describe(spec, checks::version(spec)?.as_ref(), tool_meta(&spec.name, &sources))))
            .collect::<Result<_, ConnectorRefusal>>()?;
        let mut listed = described.clone();
        listed.sort_by(|a, b| a.name.cmp(&b.name));
        checks::profile(&listed)?;
        let declared = declaration::assemble(&connector, &sources, &mappings, &self.models)?;

        let resources = self.resources(&connector);
        let content = ContentState::new(declared, described.clone(), self.content.take(), self.notifier.clone())
            .map_err(|refusal| ConnectorRefusal::Content { code: refusal.code(), refusal })?;
        let bound = content.now();
        let of_content = bound.listing().iter().map(|listed| listed.uri.as_str()).filter(|uri| *uri != DECLARATION_URI);
        checks::unique(of_content.chain(resources.iter().map(|served| served.description.uri.as_str())), |uri| {
            ConnectorRefusal::DuplicateResource { uri }
        })?;
        let identity = SurfaceIdentity {
            name: self.identity.name,
            version: self.identity.version,
            title: self.title,
            instructions: self.instructions,
        };
        let mut tools: Vec<_> = tools
            .into_iter()
            .zip(described)
            .map(|(Tool { spec, handler }, description)| ServedTool {
                facts: ToolFacts::of(
                    &description,
                    spec.operation.as_deref(),
                    spec.asks.unwrap_or_else(|| Asks::of(description.hints)),
                    spec.requires_actor,
                ),
                description,
                output: Output::of(spec.output.as_ref()),
                inputs: spec.inputs,
                handler,
            })
            .collect();
        // A listing that moves between two servers defeats every client's cache.
        tools.sort_by(|a, b| a.description.name.cmp(&b.description.name));
        let mut surface = ServedSurface::new(identity, connector, tools, known, resources, content, self.notifier);
        (surface.routes, surface.readiness) = (self.routes, self.readiness);
        Ok(surface)
    }

    fn resources(&self, connector: &ConnectorName) -> Vec<ServedResource> {
        let status = scion_domain::json::to_spaced(&Json::from([
            ("server", connector.as_str().into()),
            ("status", "ok".into()),
        ]));
        let built_in = [TextResource::new(STATUS_URI, "_connector_status_resource", DECLARATION_MEDIA_TYPE, status)];
        let replaced = |uri: &str| self.texts.iter().any(|own| own.uri == uri);
        built_in
            .into_iter()
            .filter(|resource| !replaced(&resource.uri))
            .chain(self.texts.iter().cloned())
            .map(|resource| ServedResource {
                description: ResourceDescription {
                    uri: resource.uri,
                    name: resource.name,
                    media_type: Some(resource.media_type),
                    ..ResourceDescription::default()
                },
                text: resource.text,
            })
            .collect()
    }
}

/// The tool's `connector_sources`, if it has any.
fn tool_meta(tool: &str, sources: &[BoundSource<'_>]) -> Option<Json> {
    let items: Vec<Json> =
        sources.iter().filter(|bound| bound.tool == tool).map(|bound| declaration::meta_item(bound.source)).collect();
    (!items.is_empty()).then(|| items.into())
}

/// The tool as listed.
fn describe(spec: &ToolBuilder, version: Option<&ToolVersion>, sources: Option<Json>) -> ToolDescription {
    let mut meta = spec.meta.clone();
    let mut description = spec.description.clone();
    if let Some(version) = version {
        version.mark(&mut meta);
        description = Some(version.stamp(description.as_deref()));
    }
    if spec.requires_actor {
        meta.insert(ACTOR_META_KEY.to_owned(), true.into());
    }
    if let Some(sources) = sources {
        meta.insert(SOURCE_META_KEY.to_owned(), sources);
    }
    ToolDescription {
        name: spec.name.clone(),
        title: spec.title.clone(),
        description,
        input_schema: Json::Object(spec.inputs.schema()),
        output_schema: Output::of(spec.output.as_ref()).schema(),
        hints: spec.hints,
        meta,
    }
}
