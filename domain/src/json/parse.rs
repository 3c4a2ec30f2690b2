//! The bounded reader.

use jiter::{Jiter, JiterError, JiterErrorType, JsonErrorType, Peek};

use super::{Json, JsonNumber, JsonObject};
use crate::refusals;

refusals! {
    /// Why a text is not an acceptable JSON value.
    pub enum JsonRefusal {
        /// The text is not JSON.
        Malformed { line: usize, column: usize } => "json_malformed", PeerMisbehaved, Never,
            "not JSON at line {line}, column {column}", "send one valid JSON value";
        /// The value is nested deeper than allowed.
        TooDeep { limit: usize } => "json_too_deep", PeerMisbehaved, Never,
            "nested deeper than {limit} levels", "flatten the value";
        /// The text has more bytes than allowed.
        TooLarge { bytes: usize, limit: usize } => "json_too_large", PeerMisbehaved, Never,
            "{bytes} bytes of JSON; at most {limit} are read", "ask for smaller pages";
        /// An object names one member twice. The name is not repeated here: it is payload.
        DuplicateMember { line: usize, column: usize } => "json_duplicate_member", PeerMisbehaved, Never,
            "an object names one member twice, at line {line}, column {column}", "make member names unique";
        /// A number has more digits than allowed.
        NumberTooLong { digits: usize, limit: usize } => "json_number_too_long", PeerMisbehaved, Never,
            "a number has {digits} characters; at most {limit} are kept", "send it as text";
    }
}

/// What the reader accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonLimits {
    /// The largest text, in bytes.
    pub max_bytes: usize,
    /// The deepest nesting of lists and objects.
    pub max_depth: usize,
    /// The longest number, in characters.
    pub max_number_chars: usize,
}

impl JsonLimits {
    /// 64 MiB, 64 levels (the engine's own nesting bound), 1,024 characters a number.
    pub const DEFAULT: Self = Self { max_bytes: 64 << 20, max_depth: 64, max_number_chars: 1024 };
}

impl Default for JsonLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Reads one value under [`JsonLimits::DEFAULT`].
pub fn parse(text: &str) -> Result<Json, JsonRefusal> {
    parse_with(text.as_bytes(), JsonLimits::DEFAULT)
}

/// Reads one value. Bytes after it, other than blanks, are refused.
pub fn parse_with(text: &[u8], limits: JsonLimits) -> Result<Json, JsonRefusal> {
    if text.len() > limits.max_bytes {
        return Err(JsonRefusal::TooLarge { bytes: text.len(), limit: limits.max_bytes });
    }
    let mut reader = Reader { jiter: Jiter::new(text), limits };
    let peek = reader.jiter.peek().map_err(|error| reader.malformed(&error))?;
    let value = reader.value(peek, 0)?;
    reader.jiter.finish().map_err(|error| reader.malformed(&error))?;
    Ok(value)
}

struct Reader<'j> {
    jiter: Jiter<'j>,
    limits: JsonLimits,
}

