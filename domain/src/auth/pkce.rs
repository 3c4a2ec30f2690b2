//! A login in a person's browser with PKCE, as a state machine (RFC 7636, RFC 8252; SDK-CONNECTOR-CONTROL-R046).
//!
//! A ceremony is bound to its caller, to the operation it is for, to a challenge reference, to `state`, `nonce`, callback address and
//! deadline. It takes one callback. What does not fit ends it; nothing that ended goes on.

mod binding;
mod ceremony;
mod evidence;
mod refusal;

pub use binding::{PkceBinding, PkceChallenge, RedirectBinding, challenge_of};
pub use ceremony::{Ceremony, CeremonySeed, CodeExchange, MAX_REDIRECT_BYTES, TOTAL_DEADLINE_MS};
pub use evidence::{PersistReceipt, PkceAuthResult, PkceEvidence};
pub use refusal::PkceRefusal;
