//! Where state is: `--state-dir`, or the data directory of this user.

use std::path::{Path, PathBuf};

use scion::local::{FileLock, StateDirs};
use scion::sink::{OpenSink, SinkFactory, SinkRegistry, SinkRequest};
use scion_domain::command::CommandRefusal;
use scion_domain::paths::{LockRefusal, PathRefusal};

use crate::output::{Refused, printable, reason};

/// The lock of the one `connector-sync` that writes into a state directory.
const LOCK_FILE: &str = "connector-sync.lock";

/// The state directory; nothing is made.
pub(crate) fn state_dir(given: Option<&Path>) -> Result<PathBuf, PathRefusal> {
    match given {
        Some(path) => Ok(absolute(path)),
        None => Ok(StateDirs::of_process()?.paths().data_dir.clone()),
    }
}

/// A path that means the same wherever it is read.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Makes the state directory, for this user only. A directory that is there keeps its mode.
pub(crate) fn make(path: &Path) -> Result<(), CommandRefusal> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder
        .create(path)
        .map_err(|error| CommandRefusal::StateDir { path: path.display().to_string(), what: reason(error.kind()) })
}

/// Keeps a second `connector-sync` out of a state directory while the handle lives.
pub(crate) fn lock(path: &Path) -> Result<FileLock, Refused> {
    let mut lock = FileLock::open(&path.join(LOCK_FILE))?;
    lock.lock_exclusive_nb().map_err(|refusal| match refusal {
        LockRefusal::LockUnavailable => CommandRefusal::StateDirBusy { path: path.display().to_string() }.into(),
        other => Refused::from(other),
    })?;
    Ok(lock)
}

/// The kind of sink of that name.
pub(crate) fn sink<'r>(sinks: &'r SinkRegistry, name: &str) -> Result<&'r dyn SinkFactory, CommandRefusal> {
    sinks.get(name).map(|factory| &**factory).ok_or_else(|| CommandRefusal::UnknownSink {
        name: printable(name),
        known: sinks.names().collect::<Vec<_>>().join(", "),
    })
}

/// Opens a graph where one is; makes none.
pub(crate) async fn open_existing(factory: &dyn SinkFactory, request: &SinkRequest) -> Result<OpenSink, Refused> {
    let place = factory.place(request);
    // A sink that is no file says itself that it is away.
    if Path::new(&place).is_absolute() && !Path::new(&place).exists() {
        return Err(CommandRefusal::NoStore { path: place }.into());
    }
    Ok(factory.open(request).await?)
}
