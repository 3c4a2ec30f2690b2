//! Tools: what a caller sees of them, and the handler behind.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use scion_domain::json::{Json, JsonObject};
use scion_domain::mcp::ToolHints;
use scion_domain::surface::ArgumentRefusal;

use crate::confirm::Asks;
use crate::context::ToolContext;
use crate::param::input_schema;
use crate::{Args, Param, Source, ToolRefusal};

pub(crate) type Answer = Pin<Box<dyn Future<Output = Result<Json, ToolRefusal>> + Send>>;
pub(crate) type Handler = Arc<dyn Fn(ToolContext, Args) -> Answer + Send + Sync>;

/// A tool with its handler.
pub struct Tool {
    pub(crate) spec: ToolBuilder,
    pub(crate) handler: Handler,
}

/// A tool that still needs its handler.
#[derive(Clone, Debug)]
pub struct ToolBuilder {
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) hints: ToolHints,
    pub(crate) inputs: Inputs,
    pub(crate) output: Option<Json>,
    pub(crate) sources: Vec<Source>,
    pub(crate) meta: JsonObject,
    pub(crate) operation: Option<String>,
    pub(crate) asks: Option<Asks>,
    pub(crate) requires_actor: bool,
}

/// How a tool's arguments are described.
#[derive(Clone, Debug)]
pub(crate) enum Inputs {
    Params(Vec<Param>),
    Schema(JsonObject),
}

impl Tool {
    /// A tool that only reads, and gives the same answer while the vendor's data is the same.
    pub fn read(name: impl Into<String>) -> ToolBuilder {
        Self::with_hints(
            name,
            ToolHints {
                read_only: Some(true),
                destructive: Some(false),
                idempotent: Some(true),
                open_world: Some(true),
            },
        )
    }

    /// A tool with hints of its own.
    pub fn with_hints(name: impl Into<String>, hints: ToolHints) -> ToolBuilder {
        ToolBuilder {
            name: name.into(),
            title: None,
            description: None,
            version: None,
            hints,
            inputs: Inputs::Params(Vec::new()),
            output: None,
            sources: Vec::new(),
            meta: JsonObject::new(),
            operation: None,
            asks: None,
            requires_actor: false,
        }
    }
}

impl ToolBuilder {
    /// A name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// What it does, for people and models.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// The tool's own version (R014.3): the last line of its description and the member `tool_version` of its `_meta`. Its
    /// answers stay as they are.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Adds a parameter.
    #[must_use]
    pub fn param(mut self, param: Param) -> Self {
        match &mut self.inputs {
            Inputs::Params(params) => params.push(param),
            Inputs::Schema(_) => self.inputs = Inputs::Params(vec![param]),
        }
        self
    }

    /// Replaces the parameters by a schema. Only the names of its properties are checked, and only when it is closed.
    #[must_use]
    pub fn input_schema(mut self, schema: JsonObject) -> Self {
        self.inputs = Inputs::Schema(schema);
        self
    }

    /// The schema of the tool's value. A value that is not an object is wrapped in `result` on the wire.
    #[must_use]
    pub fn output_schema(mut self, schema: Json) -> Self {
        self.output = Some(schema);
        self
    }

    /// Declares that this tool's records are worth copying (R075.2).
    #[must_use]
    pub fn source(mut self, source: Source) -> Self {
        self.sources.push(source);
        self
    }

    /// Adds a member to the tool's `_meta`.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: Json) -> Self {
        self.meta.insert(key.into(), value);
        self
    }

    /// The operation behind the tool, as a person is asked about it and events name it; the tool's own name unless set.
    #[must_use]
    pub fn operation(mut self, operation: impl Into<String>) -> Self {
        self.operation = Some(operation.into());
        self
    }

    /// When a person must confirm a call; unless set, always where the hints say that the tool is destructive.
    #[must_use]
    pub fn asks(mut self, asks: Asks) -> Self {
        self.asks = Some(asks);
        self
    }

    /// The tool acts for the user who calls: without a verified token of one it is refused before its handler runs (R902.1).
    /// Clients find `team.knuckles/requiresActor` in its `_meta`.
    #[must_use]
    pub fn requires_actor(mut self) -> Self {
        self.requires_actor = true;
        self
    }

    /// Finishes the tool.
    ///
    /// The future is dropped when the caller cancels or its time is up, so it must hold nothing that a drop would leave
    /// half done. Blocking work belongs on a blocking thread.
    pub fn handle<F, Fut>(self, handler: F) -> Tool
    where
        F: Fn(ToolContext, Args) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Json, ToolRefusal>> + Send + 'static,
    {
        Tool { spec: self, handler: Arc::new(move |context, args| Box::pin(handler(context, args))) }
    }
}

impl Inputs {
    pub(crate) fn schema(&self) -> JsonObject {
        match self {
            Self::Params(params) => input_schema(params),
            Self::Schema(schema) => schema.clone(),
        }
    }

    /// Whether an argument of this name is accepted.
    pub(crate) fn takes(&self, name: &str) -> bool {
        match self {
            Self::Params(params) => params.iter().any(|param| param.name() == name),
            Self::Schema(schema) => {
                schema.get("properties").and_then(|all| all.get(name)).is_some()
                    || schema.get("additionalProperties") != Some(&Json::Bool(false))
            }
        }
    }

    /// Arguments a handler can trust, or why not.
    pub(crate) fn check(&self, tool: &str, given: JsonObject) -> Result<Args, ArgumentRefusal> {
        if !given.keys().all(|name| self.takes(name)) {
            return Err(ArgumentRefusal::Unknown { tool: tool.to_owned() });
        }
        let Self::Params(params) = self else { return Ok(Args::new(given)) };
        let mut checked = JsonObject::new();
        for param in params {
            if let Some(value) = param.check(given.get(param.name()))? {
                checked.insert(param.name().to_owned(), value);
            }
        }
        Ok(Args::new(checked))
    }
}
