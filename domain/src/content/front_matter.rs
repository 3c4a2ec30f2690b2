//! A strict reader of front matter: one YAML mapping, no anchors, no aliases, no tags, no member twice.

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::ContentRefusal;
use crate::json::{Json, JsonNumber, JsonObject};

const MAX_DEPTH: usize = 8;

/// Reads the text between the two lines `---` of `file`. Lines in refusals are those of the file.
pub fn front_matter(file: &str, whole: &str) -> Result<JsonObject, ContentRefusal> {
    let mut builder = Builder { file, line: 1, open: Vec::new(), root: None };
    let mut parser = Parser::new_from_str(whole);
    let mut documents = 0;
    while let Some(event) = parser.next_event() {
        let (event, span) = match event {
            Ok(found) => found,
            Err(error) => {
                builder.line = error.marker().line() + 1;
                return Err(builder.refuse("the front matter is not YAML here"));
            }
        };
        builder.line = span.start.line().max(1) + 1;
        match event {
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    return Err(builder.refuse("a second document begins"));
                }
            }
            Event::Alias(_) => return Err(builder.refuse("an alias stands here; write the value out")),
            Event::Scalar(text, style, anchor, tag) => {
                builder.plain(anchor, tag.is_some())?;
                let quoted = style != ScalarStyle::Plain || builder.wants_key();
                // The parser ends a block at the end of the text with a line feed that is not there.
                let cut = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded)
                    && !whole.ends_with('\n')
                    && span.end.index() >= whole.chars().count();
                let text = if cut { text.strip_suffix('\n').unwrap_or(&text) } else { &text };
                builder.add(if quoted { Json::from(text) } else { scalar(text) })?;
            }
            Event::SequenceStart(anchor, tag) => {
                builder.plain(anchor, tag.is_some())?;
                builder.open(Open::List(Vec::new()))?;
            }
            Event::MappingStart(anchor, tag) => {
                builder.plain(anchor, tag.is_some())?;
                builder.open(Open::Map(JsonObject::new(), None))?;
            }
            Event::SequenceEnd | Event::MappingEnd => match builder.open.pop() {
                Some(Open::List(items)) => builder.add(items.into())?,
                Some(Open::Map(members, _)) => builder.add(members.into())?,
                None => {}
            },
            Event::Nothing | Event::StreamStart | Event::DocumentEnd | Event::StreamEnd => {}
        }
    }
    if let Some(Json::Object(members)) = builder.root.take() {
        return Ok(members);
    }
    builder.line = 2;
    Err(builder.refuse("the front matter is not a mapping of names to values"))
}

enum Open {
    List(Vec<Json>),
    Map(JsonObject, Option<String>),
}

struct Builder<'a> {
    file: &'a str,
    line: usize,
    open: Vec<Open>,
    root: Option<Json>,
}

impl Builder<'_> {
    fn refuse(&self, what: &str) -> ContentRefusal {
        ContentRefusal::FrontMatter { file: self.file.to_owned(), line: self.line, what: what.to_owned() }
    }

    fn plain(&self, anchor: usize, tagged: bool) -> Result<(), ContentRefusal> {
        match (anchor > 0, tagged) {
            (true, _) => Err(self.refuse("an anchor stands here; write the value out")),
            (_, true) => Err(self.refuse("a tag stands here; remove it")),
            _ => Ok(()),
        }
    }

    fn wants_key(&self) -> bool {
        matches!(self.open.last(), Some(Open::Map(_, None)))
    }

    fn open(&mut self, open: Open) -> Result<(), ContentRefusal> {
        if self.wants_key() {
            return Err(self.refuse("a name must be a text"));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(self.refuse("the front matter is nested deeper than 8 levels"));
        }
        self.open.push(open);
        Ok(())
    }

    fn add(&mut self, value: Json) -> Result<(), ContentRefusal> {
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some(Open::List(items)) => items.push(value),
            Some(Open::Map(members, key)) => match (key.take(), value) {
                (Some(name), value) => {
                    members.insert(name, value);
                }
                (None, Json::String(name)) if members.contains_key(&name) => {
                    return Err(self.refuse("this name stands twice"));
                }
                (None, Json::String(name)) => *key = Some(name),
                (None, _) => return Err(self.refuse("a name must be a text")),
            },
        }
        Ok(())
    }
}

/// The value of a scalar without quotes.
fn scalar(text: &str) -> Json {
    match text {
        "" | "~" | "null" => Json::Null,
        "true" => Json::Bool(true),
        "false" => Json::Bool(false),
        _ => (text.len() <= 64)
            .then(|| JsonNumber::from_text(text))
            .flatten()
            .map_or_else(|| Json::from(text), Json::Number),
    }
}
