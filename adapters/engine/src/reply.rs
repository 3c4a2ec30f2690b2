//! Replies.

use scion_domain::engine::EngineRefusal;

use crate::Value;
use crate::decode::{DecodeLimits, decode};

/// A reply: its id, and what the engine says.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) id: u64,
    pub(crate) outcome: Outcome,
}

#[derive(Debug)]
pub(crate) enum Outcome {
    Result(Value),
    Error(String),
}

impl Reply {
    /// Reads the payload of a frame; `None` when it is no reply.
    pub(crate) fn read(payload: &[u8]) -> Option<Self> {
        let Value::Map(members) = decode(payload, DecodeLimits::default()).ok()? else { return None };
        let (mut id, mut result, mut error) = (None, None, None);
        for (name, value) in members {
            match (name.as_str(), value) {
                ("id", Value::Natural(number)) => id = Some(number),
                ("error", Value::Text(code)) => error = Some(code),
                ("result", value) => result = Some(value),
                _ => {}
            }
        }
        let outcome = match (error, result) {
            (Some(code), _) => Outcome::Error(code),
            (None, Some(result)) => Outcome::Result(result),
            (None, None) => return None,
        };
        Some(Self { id: id?, outcome })
    }
}

impl Outcome {
    /// Whether it is this error.
    pub(crate) fn is_error(&self, code: &str) -> bool {
        matches!(self, Self::Error(error) if error == code)
    }

    /// The result as the method has it: bytes that hold a second value are opened.
    pub(crate) fn settle(self, method: &'static str) -> Result<Value, EngineRefusal> {
        match self {
            Self::Error(code) => Err(EngineRefusal::of_code(method, &code)),
            Self::Result(Value::Bytes(inner)) => {
                decode(&inner, DecodeLimits::default()).map_err(|_| EngineRefusal::Malformed { method })
            }
            Self::Result(value) => Ok(value),
        }
    }
}
