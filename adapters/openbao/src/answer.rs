//! What the server's answers say. Texts of secrets are wrapped as they are read.

use std::collections::BTreeMap;
use std::fmt;

use scion_domain::http::Bytes;
use scion_domain::secret::Secret;
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use zeroize::Zeroize as _;

use crate::fault::Fault;

/// A value of a secret.
pub(crate) enum Value {
    Text(Secret<String>),
    /// Not a text.
    Other,
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reading;
        impl<'de> Visitor<'de> for Reading {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
                Ok(Value::Text(Secret::new(text.to_owned())))
            }

            fn visit_string<E: de::Error>(self, text: String) -> Result<Value, E> {
                Ok(Value::Text(Secret::new(text)))
            }

            fn visit_bool<E>(self, _: bool) -> Result<Value, E> {
                Ok(Value::Other)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Value, E> {
                Ok(Value::Other)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Value, E> {
                Ok(Value::Other)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
                Ok(Value::Other)
            }

            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Other)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Value::Other)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
                while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Value::Other)
            }
        }
        deserializer.deserialize_any(Reading)
    }
}

pub(crate) type Fields = BTreeMap<String, Value>;

#[derive(Deserialize)]
pub(crate) struct Envelope<T> {
    pub(crate) data: Option<T>,
}

/// The `data` of a version 2 read.
#[derive(Deserialize)]
pub(crate) struct Versioned {
    pub(crate) data: Option<Fields>,
    pub(crate) metadata: Option<VersionMetadata>,
}

#[derive(Deserialize)]
pub(crate) struct VersionMetadata {
    #[serde(default)]
    pub(crate) deletion_time: String,
    #[serde(default)]
    pub(crate) destroyed: bool,
}

/// The `data` of a mount.
#[derive(Deserialize)]
pub(crate) struct Mount {
    #[serde(rename = "type", default)]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) options: Option<BTreeMap<String, String>>,
}

/// The answer of a login or a renewal.
#[derive(Deserialize)]
pub(crate) struct LoginAnswer {
    pub(crate) auth: Option<Auth>,
}

#[derive(Deserialize)]
pub(crate) struct Auth {
    pub(crate) client_token: SecretText,
    /// In seconds; 0 is for ever.
    #[serde(default)]
    pub(crate) lease_duration: u64,
    #[serde(default)]
    pub(crate) renewable: bool,
}

/// The `data` of a look at one's own token.
#[derive(Deserialize)]
pub(crate) struct OwnToken {
    /// In seconds; 0 is for ever.
    #[serde(default)]
    pub(crate) ttl: u64,
    #[serde(default)]
    pub(crate) renewable: bool,
}

/// A secret text; anything else is an error without the value.
pub(crate) struct SecretText(pub(crate) Secret<String>);

impl<'de> Deserialize<'de> for SecretText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Text(text) => Ok(Self(text)),
            Value::Other => Err(de::Error::custom("not a text")),
        }
    }
}

/// Reads a body and zeroes it where nobody else holds it.
pub(crate) fn read<T: DeserializeOwned>(body: Bytes) -> Result<T, Fault> {
    let read =
        serde_json::from_slice(&body).map_err(|_| Fault::Unusable("comes in an answer that is not what it should be"));
    forget(body);
    read
}

/// Zeroes a body where nobody else holds it.
pub(crate) fn forget(body: Bytes) {
    if let Ok(mut body) = body.try_into_mut() {
        body[..].zeroize();
    }
}
