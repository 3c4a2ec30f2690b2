//! What the client itself refuses, before or without an answer.

use crate::refusals;

refusals! {
    /// Why the governed client does not make a call.
    pub enum CallRefusal {
        /// The client is not configured so that it can work.
        Option { option: &'static str, what: &'static str } => "client_option", CallerMistake, Never,
            "the client's {option} {what}", "fix the option";
        /// Egress policy refuses an option; `reason` is the code of its refusal.
        Egress { option: &'static str, reason: &'static str } => "client_egress", Denied, Never,
            "the client's {option} is refused by egress policy ({reason})", "see the code for what to do";
        /// The path does not stay below the base URL.
        Path { what: &'static str } => "client_path", CallerMistake, Never,
            "the path of the call {what}", "use a path below the base URL, or another client for another place";
        /// A header field that is not a call's to set.
        Header { name: String, what: &'static str } => "client_header", CallerMistake, Never,
            "the header field {name} {what}", "declare credentials with auth(), and leave the others to the client";
        /// The body cannot be written as JSON.
        Body => "client_body", CallerMistake, Never,
            "the body of the call cannot be written as JSON", "use text keys and finite numbers";
        /// A destructive call on a client that does not allow any.
        Destructive { method: String } => "client_destructive", Denied, Never,
            "this client does not allow destructive calls ({method})", "build it with allow_destructive() where that is meant";
        /// The turn of the call comes after its deadline. Nothing was sent.
        Paced { wait_ms: u64 } => "client_paced", Unavailable, Later,
            "the call would have to wait {wait_ms} ms for its turn, longer than its deadline",
            "raise the deadline, the rate limit or the concurrency limit";
        /// The one deadline of the call is over; whether the last attempt arrived is unknown where it was sent.
        Deadline { sent: bool } => "client_deadline", Unavailable, Later,
            "the call's deadline is over (request sent: {sent})", "raise the deadline, or check the server";
    }
}
