//! TLS profiles: what a client trusts, how it identifies itself, and which version it speaks at least. They are named in the
//! configuration and selected by name; their material stays in files or behind references.
//!
//! No profile can turn verification off: there is no value that would say so.

mod material;
mod profile;
mod refusal;

pub use material::Material;
pub use profile::{ClientIdentity, TlsProfile, TlsProfiles, TlsVersion, Trust};
pub use refusal::TlsRefusal;
