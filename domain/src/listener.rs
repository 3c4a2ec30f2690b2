//! The boundary of a listener: who may reach a served connector at all (`wire/mcp-surface.md` 0.5).
//!
//! [`ListenerSettings::validate`] turns what an operator wrote into a [`ListenerBoundary`] or one refusal that names the
//! field. [`ListenerBoundary::admit`] decides about a request from its peer, its header fields and nothing else, and
//! [`BodyBudget`] about its body, piece by piece. The server carries the answers out; it decides nothing itself.

mod admit;
mod authority;
mod body;
mod boundary;
mod cidr;
mod loopback;
mod origin;
mod refusal;
mod settings;

#[cfg(test)]
mod tests;

pub use admit::RequestFacts;
pub use authority::Authority;
pub use body::{BodyBudget, declared_length};
pub use boundary::{ListenerAuth, ListenerBoundary, ListenerTls, ListenerTransport};
pub use cidr::{Cidr, cidr_list};
pub use loopback::is_loopback_host;
pub use origin::Origin;
pub use refusal::{ListenerConfigRefusal, ListenerRefusal, RefusalAnswer};
pub use settings::ListenerSettings;

/// A `Host` or `Origin` field longer than this is refused unread, in bytes.
pub const MAX_HEADER_VALUE_BYTES: usize = 16_384;
/// The longest origin, in characters.
pub const MAX_ORIGIN_CHARACTERS: usize = 2048;
/// Hosts of one listener.
pub const MAX_HOSTS: usize = 256;
/// Origins of one listener.
pub const MAX_ORIGINS: usize = 256;
/// Networks of trusted proxies.
pub const MAX_CIDRS: usize = 64;
