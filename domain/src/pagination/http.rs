//! Walking the pages of an HTTP API: a pure state machine that says what to request and takes what was answered.
//!
//! Six modes: `cursor`, `page`, `offset`, `link` (RFC 8288), `since_id`, `next_url`. A walk stays on its origin, notices
//! when it is led back to where it was, and never ends silently: [`WalkResult::end`] says why it ended, and an answer that
//! is not what the mode needs is refused.

mod link;
mod options;
mod target;
mod walk;

pub use link::next_link;
pub use options::{WalkMode, WalkOptions};
pub use target::{cursor_target, link_cursor};
pub use walk::{Walk, WalkEnd, WalkRequest, WalkResult};

use crate::refusals;

refusals! {
    /// Why a walk cannot start or go on.
    pub enum WalkRefusal {
        /// A mode nobody knows.
        Mode => "walk_mode", CallerMistake, Never,
            "the pagination mode is not one of cursor, page, offset, link, since_id, next_url", "use one of these modes";
        /// A mode that follows URLs without knowing its origin.
        NeedsBase => "walk_needs_base", CallerMistake, Never,
            "following links needs an absolute http(s) address to stay on", "set base_url";
        /// The answer has no list where it should be. Empty is not the same as absent.
        NoItems { page: usize, path: String } => "walk_items_missing", PeerMisbehaved, Never,
            "page {page} has no list at `{path}`", "set items_path to where the list is";
        /// The next position is not usable.
        BadNext { page: usize, what: &'static str } => "walk_bad_next", PeerMisbehaved, Never,
            "the next position named by page {page} is not {what}", "fix the paging of the server, or use another mode";
        /// There is more, and no way to ask for it.
        NoNext { page: usize } => "walk_next_missing", PeerMisbehaved, Never,
            "page {page} says there is more and names no next position", "fix the paging of the server";
        /// A link leads to another origin.
        CrossOriginLink { page: usize } => "walk_cross_origin", PeerMisbehaved, Never,
            "page {page} leads to another origin", "add that origin as a source of its own if it is meant";
        /// A cursor that is no path of this origin.
        CrossOriginCursor => "cursor_cross_origin", CallerMistake, Never,
            "the cursor is not a path of this origin", "use the cursor as it was handed out";
        /// An answer to nothing asked.
        Ended => "walk_ended", CallerMistake, Never,
            "the walk has ended and takes no answer", "start another walk";
        /// The walk ended before the data did.
        Incomplete { end: &'static str, items: usize } => "walk_incomplete", PeerMisbehaved, Never,
            "the walk stopped after {items} items: {end}", "raise the bound, or fix the paging of the server";
    }
}

impl WalkRefusal {
    /// The problem type (RFC 9457) of a refusal that has one on the wire.
    pub const fn problem_type(&self) -> Option<&'static str> {
        match self {
            Self::CrossOriginLink { .. } => Some("urn:agent-connector-sdk:problem:cross-origin-next-url"),
            Self::CrossOriginCursor => Some("urn:agent-connector-sdk:problem:cross-origin-cursor"),
            _ => None,
        }
    }
}
