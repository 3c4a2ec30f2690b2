//! What one caller sees of a surface: the server's policy, narrowed by the caller (`wire/mcp-surface.md` 0.7).

use std::collections::BTreeSet;

use super::FilterRefusal;

/// The longest name in a filter, in bytes, and the most names.
const MAX_WORD: usize = 128;
const MAX_WORDS: usize = 256;

/// The word by which a server's policy names everything.
const EVERYTHING: &str = "all";

/// A member of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FilterField {
    /// Only these names.
    EnabledNames,
    /// None of these names.
    DisabledNames,
    /// Only what has one of these tags.
    EnabledTags,
    /// Nothing that has one of these tags.
    DisabledTags,
    /// A search. No listing can be searched, so it matches nothing.
    Search,
}

impl FilterField {
    /// The member a query parameter sets.
    pub fn of_query(parameter: &str) -> Option<Self> {
        Some(match parameter {
            "tools" | "toolsets" => Self::EnabledNames,
            "disabled_tools" | "disabled_toolsets" => Self::DisabledNames,
            "tags" => Self::EnabledTags,
            "disabled_tags" => Self::DisabledTags,
            "q" | "query" | "search" => Self::Search,
            _ => return None,
        })
    }

    /// The member a request header sets, in any case.
    pub fn of_header(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "x-mcp-enabled-tools" | "x-mcp-enabled-components" => Self::EnabledNames,
            "x-mcp-disabled-tools" | "x-mcp-disabled-components" => Self::DisabledNames,
            "x-mcp-enabled-tags" => Self::EnabledTags,
            "x-mcp-disabled-tags" => Self::DisabledTags,
            "x-mcp-query" | "x-mcp-search" => Self::Search,
            _ => return None,
        })
    }
}

/// What a caller asks to see. Several values of one member add up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListingFilter {
    rules: Rules,
    searches: bool,
}

/// What a server lets anybody see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListingPolicy(Rules);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Rules {
    /// `None` is no restriction.
    names: Option<BTreeSet<String>>,
    not_names: BTreeSet<String>,
    tags: Option<BTreeSet<String>>,
    not_tags: BTreeSet<String>,
}

impl Rules {
    fn add(&mut self, field: FilterField, words: BTreeSet<String>) {
        match field {
            FilterField::EnabledNames => self.names.get_or_insert_default().extend(words),
            FilterField::DisabledNames => self.not_names.extend(words),
            FilterField::EnabledTags => self.tags.get_or_insert_default().extend(words),
            FilterField::DisabledTags => self.not_tags.extend(words),
            FilterField::Search => {}
        }
    }

    fn show(&self, name: &str, tags: &BTreeSet<String>) -> bool {
        self.names.as_ref().is_none_or(|only| only.contains(name))
            && !self.not_names.contains(name)
            && self.tags.as_ref().is_none_or(|only| !only.is_disjoint(tags))
            && self.not_tags.is_disjoint(tags)
    }
}

impl ListingFilter {
    /// Reads the members of a request, each with its comma-separated words. An empty text says nothing.
    pub fn read<'a>(members: impl IntoIterator<Item = (FilterField, &'a str)>) -> Result<Self, FilterRefusal> {
        let mut filter = Self::default();
        for (field, text) in members {
            if text.trim().is_empty() {
                continue;
            }
            if field == FilterField::Search {
                filter.searches = true;
                continue;
            }
            filter.rules.add(field, words(text)?);
        }
        Ok(filter)
    }
}

fn words(text: &str) -> Result<BTreeSet<String>, FilterRefusal> {
    let mut words = BTreeSet::new();
    for (at, word) in text.split(',').map(str::trim).enumerate() {
        if at >= MAX_WORDS {
            return Err(FilterRefusal::TooLong { limit: MAX_WORDS });
        }
        if word.len() > MAX_WORD {
            return Err(FilterRefusal::TooLong { limit: MAX_WORD });
        }
        let fits = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:/".contains(&byte));
        if word.is_empty() || !fits {
            return Err(FilterRefusal::Word);
        }
        if word == EVERYTHING {
            return Err(FilterRefusal::All);
        }
        words.insert(word.to_owned());
    }
    Ok(words)
}

impl ListingPolicy {
    /// A policy that shows everything.
    pub fn everything() -> Self {
        Self::default()
    }

    /// Adds a rule. `all` among enabled names or tags restricts nothing.
    #[must_use]
    pub fn rule(mut self, field: FilterField, words: impl IntoIterator<Item = String>) -> Self {
        let words: BTreeSet<String> = words.into_iter().collect();
        let widens = matches!(field, FilterField::EnabledNames | FilterField::EnabledTags);
        if !(widens && words.contains(EVERYTHING)) {
            self.0.add(field, words);
        }
        self
    }
}

/// A policy as one caller narrowed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListingView<'a> {
    policy: &'a ListingPolicy,
    /// `None` shows nothing.
    filter: Option<ListingFilter>,
}

impl<'a> ListingView<'a> {
    /// What is left of the policy. A filter that was not understood shows nothing, and so does a search.
    pub fn new(policy: &'a ListingPolicy, filter: Result<ListingFilter, FilterRefusal>) -> Self {
        Self { policy, filter: filter.ok().filter(|filter| !filter.searches) }
    }

    /// Whether a tool, prompt or resource of this name is listed. A caller can only narrow: both the policy and the filter
    /// must show it.
    pub fn shows(&self, name: &str, tags: &BTreeSet<String>) -> bool {
        self.filter.as_ref().is_some_and(|filter| filter.rules.show(name, tags) && self.policy.0.show(name, tags))
    }
}
