//! Secrets in mounted files.

use std::fmt;
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::credential::{CredentialRefusal, CredentialRequest, SecretRef};
use scion_domain::id::ConnectorName;
use scion_domain::secret::Secret;
use scion_ports::CredentialProvider;

/// The largest file that is a secret, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// A directory below which secrets are mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileRoot {
    /// Every connector may read what is below it, such as `/run/secrets` of a container that serves one connector.
    Shared(PathBuf),
    /// A connector may read what is below the directory of its own name in it.
    PerConnector(PathBuf),
}

/// What happens to a file that others than its owner may read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileMode {
    /// It is used, with a warning in the log. Kubernetes mounts secrets so.
    #[default]
    Warn,
    /// It is refused.
    OwnerOnly,
}

/// Resolves `file:///PATH` below configured roots. The file is read at each resolution; one line end at its end is dropped.
///
/// A file outside the roots is [`CredentialRefusal::OutOfScope`] and is not looked at; so is one that a symbolic link leads
/// out of its root. Larger than 64 KiB, not UTF-8, not a regular file, writable by others, or owned by somebody else than root
/// or this user: [`CredentialRefusal::Unusable`].
#[derive(Clone)]
pub struct FileCredentials {
    roots: Arc<[FileRoot]>,
    mode: FileMode,
}

impl FileCredentials {
    /// With roots. Without any, nothing is in scope.
    pub fn new(roots: impl IntoIterator<Item = FileRoot>, mode: FileMode) -> Self {
        Self { roots: roots.into_iter().collect(), mode }
    }

    /// The directory a connector may read this path below.
    fn root_of(&self, path: &Path, connector: &ConnectorName) -> Option<PathBuf> {
        let roots = self.roots.iter().map(|root| match root {
            FileRoot::Shared(root) => root.clone(),
            FileRoot::PerConnector(root) => root.join(connector.as_str()),
        });
        roots.into_iter().find(|root| path.starts_with(root) && path != root)
    }
}

impl fmt::Debug for FileCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileCredentials").field("roots", &self.roots).field("mode", &self.mode).finish()
    }
}

#[async_trait]
impl CredentialProvider for FileCredentials {
    async fn resolve(&self, request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        let reference = request.reference.to_string();
        if !request.reference.in_scope_of(&request.connector) {
            return Err(CredentialRefusal::OutOfScope { reference });
        }
        let SecretRef::File { path } = &request.reference else {
            return Err(CredentialRefusal::NoProvider { scheme: request.reference.scheme().to_owned() });
        };
        let path = PathBuf::from(path);
        let Some(root) = self.root_of(&path, &request.connector) else {
            return Err(CredentialRefusal::OutOfScope { reference });
        };
        let reading = Reading { reference: reference.clone(), mode: self.mode };
        // A mount can be on a network; its waits must not stop the runtime. Dropping this future lets the read end by itself.
        let read = tokio::task::spawn_blocking(move || reading.read(&root, &path)).await;
        read.unwrap_or(Err(CredentialRefusal::Unavailable { reference }))
    }
}

struct Reading {
    reference: String,
    mode: FileMode,
}

impl Reading {
    fn unusable(&self, what: &'static str) -> CredentialRefusal {
        CredentialRefusal::Unusable { reference: self.reference.clone(), what }
    }

    fn failed(&self, kind: ErrorKind) -> CredentialRefusal {
        let reference = self.reference.clone();
        match kind {
            ErrorKind::NotFound | ErrorKind::NotADirectory => CredentialRefusal::Missing { reference },
            ErrorKind::PermissionDenied => CredentialRefusal::Denied { reference },
            _ => CredentialRefusal::Unavailable { reference },
        }
    }

    fn read(&self, root: &Path, path: &Path) -> Result<Secret<String>, CredentialRefusal> {
        let outside = || CredentialRefusal::OutOfScope { reference: self.reference.clone() };
        let failed = |error: std::io::Error| self.failed(error.kind());
        let real_root = root.canonicalize().map_err(failed)?;
        let real = path.canonicalize().map_err(failed)?;
        if !real.starts_with(&real_root) {
            return Err(outside());
        }
        // Looked at before it is opened: opening a pipe waits for a writer.
        self.check(&std::fs::metadata(&real).map_err(failed)?)?;
        let file = File::open(&real).map_err(failed)?;
        let opened = file.metadata().map_err(failed)?;
        self.check(&opened)?;
        // A link that was exchanged in between leads somewhere else now: what was opened must still be what is inside.
        let again = real.canonicalize().map_err(failed)?;
        if again != real || !same_file(&opened, &std::fs::symlink_metadata(&again).map_err(failed)?) {
            return Err(outside());
        }
        if open_to_others(&opened) {
            tracing::warn!(reference = %self.reference, "the secret can be read by others than its owner");
        }
        let mut bytes = Vec::with_capacity(usize::try_from(opened.len().min(MAX_BYTES)).unwrap_or_default() + 1);
        let read = file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed);
        let bytes = Secret::new(bytes);
        read?;
        self.text(bytes.expose())
    }

    fn text(&self, bytes: &[u8]) -> Result<Secret<String>, CredentialRefusal> {
        if bytes.len() as u64 > MAX_BYTES {
            return Err(self.unusable("is larger than 64 KiB"));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| self.unusable("is not UTF-8"))?;
        let text = text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text));
        if text.is_empty() {
            return Err(CredentialRefusal::Missing { reference: self.reference.clone() });
        }
        Ok(Secret::new(text.to_owned()))
    }

    fn check(&self, metadata: &Metadata) -> Result<(), CredentialRefusal> {
        if !metadata.is_file() {
            return Err(self.unusable("is not a regular file"));
        }
        if metadata.len() > MAX_BYTES {
            return Err(self.unusable("is larger than 64 KiB"));
        }
        self.check_owner(metadata)
    }

    #[cfg(unix)]
    fn check_owner(&self, metadata: &Metadata) -> Result<(), CredentialRefusal> {
        use std::os::unix::fs::MetadataExt as _;
        if metadata.mode() & 0o022 != 0 {
            return Err(self.unusable("can be written by others than its owner"));
        }
        if metadata.uid() != 0 && this_user().is_some_and(|user| user != metadata.uid()) {
            return Err(self.unusable("is owned by another user"));
        }
        if open_to_others(metadata) && self.mode == FileMode::OwnerOnly {
            return Err(self.unusable("can be read by others than its owner"));
        }
        Ok(())
    }

    #[cfg(not(unix))]
    #[allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "the other platform's shape")]
    fn check_owner(&self, _metadata: &Metadata) -> Result<(), CredentialRefusal> {
        Ok(())
    }
}

#[cfg(unix)]
fn open_to_others(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    metadata.mode() & 0o044 != 0
}

#[cfg(not(unix))]
fn open_to_others(_metadata: &Metadata) -> bool {
    false
}

/// The user of this process, where the system says it in a file.
#[cfg(unix)]
fn this_user() -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").ok().map(|metadata| metadata.uid())
}

#[cfg(unix)]
fn same_file(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn same_file(one: &Metadata, other: &Metadata) -> bool {
    one.len() == other.len() && one.modified().ok() == other.modified().ok()
}
