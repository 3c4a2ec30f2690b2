//! Splitting a tool that routes an `action` into one tool per action (SDK-CONNECTOR-CONTROL-R020.2, R020.3).

use std::collections::{BTreeMap, BTreeSet};

use super::{
    DISCOVERY_ACTIONS, OperationInputs, OperationTool, ToolName, ToolSurfaceRefusal, action_hints, action_title,
};
use crate::mcp::ToolHints;

/// One action of a router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterAction {
    /// Its name.
    pub name: String,
    /// The router's parameters it reads, by the names in the schema.
    pub reads: BTreeSet<String>,
    /// The operation whose result it returns unchanged, if it does nothing else.
    pub operation: Option<String>,
}

/// What is known about a router's actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouterActions {
    /// These, and no others.
    Listed(Vec<RouterAction>),
    /// It hands its `action` to the served client's operations and does nothing else.
    Client,
    /// They cannot be listed.
    Unlisted,
}

/// A tool that takes an `action` and does different things by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionRouter {
    /// Its own name.
    pub tool: ToolName,
    /// What the names of its action tools begin with, when that is not its own name.
    pub prefix: Option<String>,
    /// Its tags.
    pub tags: BTreeSet<String>,
    /// Its hints; only `open_world` passes to its actions.
    pub hints: ToolHints,
    /// What it takes beside `action`.
    pub inputs: OperationInputs,
    /// Its actions.
    pub actions: RouterActions,
}

/// What becomes of routers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RouterMode {
    /// One tool per action.
    #[default]
    Split,
    /// Routers stay whole, for callers that still use them.
    Keep,
}

/// Why a router stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeptReason {
    /// Its actions cannot be listed.
    ActionsUnknown,
    /// It was asked to stay, by [`RouterMode::Keep`].
    ByChoice,
}

/// What became of one action, or of a router as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SplitOutcome {
    /// It has a tool of its own.
    Split,
    /// An operation's tool does the same, and serves it.
    CoveredByOperation,
    /// A tool of that name is served already.
    CoveredByName,
    /// The router itself stays.
    Kept(KeptReason),
}

/// One line of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitEntry {
    /// The router.
    pub router: String,
    /// The action; `None` when the line is about the router as a whole.
    pub action: Option<String>,
    /// The name the action's own tool has, or would have.
    pub split: String,
    /// What became of it.
    pub outcome: SplitOutcome,
    /// The tool that serves it.
    pub served_by: String,
}

/// Which tool serves every action of every router.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActionSplitReport {
    /// The lines, router by router.
    pub entries: Vec<SplitEntry>,
}

/// The tool of one action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitTool {
    /// Its name.
    pub name: ToolName,
    /// The router behind it.
    pub router: ToolName,
    /// The action it stands for.
    pub action: String,
    /// A name for people.
    pub title: String,
    /// Its hints.
    pub hints: ToolHints,
    /// The router's tags and `split-action`.
    pub tags: BTreeSet<String>,
    /// What it takes: the parameters its action reads.
    pub inputs: OperationInputs,
}

/// Splits routers into one tool per action. `served` are the tools registered otherwise, operations included; the routers'
/// own names must not be among them, which is a collision.
///
/// An action that an operation already serves gets no second tool; neither does one whose name is taken. Nothing is lost:
/// a router without a list of actions stays, and the report says which tool serves what. Two routers that would both give
/// a tool of one name are refused.
pub fn split(
    routers: &[ActionRouter],
    mode: RouterMode,
    operations: &[OperationTool],
    served: &BTreeSet<ToolName>,
) -> Result<(Vec<SplitTool>, ActionSplitReport), ToolSurfaceRefusal> {
    let by_method: BTreeMap<&str, &ToolName> =
        operations.iter().map(|tool| (tool.method.as_str(), &tool.name)).collect();
    let mut taken: BTreeMap<ToolName, &str> = BTreeMap::new();
    for router in routers {
        let name = router.tool.as_str();
        let twice = taken.insert(router.tool.clone(), name).is_some();
        if twice || served.contains(&router.tool) {
            return Err(collision(name, format!("a tool called `{name}`"), format!("the router `{name}`")));
        }
    }
    // A router that is split gives up its own name, so only the names of action tools can still meet.
    taken.clear();
    let (mut tools, mut entries) = (Vec::new(), Vec::new());
    for router in routers {
        let name = router.tool.as_str();
        let kept = |reason| SplitEntry {
            router: name.to_owned(),
            action: None,
            split: name.to_owned(),
            outcome: SplitOutcome::Kept(reason),
            served_by: name.to_owned(),
        };
        let actions = match (&router.actions, mode) {
            (_, RouterMode::Keep) => {
                entries.push(kept(KeptReason::ByChoice));
                continue;
            }
            (RouterActions::Unlisted, RouterMode::Split) => {
                entries.push(kept(KeptReason::ActionsUnknown));
                continue;
            }
            (RouterActions::Client, RouterMode::Split) if operations.is_empty() => {
                entries.push(kept(KeptReason::ActionsUnknown));
                continue;
            }
            (RouterActions::Client, RouterMode::Split) => operations.iter().map(of_operation).collect(),
            (RouterActions::Listed(actions), RouterMode::Split) => listed(name, actions)?,
        };
        if actions.is_empty() {
            entries.push(kept(KeptReason::ActionsUnknown));
            continue;
        }
        for action in actions {
            let own = ToolName::of_action(router.prefix.as_deref().unwrap_or(name), &action.name)?;
            let operation = action.operation.as_deref().and_then(|method| by_method.get(method));
            let covering = by_method.get(action.name.as_str()).or(operation).copied();
            let (outcome, served_by) = match covering {
                Some(tool) => (SplitOutcome::CoveredByOperation, tool.clone()),
                None if served.contains(&own) => (SplitOutcome::CoveredByName, own.clone()),
                None => (SplitOutcome::Split, own.clone()),
            };
            if outcome == SplitOutcome::Split {
                if let Some(first) = taken.insert(own.clone(), name) {
                    return Err(collision(
                        own.as_str(),
                        format!("an action of `{first}`"),
                        format!("an action of `{name}`"),
                    ));
                }
                tools.push(tool_of(router, &action, own.clone())?);
            }
            entries.push(SplitEntry {
                router: name.to_owned(),
                action: Some(action.name),
                split: own.as_str().to_owned(),
                outcome,
                served_by: served_by.as_str().to_owned(),
            });
        }
    }
    refuse_shadowed(routers, &entries, &taken)?;
    Ok((tools, ActionSplitReport { entries }))
}

