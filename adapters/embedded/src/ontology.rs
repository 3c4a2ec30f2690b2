//! A light reading of a pack's Turtle ontology: the local names of its object properties.
//!
//! Only that list decides admission, so statements are split and their `a` / `rdf:type` objects looked at; anything else
//! in the document is passed over. Remote imports are never followed.

use std::collections::BTreeSet;

/// Local names of everything typed `owl:ObjectProperty`.
pub(crate) fn object_properties(turtle: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut subject: Option<&str> = None;
    let mut typed = false;
    let mut expects_predicate = false;
    for token in tokens(turtle) {
        match token {
            "." => (subject, typed, expects_predicate) = (None, false, false),
            ";" => (typed, expects_predicate) = (false, true),
            "," => {}
            _ if subject.is_none() => (subject, typed, expects_predicate) = (Some(token), false, true),
            _ if expects_predicate => {
                typed = token == "a" || local_name(token) == "type";
                expects_predicate = false;
            }
            _ if typed && local_name(token) == "ObjectProperty" => {
                found.extend(subject.map(|subject| local_name(subject).to_owned()));
            }
            _ => {}
        }
    }
    found
}

/// The part after the last `#`, `/` or `:` of an IRI or prefixed name.
pub(crate) fn local_name(term: &str) -> &str {
    let term = term.strip_prefix('<').and_then(|t| t.strip_suffix('>')).unwrap_or(term);
    term.rsplit(['#', '/', ':']).next().unwrap_or(term)
}

/// Splits into IRIs, strings, punctuation and words; comments are dropped.
fn tokens(turtle: &str) -> impl Iterator<Item = &str> {
    let mut rest = turtle;
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start();
            let first = rest.chars().next()?;
            if first == '#' {
                rest = rest.split_once('\n').map_or("", |(_, tail)| tail);
                continue;
            }
            let end = match first {
                '<' => rest.find('>').map_or(rest.len(), |index| index + 1),
                '"' | '\'' => string_end(rest, first),
                '.' | ';' | ',' | '[' | ']' | '(' | ')' => 1,
                _ => word_end(rest),
            };
            let (token, tail) = rest.split_at(end);
            rest = tail;
            return Some(token);
        }
    })
}

/// A dot inside a word belongs to it; one at its end closes the statement.
fn word_end(text: &str) -> usize {
    let end = text
        .find(|c: char| c.is_whitespace() || matches!(c, ';' | ',' | '[' | ']' | '(' | ')' | '<' | '"' | '\'' | '#'))
        .unwrap_or(text.len());
    let trimmed = text[..end].trim_end_matches('.').len();
    if trimmed == 0 { end.max(1) } else { trimmed }
}

fn string_end(text: &str, quote: char) -> usize {
    let long: String = std::iter::repeat_n(quote, 3).collect();
    let (open, close) = if text.starts_with(&long) { (3, long) } else { (1, quote.to_string()) };
    let mut index = open;
    while let Some(tail) = text.get(index..) {
        if tail.starts_with(&close) {
            return index + close.len();
        }
        let mut characters = tail.chars();
        match characters.next() {
            Some('\\') => index += 1 + characters.next().map_or(0, char::len_utf8),
            Some(c) => index += c.len_utf8(),
            None => break,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_properties_are_found_by_local_name() {
        let turtle = r#"
            @prefix : <https://desk.example/ns#> . # a comment with ; and .
            @prefix owl: <http://www.w3.org/2002/07/owl#> .
            :Ticket a owl:Class ; rdfs:comment "says a owl:ObjectProperty . not" .
            :owner a owl:ObjectProperty ; rdfs:domain :Ticket ; rdfs:range :Person .
            <https://desk.example/ns#parent> rdf:type owl:FunctionalProperty , owl:ObjectProperty .
            :note rdfs:label """three "quotes" . :fake a owl:ObjectProperty .""" ; a owl:DatatypeProperty .
            :member rdfs:label 'x' ; a <http://www.w3.org/2002/07/owl#ObjectProperty>."#;
        assert_eq!(object_properties(turtle).into_iter().collect::<Vec<_>>(), ["member", "owner", "parent"]);
    }

    #[test]
    fn odd_text_does_not_panic() {
        for text in ["", "<", "\"", "\"\"\"", "...", "a b", "é.é", "\"\\", "'\\é"] {
            let _ = object_properties(text);
        }
    }
}
