//! The one thread that owns the writing connection, and the queue in front of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::StoreOptions;
use crate::failure::{Failure, Outcome};
use crate::intern::Interned;

/// Operations that may wait for the writer; further callers wait to enqueue.
const QUEUE: usize = 16;

type Job = Box<dyn FnOnce(&mut Writer) + Send>;

/// What an operation on the writer's thread works with.
pub(crate) struct Writer {
    pub(crate) connection: Connection,
    pub(crate) interned: Interned,
    pub(crate) options: StoreOptions,
}

/// The handle; dropping it ends the thread once the queue is empty.
pub(crate) struct WriterThread {
    queue: Option<mpsc::Sender<Job>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl WriterThread {
    pub(crate) fn start(connection: Connection, options: StoreOptions) -> std::io::Result<Self> {
        let (queue, mut jobs) = mpsc::channel::<Job>(QUEUE);
        let mut writer = Writer { connection, interned: Interned::default(), options };
        let thread = std::thread::Builder::new().name("scion-embedded-writer".to_owned()).spawn(move || {
            while let Some(job) = jobs.blocking_recv() {
                // A panic in one operation is a bug, but not a reason to lose the store: its transaction is rolled back.
                let outcome = catch_unwind(AssertUnwindSafe(|| job(&mut writer)));
                if outcome.is_err() {
                    tracing::error!("a store operation panicked; its transaction is rolled back");
                    writer.interned.forget();
                    if !writer.connection.is_autocommit() && writer.connection.execute_batch("ROLLBACK").is_err() {
                        return;
                    }
                }
            }
        })?;
        Ok(Self { queue: Some(queue), thread: Mutex::new(Some(thread)) })
    }

    /// Runs one operation. A caller that gives up before its turn leaves no trace; later the operation finishes unseen.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut Writer) -> Outcome<T> + Send + 'static,
    ) -> Outcome<T> {
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |writer| {
            if !reply.is_closed() {
                let outcome = operation(writer);
                if outcome.is_err() {
                    // Rows interned inside the failed transaction are gone.
                    writer.interned.forget();
                }
                let _ = reply.send(outcome);
            }
        });
        let queue = self.queue.as_ref().ok_or_else(Failure::gone)?;
        queue.send(job).await.map_err(|_| Failure::gone())?;
        answer.await.map_err(|_| Failure::gone())?
    }
}

impl Drop for WriterThread {
    fn drop(&mut self) {
        self.queue = None;
        let thread = self.thread.get_mut().map_or(None, Option::take);
        if let Some(thread) = thread {
            // The thread never panics out of its loop; nothing to do if it did.
            let _ = thread.join();
        }
    }
}
