//! YAML 1.2 text to a JSON value. Anchors, aliases and merge keys are written out within the bound on values.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};
use scion_domain::json::{Json, JsonNumber, JsonObject};
use scion_domain::openapi::ApiDocumentRefusal;

use crate::limits::Limits;

/// Reads one document.
pub(crate) fn read(text: &str, limits: &Limits) -> Result<Json, ApiDocumentRefusal> {
    let mut builder =
        Builder { limits, open: Vec::new(), anchors: HashMap::new(), root: None, total: 0, place: (1, 1) };
    let mut documents = 0;
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| {
            if error.info() == "recursion limit exceeded" {
                return ApiDocumentRefusal::TooDeep { limit: limits.max_depth };
            }
            let (line, column) = place(error.marker());
            ApiDocumentRefusal::Malformed { syntax: "YAML", line, column }
        })?;
        builder.place = place(&span.start);
        match event {
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    return Err(builder.refuse("a second document begins"));
                }
            }
            Event::Alias(id) => {
                let (value, nodes) = builder
                    .anchors
                    .get(&id)
                    .map(|(value, nodes)| (value, *nodes))
                    .ok_or_else(|| builder.refuse("an alias stands inside of what it names"))?;
                // Counted before it is copied: a few lines of aliases can stand for a billion values.
                let total = builder.total + nodes;
                if total > limits.max_nodes {
                    return Err(ApiDocumentRefusal::TooManyNodes { limit: limits.max_nodes });
                }
                let value = value.clone();
                builder.total = total;
                builder.value(value, nodes, 0)?;
            }
            Event::Scalar(text, style, anchor, tag) => {
                let text_tag = is_text(tag.as_deref()).ok_or_else(|| builder.refuse("a tag stands"))?;
                builder.count(1)?;
                let key = builder.wants_key();
                let value = if style == ScalarStyle::Plain && !text_tag && !key {
                    plain(&text)
                } else {
                    Json::String(text.into_owned())
                };
                builder.value(value, 1, anchor)?;
            }
            Event::SequenceStart(anchor, tag) => {
                is_text(tag.as_deref()).ok_or_else(|| builder.refuse("a tag stands"))?;
                builder.open(Kind::List(Vec::new()), anchor)?;
            }
            Event::MappingStart(anchor, tag) => {
                is_text(tag.as_deref()).ok_or_else(|| builder.refuse("a tag stands"))?;
                builder.open(Kind::Map { members: JsonObject::new(), merged: Vec::new(), key: None }, anchor)?;
            }
            Event::SequenceEnd | Event::MappingEnd => builder.close()?,
            Event::Nothing | Event::StreamStart | Event::DocumentEnd | Event::StreamEnd => {}
        }
    }
    builder.root.ok_or(ApiDocumentRefusal::NotAnApi)
}

fn place(marker: &Marker) -> (usize, usize) {
    (marker.line().max(1), marker.col() + 1)
}

/// Whether the tag says text; `None` for a tag with another meaning.
fn is_text(tag: Option<&Tag>) -> Option<bool> {
    match tag {
        None => Some(false),
        Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => Some(true),
        Some(_) => None,
    }
}

/// A plain scalar under the core schema.
fn plain(text: &str) -> Json {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Json::Null,
        "true" | "True" | "TRUE" => Json::Bool(true),
        "false" | "False" | "FALSE" => Json::Bool(false),
        _ => number(text).map_or_else(|| Json::from(text), Json::Number),
    }
}

fn number(text: &str) -> Option<JsonNumber> {
    if text.len() > 64 {
        return None;
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let unsigned = digits.starts_with(|first: char| first.is_ascii_hexdigit());
            return unsigned.then(|| u64::from_str_radix(digits, radix).ok()).flatten().map(JsonNumber::from);
        }
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    if !digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let short = digits.trim_start_matches('0');
        return JsonNumber::from_text(&format!("{sign}{}", if short.is_empty() { "0" } else { short }));
    }
    let signed = format!("{sign}{digits}");
    JsonNumber::from_text(&signed).or_else(|| {
        let numeric = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
        numeric.then(|| signed.parse().ok()).flatten().and_then(JsonNumber::from_f64)
    })
}

enum Kind {
    List(Vec<Json>),
    Map { members: JsonObject, merged: Vec<JsonObject>, key: Option<String> },
}

struct Open {
    kind: Kind,
    anchor: usize,
    nodes: usize,
}

struct Builder<'l> {
    limits: &'l Limits,
    open: Vec<Open>,
    anchors: HashMap<usize, (Json, usize)>,
    root: Option<Json>,
    total: usize,
    place: (usize, usize),
}

