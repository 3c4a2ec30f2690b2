//! Which outside addresses may be dialled (`wire/mcp-surface.md` 6.4).
//!
//! Pure decisions; the one dialer carries them out. The order of a request:
//!
//! 1. [`EgressPolicy::compile`] once for each client,
//! 2. [`CompiledEgress::check_url`] for each URL: a [`Target`], or a refusal before anything is resolved,
//! 3. [`CompiledEgress::check_answers`] for what the name resolved to: the addresses that may be dialled, and no others,
//! 4. [`RedirectWalk::step`] for each redirect, which starts again at 2,
//! 5. [`CompiledEgress::check_peer`] once the connection stands.
//!
//! Text from a person or a document is read with [`parse_url`], which refuses what URL readers disagree about: other
//! spellings of an IPv4 address, user info, backslashes, blanks, zones.

mod address;
mod base_url;
mod check;
mod host;
mod policy;
mod redirect;
mod refusal;
mod target;
mod url_text;

#[cfg(test)]
mod tests;

pub use address::AddressClass;
pub use base_url::{CheckedUrl, validate_base_url, validate_base_url_resolved};
pub use check::{MAX_ANSWERS, Plaintext, check_destination};
pub use host::EgressHost;
pub use policy::{CompiledEgress, EgressPolicy, MAX_PRIVATE_HOSTS};
pub use redirect::{Hop, RedirectWalk, is_redirect};
pub use refusal::EgressRefusal;
pub use target::{Target, TargetHost};
pub use url_text::{MAX_URL_BYTES, parse_source_url, parse_url};
