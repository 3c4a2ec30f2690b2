//! Values as the engine's MessagePack has them. Maps keep the order they were written in, because signatures cover it.

use scion_domain::json::{Json, JsonNumber, JsonObject};

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing.
    Nil,
    /// True or false.
    Bool(bool),
    /// A whole number below zero.
    Negative(i64),
    /// A whole number from zero.
    Natural(u64),
    /// A float of 32 bits; only fields that are declared so have it.
    Single(f32),
    /// A float of 64 bits.
    Double(f64),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list.
    List(Vec<Value>),
    /// A map with text keys, in the order it is written.
    Map(Vec<(String, Value)>),
    /// A value that is encoded already, for example a canonical batch. Decoding never gives one.
    Encoded(Vec<u8>),
}

impl Value {
    /// A map in this order.
    pub fn map<const N: usize>(members: [(&str, Value); N]) -> Self {
        Self::Map(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// The member of a map; `None` when it is nil, absent, or this is no map.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let Self::Map(members) = self else { return None };
        members.iter().find(|(key, value)| key == name && *value != Self::Nil).map(|(_, value)| value)
    }

    /// The text.
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The whole number from zero.
    pub fn as_natural(&self) -> Option<u64> {
        if let Self::Natural(number) = self { Some(*number) } else { None }
    }

    /// True or false.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(flag) = self { Some(*flag) } else { None }
    }

    /// The list.
    pub fn as_list(&self) -> Option<&[Value]> {
        if let Self::List(items) = self { Some(items) } else { None }
    }

    /// The bytes: a bin, or a list of small numbers, which is how some methods give them.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::Bytes(bytes) => Some(bytes.clone()),
            Self::List(items) => {
                items.iter().map(|item| item.as_natural().and_then(|number| u8::try_from(number).ok())).collect()
            }
            _ => None,
        }
    }

    /// Of JSON, whole numbers as such; `None` for a number that neither 64 bits nor a float can hold.
    pub fn of_json(json: &Json) -> Option<Self> {
        Some(match json {
            Json::Null => Self::Nil,
            Json::Bool(flag) => Self::Bool(*flag),
            Json::Number(number) if number.is_integer() => {
                number.as_u64().map(Self::Natural).or_else(|| number.as_i64().map(Self::from))?
            }
            Json::Number(number) => Some(number.as_f64()).filter(|number| number.is_finite()).map(Self::Double)?,
            Json::String(text) => Self::Text(text.clone()),
            Json::Array(items) => Self::List(items.iter().map(Self::of_json).collect::<Option<_>>()?),
            Json::Object(members) => {
                let member = |(name, value): (&String, &Json)| Some((name.clone(), Self::of_json(value)?));
                Self::Map(members.iter().map(member).collect::<Option<_>>()?)
            }
        })
    }

    /// As JSON; bytes have no form there, so `None`.
    pub fn to_json(&self) -> Option<Json> {
        Some(match self {
            Self::Nil => Json::Null,
            Self::Bool(flag) => Json::Bool(*flag),
            Self::Negative(number) => (*number).into(),
            Self::Natural(number) => Json::from(*number),
            Self::Single(number) => Json::Number(JsonNumber::from_f64(f64::from(*number))?),
            Self::Double(number) => Json::Number(JsonNumber::from_f64(*number)?),
            Self::Text(text) => Json::String(text.clone()),
            Self::List(items) => Json::Array(items.iter().map(Self::to_json).collect::<Option<_>>()?),
            Self::Map(members) => {
                let mut object = JsonObject::new();
                for (name, value) in members {
                    object.insert(name.clone(), value.to_json()?);
                }
                Json::Object(object)
            }
            Self::Bytes(_) | Self::Encoded(_) => return None,
        })
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Natural(number)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        u64::try_from(number).map_or(Self::Negative(number), Self::Natural)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nil, Into::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}
