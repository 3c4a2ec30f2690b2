//! Bridges to serde. [`Json`] serialises into any format; numbers outside what `serde_json` can hold without loss are
//! handed over as text-exact integers or floats where they fit and refused otherwise.

use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Json, JsonNumber, JsonObject};

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(flag) => serializer.serialize_bool(*flag),
            Self::Number(number) => {
                if let Some(value) = number.as_i64() {
                    serializer.serialize_i64(value)
                } else if let Some(value) = number.as_u64() {
                    serializer.serialize_u64(value)
                } else if number.is_integer() || !number.as_f64().is_finite() {
                    Err(S::Error::custom("number is out of range of this format"))
                } else {
                    serializer.serialize_f64(number.as_f64())
                }
            }
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(items) => {
                let mut out = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    out.serialize_element(item)?;
                }
                out.end()
            }
            Self::Object(members) => {
                let mut out = serializer.serialize_map(Some(members.len()))?;
                for (key, item) in members {
                    out.serialize_entry(key, item)?;
                }
                out.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_json::Value::deserialize(deserializer).map(Self::from)
    }
}

impl From<serde_json::Value> for Json {
    /// Lossless for everything a `serde_json::Value` can hold.
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(flag) => Self::Bool(flag),
            serde_json::Value::Number(number) => Self::Number(JsonNumber::from_checked(&number.to_string())),
            serde_json::Value::String(text) => Self::String(text),
            serde_json::Value::Array(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            serde_json::Value::Object(members) => {
                Self::Object(members.into_iter().map(|(key, item)| (key, Self::from(item))).collect::<JsonObject>())
            }
        }
    }
}

impl From<&Json> for serde_json::Value {
    /// Rounds numbers that do not fit `serde_json`; an infinite one becomes text, so that nothing is lost silently.
    fn from(value: &Json) -> Self {
        match value {
            Json::Null => Self::Null,
            Json::Bool(flag) => Self::Bool(*flag),
            Json::Number(number) => number
                .as_i64()
                .map(Self::from)
                .or_else(|| number.as_u64().map(Self::from))
                .or_else(|| serde_json::Number::from_f64(number.as_f64()).map(Self::Number))
                .unwrap_or_else(|| Self::String(number.as_text().to_owned())),
            Json::String(text) => Self::String(text.clone()),
            Json::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Json::Object(members) => {
                Self::Object(members.iter().map(|(key, item)| (key.clone(), Self::from(item))).collect())
            }
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Json {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Json".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        true.into()
    }
}