fn of_operation(tool: &OperationTool) -> RouterAction {
    RouterAction { name: tool.method.clone(), reads: BTreeSet::new(), operation: Some(tool.method.clone()) }
}

/// The actions without discovery words; each once, each a word.
fn listed(router: &str, actions: &[RouterAction]) -> Result<Vec<RouterAction>, ToolSurfaceRefusal> {
    let mut seen = BTreeSet::new();
    for action in actions {
        let word = action.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if action.name.is_empty() || !word || !seen.insert(&action.name) {
            return Err(ToolSurfaceRefusal::Action { tool: router.to_owned(), action: action.name.clone() });
        }
    }
    Ok(actions.iter().filter(|action| !DISCOVERY_ACTIONS.contains(&action.name.as_str())).cloned().collect())
}

fn tool_of(router: &ActionRouter, action: &RouterAction, name: ToolName) -> Result<SplitTool, ToolSurfaceRefusal> {
    let fields = router.inputs.fields();
    if let Some(stray) = action.reads.iter().find(|read| fields.iter().all(|field| field.shown() != read.as_str())) {
        return Err(ToolSurfaceRefusal::ActionParameter {
            tool: router.tool.as_str().to_owned(),
            action: action.name.clone(),
            parameter: stray.clone(),
        });
    }
    let inputs = router.inputs.only(|field| action.reads.contains(field));
    inputs.check(name.as_str())?;
    let mut tags = router.tags.clone();
    tags.insert("split-action".to_owned());
    Ok(SplitTool {
        name,
        router: router.tool.clone(),
        action: action.name.clone(),
        title: action_title(&action.name),
        hints: action_hints(&action.name, router.hints),
        tags,
        inputs,
    })
}

/// A router that stays must not share its name with an action's tool of another.
fn refuse_shadowed(
    routers: &[ActionRouter],
    entries: &[SplitEntry],
    taken: &BTreeMap<ToolName, &str>,
) -> Result<(), ToolSurfaceRefusal> {
    for router in routers {
        let stays = entries.iter().any(|entry| entry.action.is_none() && entry.router == router.tool.as_str());
        if let Some(other) = taken.get(&router.tool).filter(|_| stays) {
            let name = router.tool.as_str();
            return Err(collision(name, format!("the router `{name}`"), format!("an action of `{other}`")));
        }
    }
    Ok(())
}

fn collision(tool: &str, first: String, second: String) -> ToolSurfaceRefusal {
    ToolSurfaceRefusal::Collision { tool: tool.to_owned(), first, second }
}

impl ActionSplitReport {
    /// The tool that serves an action of a router.
    pub fn served_by(&self, router: &str, action: &str) -> Option<&str> {
        let of_action = |entry: &&SplitEntry| entry.router == router && entry.action.as_deref() == Some(action);
        self.entries.iter().find(of_action).map(|entry| entry.served_by.as_str())
    }

    /// The routers that stay.
    pub fn kept(&self) -> impl Iterator<Item = &str> {
        let kept = self.entries.iter().filter(|entry| matches!(entry.outcome, SplitOutcome::Kept(_)));
        kept.map(|entry| entry.router.as_str())
    }
}
