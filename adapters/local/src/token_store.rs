//! Tokens in files of their owner.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use scion_domain::json::{Json, JsonLimits, parse_with, to_compact};
use scion_domain::secret::Secret;
use scion_domain::work::{StoredTokens, WorkRefusal};
use scion_ports::{AccountGuard, TokenStore};

use crate::{FileLock, state_dirs};

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 128 * 1024;

/// How long a writer waits for another one; each holds the lock for the time of one replacement.
const WRITE_LIMIT: Duration = Duration::from_secs(5);

/// One file per account below a directory. Files have mode 0600 in a directory of mode 0700, and are replaced as a whole; what others
/// could read is refused and not used. On systems without such modes the directory has to be protected by other means.
#[derive(Clone, Debug)]
pub struct FileTokenStore {
    directory: PathBuf,
}

const fn invalid(what: &'static str) -> WorkRefusal {
    WorkRefusal::Invalid { what }
}

const UNREADABLE: WorkRefusal = WorkRefusal::Unreachable { what: "the file of the account" };

impl FileTokenStore {
    /// Below a directory, which is made when something is saved.
    pub fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    fn path(&self, account: &str, kind: &str) -> Result<PathBuf, WorkRefusal> {
        Ok(self.directory.join(format!("{}.{kind}", StoredTokens::file_stem(account)?)))
    }

    /// The directory, made if it is not there, with this owner's mode.
    fn prepare(&self) -> Result<(), WorkRefusal> {
        state_dirs::make(&self.directory, "tokens")
            .map_err(|_| WorkRefusal::Unreachable { what: "the directory of tokens" })?;
        check_directory(&self.directory)
    }

    /// What writers that died left beside the file of an account: tokens nobody reads any more.
    fn leftovers(&self, account: &str) -> Result<Vec<PathBuf>, WorkRefusal> {
        let stem = StoredTokens::file_stem(account)?;
        let Ok(entries) = std::fs::read_dir(&self.directory) else { return Ok(Vec::new()) };
        let ours = |name: &str| {
            let Some(between) = name.strip_prefix(&stem).and_then(|rest| rest.strip_prefix('.')) else { return false };
            let numbers = between.strip_suffix(".new").and_then(|numbers| numbers.split_once('.'));
            // Exactly a process and a serial number: the stem of another account may begin like this one.
            numbers.is_some_and(|(process, serial)| process.parse::<u32>().is_ok() && serial.parse::<u64>().is_ok())
        };
        Ok(entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(ours)).map(|e| e.path()).collect())
    }

    /// Removes them. Only under the lock of writers: without it a file may be one that is being written. What cannot be removed
    /// now is left for the next time.
    fn sweep(&self, account: &str) -> Result<(), WorkRefusal> {
        for leftover in self.leftovers(account)? {
            let _ = std::fs::remove_file(leftover);
        }
        Ok(())
    }

    /// Removes leftovers unless somebody writes just now, who will do it.
    fn sweep_if_free(&self, account: &str) -> Result<(), WorkRefusal> {
        if self.leftovers(account)?.is_empty() || check_directory(&self.directory).is_err() {
            return Ok(());
        }
        let path = self.path(account, "write.lock")?;
        if let Ok(mut lock) = FileLock::open(&path)
            && lock.lock_exclusive_nb().is_ok()
        {
            self.sweep(account)?;
        }
        Ok(())
    }

    fn read(&self, account: &str) -> Result<Option<(u64, StoredTokens)>, WorkRefusal> {
        let path = self.path(account, "json")?;
        let file = match open_own(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(_) => return Err(UNREADABLE),
        };
        check_directory(&self.directory)?;
        check_file(&file, &self.directory)?;
        let mut content = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut content).map_err(|_| UNREADABLE)?;
        let content = Secret::new(content);
        decode(content.expose())
            .map(Some)
            .ok_or(invalid("the file of the account is damaged; delete it and log in again"))
    }

    fn replace(&self, account: &str, expected: Option<u64>, tokens: Option<&StoredTokens>) -> Result<u64, WorkRefusal> {
        self.sweep(account)?;
        let path = self.path(account, "json")?;
        // What cannot be read can be forgotten all the same.
        let Some(tokens) = tokens else {
            return match std::fs::remove_file(&path) {
                Ok(()) => sync_directory(&self.directory).map(|()| 0),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
                Err(_) => Err(UNREADABLE),
            };
        };
        let found = self.read(account)?.map(|(version, _)| version);
        if found != expected {
            return Err(WorkRefusal::Conflict { what: "the account" });
        }
        // At least the time: a version is not used again after the account was forgotten.
        let version = found.unwrap_or(0).saturating_add(1).max(now());
        let content = Secret::new(encode(version, tokens));
        let beside = self.path(account, &format!("{}.{}.new", std::process::id(), serial()))?;
        let written = write_new(&beside, content.expose().as_bytes())
            .and_then(|()| std::fs::rename(&beside, &path))
            .map_err(|_| UNREADABLE);
        if written.is_err() {
            let _ = std::fs::remove_file(&beside);
        }
        written?;
        sync_directory(&self.directory)?;
        Ok(version)
    }

    async fn change(
        &self,
        account: &str,
        expected: Option<u64>,
        tokens: Option<StoredTokens>,
    ) -> Result<u64, WorkRefusal> {
        let guard = self.hold(account, "write.lock", WRITE_LIMIT).await?;
        let (store, account) = (self.clone(), account.to_owned());
        // The lock goes along: a caller that goes away must not let another writer in while this one still writes.
        blocking(move || {
            let result = store.replace(&account, expected, tokens.as_ref());
            drop(guard);
            result
        })
        .await
    }

    async fn hold(&self, account: &str, kind: &str, limit: Duration) -> Result<FileLock, WorkRefusal> {
        self.prepare()?;
        let unusable = WorkRefusal::Unreachable { what: "the lock of the account" };
        let mut lock = FileLock::open(&self.path(account, kind)?).map_err(|_| unusable.clone())?;
        match lock.lock_exclusive_within(limit).await {
            Ok(()) => Ok(lock),
            Err(_) => Err(unusable),
        }
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WorkRefusal> + Send + 'static,
) -> Result<T, WorkRefusal> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(UNREADABLE))
}

