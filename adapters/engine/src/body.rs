//! A method with its parameters, and the canonical body that signatures cover (`wire/engine-protocol.md` 3).

use ring::digest::{SHA256, digest};

use crate::{Value, encode};

/// The graph of administrative calls, and the default.
pub const COMMONS: &str = "__commons__";

/// What is asked of the engine.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// The method, case-sensitive.
    pub method: &'static str,
    /// Its parameters in the order of the engine's own structure, defaults written out; `None` for a method without any.
    pub params: Option<Value>,
}

impl Body {
    /// A method without parameters.
    pub const fn unit(method: &'static str) -> Self {
        Self { method, params: None }
    }

    /// A method with parameters.
    pub fn with<const N: usize>(method: &'static str, params: [(&str, Value); N]) -> Self {
        Self { method, params: Some(Value::map(params)) }
    }

    /// The bytes that are hashed.
    pub fn canonical(&self) -> Vec<u8> {
        let mut members = vec![("method".to_owned(), Value::from(self.method))];
        members.extend(self.params.clone().map(|params| ("params".to_owned(), params)));
        encode::encode(&Value::Map(members))
    }

    /// The lower-case SHA-256 of [`Self::canonical`].
    pub fn hash(&self) -> String {
        hex(digest(&SHA256, &self.canonical()).as_ref())
    }
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;

    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
