//! Tools that route an `action` to different things (SDK-CONNECTOR-CONTROL-R020.2, R020.3): served as one tool per action, or
//! whole when their actions cannot be listed or they are asked to stay.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use scion_domain::json::{Json, JsonObject};
use scion_domain::mcp::ToolHints;
use scion_domain::surface::ArgumentRefusal;
use scion_domain::tool_surface::{
    ActionAnswer, ActionKind, ActionRouter, ActionTable, KeptReason, OperationInputs, OperationTool, RouterAction,
    RouterActions, SplitTool, ToolName, ToolSurfaceRefusal, action_kind, listed_actions,
};

use crate::confirm::{Asks, RouterAsks};
use crate::tool::Handler;
use crate::{Args, Tool, ToolContext, ToolRefusal};

/// The argument of a router that was kept whole.
const ACTION: &str = "action";

type Answer = Pin<Box<dyn Future<Output = Result<Json, ToolRefusal>> + Send>>;
type Dispatch = Arc<dyn Fn(ToolContext, String, Args) -> Answer + Send + Sync>;

/// One action of a router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    name: String,
    reads: BTreeSet<String>,
    operation: Option<String>,
    aliases: Vec<String>,
    destructive: Option<bool>,
}

impl Action {
    /// An action that takes nothing.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), reads: BTreeSet::new(), operation: None, aliases: Vec::new(), destructive: None }
    }

    /// The router's inputs that this action reads; its own tool takes these and no others.
    #[must_use]
    pub fn reads<'a>(mut self, inputs: impl IntoIterator<Item = &'a str>) -> Self {
        self.reads.extend(inputs.into_iter().map(str::to_owned));
        self
    }

    /// The operation whose result it gives unchanged. That operation's tool then serves the action.
    #[must_use]
    pub fn operation(mut self, method: impl Into<String>) -> Self {
        self.operation = Some(method.into());
        self
    }

    /// Another word for it, while its router is whole.
    #[must_use]
    pub fn alias(mut self, word: impl Into<String>) -> Self {
        self.aliases.push(word.into());
        self
    }

    /// Says whether it destroys something, where its name does not tell. It decides whether a person is asked.
    #[must_use]
    pub fn destructive(mut self, destructive: bool) -> Self {
        self.destructive = Some(destructive);
        self
    }

    fn destroys(&self) -> bool {
        self.destructive.unwrap_or_else(|| action_kind(&self.name) == ActionKind::Destructive)
    }
}

#[derive(Clone, Debug)]
enum Listing {
    None,
    Actions(Vec<Action>),
    Client,
}

/// A router that still needs its handler.
#[derive(Clone, Debug)]
pub struct RouterBuilder {
    name: String,
    prefix: Option<String>,
    title: Option<String>,
    description: Option<String>,
    tags: BTreeSet<String>,
    hints: ToolHints,
    inputs: OperationInputs,
    actions: Listing,
    requires_actor: bool,
}

/// A tool that takes an `action` and does different things by it, with its handler.
pub struct Router {
    spec: RouterBuilder,
    dispatch: Dispatch,
}

impl Router {
    /// A router without inputs, whose actions nobody listed.
    pub fn named(name: impl Into<String>) -> RouterBuilder {
        RouterBuilder {
            name: name.into(),
            prefix: None,
            title: None,
            description: None,
            tags: BTreeSet::new(),
            hints: ToolHints::default(),
            inputs: OperationInputs::default(),
            actions: Listing::None,
            requires_actor: false,
        }
    }
}

impl RouterBuilder {
    /// What the names of its actions' tools begin with, instead of its own name.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// It acts for the user who calls, whole or split: without a verified token of one it is refused (R902.1). Where another tool
    /// serves one of its actions, that tool must say so too.
    #[must_use]
    pub fn requires_actor(mut self) -> Self {
        self.requires_actor = true;
        self
    }

