//! TLS as a profile says, with material that may change while clients are open.

mod build;
mod source;

pub(crate) use build::server_name;
pub(crate) use source::TlsSource;
pub use source::{ResolvedTlsProfile, TlsStatus};
