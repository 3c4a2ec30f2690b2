//! What passes between a tool under way and the client that called it: progress, log lines, questions and their replies.

use std::collections::BTreeMap;

use crate::json::{Json, JsonObject};
use crate::mcp::ToolResult;
use crate::refusals;

/// How far a call has come (MCP `notifications/progress`).
#[derive(Clone, Debug, PartialEq)]
pub struct ProgressNotice {
    /// What is done; finite, not negative, and larger in every notice of a call.
    pub completed: f64,
    /// All there is to do, where that is known.
    pub total: Option<f64>,
    /// A short text for people.
    pub message: Option<String>,
}

/// The severity of a log line (RFC 5424, MCP `notifications/message`), the least severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// Details for the author of a connector.
    Debug,
    /// The normal course of things.
    Info,
    /// Normal but worth a look.
    Notice,
    /// Something may be wrong.
    Warning,
    /// An operation failed.
    Error,
    /// A part of the server failed.
    Critical,
    /// Somebody must act at once.
    Alert,
    /// The server is unusable.
    Emergency,
}

impl LogLevel {
    /// Every level, the least severe first.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }
}

/// A log line of a call, already redacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// How severe it is.
    pub level: LogLevel,
    /// What it is about.
    pub data: Json,
}

/// A form the server wants a person to fill in (MCP `elicitation/create`, mode `form`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The key its reply comes back under; one of its kind in a call.
    pub key: String,
    /// What the person reads.
    pub message: String,
    /// The schema of the reply: a flat object of primitives.
    pub schema: JsonObject,
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The person filled the form in.
    Accepted(JsonObject),
    /// The person said no.
    Declined,
    /// The person closed the form without an answer.
    Cancelled,
    /// What came back is not a reply. It is never taken for a yes.
    Malformed,
}

/// What a client brings back when it repeats a call that asked something (2026-07-28, `input_required`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Continuation {
    /// The state the server had sealed.
    pub state: Option<String>,
    /// The replies by the key of their question.
    pub replies: BTreeMap<String, Reply>,
}

/// How a client can be asked during a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking<'a> {
    /// It cannot: it did not say that it takes questions, or there is no way back to it.
    Unsupported,
    /// At once, while the call waits (up to 2025-11-25).
    Direct,
    /// By ending the call with [`CallOutcome::Asks`]; the client repeats it with the replies (2026-07-28).
    Repeated(&'a Continuation),
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// It came to its end.
    Done(ToolResult),
    /// It needs replies first. The client repeats the same call with them and the sealed state.
    Asks {
        /// What it asks.
        questions: Vec<Question>,
        /// The sealed state: opaque to the client, bound to the call.
        state: String,
    },
}

impl CallOutcome {
    /// The result of a call that came to its end.
    pub fn done(self) -> Option<ToolResult> {
        match self {
            Self::Done(result) => Some(result),
            Self::Asks { .. } => None,
        }
    }
}

impl From<ToolResult> for CallOutcome {
    fn from(result: ToolResult) -> Self {
        Self::Done(result)
    }
}

refusals! {
    /// Why something did not reach the client of a call, or no reply came back.
    pub enum ChannelRefusal {
        /// The client takes no such message.
        Unsupported { what: &'static str } => "call_channel_unsupported", CallerMistake, Never,
            "the client takes no {what}", "use a client that does";
        /// The client is gone, or the call has ended.
        Closed => "call_channel_closed", Unavailable, Never,
            "the client of the call is gone", "call again";
        /// No reply came within the time of the call.
        TimedOut => "call_channel_timed_out", Unavailable, Never,
            "the client did not reply in time", "call again";
        /// What came back is not a reply.
        Malformed => "call_channel_malformed", PeerMisbehaved, Never,
            "the client's reply is not what the protocol says", "use a client that speaks 2025-11-25 or 2026-07-28";
    }
}
