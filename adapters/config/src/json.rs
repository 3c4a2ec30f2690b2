//! JSON text to a tree (RFC 8259), by `jiter`.

use std::collections::HashMap;
use std::rc::Rc;

use jiter::{Jiter, JiterError, Peek};
use scion_domain::config::ConfigRefusal;

use crate::tree::{Broken, Lines, MAX_DEPTH, Member, Node, Place, Value};

/// Reads one value; only blanks may follow it.
pub(crate) fn parse(text: &str) -> Result<Rc<Node>, Broken> {
    let bytes = text.as_bytes();
    if text.trim().is_empty() {
        return Err(Broken::at(Place { line: 1, column: 1 }, ConfigRefusal::Empty));
    }
    let mut reader = Reader { jiter: Jiter::new(bytes), bytes, lines: Lines::of(bytes) };
    let peek = reader.peek()?;
    let node = reader.node(peek, 0)?;
    reader.jiter.finish().map_err(|error| malformed(&reader.lines, &error))?;
    Ok(node)
}

struct Reader<'t> {
    jiter: Jiter<'t>,
    bytes: &'t [u8],
    lines: Lines<'t>,
}

fn malformed(lines: &Lines<'_>, error: &JiterError) -> Broken {
    let detail = "a value, comma, colon or bracket is wrong or missing here".to_owned();
    Broken::at(lines.place(error.index), ConfigRefusal::Malformed { syntax: "JSON", detail })
}

impl Reader<'_> {
    fn peek(&mut self) -> Result<Peek, Broken> {
        self.jiter.peek().map_err(|error| malformed(&self.lines, &error))
    }

    fn node(&mut self, peek: Peek, depth: usize) -> Result<Rc<Node>, Broken> {
        let lines = &self.lines;
        let place = lines.place(self.jiter.current_index());
        let scalar = |text: String, plain| Node::new(place, Value::Scalar { text, plain });
        match peek {
            Peek::Null => {
                self.jiter.known_null().map_err(|error| malformed(lines, &error))?;
                scalar("null".to_owned(), true)
            }
            Peek::True | Peek::False => {
                let flag = self.jiter.known_bool(peek).map_err(|error| malformed(lines, &error))?;
                scalar(flag.to_string(), true)
            }
            Peek::String => match self.jiter.known_str() {
                Ok(text) => scalar(text.to_owned(), false),
                Err(error) => Err(malformed(lines, &error)),
            },
            Peek::Array | Peek::Object if depth >= MAX_DEPTH => {
                Err(Broken::at(place, ConfigRefusal::TooDeep { limit: MAX_DEPTH }))
            }
            Peek::Array => self.list(place, depth + 1),
            Peek::Object => self.map(place, depth + 1),
            _ => match self.jiter.known_number_bytes(peek) {
                Ok(digits) => scalar(String::from_utf8_lossy(digits).into_owned(), true),
                Err(error) => Err(malformed(lines, &error)),
            },
        }
    }

    fn list(&mut self, place: Place, depth: usize) -> Result<Rc<Node>, Broken> {
        let mut items = Vec::new();
        let mut next = self.jiter.known_array().map_err(|error| malformed(&self.lines, &error))?;
        while let Some(peek) = next {
            items.push(self.node(peek, depth)?);
            next = self.jiter.array_step().map_err(|error| malformed(&self.lines, &error))?;
        }
        Node::new(place, Value::List(items))
    }

    fn map(&mut self, place: Place, depth: usize) -> Result<Rc<Node>, Broken> {
        let mut members = Vec::new();
        let mut seen: HashMap<String, usize> = HashMap::new();
        let mut next = match self.jiter.known_object() {
            Ok(key) => key.map(str::to_owned),
            Err(error) => return Err(malformed(&self.lines, &error)),
        };
        while let Some(key) = next {
            let key_place = self.lines.place(self.key_start());
            let peek = self.peek()?;
            let value = self.node(peek, depth)?;
            let repeats = seen.get(&key).copied();
            seen.entry(key.clone()).or_insert(key_place.line);
            members.push(Member { key, place: key_place, value, repeats });
            next = match self.jiter.next_key() {
                Ok(key) => key.map(str::to_owned),
                Err(error) => return Err(malformed(&self.lines, &error)),
            };
        }
        Node::new(place, Value::Map(members))
    }

    /// Where the key starts that was just read: back over the colon, then to the quote that is not escaped.
    fn key_start(&self) -> usize {
        let read = &self.bytes[..self.jiter.current_index().min(self.bytes.len())];
        let close = read.iter().rposition(|byte| *byte == b'"').unwrap_or(0);
        let mut end = close;
        while let Some(quote) = read[..end].iter().rposition(|byte| *byte == b'"') {
            let escapes = read[..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
            if escapes % 2 == 0 {
                return quote;
            }
            end = quote;
        }
        close
    }
}
