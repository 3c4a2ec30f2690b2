//! What a tool says about itself: read-only, destructive, idempotent, open world.

use super::Verb;
use crate::mcp::ToolHints;

/// A name with one of these tokens destroys, whatever else it says.
pub const DESTRUCTIVE_TOKENS: [&str; 6] = ["deactivate", "delete", "destroy", "drop", "purge", "remove"];

/// A name that begins with one of these reads, when no HTTP method says otherwise.
pub const READ_TOKENS: [&str; 9] = ["count", "fetch", "find", "get", "list", "ping", "query", "read", "search"];

/// Tokens of a router's actions; wider than those of operations, because no HTTP method helps there.
const DESTRUCTIVE_ACTIONS: [&str; 18] = [
    "delete",
    "remove",
    "destroy",
    "drop",
    "purge",
    "wipe",
    "erase",
    "truncate",
    "kill",
    "terminate",
    "cancel",
    "revoke",
    "rotate",
    "reset",
    "uninstall",
    "prune",
    "halt",
    "clear",
];
const READ_ACTIONS: [&str; 42] = [
    "list",
    "get",
    "read",
    "show",
    "status",
    "describe",
    "inspect",
    "info",
    "query",
    "search",
    "find",
    "fetch",
    "check",
    "validate",
    "verify",
    "scan",
    "audit",
    "analyze",
    "calculate",
    "compute",
    "estimate",
    "preview",
    "explain",
    "view",
    "count",
    "history",
    "stat",
    "stats",
    "metrics",
    "export",
    "diff",
    "compare",
    "health",
    "ping",
    "test",
    "detect",
    "lookup",
    "resolve",
    "evaluate",
    "discover",
    "whoami",
    "limits",
];

fn tokens(name: &str) -> impl Iterator<Item = String> {
    name.split('_').map(str::to_lowercase)
}

fn names_destruction(name: &str) -> bool {
    tokens(name).any(|token| DESTRUCTIVE_TOKENS.contains(&token.as_str()))
}

/// Whether a person must say yes before a call: DELETE, or a destructive name. A declaration of the author goes before
/// both.
pub fn is_destructive(name: &str, verb: Option<Verb>, declared: Option<bool>) -> bool {
    declared.unwrap_or_else(|| verb == Some(Verb::Delete) || names_destruction(name))
}

/// The hints of an operation's tool, by its method and name (`wire/mcp-surface.md` 2.2). Without a method, `idempotent`
/// is left open unless the operation reads.
pub fn operation_hints(name: &str, verb: Option<Verb>) -> ToolHints {
    let destructive_name = names_destruction(name);
    let read_name = tokens(name).next().is_some_and(|token| READ_TOKENS.contains(&token.as_str()));
    let (read_only, destructive, idempotent) = match verb {
        Some(Verb::Get | Verb::Head) => (true, false, Some(true)),
        Some(Verb::Post | Verb::Patch) => (false, destructive_name, Some(false)),
        Some(Verb::Put) => (false, destructive_name, Some(true)),
        Some(Verb::Delete) => (false, true, Some(true)),
        None if destructive_name => (false, true, None),
        None if read_name => (true, false, Some(true)),
        None => (false, false, None),
    };
    ToolHints { read_only: Some(read_only), destructive: Some(destructive), idempotent, open_world: Some(true) }
}

/// What the words of a router's action say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActionKind {
    /// It destroys; this goes before everything else.
    Destructive,
    /// It reads.
    Read,
    /// It does something else, or its words say nothing.
    Other,
}

/// Classifies an action by its tokens.
pub fn action_kind(action: &str) -> ActionKind {
    let words: Vec<String> = tokens(action).collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    if has(&DESTRUCTIVE_ACTIONS) || has(&DESTRUCTIVE_TOKENS) {
        ActionKind::Destructive
    } else if has(&READ_ACTIONS) {
        ActionKind::Read
    } else {
        ActionKind::Other
    }
}

/// The hints of an action's tool. Only `openWorldHint` comes from the router; read-only is never inherited (R020.5).
pub fn action_hints(action: &str, router: ToolHints) -> ToolHints {
    let kind = action_kind(action);
    ToolHints {
        read_only: Some(kind == ActionKind::Read),
        destructive: Some(kind == ActionKind::Destructive),
        idempotent: Some(kind != ActionKind::Other),
        open_world: Some(router.open_world.unwrap_or(true)),
    }
}
