use std::fmt;
use std::time::Duration;

use super::ToolExecutionResult;
use crate::id::Digest256;

/// The id that ties the events of a call to those of others (W3C Trace Context: 16 bytes, not all zero).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceId([u8; 16]);

impl TraceId {
    /// An id of 16 bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The id in a `traceparent` (`00-<32 hex>-<16 hex>-<2 hex>`); `None` when it is not one.
    pub fn of_traceparent(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let hex = |text: &str, length| {
            text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        if !hex(version, 2) || version == "ff" || !hex(trace, 32) || !hex(parent, 16) || !hex(flags, 2) {
            return None;
        }
        let number = u128::from_str_radix(trace, 16).ok().filter(|number| *number != 0)?;
        Some(Self(number.to_be_bytes()))
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What a call is known by. Ids only: no argument, no value, no token.
#[derive(Clone, Copy, Debug)]
pub struct CallIds<'a> {
    /// The tenant, where a caller was verified.
    pub tenant: Option<&'a str>,
    /// The person or service, where one was verified.
    pub actor: Option<&'a str>,
    /// Whom the caller's token is for, where there was one (SDK-CONNECTOR-CONTROL-R902.5).
    pub audience: Option<&'a str>,
    /// The connector.
    pub connector: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// The operation behind it.
    pub operation: &'a str,
    /// The session.
    pub session: Option<&'a str>,
    /// The request.
    pub request: Option<&'a str>,
    /// The trace.
    pub trace: TraceId,
}

/// Something that happened in a call.
#[derive(Clone, Copy, Debug)]
pub struct CallEvent<'a> {
    /// The call.
    pub ids: CallIds<'a>,
    /// The fingerprint of the tool's contract.
    pub schema_digest: Digest256,
    /// The event's place in its call, from 1.
    pub sequence: u32,
    /// What happened.
    pub kind: CallEventKind<'a>,
}

/// What happened.
#[derive(Clone, Copy, Debug)]
pub enum CallEventKind<'a> {
    /// The call began.
    Started,
    /// A person was asked to confirm.
    Asked,
    /// The person's answer, or that there was none to be had.
    Answered {
        /// Whether it was yes.
        yes: bool,
    },
    /// A value of the request cache was used again.
    CacheHit,
    /// A notice did not reach the client.
    NotificationLost,
    /// The call ended. Every call that began ends once.
    Ended {
        /// How.
        result: &'a ToolExecutionResult,
        /// The approval that was used.
        approval: Option<Digest256>,
        /// How long it took.
        took: Duration,
    },
}
