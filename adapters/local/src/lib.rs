//! The local machine: time, randomness, secrets in environment variables, directories and locks.
//!
//! Implements the ports `Clock` ([`SystemClock`]), `Entropy` ([`SystemEntropy`]) and `CredentialProvider` for `env://`
//! and `file://` references ([`EnvCredentials`], [`FileCredentials`]), `TokenStore` ([`FileTokenStore`]), `CallbackListener`
//! ([`LoopbackCallback`]) and `BrowserLauncher` ([`SystemBrowser`]). Beside them: [`StateDirs`], [`FileLock`] and
//! [`LibraryFile`] for what a program keeps, and
//! [`agent_config`] for the settings of a served connector.

mod agent_config;
mod browser;
mod callback;
mod clock;
mod credentials;
mod entropy;
mod file_credentials;
mod library_file;
mod lock;
mod state_dirs;
mod token_store;

pub use agent_config::{agent_config, install_agent_config};
pub use browser::SystemBrowser;
pub use callback::LoopbackCallback;
pub use clock::SystemClock;
pub use credentials::EnvCredentials;
pub use entropy::SystemEntropy;
pub use file_credentials::{FileCredentials, FileMode, FileRoot};
pub use library_file::{LibraryFile, UpdateRefusal, library_file_path};
pub use lock::FileLock;
pub use state_dirs::{StateDirs, process_environment};
pub use token_store::FileTokenStore;

/// A word for a system error; its own text may carry paths.
fn reason(kind: std::io::ErrorKind) -> &'static str {
    use std::io::ErrorKind;
    match kind {
        ErrorKind::NotFound => "it does not exist",
        ErrorKind::PermissionDenied => "permission denied",
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => "something else is in its place",
        ErrorKind::IsADirectory => "it is a directory",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "the disk is full",
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only",
        ErrorKind::Unsupported => "the file system does not support it",
        _ => "the system reports an error",
    }
}
