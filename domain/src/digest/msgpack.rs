//! The engine's canonical MessagePack: shortest integers and headers, doubles for decimals, maps in the order written.

use rmp::encode;

use super::DigestRefusal;
use crate::canonical::decimal;
use crate::json::{Json, JsonNumber, JsonObject};

/// What happens to a number that is neither a 64-bit integer nor a double.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberForm {
    /// Encoded as its text, as the source wrote it. For stores that keep the exact number themselves.
    Lossless,
    /// Refused. For what is sent to the engine.
    EngineOnly,
}

/// Encodes one JSON value; map keys are in code-point order.
pub fn encode_json(value: &Json, form: NumberForm) -> Result<Vec<u8>, DigestRefusal> {
    let mut out = Writer::new(form);
    out.json(value);
    out.finish()
}

/// A buffer that remembers the first thing it could not encode, so that the many small writes need no error path.
///
/// Every `let _` drops a result that cannot be an error: writing to a `Vec` does not fail.
pub(super) struct Writer {
    out: Vec<u8>,
    form: NumberForm,
    refusal: Option<DigestRefusal>,
    path: Vec<Step>,
}

/// One step of the place under way, rendered only when something is refused.
enum Step {
    Name(&'static str),
    Index(usize),
}

impl Writer {
    pub(super) fn new(form: NumberForm) -> Self {
        Self { out: Vec::with_capacity(1024), form, refusal: None, path: Vec::new() }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.out
    }

    pub(super) fn finish(self) -> Result<Vec<u8>, DigestRefusal> {
        match self.refusal {
            Some(refusal) => Err(refusal),
            None => Ok(self.out),
        }
    }

    /// Writes inside a named place.
    pub(super) fn within(&mut self, name: &'static str, write: impl FnOnce(&mut Self)) {
        self.path.push(Step::Name(name));
        write(self);
        self.path.pop();
    }

    /// Writes a list, one place per item.
    pub(super) fn list<T>(&mut self, name: &'static str, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.text(name);
        self.array(items.len());
        self.path.push(Step::Name(name));
        for (index, item) in items.iter().enumerate() {
            self.path.push(Step::Index(index));
            write(self, item);
            self.path.pop();
        }
        self.path.pop();
    }

    fn refuse(&mut self, make: impl FnOnce(String) -> DigestRefusal, below: &str) {
        if self.refusal.is_none() {
            let mut pointer = String::new();
            for step in &self.path {
                pointer.push('/');
                match step {
                    Step::Name(name) => pointer.push_str(name),
                    Step::Index(index) => pointer.push_str(&index.to_string()),
                }
            }
            pointer.push_str(below);
            self.refusal = Some(make(pointer));
        }
    }

    fn length(&mut self, length: usize) -> u32 {
        u32::try_from(length).unwrap_or_else(|_| {
            self.refuse(|pointer| DigestRefusal::TooLong { pointer }, "");
            u32::MAX
        })
    }

    pub(super) fn nil(&mut self) {
        let _ = encode::write_nil(&mut self.out);
    }

    pub(super) fn bool(&mut self, flag: bool) {
        let _ = encode::write_bool(&mut self.out, flag);
    }

    pub(super) fn uint(&mut self, value: u64) {
        let _ = encode::write_uint(&mut self.out, value);
    }

    pub(super) fn text(&mut self, text: &str) {
        let length = self.length(text.len());
        let _ = encode::write_str_len(&mut self.out, length);
        self.out.extend_from_slice(text.as_bytes());
    }

    pub(super) fn array(&mut self, length: usize) {
        let length = self.length(length);
        let _ = encode::write_array_len(&mut self.out, length);
    }

    pub(super) fn map(&mut self, length: usize) {
        let length = self.length(length);
        let _ = encode::write_map_len(&mut self.out, length);
    }

    /// A text member.
    pub(super) fn member(&mut self, name: &'static str, text: &str) {
        self.text(name);
        self.text(text);
    }

    pub(super) fn json(&mut self, value: &Json) {
        if let Err(below) = self.try_json(value) {
            self.refuse(|pointer| DigestRefusal::Number { pointer }, &below);
        }
    }

    pub(super) fn object(&mut self, members: &JsonObject) {
        if let Err(below) = self.try_object(members) {
            self.refuse(|pointer| DigestRefusal::Number { pointer }, &below);
        }
    }

    /// On failure answers the pointer of the number that does not fit.
    fn try_json(&mut self, value: &Json) -> Result<(), String> {
        match value {
            Json::Null => self.nil(),
            Json::Bool(flag) => self.bool(*flag),
            Json::Number(number) => return self.number(number),
            Json::String(text) => self.text(text),
            Json::Array(items) => {
                self.array(items.len());
                for (index, item) in items.iter().enumerate() {
                    self.try_json(item).map_err(|below| format!("/{index}{below}"))?;
                }
            }
            Json::Object(members) => return self.try_object(members),
        }
        Ok(())
    }

    fn try_object(&mut self, members: &JsonObject) -> Result<(), String> {
        self.map(members.len());
        for (key, item) in members {
            self.text(key);
            self.try_json(item).map_err(|below| format!("/{}{below}", key.replace('~', "~0").replace('/', "~1")))?;
        }
        Ok(())
    }

    fn number(&mut self, number: &JsonNumber) -> Result<(), String> {
        // Text "-0" reads as integer 0, as in the peer.
        if let Some(value) = number.as_i64() {
            let _ = encode::write_sint(&mut self.out, value);
        } else if let Some(value) = number.as_u64() {
            let _ = encode::write_uint(&mut self.out, value);
        } else if !number.is_integer() && decimal::fits_double(number) {
            let _ = encode::write_f64(&mut self.out, number.as_f64());
        } else if self.form == NumberForm::Lossless {
            self.text(number.as_text());
        } else {
            return Err(String::new());
        }
        Ok(())
    }
}
