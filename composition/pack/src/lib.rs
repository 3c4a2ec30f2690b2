//! Use case: capture what a server publishes as a content pack.
//!
//! [`Capturer`] lists tools, prompts and resources of a live server and answers the entries of its pack: bodies as exact bytes,
//! schemas, annotations from the closed map, facts of the tools. Nothing is left out in silence: an entry that is not what its kind
//! asks for is a refusal that names it. Building the archive, and every digest, is `scion_domain::pack`.

mod capture;
mod data;
mod imports;
mod plan;
mod preflight;
mod prompts;

pub use capture::{CaptureOptions, Capturer};
pub use imports::{Scoped, scope_imports};
pub use preflight::preflight;
