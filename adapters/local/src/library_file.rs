//! A connector's own state file: read, changed and replaced under a lock (SDK-CONNECTOR-CONTROL-R034).

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use scion_domain::id::ConnectorName;
use scion_domain::paths::{LockRefusal, PathRefusal, StatePaths};

use crate::{FileLock, reason, state_dirs};

/// Where a connector keeps its library or state file: one answer for one configuration. See
/// [`StatePaths::library_file`].
pub fn library_file_path(paths: &StatePaths, connector: &ConnectorName, file: &str) -> Result<PathBuf, PathRefusal> {
    paths.library_file(connector, file)
}

/// Why an update did not happen. The file has its former content.
#[derive(Debug)]
pub enum UpdateRefusal<E> {
    /// The lock was not free in time, or cannot be used.
    Lock(LockRefusal),
    /// The file cannot be read or replaced.
    File(PathRefusal),
    /// The change itself refused.
    Change(E),
}

impl<E> From<LockRefusal> for UpdateRefusal<E> {
    fn from(refusal: LockRefusal) -> Self {
        Self::Lock(refusal)
    }
}

impl<E> From<PathRefusal> for UpdateRefusal<E> {
    fn from(refusal: PathRefusal) -> Self {
        Self::File(refusal)
    }
}

/// A state file. Readers see the content before a change or after it, never between. All calls block the thread.
#[derive(Clone, Debug)]
pub struct LibraryFile {
    path: PathBuf,
}

impl LibraryFile {
    /// The largest file that is read, in bytes.
    pub const MAX_BYTES: u64 = 64 << 20;

    /// A file at a path; nothing is opened yet.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The content; `None` when there is no file.
    pub fn read(&self) -> Result<Option<Vec<u8>>, PathRefusal> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed("read", error.kind())),
        };
        let mut content = Vec::new();
        file.take(Self::MAX_BYTES + 1).read_to_end(&mut content).map_err(|error| failed("read", error.kind()))?;
        if content.len() as u64 > Self::MAX_BYTES {
            return Err(PathRefusal::FileTooLarge { limit: Self::MAX_BYTES });
        }
        Ok(Some(content))
    }

    /// Changes the content under an exclusive lock, waited for at most `wait`. `change` gets the content, or `None` when
    /// there is no file, and gives the new one; `None` leaves the file alone. The new content is on disk when this
    /// returns.
    pub fn update<E>(
        &self,
        wait: Duration,
        change: impl FnOnce(Option<Vec<u8>>) -> Result<Option<Vec<u8>>, E>,
    ) -> Result<(), UpdateRefusal<E>> {
        if let Some(parent) = self.path.parent() {
            state_dirs::make(parent, "data")?;
        }
        // The lock is a file of its own: the replaced file's handle would lock what is no longer there.
        let mut lock = FileLock::open(&self.beside("lock"))?;
        take(&mut lock, wait)?;
        let outcome = match change(self.read()?) {
            Ok(Some(content)) => self.replace(&content).map_err(UpdateRefusal::File),
            Ok(None) => Ok(()),
            Err(refusal) => Err(UpdateRefusal::Change(refusal)),
        };
        lock.unlock()?;
        outcome
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = OsString::from(self.path.file_name().unwrap_or_default());
        name.push(".");
        name.push(ending);
        self.path.with_file_name(name)
    }

    fn replace(&self, content: &[u8]) -> Result<(), PathRefusal> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let temporary = self.beside(&format!("{}-{number}.new", std::process::id()));
        let written = write_whole(&temporary, content).and_then(|()| std::fs::rename(&temporary, &self.path));
        if let Err(error) = written {
            // Already refusing; a file left behind harms nobody.
            let _ = std::fs::remove_file(&temporary);
            return Err(failed("written", error.kind()));
        }
        // The rename is durable once the directory is; a system without directory handles has nothing to do here.
        if let Some(directory) = self.path.parent().and_then(|parent| File::open(parent).ok()) {
            let _ = directory.sync_all();
        }
        Ok(())
    }
}

fn write_whole(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    // A file of this name is the leftover of a process that died with the same id; nobody else uses it under the lock.
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let mut file = options.open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

fn take(lock: &mut FileLock, wait: Duration) -> Result<(), LockRefusal> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match lock.lock_exclusive_nb() {
            Err(LockRefusal::LockUnavailable) if start.elapsed() < wait => {
                std::thread::sleep(pause.min(wait.saturating_sub(start.elapsed())));
                pause = (pause * 2).min(Duration::from_millis(20));
            }
            outcome => return outcome,
        }
    }
}

fn failed(action: &'static str, kind: ErrorKind) -> PathRefusal {
    PathRefusal::FileFailed { action, what: reason(kind) }
}
