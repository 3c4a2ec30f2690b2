//! Credential resolution under scope and access authority.
//!
//! - [`ResolverChain`]: one provider for each kind of reference; [`default_resolver`] wires it from an environment.
//! - [`BoundCredentials`]: the same behind an access authority: a current grant before every resolution, evidence before it.
//! - [`RuntimeSecrets`] and [`resolve_selected_provider`]: references of commands and of provider profiles.
//! - [`SourceCredentials`]: credentials of sources by name.
//!
//! Nothing here keeps a resolved value: it goes to the caller that asked, and to those that asked for the same while it was being
//! resolved.

mod bound;
mod chain;
mod defaults;
mod flight;
mod injected;
mod keyless;
mod provider_profile;
mod runtime;
mod source;

pub use bound::{BoundCredentials, CallCredentials, RequestBinding};
pub use chain::{ResolverChain, ResolverChainBuilder};
pub use defaults::default_resolver;
pub use injected::InjectedCredentials;
pub use keyless::NoCredential;
pub use provider_profile::{ResolvedProvider, ResolvedTls, resolve_selected_provider};
pub use runtime::RuntimeSecrets;
pub use source::{SourceCredential, SourceCredentials, SourceStatus, build_credential};
