//! JSON without loss: numbers keep their digits, objects are ordered by code point, depth and size are bounded.
//!
//! `serde_json::Value` rounds `1e400`, forty-digit decimals and `-0`. A connector must not, so records, positions
//! and schemas are [`Json`]. Parsing is by `jiter`, an iterable parser that hands out the bytes of a number.

mod number;
mod parse;
mod path;
mod serde_impls;
mod write;

use std::collections::BTreeMap;

pub use number::JsonNumber;
pub use parse::{JsonLimits, JsonRefusal, parse, parse_with};
pub use path::{read_dotted, write_dotted};
pub use write::{to_compact, to_spaced};

/// An object. `BTreeMap` orders keys by UTF-8 bytes, which is code-point order.
pub type JsonObject = BTreeMap<String, Json>;

/// A JSON value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Json {
    /// `null`; never the same as an absent member.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number with its own digits.
    Number(JsonNumber),
    /// Text.
    String(String),
    /// A list.
    Array(Vec<Json>),
    /// An object.
    Object(JsonObject),
}

impl Json {
    /// The text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The flag, if this is a boolean.
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    /// The number, if this is one.
    pub const fn as_number(&self) -> Option<&JsonNumber> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The list, if this is one.
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The object, if this is one.
    pub const fn as_object(&self) -> Option<&JsonObject> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// A member of an object; `None` for anything else.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }

    /// Whether this is `null`.
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// A word for the kind of value, for messages: `object`, `list`, `text`, `number`, `boolean`, `null`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::String(_) => "text",
            Self::Array(_) => "list",
            Self::Object(_) => "object",
        }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<bool> for Json {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

impl From<i32> for Json {
    fn from(value: i32) -> Self {
        Self::from(i64::from(value))
    }
}

impl From<i64> for Json {
    fn from(value: i64) -> Self {
        Self::Number(value.into())
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Self {
        Self::Number(value.into())
    }
}

impl From<Vec<Json>> for Json {
    fn from(items: Vec<Json>) -> Self {
        Self::Array(items)
    }
}

impl From<JsonObject> for Json {
    fn from(members: JsonObject) -> Self {
        Self::Object(members)
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<const N: usize> From<[(&str, Json); N]> for Json {
    fn from(members: [(&str, Json); N]) -> Self {
        Self::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }
}