#[async_trait]
impl TokenStore for FileTokenStore {
    async fn load(&self, account: &str) -> Result<Option<(u64, StoredTokens)>, WorkRefusal> {
        let (store, account) = (self.clone(), account.to_owned());
        blocking(move || {
            store.sweep_if_free(&account)?;
            store.read(&account)
        })
        .await
    }

    async fn save(&self, account: &str, expected: Option<u64>, tokens: &StoredTokens) -> Result<u64, WorkRefusal> {
        self.change(account, expected, Some(tokens.clone())).await
    }

    async fn forget(&self, account: &str) -> Result<(), WorkRefusal> {
        self.change(account, None, None).await.map(drop)
    }

    async fn exclusive(&self, account: &str, limit: Duration) -> Result<AccountGuard, WorkRefusal> {
        self.hold(account, "renew.lock", limit).await.map(AccountGuard::new)
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn serial() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn encode(version: u64, tokens: &StoredTokens) -> String {
    let refresh = tokens.refresh.as_ref().map(|token| token.expose().clone());
    to_compact(&Json::from([
        ("access", Json::from(tokens.access.expose().as_str())),
        ("expires_at_ms", Json::from(tokens.expires_at_ms)),
        ("refresh", Json::from(refresh)),
        ("version", Json::from(version)),
    ]))
}

fn decode(content: &[u8]) -> Option<(u64, StoredTokens)> {
    let limits = JsonLimits { max_bytes: usize::try_from(MAX_BYTES).ok()?, max_depth: 4, max_number_chars: 32 };
    let document = parse_with(content, limits).ok()?;
    let secret = |name: &str| document.get(name).and_then(Json::as_str).map(|text| Secret::new(text.to_owned()));
    let number = |name: &str| document.get(name).and_then(Json::as_number);
    let tokens = StoredTokens {
        access: secret("access")?,
        refresh: secret("refresh"),
        expires_at_ms: number("expires_at_ms")?.as_i64()?,
    };
    Some((number("version")?.as_u64()?, tokens))
}

/// A symbolic link in its place is not followed: it is refused as a file of another kind.
fn open_own(path: &Path) -> std::io::Result<File> {
    let metadata = std::fs::symlink_metadata(path)?;
    if !metadata.is_file() {
        return Err(ErrorKind::InvalidInput.into());
    }
    File::open(path)
}

fn write_new(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let mut file = options.open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

#[cfg(unix)]
fn check_directory(path: &Path) -> Result<(), WorkRefusal> {
    use std::os::unix::fs::PermissionsExt as _;
    let unreadable = WorkRefusal::Unreachable { what: "the directory of tokens" };
    let metadata = std::fs::symlink_metadata(path).map_err(|_| unreadable)?;
    if !metadata.is_dir() || metadata.permissions().mode() & 0o077 != 0 {
        return Err(invalid("the directory of tokens is open to others; give it mode 0700"));
    }
    Ok(())
}

#[cfg(unix)]
fn check_file(file: &File, directory: &Path) -> Result<(), WorkRefusal> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let metadata = file.metadata().map_err(|_| UNREADABLE)?;
    if !metadata.is_file() || metadata.permissions().mode() & 0o077 != 0 {
        return Err(invalid("the file of the account is open to others; delete it and log in again"));
    }
    let owner = std::fs::metadata(directory).map_err(|_| UNREADABLE)?.uid();
    if metadata.uid() != owner {
        return Err(invalid("the file of the account belongs to somebody else"));
    }
    Ok(())
}

#[cfg(unix)]
fn sync_directory(path: &Path) -> Result<(), WorkRefusal> {
    File::open(path).and_then(|directory| directory.sync_all()).map_err(|_| UNREADABLE)
}

#[cfg(not(unix))]
fn check_directory(_path: &Path) -> Result<(), WorkRefusal> {
    Ok(())
}

#[cfg(not(unix))]
fn check_file(_file: &File, _directory: &Path) -> Result<(), WorkRefusal> {
    Ok(())
}

#[cfg(not(unix))]
fn sync_directory(_path: &Path) -> Result<(), WorkRefusal> {
    Ok(())
}
