//! Actions of a routed tool: which there are, which one a word means.

use std::collections::{BTreeMap, BTreeSet};

use super::ActionRefusal;
use crate::json::{Json, JsonObject};

/// Words that ask a routed tool for its actions; never actions themselves.
pub const DISCOVERY_ACTIONS: [&str; 3] = ["list_actions", "help", "actions"];

/// The most names a refusal proposes.
const MAX_CLOSE: usize = 3;

/// How alike a name must be to be proposed, from 0 to 1.
const CLOSE: f64 = 0.5;

/// The actions of one routed tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionTable {
    tool: String,
    actions: BTreeSet<String>,
    aliases: BTreeMap<String, String>,
}

/// What a word asked of a routed tool means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionAnswer {
    /// This action is meant.
    Run(String),
    /// The caller asks which actions there are; this is the answer.
    Actions(Json),
}

impl ActionTable {
    /// The actions of a tool, without the discovery words.
    pub fn new(tool: impl Into<String>, actions: impl IntoIterator<Item = String>) -> Self {
        let actions = actions.into_iter().filter(|action| !DISCOVERY_ACTIONS.contains(&action.as_str())).collect();
        Self { tool: tool.into(), actions, aliases: BTreeMap::new() }
    }

    /// Another word for an action. One that leads to no action is refused when it is used.
    #[must_use]
    pub fn alias(mut self, word: impl Into<String>, action: impl Into<String>) -> Self {
        self.aliases.insert(word.into(), action.into());
        self
    }

    /// The action a word means: itself, an alias, or the same name in singular or plural. Two possible meanings are none.
    pub fn resolve(&self, word: &str) -> Result<ActionAnswer, ActionRefusal> {
        if DISCOVERY_ACTIONS.contains(&word) {
            let actions: Vec<Json> = self.actions.iter().map(|action| Json::from(action.as_str())).collect();
            let answer = JsonObject::from([
                ("service".to_owned(), Json::from(self.tool.as_str())),
                ("actions".to_owned(), actions.into()),
            ]);
            return Ok(ActionAnswer::Actions(answer.into()));
        }
        let known = |name: &str| self.actions.get(name);
        let exact = known(word).or_else(|| self.aliases.get(word).and_then(|action| known(action)));
        let found = exact.or_else(|| {
            let shorter = [word.strip_suffix('s'), word.strip_suffix("es")].into_iter().flatten().map(str::to_owned);
            let forms: BTreeSet<&String> = shorter
                .chain([format!("{word}s"), format!("{word}es")])
                .filter_map(|form| self.actions.get(&form))
                .collect();
            if forms.len() == 1 { forms.first().copied() } else { None }
        });
        found.map(|action| ActionAnswer::Run(action.clone())).ok_or_else(|| self.unknown(word))
    }

    fn unknown(&self, word: &str) -> ActionRefusal {
        let close = self.close_to(word).join(", ");
        let close = if close.is_empty() { "none".to_owned() } else { close };
        ActionRefusal::Unknown { tool: self.tool.clone(), close }
    }

    /// At most three actions whose names are close to a word, the closest first.
    pub fn close_to(&self, word: &str) -> Vec<&str> {
        // A longer word than any name is close to none; comparing it would only cost time.
        if word.len() > 256 {
            return Vec::new();
        }
        let mut close: Vec<(f64, &str)> = self
            .actions
            .iter()
            .map(|action| (strsim::normalized_levenshtein(word, action), action.as_str()))
            .filter(|(likeness, _)| *likeness >= CLOSE)
            .collect();
        close.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        close.into_iter().take(MAX_CLOSE).map(|(_, action)| action).collect()
    }
}

/// The actions that the schema of an `action` parameter lists: `enum`, `const`, or `One of: a, b` in its description.
pub fn listed_actions(schema: &Json) -> Option<Vec<String>> {
    let names: Vec<String> = if let Some(items) = schema.get("enum").and_then(Json::as_array) {
        items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<_>>()?
    } else if let Some(only) = schema.get("const").and_then(Json::as_str) {
        vec![only.to_owned()]
    } else {
        let (_, listing) = schema.get("description").and_then(Json::as_str)?.split_once("One of:")?;
        let end = listing.find(['.', '\n', ';']).unwrap_or(listing.len());
        let words = listing[..end].split(',').map(|word| word.trim().trim_matches(['`', '\'', '"']).to_owned());
        words.filter(|word| !word.is_empty()).collect()
    };
    let usable = |name: &String| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    (!names.is_empty() && names.iter().all(usable)).then_some(names)
}
