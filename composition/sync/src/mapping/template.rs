//! Templates that form ids.

use scion_domain::ingest::IngestRefusal;

/// A text with places, for example `ticket:{id}` or `{project}/{number}`.
///
/// Two different sets of values never form the same id: in a template with more than one place, the characters of its
/// fixed text are percent-encoded inside the values, and two places need fixed text between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdTemplate {
    text: String,
    parts: Vec<Part>,
    places: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Fixed(String),
    Place(String),
}

impl IdTemplate {
    /// Parses a template. Refuses one without a place, with an unclosed or empty place, or with two places side by side.
    pub fn parse(text: &str) -> Result<Self, IngestRefusal> {
        let no = |what| Err(IngestRefusal::Declaration { what, name: text.to_owned() });
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let Some(length) = rest[open + 1..].find('}') else {
                return no("the template has a place that is not closed");
            };
            let name = &rest[open + 1..open + 1 + length];
            if name.is_empty() || name.contains('{') {
                return no("the template has a place without a name");
            }
            if open > 0 {
                parts.push(Part::Fixed(rest[..open].to_owned()));
            } else if matches!(parts.last(), Some(Part::Place(_))) {
                return no("the template has two places with nothing between them");
            }
            parts.push(Part::Place(name.to_owned()));
            rest = &rest[open + length + 2..];
        }
        if rest.contains('}') {
            return no("the template closes a place it did not open");
        }
        if !rest.is_empty() {
            parts.push(Part::Fixed(rest.to_owned()));
        }
        let places = parts.iter().filter(|part| matches!(part, Part::Place(_))).count();
        if places == 0 {
            return no("the template has no place for an id");
        }
        Ok(Self { text: text.to_owned(), parts, places })
    }

    /// The template as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The names of its places, in order.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Place(name) => Some(name.as_str()),
            Part::Fixed(_) => None,
        })
    }

    /// Fills the places; `None` when a value is missing.
    pub fn fill(&self, mut value: impl FnMut(&str) -> Option<String>) -> Option<String> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Fixed(text) => out.push_str(text),
                Part::Place(name) => {
                    let text = value(name).filter(|text| !text.is_empty())?;
                    if self.places == 1 {
                        out.push_str(&text);
                    } else {
                        self.push_encoded(&text, &mut out);
                    }
                }
            }
        }
        Some(out)
    }

    fn push_encoded(&self, value: &str, out: &mut String) {
        use std::fmt::Write as _;
        let fixed = |c| self.parts.iter().any(|part| matches!(part, Part::Fixed(text) if text.contains(c)));
        for c in value.chars() {
            if c == '%' || fixed(c) {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    // Writing to a String cannot fail.
                    let _ = write!(out, "%{byte:02X}");
                }
            } else {
                out.push(c);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn broken_templates_are_refused() {
        for bad in ["", "fixed", "{", "{}", "a{id", "{a}{b}", "id}", "{a{b}}"] {
            assert!(matches!(IdTemplate::parse(bad), Err(IngestRefusal::Declaration { .. })), "{bad}");
        }
        assert_eq!(IdTemplate::parse("a/{x}-{y}").unwrap().places().collect::<Vec<_>>(), ["x", "y"]);
    }

    proptest! {
        #[test]
        fn different_values_form_different_ids(a in "[a:%/]{1,4}", b in "[a:%/]{1,4}", c in "[a:%/]{1,4}", d in "[a:%/]{1,4}") {
            let template = IdTemplate::parse("k/{x}:{y}").unwrap();
            let fill = |x: &str, y: &str| template.fill(|name| Some(if name == "x" { x } else { y }.to_owned())).unwrap();
            prop_assert_eq!(fill(&a, &b) == fill(&c, &d), (a, b) == (c, d));
        }
    }
}
