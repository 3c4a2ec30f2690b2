//! Credentials of sources by name (SDK-CONNECTOR-CONTROL-R900).

mod credential;
mod registry;

pub use credential::{SourceCredential, build_credential};
pub use registry::{SourceCredentials, SourceStatus};
