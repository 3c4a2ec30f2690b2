//! Advisory locks on files, between processes and between handles of one process (SDK-CONNECTOR-CONTROL-R014.2).

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use scion_domain::paths::LockRefusal;
use tokio::time::Instant;

use crate::reason;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Shared,
    Exclusive,
}

/// A handle on a lock file. The lock is the operating system's: it ends with [`FileLock::unlock`], with the handle, or
/// with the process. It is advisory: only those who ask for it are held off.
///
/// Asking for the kind that is held already changes nothing. Changing the kind releases first, so another handle may come
/// in between.
#[derive(Debug)]
pub struct FileLock {
    file: File,
    held: Option<Held>,
}

impl FileLock {
    /// Opens the lock file, making it (readable by this user only) if it is not there. Its content is never touched.
    pub fn open(path: &Path) -> Result<Self, LockRefusal> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        let file = options.open(path).map_err(|error| failed(error.kind()))?;
        Ok(Self { file, held: None })
    }

    /// Waits, however long, until no one else holds the lock. Blocks the thread; see [`FileLock::lock_exclusive_within`].
    pub fn lock_exclusive(&mut self) -> Result<(), LockRefusal> {
        self.wait(Held::Exclusive)
    }

    /// Takes the lock alone, or refuses with [`LockRefusal::LockUnavailable`] at once.
    pub fn lock_exclusive_nb(&mut self) -> Result<(), LockRefusal> {
        self.attempt(Held::Exclusive)
    }

    /// Waits, however long, until no one holds the lock alone. Blocks the thread.
    pub fn lock_shared(&mut self) -> Result<(), LockRefusal> {
        self.wait(Held::Shared)
    }

    /// Takes the lock beside other sharers, or refuses with [`LockRefusal::LockUnavailable`] at once.
    pub fn lock_shared_nb(&mut self) -> Result<(), LockRefusal> {
        self.attempt(Held::Shared)
    }

    /// Takes the lock alone within a time, without blocking the thread; [`LockRefusal::LockUnavailable`] after it.
    /// Dropping the future leaves the lock untaken.
    pub async fn lock_exclusive_within(&mut self, limit: Duration) -> Result<(), LockRefusal> {
        let deadline = Instant::now().checked_add(limit);
        let mut pause = Duration::from_millis(1);
        loop {
            match self.attempt(Held::Exclusive) {
                Err(LockRefusal::LockUnavailable) if deadline.is_none_or(|deadline| Instant::now() < deadline) => {
                    let left = deadline.map_or(pause, |deadline| deadline.saturating_duration_since(Instant::now()));
                    tokio::time::sleep(pause.min(left)).await;
                    pause = (pause * 2).min(Duration::from_millis(100));
                }
                outcome => return outcome,
            }
        }
    }

    /// Releases the lock; nothing happens when it is not held.
    pub fn unlock(&mut self) -> Result<(), LockRefusal> {
        if self.held.take().is_some() {
            self.file.unlock().map_err(|error| failed(error.kind()))?;
        }
        Ok(())
    }

    fn wait(&mut self, kind: Held) -> Result<(), LockRefusal> {
        if self.held == Some(kind) {
            return Ok(());
        }
        self.unlock()?;
        loop {
            let outcome = match kind {
                Held::Exclusive => self.file.lock(),
                Held::Shared => self.file.lock_shared(),
            };
            match outcome {
                Ok(()) => break,
                // A signal arrived while waiting.
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error.kind())),
            }
        }
        self.held = Some(kind);
        Ok(())
    }

    fn attempt(&mut self, kind: Held) -> Result<(), LockRefusal> {
        if self.held == Some(kind) {
            return Ok(());
        }
        self.unlock()?;
        let outcome = match kind {
            Held::Exclusive => self.file.try_lock(),
            Held::Shared => self.file.try_lock_shared(),
        };
        match outcome {
            Ok(()) => {
                self.held = Some(kind);
                Ok(())
            }
            Err(TryLockError::WouldBlock) => Err(LockRefusal::LockUnavailable),
            Err(TryLockError::Error(error)) => Err(failed(error.kind())),
        }
    }
}

fn failed(kind: ErrorKind) -> LockRefusal {
    LockRefusal::LockFailed { what: reason(kind) }
}
