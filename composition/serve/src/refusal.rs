use scion_domain::refusal::{Blame, Refusal, Retry};

/// What a tool answers when it says no: a stable code, one fixed sentence, and what to do next.
///
/// It is made from any declared refusal (`scion_domain::refusals!`), so `?` works in a handler and the text of a vendor's
/// error has no way in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolRefusal {
    code: &'static str,
    message: String,
    next: &'static str,
    blame: Blame,
    retry: Retry,
}

impl ToolRefusal {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// Whether the refusal leaves open if the vendor did something: it was reached, or may have been, and did not say no.
    pub(crate) fn leaves_outcome_open(&self) -> bool {
        self.retry == Retry::AfterReadback || matches!(self.blame, Blame::Unavailable | Blame::PeerMisbehaved)
    }

    /// Whether it says itself that the outcome is unknown.
    pub(crate) fn is_uncertain(&self) -> bool {
        self.retry == Retry::AfterReadback
    }

    /// The text a caller reads: `code: message; next step`.
    pub fn text(&self) -> String {
        format!("{}: {}; {}", self.code, self.message, self.next)
    }
}

// ToolRefusal is itself no `Refusal`, so this does not overlap with the reflexive `From`.
impl<R: Refusal> From<R> for ToolRefusal {
    fn from(refusal: R) -> Self {
        Self {
            code: refusal.code(),
            message: refusal.to_string(),
            next: refusal.next_step(),
            blame: refusal.blame(),
            retry: refusal.retry(),
        }
    }
}
