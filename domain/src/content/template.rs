//! Texts with `{{name}}` in them.

use std::collections::{BTreeMap, BTreeSet};

/// A text whose `{{name}}` stand for the arguments of a prompt. A value is put in as it is; braces in it mean nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Argument(String),
}

impl Template {
    /// Reads a text. Braces around anything that is not a name are text.
    pub fn parse(text: &str) -> Self {
        let mut parts = Vec::new();
        let (mut plain, mut rest) = (String::new(), text);
        while let Some(at) = rest.find("{{") {
            let inner = &rest[at + 2..];
            if let Some(name) = argument_of(inner) {
                plain.push_str(&rest[..at]);
                if !plain.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut plain)));
                }
                parts.push(Part::Argument(name.to_owned()));
                rest = &inner[name.len() + 2..];
            } else {
                // One brace only: of three in a row the last two can begin a name.
                plain.push_str(&rest[..=at]);
                rest = &rest[at + 1..];
            }
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Self { text: text.to_owned(), parts }
    }

    /// The text as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names it uses.
    pub fn names(&self) -> BTreeSet<&str> {
        let names = self.parts.iter().filter_map(|part| match part {
            Part::Argument(name) => Some(name.as_str()),
            Part::Text(_) => None,
        });
        names.collect()
    }

    /// How many places are filled.
    pub fn places(&self) -> usize {
        self.parts.iter().filter(|part| matches!(part, Part::Argument(_))).count()
    }

    /// The text with the values in it; a name without a value becomes nothing.
    pub fn fill(&self, values: &BTreeMap<String, String>) -> String {
        let value = |part: &'_ Part| match part {
            Part::Text(text) => text.clone(),
            Part::Argument(name) => values.get(name).cloned().unwrap_or_default(),
        };
        self.parts.iter().map(value).collect()
    }
}

/// The name at the start of a text, where `}}` follows it. Looks no further than a name can be long.
fn argument_of(text: &str) -> Option<&str> {
    let length = text.bytes().take(65).take_while(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte)).count();
    let name = &text[..length];
    (is_argument(name) && text[length..].starts_with("}}")).then_some(name)
}

/// `^[A-Za-z_][A-Za-z0-9_-]{0,63}$`.
pub(super) fn is_argument(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && name.len() <= 64
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fill(text: &str, values: &[(&str, &str)]) -> String {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Template::parse(text).fill(&values)
    }

    #[test]
    fn names_are_filled_once() {
        assert_eq!(
            fill("Reply to {{a}} in a {{b}} tone.", &[("a", "{{b}}"), ("b", "x")]),
            "Reply to {{b}} in a x tone."
        );
        assert_eq!(fill("{{{a}}} {{ a }} {{}} {{1}} {{a", &[("a", "v")]), "{v} {{ a }} {{}} {{1}} {{a");
        assert_eq!(fill("{{a}}{{gone}}", &[("a", "v")]), "v");
        assert_eq!(Template::parse("{{b}} {{a}} {{b}}").names().into_iter().collect::<Vec<_>>(), ["a", "b"]);
    }

    proptest! {
        /// Filling every name with its own placeholder gives the text back: what a pack captures of a template.
        #[test]
        fn its_own_placeholders_give_the_text_back(text in "[{}a-c é]{0,40}") {
            let template = Template::parse(&text);
            let own = template.names().into_iter().map(|name| (name.to_owned(), format!("{{{{{name}}}}}"))).collect();
            prop_assert_eq!(template.fill(&own), text);
        }
    }
}
