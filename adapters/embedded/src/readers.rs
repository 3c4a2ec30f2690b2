//! Reading connections: each read has one to itself and sees one committed state.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::failure::{Failure, Outcome};
use crate::{StoreOptions, connection};

/// The pool. Idle connections are kept; at most `StoreOptions::readers` exist.
#[derive(Clone)]
pub(crate) struct Readers {
    path: Arc<PathBuf>,
    options: StoreOptions,
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
}

impl Readers {
    pub(crate) fn new(path: PathBuf, options: StoreOptions) -> Self {
        let permits = Arc::new(Semaphore::new(options.readers.max(1)));
        Self { path: Arc::new(path), options, idle: Arc::default(), permits }
    }

    /// Another pool over the same file.
    pub(crate) fn sibling(&self) -> Self {
        Self::new(self.path.as_ref().clone(), self.options.clone())
    }

    /// Takes an idle connection or opens one.
    pub(crate) fn take(&self) -> Outcome<Connection> {
        let idle = self.idle.lock().ok().and_then(|mut idle| idle.pop());
        idle.map_or_else(|| connection::open_reader(&self.path, &self.options), Ok)
    }

    /// Opens one connection now, so that a bad file is refused at opening time.
    pub(crate) fn probe(&self) -> Outcome<()> {
        let connection = self.take()?;
        self.give_back(connection);
        Ok(())
    }

    pub(crate) fn give_back(&self, connection: Connection) {
        if connection.is_autocommit()
            && let Ok(mut idle) = self.idle.lock()
        {
            idle.push(connection);
        }
    }

    /// The right to one connection; waits while all are in use.
    pub(crate) async fn permit(&self) -> Outcome<OwnedSemaphorePermit> {
        Arc::clone(&self.permits).acquire_owned().await.map_err(|_| Failure::gone())
    }

    /// Runs a read inside one read transaction, on a thread where blocking is allowed.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    ) -> Outcome<T> {
        let permit = self.permit().await?;
        let this = self.clone();
        let work = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let connection = this.take()?;
            connection.execute_batch("BEGIN")?;
            let answer = operation(&connection);
            connection.execute_batch("ROLLBACK")?;
            this.give_back(connection);
            answer
        });
        work.await.map_err(|_| Failure::gone())?
    }
}