impl Builder<'_> {
    fn refuse(&self, what: &'static str) -> ApiDocumentRefusal {
        ApiDocumentRefusal::Yaml { what, line: self.place.0, column: self.place.1 }
    }

    fn count(&mut self, nodes: usize) -> Result<(), ApiDocumentRefusal> {
        self.total += nodes;
        let limit = self.limits.max_nodes;
        if self.total > limit { Err(ApiDocumentRefusal::TooManyNodes { limit }) } else { Ok(()) }
    }

    fn wants_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { kind: Kind::Map { key: None, .. }, .. }))
    }

    fn open(&mut self, kind: Kind, anchor: usize) -> Result<(), ApiDocumentRefusal> {
        self.count(1)?;
        if self.wants_key() {
            return Err(self.refuse("a key is not text"));
        }
        if self.open.len() >= self.limits.max_depth {
            return Err(ApiDocumentRefusal::TooDeep { limit: self.limits.max_depth });
        }
        self.open.push(Open { kind, anchor, nodes: 1 });
        Ok(())
    }

    fn close(&mut self) -> Result<(), ApiDocumentRefusal> {
        let Some(Open { kind, anchor, nodes }) = self.open.pop() else { return Ok(()) };
        let value = match kind {
            Kind::List(items) => Json::Array(items),
            Kind::Map { mut members, merged, .. } => {
                for (key, value) in merged.into_iter().flatten() {
                    members.entry(key).or_insert(value);
                }
                Json::Object(members)
            }
        };
        self.value(value, nodes, anchor)
    }

    fn value(&mut self, value: Json, nodes: usize, anchor: usize) -> Result<(), ApiDocumentRefusal> {
        if anchor > 0 {
            self.count(nodes)?;
            self.anchors.insert(anchor, (value.clone(), nodes));
        }
        let (line, column) = self.place;
        let Some(parent) = self.open.last_mut() else {
            self.root = Some(value);
            return Ok(());
        };
        parent.nodes += nodes;
        match &mut parent.kind {
            Kind::List(items) => items.push(value),
            Kind::Map { members, merged, key } => match key.take() {
                None => match value {
                    Json::String(text) => *key = Some(text),
                    Json::Number(number) => *key = Some(number.as_text().to_owned()),
                    Json::Bool(flag) => *key = Some(flag.to_string()),
                    _ => return Err(self.refuse("a key is not text")),
                },
                Some(key) if key == "<<" && merge(&value, merged) => {}
                Some(key) => {
                    if members.insert(key, value).is_some() {
                        return Err(ApiDocumentRefusal::DuplicateMember { line, column });
                    }
                }
            },
        }
        Ok(())
    }
}

/// Takes what a merge key names: a mapping, or a list of them, of which the first wins.
fn merge(value: &Json, merged: &mut Vec<JsonObject>) -> bool {
    match value {
        Json::Object(members) => merged.push(members.clone()),
        Json::Array(items) if items.iter().all(|item| item.as_object().is_some()) => {
            merged.extend(items.iter().filter_map(Json::as_object).cloned());
        }
        _ => return false,
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use scion_domain::json::to_compact;

    fn compact(text: &str) -> String {
        to_compact(&read(text, &Limits::DEFAULT).unwrap())
    }

    #[test]
    fn scalars_follow_the_core_schema() {
        let text = "[1, 007, -4, +3, 0x1F, 0o17, 1.50, .5, 1e3, 2024-01-01, 1.2.3, '5', yes, true, ~, '', .inf, \"~\"]";
        assert_eq!(
            compact(text),
            r#"[1,7,-4,3,31,15,1.50,0.5,1e3,"2024-01-01","1.2.3","5","yes",true,null,"",".inf","~"]"#
        );
    }

    #[test]
    fn keys_are_text_and_aliases_are_written_out() {
        assert_eq!(compact("200: ok\ntrue: x\nnull: y"), r#"{"200":"ok","null":"y","true":"x"}"#);
        assert_eq!(
            compact("a: &a {x: 1, y: 2}\nb: *a\nc: {<<: *a, y: 3}\nd: {<<: [{z: 1}, {z: 2}]}"),
            r#"{"a":{"x":1,"y":2},"b":{"x":1,"y":2},"c":{"x":1,"y":3},"d":{"z":1}}"#
        );
    }

    #[test]
    fn bombs_and_riddles_are_refused() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let inner = vec![format!("*a{}", level - 1); 10].join(", ");
            bomb += &["a", &level.to_string(), ": &a", &level.to_string(), " [", &inner, "]\n"].concat();
        }
        assert!(matches!(read(&bomb, &Limits::DEFAULT), Err(ApiDocumentRefusal::TooManyNodes { .. })));
        for bad in ["a: &a [*a]", "? [a]\n: b", "a: !!binary x", "--- a\n--- b", "a: [", "a: 1\na: 2"] {
            assert!(read(bad, &Limits::DEFAULT).is_err(), "{bad}");
        }
        let deep = "[".repeat(3000);
        assert!(read(&deep, &Limits::DEFAULT).is_err());
    }
}
