//! Imports in Turtle: the text as tokens with their places, statement by statement.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Found, IMPORTS};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Iri,
    Word,
    Text,
    Mark(u8),
}

#[derive(Clone, Debug)]
struct Token {
    kind: Kind,
    at: Range<usize>,
}

/// One predicate with its objects.
#[derive(Debug)]
struct Predicate {
    /// The first token, and the one behind the last.
    tokens: Range<usize>,
    /// The `;` before it.
    before: Option<usize>,
    /// Its objects, where it is an import.
    objects: Option<Vec<Range<usize>>>,
}

pub(super) fn foreign_imports(text: &str, keeps: impl Fn(&str) -> bool) -> Found {
    let mut found = Found::default();
    let Some(tokens) = tokens(text) else { return found };
    let mut reader = Reader { text, tokens: &tokens, prefixes: BTreeMap::new() };
    let mut at = 0;
    while at < tokens.len() {
        if let Some(next) = reader.directive(at) {
            at = next;
            continue;
        }
        let end = reader.statement_end(at);
        reader.scope(at..end, &keeps, &mut found);
        at = end + 1;
    }
    found.removed.sort_by_key(|range| range.start);
    found
}

struct Reader<'t> {
    text: &'t str,
    tokens: &'t [Token],
    prefixes: BTreeMap<&'t str, &'t str>,
}

impl<'t> Reader<'t> {
    fn of(&self, at: usize) -> &'t str {
        self.tokens.get(at).map_or("", |token| &self.text[token.at.clone()])
    }

    fn is_mark(&self, at: usize, mark: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == Kind::Mark(mark))
    }

    fn iri(&self, at: usize) -> Option<&'t str> {
        let token = self.tokens.get(at).filter(|token| token.kind == Kind::Iri)?;
        Some(&self.text[token.at.start + 1..token.at.end - 1])
    }

    /// Reads `@prefix`, `@base`, `PREFIX` and `BASE`; answers where the next statement begins.
    fn directive(&mut self, at: usize) -> Option<usize> {
        let word = self.of(at);
        let (sparql, is_prefix) = match word {
            "@prefix" => (false, true),
            "@base" => (false, false),
            _ if word.eq_ignore_ascii_case("prefix") => (true, true),
            _ if word.eq_ignore_ascii_case("base") => (true, false),
            _ => return None,
        };
        let iri_at = at + 1 + usize::from(is_prefix);
        if is_prefix && let (Some(name), Some(iri)) = (self.of(at + 1).strip_suffix(':'), self.iri(iri_at)) {
            self.prefixes.insert(name, iri);
        }
        Some(if sparql { iri_at + 1 } else { iri_at + 2 })
    }

    /// The `.` that ends a statement, outside all brackets.
    fn statement_end(&self, from: usize) -> usize {
        let mut depth = 0_usize;
        for at in from..self.tokens.len() {
            match self.tokens[at].kind {
                Kind::Mark(b'[' | b'(') => depth += 1,
                Kind::Mark(b']' | b')') => depth = depth.saturating_sub(1),
                Kind::Mark(b'.') if depth == 0 => return at,
                _ => {}
            }
        }
        self.tokens.len()
    }

    /// The tokens between the marks at depth zero.
    fn split(&self, range: Range<usize>, mark: u8) -> Vec<(Range<usize>, Option<usize>)> {
        let (mut parts, mut depth, mut start, mut before) = (Vec::new(), 0_usize, range.start, None);
        for at in range.clone() {
            match self.tokens[at].kind {
                Kind::Mark(b'[' | b'(') => depth += 1,
                Kind::Mark(b']' | b')') => depth = depth.saturating_sub(1),
                Kind::Mark(found) if found == mark && depth == 0 => {
                    parts.push((start..at, before));
                    (start, before) = (at + 1, Some(at));
                }
                _ => {}
            }
        }
        parts.push((start..range.end, before));
        parts
    }

    fn is_imports(&self, at: usize) -> bool {
        if let Some(iri) = self.iri(at) {
            return iri == IMPORTS;
        }
        let Some((prefix, local)) = self.of(at).split_once(':') else { return false };
        self.tokens[at].kind == Kind::Word
            && self
                .prefixes
                .get(prefix)
                .is_some_and(|namespace| IMPORTS.strip_prefix(namespace).is_some_and(|rest| rest == local))
    }

    fn subject_end(&self, from: usize, end: usize) -> usize {
        let mut depth = 0_usize;
        for at in from..end {
            match self.tokens[at].kind {
                Kind::Mark(b'[' | b'(') => depth += 1,
                Kind::Mark(b']' | b')') => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return at + 1;
            }
        }
        end
    }

    fn scope(&self, statement: Range<usize>, keeps: &impl Fn(&str) -> bool, found: &mut Found) {
        let first = self.subject_end(statement.start, statement.end);
        let mut predicates = Vec::new();
        for (tokens, before) in self.split(first..statement.end, b';') {
            if tokens.is_empty() {
                continue;
            }
            let objects = self.is_imports(tokens.start).then(|| {
                self.split(tokens.start + 1..tokens.end, b',').into_iter().map(|(object, _)| object).collect()
            });
            predicates.push(Predicate { tokens, before, objects });
        }
        let foreign = |object: &Range<usize>| {
            (object.len() == 1).then(|| self.iri(object.start)).flatten().filter(|iri| !keeps(iri))
        };
        let is_gone = |predicate: &Predicate| {
            predicate.objects.as_ref().is_some_and(|objects| objects.iter().all(|object| foreign(object).is_some()))
        };
        let objects = predicates.iter().filter_map(|predicate| predicate.objects.as_ref()).flatten();
        found.iris.extend(objects.filter_map(foreign).map(str::to_owned));
        let gone: Vec<bool> = predicates.iter().map(is_gone).collect();
        if !gone.is_empty() && gone.iter().all(|gone| *gone) && statement.end < self.tokens.len() {
            found.removed.push(self.whole_statement(&statement));
            return;
        }
        let kept = gone.iter().position(|gone| !gone).unwrap_or(0);
        for (index, predicate) in predicates.iter().enumerate() {
            if gone[index] {
                let next = predicates.get(index + 1).filter(|_| index < kept);
                self.take_out(predicate, next, &mut found.removed);
            } else if let Some(objects) = &predicate.objects {
                let marks: Vec<bool> = objects.iter().map(|object| foreign(object).is_some()).collect();
                self.thin(objects, &marks, &mut found.removed);
            }
        }
    }

    fn start(&self, token: usize) -> usize {
        self.tokens[token].at.start
    }

    /// Where a run of tokens ends; never called with an empty one.
    fn end(&self, tokens: &Range<usize>) -> usize {
        self.tokens[tokens.end - 1].at.end
    }

    fn is_blank(&self, range: Range<usize>) -> bool {
        self.text[range].trim().is_empty()
    }

    /// A statement that says nothing else, with the rest of its line.
    fn whole_statement(&self, statement: &Range<usize>) -> Range<usize> {
        let (start, end) = (self.start(statement.start), self.tokens[statement.end].at.end);
        let rest = &self.text[end..];
        let line = rest.find('\n').filter(|place| rest[..*place].trim().is_empty());
        start..line.map_or(end, |place| end + place + 1)
    }

    /// Takes a predicate out with the `;` before it, or, where it comes first, with the one behind it. A comment between the two
    /// stays where it is.
    fn take_out(&self, predicate: &Predicate, next: Option<&Predicate>, removed: &mut Vec<Range<usize>>) {
        let (start, end) = (self.start(predicate.tokens.start), self.end(&predicate.tokens));
        if let Some(next) = next {
            let (mark, follows) = (next.before, self.start(next.tokens.start));
            let marks = self.text[end..follows].replace(';', " ");
            match mark {
                Some(_) if marks.trim().is_empty() => removed.push(start..follows),
                Some(mark) => removed.extend([start..end, self.tokens[mark].at.clone()]),
                None => removed.push(start..end),
            }
            return;
        }
        match predicate.before {
            Some(mark) if self.is_blank(self.tokens[mark].at.end..start) => {
                let from = self.text[..self.tokens[mark].at.start].trim_end().len();
                // A comment before the mark ends with its line.
                let from = if self.previous_end(mark) == from { from } else { self.tokens[mark].at.start };
                removed.push(from..end);
            }
            Some(mark) => removed.extend([self.tokens[mark].at.clone(), start..end]),
            None => removed.push(start..end),
        }
    }

    fn previous_end(&self, token: usize) -> usize {
        token.checked_sub(1).map_or(0, |before| self.tokens[before].at.end)
    }

    /// Takes some objects out of a list of which others stay: each with the comma behind it, the last ones with the one before.
    fn thin(&self, objects: &[Range<usize>], marks: &[bool], removed: &mut Vec<Range<usize>>) {
        let last_kept = marks.iter().rposition(|gone| !gone).unwrap_or(0);
        for (index, object) in objects.iter().enumerate().filter(|(index, _)| marks[*index]) {
            let (start, end) = (self.start(object.start), self.end(object));
            let mark = if index < last_kept { object.end } else { object.start - 1 };
            if !self.is_mark(mark, b',') {
                continue;
            }
            let comma = self.tokens[mark].at.clone();
            let (between, whole) = if index < last_kept {
                (end..comma.start, start..comma.end)
            } else {
                (comma.end..start, comma.start..end)
            };
            if self.is_blank(between) {
                removed.push(whole);
            } else {
                removed.extend([comma, start..end]);
            }
        }
    }
}