    /// A name for people, while it is whole.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// What it does.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Adds a tag, for it and its actions' tools.
    #[must_use]
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.insert(tag.into());
        self
    }

    /// Its hints. Only `open_world` passes to its actions' tools; never that it only reads (R020.5).
    #[must_use]
    pub fn hints(mut self, hints: ToolHints) -> Self {
        self.hints = hints;
        self
    }

    /// What it takes beside `action`.
    #[must_use]
    pub fn inputs(mut self, inputs: OperationInputs) -> Self {
        self.inputs = inputs;
        self
    }

    /// Adds an action. `list_actions`, `help` and `actions` ask a whole router for its actions and are none themselves.
    #[must_use]
    pub fn action(mut self, action: Action) -> Self {
        match &mut self.actions {
            Listing::Actions(actions) => actions.push(action),
            Listing::None | Listing::Client => self.actions = Listing::Actions(vec![action]),
        }
        self
    }

    /// Lists the actions by the schema of `action`: its `enum`, its `const`, or `One of: a, b` in its description. Each
    /// then reads every input. A schema that lists none leaves the router whole.
    #[must_use]
    pub fn actions_of_schema(mut self, schema: &Json) -> Self {
        let reads: Vec<String> = self.inputs.fields().iter().map(|field| field.shown().to_owned()).collect();
        let of = |name: String| Action::new(name).reads(reads.iter().map(String::as_str));
        self.actions =
            listed_actions(schema).map_or(Listing::None, |names| Listing::Actions(names.into_iter().map(of).collect()));
        self
    }

    /// Its action is the name of an operation of the connector, and it does nothing but call that one. The operations' own
    /// tools then serve it.
    #[must_use]
    pub fn client_operations(mut self) -> Self {
        self.actions = Listing::Client;
        self
    }

    /// Finishes the router. The handler is given the action's own name, whichever word the caller used for it.
    pub fn handle<F, Fut>(self, handler: F) -> Router
    where
        F: Fn(ToolContext, String, Args) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Json, ToolRefusal>> + Send + 'static,
    {
        Router { spec: self, dispatch: Arc::new(move |context, action, args| Box::pin(handler(context, action, args))) }
    }
}

impl Router {
    pub(crate) fn spec_name(&self) -> &str {
        &self.spec.name
    }

    pub(crate) const fn requires_actor(&self) -> bool {
        self.spec.requires_actor
    }

    pub(crate) fn tag(&mut self, tag: &str) {
        self.spec.tags.insert(tag.to_owned());
    }

    /// What the rules of splitting need to know.
    pub(crate) fn described(&self) -> Result<ActionRouter, ToolSurfaceRefusal> {
        let spec = &self.spec;
        let of = |action: &Action| RouterAction {
            name: action.name.clone(),
            reads: action.reads.clone(),
            operation: action.operation.clone(),
        };
        Ok(ActionRouter {
            tool: ToolName::parse(&spec.name)?,
            prefix: spec.prefix.clone(),
            tags: spec.tags.clone(),
            hints: spec.hints,
            inputs: spec.inputs.clone(),
            actions: match &spec.actions {
                Listing::None => RouterActions::Unlisted,
                Listing::Client => RouterActions::Client,
                Listing::Actions(actions) => RouterActions::Listed(actions.iter().map(of).collect()),
            },
        })
    }

    /// The tool of one action.
    pub(crate) fn split(&self, split: SplitTool) -> Tool {
        let declared = match &self.spec.actions {
            Listing::Actions(all) => all.iter().find(|action| action.name == split.action),
            Listing::None | Listing::Client => None,
        };
        let mut hints = split.hints;
        if let Some(destructive) = declared.and_then(|action| action.destructive) {
            hints.destructive = Some(destructive);
            hints.read_only = hints.read_only.map(|reads| reads && !destructive);
        }
        let mut builder = Tool::with_hints(split.name.as_str(), hints).title(split.title).asks(Asks::of(hints));
        builder.requires_actor = self.spec.requires_actor;
        builder.description.clone_from(&self.spec.description);
        builder = builder.input_schema(closed(split.inputs.schema())).operation(split.action.as_str());
        builder.meta = tags(&split.tags);
        let (dispatch, inputs, action) = (Arc::clone(&self.dispatch), split.inputs, split.action);
        let handler: Handler = Arc::new(move |context, args| match inputs.bind(args.into_object()) {
            Ok(bound) => dispatch(context, action.clone(), Args::new(bound)),
            Err(refusal) => refused(refusal.into()),
        });
        Tool { spec: builder, handler }
    }

