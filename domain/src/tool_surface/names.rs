//! Names: the prefix of a service, the tool of an operation, titles and toggles.

use std::fmt;

use super::ToolSurfaceRefusal;
use crate::json::Json;
use crate::values::{ValueRefusal, to_boolean};

/// The longest tool name that common clients accept, in characters.
pub const MAX_TOOL_NAME: usize = 64;

/// The longest prefix: half of a name, so that operations keep the other half.
const MAX_PREFIX: usize = 32;

/// A tool name that every client accepts: a letter, then at most 63 letters, digits, `_` or `-`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolName(String);

impl ToolName {
    /// Takes a name as it is, or refuses it.
    pub fn parse(name: &str) -> Result<Self, ToolSurfaceRefusal> {
        let fits = name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.len() <= MAX_TOOL_NAME
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if fits { Ok(Self(name.to_owned())) } else { Err(ToolSurfaceRefusal::Name { tool: name.to_owned() }) }
    }

    /// `<prefix>_<operation>` in snake case. The prefix is not doubled when the operation is the prefix, or already
    /// begins with it.
    pub fn of_operation(prefix: &ToolPrefix, operation: &str) -> Result<Self, ToolSurfaceRefusal> {
        let operation = snake_case(operation);
        let rest = operation.strip_prefix(prefix.as_str());
        let doubled = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
        Self::parse(&if doubled { operation } else { format!("{}_{operation}", prefix.as_str()) })
    }

    /// `<router>_<action>` in snake case, not doubled.
    pub fn of_action(router: &str, action: &str) -> Result<Self, ToolSurfaceRefusal> {
        Self::parse(&format!("{router}_{}", snake_case(action)))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What the names of a service's operation tools begin with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ToolPrefix(String);

impl ToolPrefix {
    /// A declared prefix: a letter, then letters, digits or `_`, at most 32 characters, and no `_` at its end.
    pub fn parse(prefix: &str) -> Result<Self, ToolSurfaceRefusal> {
        let fits = prefix.starts_with(|first: char| first.is_ascii_alphabetic())
            && prefix.len() <= MAX_PREFIX
            && !prefix.ends_with('_')
            && prefix.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if fits { Ok(Self(prefix.to_owned())) } else { Err(ToolSurfaceRefusal::Prefix { given: prefix.to_owned() }) }
    }

    /// The declared prefix, or else the service's name without one `-mcp`, `-agent`, `-api` or `-server` at its end, in
    /// lower case, with `_` for everything that is not a letter, digit or `_`. An empty declaration counts as none.
    pub fn of_service(service: &str, declared: Option<&str>) -> Result<Self, ToolSurfaceRefusal> {
        if let Some(declared) = declared.filter(|text| !text.is_empty()) {
            return Self::parse(declared);
        }
        let base = ["-mcp", "-agent", "-api", "-server"]
            .iter()
            .find_map(|suffix| service.strip_suffix(suffix))
            .filter(|rest| !rest.is_empty())
            .unwrap_or(service);
        let words: String = base
            .chars()
            .map(|letter| if letter.is_alphanumeric() { letter.to_ascii_lowercase() } else { '_' })
            .collect();
        Self::parse(words.trim_matches('_')).map_err(|_| ToolSurfaceRefusal::Prefix { given: service.to_owned() })
    }

    /// The prefix.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// `pageSize` is `page_size`, `X-Trace` is `x__trace`, `userID` is `user_id`; a name in snake case stays as it is.
pub fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut out = String::with_capacity(name.len() + 4);
    for (at, &letter) in letters.iter().enumerate() {
        if !letter.is_ascii_alphanumeric() {
            out.push('_');
            continue;
        }
        let before = at.checked_sub(1).map(|at| letters[at]);
        let begins_word = letter.is_ascii_uppercase()
            && before.is_some_and(|before| {
                let next_is_small = letters.get(at + 1).is_some_and(char::is_ascii_lowercase);
                before != '_' && (!before.is_ascii_uppercase() || next_is_small)
            });
        if begins_word {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

/// The title of an operation's tool: its words, the first letter large.
pub fn operation_title(operation: &str) -> String {
    large_first(&operation.replace('_', " "))
}

/// The title of an action's tool: its words, each with a large first letter.
pub fn action_title(action: &str) -> String {
    action.split('_').filter(|word| !word.is_empty()).map(large_first).collect::<Vec<_>>().join(" ")
}

fn large_first(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    first + &letters.as_str().to_lowercase()
}

/// The setting that switches the tools of a tag off: `ROOMSTOOL` for `rooms`.
pub fn toggle_name(tag: &str) -> String {
    let words = tag.chars().map(|letter| if letter.is_alphanumeric() { letter.to_ascii_uppercase() } else { '_' });
    words.chain("TOOL".chars()).collect()
}

/// Whether the tools of a tag are registered, by the value of its [`toggle_name`]. On unless said otherwise; a word that
/// is no boolean is refused.
pub fn tag_is_on(setting: Option<&str>) -> Result<bool, ValueRefusal> {
    match setting.filter(|text| !text.trim().is_empty()) {
        Some(text) => to_boolean(&Json::from(text)),
        None => Ok(true),
    }
}