impl Reader<'_> {
    fn malformed(&self, error: &JiterError) -> JsonRefusal {
        if matches!(error.error_type, JiterErrorType::JsonError(JsonErrorType::RecursionLimitExceeded)) {
            return JsonRefusal::TooDeep { limit: self.limits.max_depth };
        }
        let position = error.get_position(&self.jiter);
        JsonRefusal::Malformed { line: position.line, column: position.column }
    }

    fn value(&mut self, peek: Peek, depth: usize) -> Result<Json, JsonRefusal> {
        match peek {
            Peek::Null => self.jiter.known_null().map(|()| Json::Null).map_err(|e| self.malformed(&e)),
            Peek::True | Peek::False => self.jiter.known_bool(peek).map(Json::Bool).map_err(|e| self.malformed(&e)),
            Peek::String => match self.jiter.known_str() {
                Ok(text) => Ok(Json::String(text.to_owned())),
                Err(error) => Err(self.malformed(&error)),
            },
            Peek::Array => self.array(depth),
            Peek::Object => self.object(depth),
            _ => self.number(peek),
        }
    }

    fn number(&mut self, peek: Peek) -> Result<Json, JsonRefusal> {
        let limit = self.limits.max_number_chars;
        let bytes = match self.jiter.known_number_bytes(peek) {
            Ok(bytes) => bytes,
            Err(error) => return Err(self.malformed(&error)),
        };
        if bytes.len() > limit {
            return Err(JsonRefusal::NumberTooLong { digits: bytes.len(), limit });
        }
        let number = std::str::from_utf8(bytes).ok().and_then(JsonNumber::from_text);
        number.map(Json::Number).ok_or_else(|| {
            let position = self.jiter.current_position();
            JsonRefusal::Malformed { line: position.line, column: position.column }
        })
    }

    fn deeper(&self, depth: usize) -> Result<usize, JsonRefusal> {
        if depth >= self.limits.max_depth {
            return Err(JsonRefusal::TooDeep { limit: self.limits.max_depth });
        }
        Ok(depth + 1)
    }

    fn array(&mut self, depth: usize) -> Result<Json, JsonRefusal> {
        let depth = self.deeper(depth)?;
        let mut items = Vec::new();
        let mut next = self.jiter.known_array().map_err(|e| self.malformed(&e))?;
        while let Some(peek) = next {
            items.push(self.value(peek, depth)?);
            next = self.jiter.array_step().map_err(|e| self.malformed(&e))?;
        }
        Ok(Json::Array(items))
    }

    fn object(&mut self, depth: usize) -> Result<Json, JsonRefusal> {
        let depth = self.deeper(depth)?;
        let mut members = JsonObject::new();
        let mut key = match self.jiter.known_object() {
            Ok(key) => key.map(str::to_owned),
            Err(error) => return Err(self.malformed(&error)),
        };
        while let Some(name) = key {
            let peek = self.jiter.peek().map_err(|e| self.malformed(&e))?;
            let value = self.value(peek, depth)?;
            if members.insert(name, value).is_some() {
                let position = self.jiter.current_position();
                return Err(JsonRefusal::DuplicateMember { line: position.line, column: position.column });
            }
            key = match self.jiter.next_key() {
                Ok(key) => key.map(str::to_owned),
                Err(error) => return Err(self.malformed(&error)),
            };
        }
        Ok(Json::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        let long = "1234567890123456789012345678901234567890.5";
        for text in ["9007199254740993", "1e400", "-0", "-0.0", "1.10", long] {
            assert_eq!(parse(text).unwrap().as_number().unwrap().as_text(), text);
        }
    }

    #[test]
    fn bad_texts_are_refused_with_a_place() {
        assert!(matches!(parse("{\"a\":1,\n\"a\":2}"), Err(JsonRefusal::DuplicateMember { line: 2, .. })));
        assert!(matches!(parse(&"[".repeat(1000)), Err(JsonRefusal::TooDeep { limit: 64 })));
        let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
        assert!(matches!(parse(&deep), Err(JsonRefusal::TooDeep { limit: 64 })));
        for bad in ["", "[1,]", "{\"a\" 1}", "01", "nul", "\"\u{1}\"", "1 2", "NaN", "[1", "{\"a\":}"] {
            assert!(matches!(parse(bad), Err(JsonRefusal::Malformed { .. })), "{bad}: {:?}", parse(bad));
        }
        assert!(matches!(parse(&"1".repeat(2000)), Err(JsonRefusal::NumberTooLong { limit: 1024, .. })));
        let limits = JsonLimits { max_bytes: 3, ..JsonLimits::DEFAULT };
        assert!(matches!(parse_with(b"1234", limits), Err(JsonRefusal::TooLarge { bytes: 4, limit: 3 })));
        assert!(parse_with(b"\"\xff\"", JsonLimits::DEFAULT).is_err());
    }
}
