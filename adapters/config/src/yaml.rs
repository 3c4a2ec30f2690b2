//! YAML 1.2 text to a tree, by the events of `saphyr-parser`. Anchors, aliases and merge keys are followed, within a
//! bound; tags other than `!!str` are refused.

use std::collections::HashMap;
use std::rc::Rc;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Tag};
use scion_domain::config::ConfigRefusal;

use crate::tree::{Broken, MAX_DEPTH, Member, Node, Place, Value};

/// Reads one document.
pub(crate) fn parse(text: &str) -> Result<Rc<Node>, Broken> {
    let mut builder = Builder::default();
    let mut documents = 0usize;
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| malformed(&error))?;
        let place = place(&span.start);
        match event {
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    return Err(Broken::at(place, ConfigRefusal::SeveralDocuments));
                }
            }
            Event::Alias(id) => builder.alias(id, place)?,
            Event::Scalar(text, style, anchor, tag) => {
                let text_tag = check_tag(tag.as_deref(), place)?;
                let plain = style == ScalarStyle::Plain && !text_tag;
                builder.scalar(text.into_owned(), plain, anchor, place)?;
            }
            Event::SequenceStart(anchor, tag) => {
                check_tag(tag.as_deref(), place)?;
                builder.open(Open { place, anchor, kind: Kind::List(Vec::new()) })?;
            }
            Event::MappingStart(anchor, tag) => {
                check_tag(tag.as_deref(), place)?;
                let kind = Kind::Map { members: Vec::new(), lines: HashMap::new(), key: None };
                builder.open(Open { place, anchor, kind })?;
            }
            Event::SequenceEnd | Event::MappingEnd => builder.close()?,
            Event::Nothing | Event::StreamStart | Event::DocumentEnd | Event::StreamEnd => {}
        }
    }
    builder.root.ok_or_else(|| Broken::at(Place { line: 1, column: 1 }, ConfigRefusal::Empty))
}

fn place(marker: &Marker) -> Place {
    Place { line: marker.line().max(1), column: marker.col() + 1 }
}

fn malformed(error: &ScanError) -> Broken {
    if error.info() == "recursion limit exceeded" {
        return Broken::at(place(error.marker()), ConfigRefusal::TooDeep { limit: MAX_DEPTH });
    }
    // The parser's words are fixed texts, but for one that repeats a character of the file.
    let detail = if error.info().starts_with("unexpected character") {
        "a value cannot start with this character; put it in quotes".to_owned()
    } else {
        error.info().to_owned()
    };
    Broken::at(place(error.marker()), ConfigRefusal::Malformed { syntax: "YAML", detail })
}

/// Whether the tag makes the scalar a text; refuses any other tag.
fn check_tag(tag: Option<&Tag>, place: Place) -> Result<bool, Broken> {
    match tag {
        None => Ok(false),
        Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => Ok(true),
        Some(_) => Err(Broken::at(place, ConfigRefusal::Tagged)),
    }
}

struct Open {
    place: Place,
    anchor: usize,
    kind: Kind,
}

enum Kind {
    List(Vec<Rc<Node>>),
    Map { members: Vec<Member>, lines: HashMap<String, usize>, key: Option<(String, Place)> },
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    anchors: HashMap<usize, Rc<Node>>,
    root: Option<Rc<Node>>,
}

impl Builder {
    /// Whether the next node is a key.
    fn wants_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { kind: Kind::Map { key: None, .. }, .. }))
    }

    fn alias(&mut self, id: usize, place: Place) -> Result<(), Broken> {
        let node = self.anchors.get(&id).cloned().ok_or_else(|| Broken::at(place, ConfigRefusal::AliasLoop))?;
        if self.wants_key() {
            return match &node.value {
                Value::Scalar { text, .. } => {
                    let text = text.clone();
                    self.set_key(text, place);
                    Ok(())
                }
                _ => Err(Broken::at(place, ConfigRefusal::NotAKey)),
            };
        }
        self.add(node)
    }

    fn scalar(&mut self, text: String, plain: bool, anchor: usize, place: Place) -> Result<(), Broken> {
        let is_key = self.wants_key();
        if is_key {
            self.set_key(text.clone(), place);
            if anchor == 0 {
                return Ok(());
            }
        }
        let node = Node::new(place, Value::Scalar { text, plain })?;
        if anchor > 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        if is_key { Ok(()) } else { self.add(node) }
    }

    fn set_key(&mut self, text: String, place: Place) {
        if let Some(Open { kind: Kind::Map { key, .. }, .. }) = self.open.last_mut() {
            *key = Some((text, place));
        }
    }

    fn open(&mut self, open: Open) -> Result<(), Broken> {
        if self.wants_key() {
            return Err(Broken::at(open.place, ConfigRefusal::NotAKey));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(Broken::at(open.place, ConfigRefusal::TooDeep { limit: MAX_DEPTH }));
        }
        self.open.push(open);
        Ok(())
    }

    fn close(&mut self) -> Result<(), Broken> {
        let Some(Open { place, anchor, kind }) = self.open.pop() else { return Ok(()) };
        let value = match kind {
            Kind::List(items) => Value::List(items),
            Kind::Map { members, .. } => Value::Map(merged(members)),
        };
        let node = Node::new(place, value)?;
        if anchor > 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        self.add(node)
    }

    fn add(&mut self, node: Rc<Node>) -> Result<(), Broken> {
        match self.open.last_mut().map(|open| &mut open.kind) {
            None => self.root = Some(node),
            Some(Kind::List(items)) => items.push(node),
            Some(Kind::Map { members, lines, key }) => {
                let Some((key, place)) = key.take() else {
                    return Err(Broken::at(node.place, ConfigRefusal::NotAKey));
                };
                let repeats = lines.get(&key).copied();
                lines.entry(key.clone()).or_insert(place.line);
                members.push(Member { key, place, value: node, repeats });
            }
        }
        Ok(())
    }
}

/// Follows the merge key `<<`: members of the mapping it names, or of each mapping in its list, count unless they are
/// written out; of several sources the first wins. A `<<` with another value stays and is an unknown key.
fn merged(members: Vec<Member>) -> Vec<Member> {
    if !members.iter().any(|member| member.key == "<<") {
        return members;
    }
    let mut inherited: Vec<Member> = Vec::new();
    let mut own: Vec<Member> = Vec::new();
    for member in members {
        match (member.key.as_str(), &member.value.value) {
            ("<<", Value::Map(more)) => inherited.extend(more.iter().cloned()),
            ("<<", Value::List(items)) if items.iter().all(|item| matches!(item.value, Value::Map(_))) => {
                for item in items {
                    if let Value::Map(more) = &item.value {
                        inherited.extend(more.iter().cloned());
                    }
                }
            }
            _ => own.push(member),
        }
    }
    let mut names: std::collections::HashSet<String> = own.iter().map(|member| member.key.clone()).collect();
    inherited.retain(|member| names.insert(member.key.clone()));
    own.append(&mut inherited);
    own
}
