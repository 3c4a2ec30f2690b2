use crate::json::{Json, JsonObject};
use crate::refusal::Refusal;
use crate::refusals;

/// What a server's error is about, from a closed list; its own words are not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ErrorKind {
    /// Too much was asked in too short a time.
    Throttled,
    /// One request costs more than the server allows at all.
    TooCostly,
    /// The credential is missing or wrong.
    Unauthenticated,
    /// The credential may not.
    Forbidden,
    /// Something named does not exist.
    NotFound,
    /// The document or its variables are not acceptable.
    Invalid,
    /// Anything else.
    Other,
}

impl ErrorKind {
    /// The word in refusals.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Throttled => "throttled",
            Self::TooCostly => "too_costly",
            Self::Unauthenticated => "unauthenticated",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::Invalid => "invalid",
            Self::Other => "other",
        }
    }

    /// From the `extensions.code` or `type` of an error.
    pub(super) fn of(code: &str) -> Self {
        match code {
            "THROTTLED" | "RATE_LIMITED" | "RATE_LIMIT" | "TOO_MANY_REQUESTS" => Self::Throttled,
            "MAX_COST_EXCEEDED" | "MAX_NODE_LIMIT_EXCEEDED" | "COMPLEXITY_LIMIT_EXCEEDED" | "QUERY_TOO_COMPLEX" => {
                Self::TooCostly
            }
            "UNAUTHENTICATED" | "UNAUTHORIZED" | "AUTHENTICATION_ERROR" => Self::Unauthenticated,
            "FORBIDDEN" | "ACCESS_DENIED" | "INSUFFICIENT_SCOPES" => Self::Forbidden,
            "NOT_FOUND" => Self::NotFound,
            "BAD_USER_INPUT"
            | "GRAPHQL_VALIDATION_FAILED"
            | "GRAPHQL_PARSE_FAILED"
            | "BAD_REQUEST"
            | "undefinedField"
            | "argumentLiteralsIncompatible"
            | "missingRequiredArguments" => Self::Invalid,
            _ => Self::Other,
        }
    }
}

impl std::fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

refusals! {
    /// Why a GraphQL operation has no result.
    pub enum GraphQlRefusal {
        /// The document cannot be sent.
        Document { what: &'static str } => "graphql_document", CallerMistake, Never,
            "the GraphQL document {what}", "fix the document or name the operation to run";
        /// The server answers with errors; `kind` is the first known kind among them.
        Errors { count: usize, kind: ErrorKind } => "graphql_errors", PeerMisbehaved, Never,
            "the server answers with {count} GraphQL errors ({kind})", "check the document, its variables and the credential's permissions";
        /// The server asks to slow down.
        Throttled => "graphql_throttled", Unavailable, Later,
            "the server's GraphQL cost limit is used up", "wait, or ask for less at once";
        /// One operation costs more than the whole budget.
        TooCostly { cost: u64, budget: u64 } => "graphql_too_costly", CallerMistake, Never,
            "the operation costs {cost} points; the budget holds {budget} at most", "ask for fewer fields or smaller pages";
        /// The answer is not what GraphQL over HTTP says.
        Malformed { what: &'static str } => "graphql_malformed", PeerMisbehaved, Never,
            "the server's GraphQL answer {what}", "check that the address is a GraphQL endpoint";
        /// The server hands out a cursor again.
        Loop { pages: usize } => "graphql_cursor_loop", PeerMisbehaved, Never,
            "the server hands out the same cursor again after {pages} pages", "report it to the operator of the server";
        /// More pages or items than allowed; there may be more.
        Incomplete { pages: usize, items: usize } => "graphql_incomplete", CallerMistake, Never,
            "the list was not read to its end: {pages} pages, {items} items", "raise the bounds of the walk, or ask for less";
        /// A schema larger than is read.
        SchemaTooLarge { what: &'static str, limit: usize } => "graphql_schema_too_large", PeerMisbehaved, Never,
            "the schema has more than {limit} {what}", "ask for the types that are needed, by name";
    }
}

/// What a tool hands on about a failure: its code, our own sentence, and whether trying again can help. It holds nothing of the server's
/// answer, the request or the credential.
pub fn graphql_failure_payload(refusal: &dyn Refusal) -> JsonObject {
    let members = [
        ("error", Json::from("graphql_execution_failed")),
        ("code", refusal.code().into()),
        ("message", refusal.to_string().into()),
        ("next", refusal.next_step().into()),
        ("retryable", (refusal.retry() == crate::refusal::Retry::Later).into()),
    ];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