    /// The router itself, whole.
    pub(crate) fn keep(&self, reason: KeptReason, operations: &[OperationTool]) -> Result<Tool, ToolSurfaceRefusal> {
        let spec = &self.spec;
        spec.inputs.check(&spec.name)?;
        if spec.inputs.fields().iter().any(|field| field.shown() == ACTION) {
            let (tool, parameter) = (spec.name.clone(), ACTION.to_owned());
            return Err(ToolSurfaceRefusal::ParameterTwice { tool, parameter });
        }
        let known: Option<Vec<Action>> = match &spec.actions {
            Listing::Actions(actions) => Some(actions.clone()),
            Listing::Client if !operations.is_empty() => {
                Some(operations.iter().map(|tool| Action::new(&tool.method).destructive(tool.asks)).collect())
            }
            Listing::None | Listing::Client => None,
        };
        let table = known.as_ref().map(|actions| {
            let table = ActionTable::new(&spec.name, actions.iter().map(|action| action.name.clone()));
            let words = actions.iter().flat_map(|action| action.aliases.iter().map(|word| (word, &action.name)));
            words.fold(table, |table, (word, action)| table.alias(word, action))
        });
        let mut hints = spec.hints;
        let actions = known.unwrap_or_default();
        let reads = !actions.is_empty()
            && actions.iter().all(|action| action_kind(&action.name) == ActionKind::Read && !action.destroys());
        hints.read_only = hints.read_only.map(|declared| declared && reads);

        let mut all_tags = spec.tags.clone();
        if reason == KeptReason::ByChoice {
            all_tags.insert("action-dispatch".to_owned());
        }
        let mut builder = Tool::with_hints(&spec.name, hints).input_schema(with_action(spec, &actions));
        builder.requires_actor = spec.requires_actor;
        builder.title.clone_from(&spec.title);
        builder.description.clone_from(&spec.description);
        builder.meta = tags(&all_tags);
        builder.asks = Some(match &table {
            Some(table) => {
                let destroys = actions.iter().filter(|action| action.destroys()).map(|action| action.name.clone());
                let (table, destroys) = (table.clone(), destroys.collect());
                Asks::ByRouter(Box::new(RouterAsks { argument: ACTION, table, destroys }))
            }
            None if spec.hints.destructive == Some(true) => Asks::Always,
            None => Asks::ByAction(ACTION.to_owned()),
        });
        let (dispatch, inputs) = (Arc::clone(&self.dispatch), spec.inputs.clone());
        let handler: Handler = Arc::new(move |context, args| {
            let mut given = args.into_object();
            let Some(Json::String(word)) = given.remove(ACTION) else {
                let name = ACTION.to_owned();
                return refused(ArgumentRefusal::WrongType { name, expected: "text" }.into());
            };
            let action = match table.as_ref().map(|table| table.resolve(&word)) {
                None => word,
                Some(Ok(ActionAnswer::Run(action))) => action,
                Some(Ok(ActionAnswer::Actions(listed))) => return Box::pin(std::future::ready(Ok(listed))),
                Some(Err(refusal)) => return refused(refusal.into()),
            };
            match inputs.bind(given) {
                Ok(bound) => dispatch(context, action, Args::new(bound)),
                Err(refusal) => refused(refusal.into()),
            }
        });
        Ok(Tool { spec: builder, handler })
    }
}

fn refused(refusal: ToolRefusal) -> Answer {
    Box::pin(std::future::ready(Err(refusal)))
}

/// The input schema with `action`, which is required. Its words are no `enum`: other words for an action are taken too.
fn with_action(spec: &RouterBuilder, actions: &[Action]) -> JsonObject {
    let mut schema = closed(spec.inputs.schema());
    let names: Vec<&str> = actions.iter().map(|action| action.name.as_str()).collect();
    let text = if names.is_empty() { "What to do.".to_owned() } else { format!("One of: {}", names.join(", ")) };
    let action = Json::from([("type", "string".into()), ("description", text.into())]);
    if let Some(Json::Object(properties)) = schema.get_mut("properties") {
        properties.insert(ACTION.to_owned(), action);
    }
    match schema.entry("required".to_owned()).or_insert_with(|| Json::Array(Vec::new())) {
        Json::Array(required) => required.insert(0, ACTION.into()),
        other => *other = Json::from(vec![ACTION.into()]),
    }
    schema
}

/// A map of anything says so in words, because clients refuse an object that is plainly open.
pub(crate) fn closed(schema: JsonObject) -> JsonObject {
    schema.into_iter().map(|(key, value)| closed_member(key, value)).collect()
}

fn closed_member(key: String, value: Json) -> (String, Json) {
    let value = match value {
        Json::Bool(true) if key == "additionalProperties" => Json::from([("description", "Any value.".into())]),
        Json::Object(members) => closed(members).into(),
        Json::Array(items) => {
            items.into_iter().map(|item| closed_member(String::new(), item).1).collect::<Vec<_>>().into()
        }
        other => other,
    };
    (key, value)
}

/// Tags as clients of the peer read them.
pub(crate) fn tags(tags: &BTreeSet<String>) -> JsonObject {
    let tags: Vec<Json> = tags.iter().map(|tag| Json::from(tag.as_str())).collect();
    JsonObject::from([("fastmcp".to_owned(), Json::from([("tags", tags.into())]))])
}
