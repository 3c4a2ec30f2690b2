//! The place of a secret reference in a declaration.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use super::AuthRefusal;
use crate::credential::{ReferenceRefusal, SecretRef};

/// A secret reference, or the fact that there is none. A text that is not a reference is dropped at once: it may be the secret
/// itself, and a declaration is printed and stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecretSlot(Option<SecretRef>);

impl SecretSlot {
    /// The environment variable of a name.
    pub fn env(name: &str) -> Self {
        Self::reference(&format!("env://{name}"))
    }

    /// The reference a text stands for.
    pub fn reference(text: &str) -> Self {
        Self(SecretRef::parse(text).ok())
    }

    /// The reference. [`AuthRefusal::Configuration`] when none was given, or what was given is none.
    pub fn get(&self, field: &'static str) -> Result<&SecretRef, AuthRefusal> {
        self.0.as_ref().ok_or(AuthRefusal::Configuration { field, what: "is not a secret reference" })
    }
}

impl From<SecretRef> for SecretSlot {
    fn from(reference: SecretRef) -> Self {
        Self(Some(reference))
    }
}

impl Serialize for SecretSlot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(reference) => serializer.serialize_str(&reference.to_string()),
            None => Err(ser::Error::custom("the declaration names no secret reference")),
        }
    }
}

impl<'de> Deserialize<'de> for SecretSlot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Not `&str`: its own error message would repeat the text.
        struct Text;
        impl de::Visitor<'_> for Text {
            type Value = SecretSlot;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a secret reference")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<SecretSlot, E> {
                SecretRef::parse(text).map(SecretSlot::from).map_err(E::custom)
            }

            // A secret of digits is read as a number, and the error of its type would repeat it.
            fn visit_i64<E: de::Error>(self, _: i64) -> Result<SecretSlot, E> {
                Err(E::custom(ReferenceRefusal::NotAReference))
            }

            fn visit_u64<E: de::Error>(self, _: u64) -> Result<SecretSlot, E> {
                Err(E::custom(ReferenceRefusal::NotAReference))
            }

            fn visit_f64<E: de::Error>(self, _: f64) -> Result<SecretSlot, E> {
                Err(E::custom(ReferenceRefusal::NotAReference))
            }
        }
        // Not `deserialize_str`: buffered formats then refuse a number themselves, and repeat it.
        deserializer.deserialize_any(Text)
    }
}
