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
    pub(crate) handler: Handler,
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
        Self { operation, output: None, sources: Vec::new(), handler }
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
}
