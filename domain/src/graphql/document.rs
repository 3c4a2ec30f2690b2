//! What a document asks for, without a full parser: only its operations are of interest.

use super::GraphQlRefusal;
use crate::json::{Json, JsonObject};

/// The longest document, in bytes.
const MAX_BYTES: usize = 1024 * 1024;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// Reads. May be sent twice.
    Query,
    /// Writes. Never sent twice.
    Mutation,
}

/// A document and the operation of it to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphQlDocument {
    text: String,
    operation: Option<String>,
    kind: OperationKind,
}

impl GraphQlDocument {
    /// A document with one operation.
    pub fn parse(text: &str) -> Result<Self, GraphQlRefusal> {
        Self::with_operation(text, None)
    }

    /// A document with several operations, one of which is run. Subscriptions are refused: they need another transport.
    pub fn with_operation(text: &str, operation: Option<&str>) -> Result<Self, GraphQlRefusal> {
        let refuse = |what| Err(GraphQlRefusal::Document { what });
        if text.len() > MAX_BYTES {
            return refuse("is longer than 1 MiB");
        }
        let Some(found) = operations(text.as_bytes()) else {
            return refuse("has unbalanced braces or an unfinished text");
        };
        let chosen = match operation {
            Some(name) => found.iter().find(|(_, own)| *own == Some(name.as_bytes())),
            None if found.len() > 1 => return refuse("has several operations and none is named"),
            None => found.first(),
        };
        match chosen {
            None if operation.is_some() => refuse("has no operation of that name"),
            None => refuse("has no operation"),
            Some((b"subscription", _)) => refuse("asks for a subscription"),
            Some((word, own)) => Ok(Self {
                text: text.to_owned(),
                operation: own.map(|name| String::from_utf8_lossy(name).into_owned()),
                kind: if *word == b"mutation" { OperationKind::Mutation } else { OperationKind::Query },
            }),
        }
    }

    /// What it does.
    pub const fn kind(&self) -> OperationKind {
        self.kind
    }

    /// The name of the operation.
    pub fn operation(&self) -> Option<&str> {
        self.operation.as_deref()
    }

    /// The body of a request.
    pub fn body(&self, variables: &JsonObject) -> Json {
        let mut members = JsonObject::from([("query".to_owned(), self.text.as_str().into())]);
        if !variables.is_empty() {
            members.insert("variables".to_owned(), Json::Object(variables.clone()));
        }
        if let Some(name) = &self.operation {
            members.insert("operationName".to_owned(), name.as_str().into());
        }
        Json::Object(members)
    }
}

type Operation<'t> = (&'t [u8], Option<&'t [u8]>);

/// The operations of a document with their names; `None` when the text ends inside something.
fn operations(text: &[u8]) -> Option<Vec<Operation<'_>>> {
    let mut found: Vec<Operation<'_>> = Vec::new();
    // A definition starts with a word or a brace, and its selection ends it. Values of variables may have braces too, inside
    // parentheses.
    let (mut at, mut braces, mut brackets) = (0, 0usize, 0usize);
    let mut words: Vec<&[u8]> = Vec::new();
    while at < text.len() {
        match text[at] {
            b'#' => at += text[at..].iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(text.len() - at),
            b'"' => at = after_text(text, at)?,
            byte if is_name(byte) => {
                let end = text[at..].iter().position(|byte| !is_name(*byte)).map_or(text.len(), |length| at + length);
                if braces == 0 && brackets == 0 && words.len() < 2 {
                    words.push(&text[at..end]);
                }
                at = end;
            }
            byte => {
                at += 1;
                match byte {
                    b'{' if braces == 0 && brackets == 0 => {
                        match words.as_slice() {
                            [] => found.push((b"query", None)),
                            [word @ (b"query" | b"mutation" | b"subscription"), rest @ ..] => {
                                found.push((word, rest.first().copied()));
                            }
                            _ => {}
                        }
                        words.clear();
                        braces = 1;
                    }
                    b'{' => braces += 1,
                    b'}' => braces = braces.checked_sub(1)?,
                    b'(' | b'[' => brackets += 1,
                    b')' | b']' => brackets = brackets.checked_sub(1)?,
                    // `query @live {`: a directive's name is no operation's name.
                    b'@' if braces == 0 && brackets == 0 => {
                        at += text[at..].iter().position(|byte| !is_name(*byte)).unwrap_or(text.len() - at);
                    }
                    _ => {}
                }
            }
        }
    }
    (braces == 0 && brackets == 0).then_some(found)
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The place behind the text that starts at a quote.
fn after_text(text: &[u8], start: usize) -> Option<usize> {
    let block = text[start..].starts_with(b"\"\"\"");
    let mut at = start + if block { 3 } else { 1 };
    loop {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        match rest {
            [b'\\', b'"', b'"', b'"', ..] if block => at += 4,
            [b'"', b'"', b'"', ..] if block => return Some(at + 3),
            _ if block => at += 1,
            [b'\\', ..] => at += 2,
            [b'"', ..] => return Some(at + 1),
            [b'\n' | b'\r', ..] => return None,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kind(text: &str) -> Option<(OperationKind, Option<String>)> {
        GraphQlDocument::parse(text).ok().map(|document| (document.kind(), document.operation().map(str::to_owned)))
    }

    #[test]
    fn the_kind_of_an_operation_is_seen_through_comments_texts_and_values() {
        let query = |name: Option<&str>| Some((OperationKind::Query, name.map(str::to_owned)));
        let mutation = |name: Option<&str>| Some((OperationKind::Mutation, name.map(str::to_owned)));
        assert_eq!(kind("{ a }"), query(None));
        assert_eq!(
            kind("# mutation {\nquery Q($x: In = {mutation: \"}\"}) @live { a(b: \"\"\"} \\\"\"\" mutation {\"\"\") }"),
            query(Some("Q"))
        );
        assert_eq!(kind("fragment F on T { mutation } mutation{ a(x: \"\\\"}\") }"), mutation(None));
        assert_eq!(kind("mutation M { a { b } } fragment F on T { c }"), mutation(Some("M")));
        assert_eq!(kind("\u{feff}query { a }"), query(None));
        for bad in [
            "",
            "{",
            "}",
            "fragment F on T { a }",
            "{ a(b: \"x) }",
            "subscription { a }",
            "query A { a } query B { b }",
            "(",
            "{ a } )",
        ] {
            assert_eq!(kind(bad), None, "{bad}");
        }
        assert_eq!(
            GraphQlDocument::parse(&" ".repeat(MAX_BYTES + 1)),
            Err(GraphQlRefusal::Document { what: "is longer than 1 MiB" })
        );
    }

    #[test]
    fn an_operation_is_chosen_by_name() {
        let text = "query A { a } mutation B { b }";
        let document = GraphQlDocument::with_operation(text, Some("B")).unwrap();
        assert_eq!(document.kind(), OperationKind::Mutation);
        let body = document.body(&JsonObject::from([("x".to_owned(), 1.into())]));
        assert_eq!(
            crate::json::to_compact(&body),
            format!(r#"{{"operationName":"B","query":"{text}","variables":{{"x":1}}}}"#)
        );
        assert!(GraphQlDocument::with_operation(text, Some("C")).is_err());
    }

    proptest! {
        #[test]
        fn any_text_gets_an_answer(text in "[\"#{}()a@ \\\\\n]{0,40}|\\PC{0,40}") {
            let _ = GraphQlDocument::parse(&text);
        }
    }
}
