//! The bound of a request body.

use std::time::Duration;

use super::ListenerRefusal;
use crate::http::{HeaderMap, header};

/// The declared length of a body; `None` when it is not declared. Only one field of decimal digits counts.
pub fn declared_length(headers: &HeaderMap) -> Result<Option<u64>, ListenerRefusal> {
    let mut values = headers.get_all(header::CONTENT_LENGTH).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let text = value.to_str().ok().filter(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()));
    match (text, values.next()) {
        // A number beyond 64 bits is over every bound.
        (Some(text), None) => Ok(Some(text.parse().unwrap_or(u64::MAX))),
        _ => Err(ListenerRefusal::ContentLength),
    }
}

/// What may still be read of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyBudget {
    left: u64,
    timeout: Duration,
}

impl BodyBudget {
    /// A budget of `limit` bytes; a body that declares more is refused before it is read.
    pub fn new(limit: u64, timeout: Duration, declared: Option<u64>) -> Result<Self, ListenerRefusal> {
        if declared.is_some_and(|declared| declared > limit) {
            return Err(ListenerRefusal::TooLarge);
        }
        Ok(Self { left: limit, timeout })
    }

    /// Takes a piece of `bytes` that came in.
    pub fn take(&mut self, bytes: usize) -> Result<(), ListenerRefusal> {
        let left = u64::try_from(bytes).ok().and_then(|bytes| self.left.checked_sub(bytes));
        self.left = left.ok_or(ListenerRefusal::TooLarge)?;
        Ok(())
    }

    /// How long the rest may take after `elapsed` since the head of the request; refused when nothing is left.
    pub fn time_left(&self, elapsed: Duration) -> Result<Duration, ListenerRefusal> {
        let left = self.timeout.checked_sub(elapsed).filter(|left| !left.is_zero());
        left.ok_or(ListenerRefusal::BodyTimeout)
    }
}