/// Cuts a text into tokens; `None` when a text or an IRI does not end.
fn tokens(text: &str) -> Option<Vec<Token>> {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while let Some(&byte) = bytes.get(at) {
        let (kind, end) = match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {
                at += 1;
                continue;
            }
            b'#' => {
                at = text[at..].find('\n').map_or(bytes.len(), |place| at + place);
                continue;
            }
            b'<' => (Kind::Iri, at + text[at..].find('>')? + 1),
            b'"' | b'\'' => (Kind::Text, string_end(bytes, at)?),
            b';' | b',' | b'[' | b']' | b'(' | b')' => (Kind::Mark(byte), at + 1),
            b'.' if !bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => (Kind::Mark(byte), at + 1),
            _ => (Kind::Word, word_end(bytes, at)),
        };
        out.push(Token { kind, at: at..end });
        at = end;
    }
    Some(out)
}

fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let quote = bytes[start];
    let long = bytes[start..].starts_with(&[quote; 3]);
    let width = if long { 3 } else { 1 };
    let mut at = start + width;
    while at < bytes.len() {
        if bytes[at] == b'\\' {
            at += 2;
        } else if bytes[at..].starts_with(&[quote; 3][..width]) {
            // Quotes right before the closing ones belong to the text.
            let extra =
                if long { bytes[at + 3..].iter().take(2).take_while(|byte| **byte == quote).count() } else { 0 };
            return Some(at + width + extra);
        } else {
            at += 1;
        }
    }
    None
}

fn ends_word(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b";,[]()<\"'#".contains(&byte)
}

fn word_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        if at > start && ends_word(byte) {
            break;
        }
        // A dot inside a name or a number belongs to it; one behind it ends the statement.
        if byte == b'.' && at > start && bytes.get(at + 1).is_none_or(|next| ends_word(*next) || *next == b'.') {
            break;
        }
        at += if byte == b'\\' { 2 } else { 1 };
    }
    at.min(bytes.len())
}
