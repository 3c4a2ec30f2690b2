//! Destructive confirmation (`wire/mcp-surface.md` 2.6; SDK-CONNECTOR-CONTROL-R026.1): what a person is asked, what counts as
//! a yes, and the sealed state that ties the answer to the call it was given for.

mod approval;
mod question;
mod seal;
mod shown;

#[cfg(test)]
mod tests;

use crate::call::Reply;
use crate::json::{Json, JsonObject};
use crate::refusals;

pub use approval::approval_request;
pub use question::{CONFIRMATION_KEY, QuestionForm, question};
pub use seal::{MAX_SPENT_STATES, SealedFor, SpentStates, StateKey};

/// Whether a reply is a yes: an accepted one whose `confirmed` is the literal `true`. Every other shape is a no.
pub fn says_yes(reply: &Reply) -> bool {
    matches!(reply, Reply::Accepted(content) if content.get("confirmed") == Some(&Json::Bool(true)))
}

/// What a call answers that the person did not confirm.
pub fn not_confirmed(operation: &str) -> JsonObject {
    JsonObject::from([("cancelled".to_owned(), true.into()), ("operation".to_owned(), operation.into())])
}

refusals! {
    /// Why a handler that asked for a confirmation goes no further.
    pub enum ConfirmationRefusal {
        /// The person did not say yes, or cannot be asked.
        Declined { operation: String } => "confirmation_declined", Denied, Never,
            "`{operation}` was not confirmed", "nothing was done; ask the person first";
        /// The client has to come back with the answer.
        Pending { operation: String } => "confirmation_pending", Denied, Later,
            "`{operation}` waits for a person's confirmation", "repeat the call with the answer";
        /// A tool that says it only reads asks to destroy.
        ReadOnly { tool: String } => "confirmation_of_read_only", CallerMistake, Never,
            "`{tool}` is marked read-only and wants to destroy something", "declare the tool with destructive hints";
    }
}
