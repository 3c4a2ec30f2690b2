//! One tool per operation of a vendor's API: what a client type offers, and the handler behind each operation.

use std::future::Future;
use std::sync::Arc;

use scion_domain::json::Json;
use scion_domain::tool_surface::Operation;

use crate::tool::Handler;
use crate::{Args, Source, ToolContext, ToolRefusal};

/// A type whose public operations become tools. `#[scion::operations]` implements it; it can be written by hand too.
pub trait Operations: Send + Sync + 'static {
    /// What tool names begin with; `None` for the connector's own name without its `-mcp`, `-agent`, `-api` or `-server`.
    const PREFIX: Option<&'static str> = None;

    /// Whether one of its operations says that it destroys something. The client of a declared connector allows destructive calls
    /// only then; each of their tools asks a person first.
    const DESTROYS: bool = false;

    /// Its operations, in the order their tools are listed in.
    fn operations(api: Arc<Self>) -> Vec<BoundOperation>
    where
        Self: Sized;
}

/// An operation with its handler.
pub struct BoundOperation {
    pub(crate) operation: Operation,
    pub(crate) output: Option<Json>,
    pub(crate) sources: Vec<Source>,
    pub(crate) said: Said,
    pub(crate) handler: Handler,
}

/// What an author says about an operation beside what it takes and gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// A title other than the one made of the name.
    pub(crate) title: Option<String>,
    /// The tool's own version (R014.3).
    pub(crate) version: Option<String>,
    /// Whether it destroys something, when its verb and name do not tell.
    pub(crate) destructive: Option<bool>,
    /// Whether it needs an acting user (R902).
    pub(crate) requires_actor: bool,
}

impl std::fmt::Debug for BoundOperation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BoundOperation").field("operation", &self.operation).finish_non_exhaustive()
    }
}

impl BoundOperation {
    /// Binds a handler. It is given the arguments under the names the operation uses: nulls are gone, `params_json` is opened.
    pub fn new<F, Fut>(operation: Operation, handler: F) -> Self
    where
        F: Fn(ToolContext, Args) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Json, ToolRefusal>> + Send + 'static,
    {
        let handler: Handler = Arc::new(move |context, args| Box::pin(handler(context, args)));
        Self { operation, output: None, sources: Vec::new(), said: Said::default(), handler }
    }

    /// The schema of its value. A value that is not an object is wrapped in `result` on the wire.
    #[must_use]
    pub fn output_schema(mut self, schema: Json) -> Self {
        self.output = Some(schema);
        self
    }

    /// Declares that its records are worth copying (R075.2).
    #[must_use]
    pub fn source(mut self, source: Source) -> Self {
        self.sources.push(source);
        self
    }

    /// A title other than the one made of the operation's name.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.said.title = Some(title.into());
        self
    }

    /// The tool's own version, as [`ToolBuilder::version`](crate::ToolBuilder::version) takes it (R014.3).
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.said.version = Some(version.into());
        self
    }

    /// Says whether the operation destroys something, where its verb and name do not tell. It decides whether a person is asked.
    #[must_use]
    pub fn destructive(mut self, destructive: bool) -> Self {
        self.said.destructive = Some(destructive);
        self
    }

    /// The operation acts for the user who calls: without a verified one it is refused (R902.1).
    #[must_use]
    pub fn requires_actor(mut self) -> Self {
        self.said.requires_actor = true;
        self
    }

    /// The operation as declared.
    pub fn operation(&self) -> &Operation {
        &self.operation
    }
}
