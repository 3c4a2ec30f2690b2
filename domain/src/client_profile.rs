//! What a tool must look like so that every client takes it, as data: one tool that a client rejects can cost it every tool
//! of the server.
//!
//! A profile only says what is wrong and how to put it right; it repairs nothing.

mod schema;

use std::collections::HashSet;

use crate::mcp::ToolDescription;
use crate::refusals;

/// The largest integer that clients whose numbers are floats keep exactly (2^53 - 1).
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// What clients accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientProfile {
    /// The longest name a client sends to its model, its own prefix included, in characters.
    pub max_name_chars: usize,
    /// What is kept free for the prefix some clients put before each name, in characters.
    pub client_prefix_chars: usize,
    /// The longest name of an argument, in characters.
    pub max_argument_chars: usize,
    /// The deepest schema, in levels of objects and lists.
    pub max_depth: usize,
}

impl ClientProfile {
    /// What the common clients have in common: 64 characters a name with 20 of them for a prefix such as
    /// `mcp__<server>__`, 64 characters an argument, 32 levels.
    pub const COMMON: Self =
        Self { max_name_chars: 64, client_prefix_chars: 20, max_argument_chars: 64, max_depth: 32 };

    /// The profile of a server whose name is known: clients put `mcp__<server>__` before each tool.
    #[must_use]
    pub fn for_server(name: &str) -> Self {
        Self { client_prefix_chars: name.chars().count() + "mcp____".len(), ..Self::COMMON }
    }

    /// The longest name a tool may have here, in characters; at least 1.
    pub const fn max_tool_name(&self) -> usize {
        let left = self.max_name_chars.saturating_sub(self.client_prefix_chars);
        if left == 0 { 1 } else { left }
    }

    /// Everything about one tool that some client would not take, in a fixed order; empty when it passes.
    pub fn check(&self, tool: &ToolDescription) -> Vec<ProfileFinding> {
        let mut found = Vec::new();
        let chars = tool.name.chars().count();
        if chars > self.max_tool_name() {
            let limit = self.max_tool_name();
            found.push(ProfileFinding::NameTooLong { tool: tool.name.clone(), chars, limit });
        }
        let plain = tool.name.starts_with(|first: char| first.is_ascii_alphabetic())
            && tool.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if !plain {
            found.push(ProfileFinding::NameCharacters { tool: tool.name.clone() });
        }
        schema::check_input(self, tool, &mut found);
        if let Some(output) = &tool.output_schema {
            schema::check_output(self, &tool.name, output, &mut found);
        }
        found
    }

    /// [`ClientProfile::check`] for each tool of a listing, and that the listing is in the order of its names without a
    /// name twice: an order that moves between two listings defeats every client's cache.
    pub fn check_listing(&self, tools: &[ToolDescription]) -> Vec<ProfileFinding> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        for (index, tool) in tools.iter().enumerate() {
            if !seen.insert(tool.name.as_str()) {
                found.push(ProfileFinding::NameTwice { tool: tool.name.clone() });
            } else if index > 0 && tools[index - 1].name > tool.name {
                found.push(ProfileFinding::Order { tool: tool.name.clone() });
            }
            found.extend(self.check(tool));
        }
        found
    }
}

refusals! {
    /// What some client does not take about a tool. `at` is a JSON pointer into the schema.
    pub enum ProfileFinding {
        /// The name is too long once a client has put its prefix before it.
        NameTooLong { tool: String, chars: usize, limit: usize } => "profile_name_too_long", CallerMistake, Never,
            "the name `{tool}` has {chars} characters; {limit} leave room for a client's prefix", "shorten the name or the prefix";
        /// A name some client cannot write.
        NameCharacters { tool: String } => "profile_name_characters", CallerMistake, Never,
            "`{tool}` has characters that some clients refuse in a name", "begin with a letter, then use letters, digits, `_` and `-`";
        /// Two tools of one name.
        NameTwice { tool: String } => "profile_name_twice", CallerMistake, Never,
            "`{tool}` is listed twice", "rename one of the two";
        /// The listing is not ordered.
        Order { tool: String } => "profile_order", CallerMistake, Never,
            "`{tool}` stands after a name it should stand before", "list tools in the order of their names";
        /// The root is not an object.
        RootNotObject { tool: String, schema: &'static str } => "profile_root_not_object", CallerMistake, Never,
            "the root of the {schema} schema of `{tool}` is not an object", "put the value into a member of an object";
        /// The root is a composition.
        RootComposition { tool: String, schema: &'static str, keyword: &'static str } => "profile_root_composition", CallerMistake, Never,
            "the root of the {schema} schema of `{tool}` has `{keyword}`", "describe one object, with the choice in a member";
        /// An object that does not say which members it has.
        OpenObject { tool: String, at: String } => "profile_open_object", CallerMistake, Never,
            "the object at {at} in the input schema of `{tool}` is open", "set additionalProperties to false, or to a typed schema for a map";
        /// A reference that leads nowhere, outside, or around in a circle.
        OpenReference { tool: String, at: String } => "profile_open_reference", CallerMistake, Never,
            "the reference at {at} in a schema of `{tool}` cannot be written out", "write the schema out in place; cut it where it would recur";
        /// An integer that a client with float numbers rounds.
        WideInteger { tool: String, at: String } => "profile_wide_integer", CallerMistake, Never,
            "the integer at {at} in the input schema of `{tool}` can have more than 53 bits", "take text too (`type: [integer, string]`), or bound it by 2^53 - 1";
        /// An argument name that some client refuses.
        ArgumentName { tool: String, at: String } => "profile_argument_name", CallerMistake, Never,
            "the argument at {at} of `{tool}` has a name that some clients refuse", "use at most 64 letters, digits, `_`, `-` and `.`";
        /// A required member that is not described.
        RequiredUnknown { tool: String, at: String } => "profile_required_unknown", CallerMistake, Never,
            "the object at {at} in the input schema of `{tool}` requires a member it does not describe", "describe it under properties";
        /// A part that is no schema.
        NotASchema { tool: String, at: String } => "profile_not_a_schema", CallerMistake, Never,
            "what stands at {at} in a schema of `{tool}` is not a schema object", "use an object with a type";
        /// The schema is too deep.
        TooDeep { tool: String, limit: usize } => "profile_too_deep", CallerMistake, Never,
            "a schema of `{tool}` has more than {limit} levels", "flatten it";
    }
}

impl ProfileFinding {
    /// The tool it is about.
    pub fn tool(&self) -> &str {
        match self {
            Self::NameTooLong { tool, .. }
            | Self::NameCharacters { tool }
            | Self::NameTwice { tool }
            | Self::Order { tool }
            | Self::RootNotObject { tool, .. }
            | Self::RootComposition { tool, .. }
            | Self::OpenObject { tool, .. }
            | Self::OpenReference { tool, .. }
            | Self::WideInteger { tool, .. }
            | Self::ArgumentName { tool, .. }
            | Self::RequiredUnknown { tool, .. }
            | Self::NotASchema { tool, .. }
            | Self::TooDeep { tool, .. } => tool,
        }
    }
}

#[cfg(test)]
mod tests;
