//! One connection: requests are written as they come, replies are matched by their id.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::frame;
use crate::reply::{Outcome, Reply};

/// Frames that wait to be written; further requests wait for a place.
const QUEUE: usize = 64;

/// An open connection. Dropping it closes it.
pub(crate) struct Connection {
    queue: mpsc::Sender<Vec<u8>>,
    waiting: Arc<Waiting>,
    tasks: [JoinHandle<()>; 2],
}

/// Who waits for which reply.
#[derive(Default)]
struct Waiting {
    replies: Mutex<HashMap<u64, oneshot::Sender<Outcome>>>,
    closed: AtomicBool,
}

impl Waiting {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u64, oneshot::Sender<Outcome>>> {
        self.replies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the connection: whoever waits learns that no reply comes.
    fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.lock().clear();
    }
}

/// Forgets a request whose caller has gone, so that its late reply is dropped.
struct Waits<'a> {
    waiting: &'a Waiting,
    id: u64,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.waiting.lock().remove(&self.id);
    }
}

/// What became of a request.
pub(crate) enum Sent {
    /// The reply.
    Answered(Outcome),
    /// The connection was closed before anything of the request was handed to it.
    Refused,
    /// The connection ended before the reply.
    Lost,
}

impl Connection {
    pub(crate) fn open<S>(stream: S, limit: usize) -> Self
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        let (mut read, mut write) = tokio::io::split(stream);
        let (queue, mut frames) = mpsc::channel::<Vec<u8>>(QUEUE);
        let waiting = Arc::new(Waiting::default());
        let ends = Arc::clone(&waiting);
        let writer = tokio::spawn(async move {
            while let Some(frame) = frames.recv().await {
                // A frame is written whole, or the connection is over: half a frame would garble the next.
                if write.write_all(&frame).await.is_err() || write.flush().await.is_err() {
                    break;
                }
            }
            ends.close();
        });
        let matches = Arc::clone(&waiting);
        let reader = tokio::spawn(async move {
            while let Some(payload) = frame::read(&mut read, limit).await {
                // What is no reply leaves nothing to match it with; the engine sends such things before it hangs up.
                let Some(reply) = Reply::read(&payload) else { break };
                let waits = matches.lock().remove(&reply.id);
                if let Some(waits) = waits {
                    let _ = waits.send(reply.outcome);
                }
            }
            matches.close();
        });
        Self { queue, waiting, tasks: [writer, reader] }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.waiting.closed.load(Ordering::Acquire)
    }

    /// Requests under way.
    pub(crate) fn load(&self) -> usize {
        self.waiting.lock().len()
    }

    /// Sends one request and waits for its reply. Dropping the future gives up the reply, not the request.
    pub(crate) async fn send(&self, id: u64, frame: Vec<u8>) -> Sent {
        let (reply, answer) = oneshot::channel();
        self.waiting.lock().insert(id, reply);
        let _waits = Waits { waiting: &self.waiting, id };
        // After the insertion, so that a connection that closes in between finds it.
        if self.is_closed() || self.queue.send(frame).await.is_err() {
            return Sent::Refused;
        }
        answer.await.map_or(Sent::Lost, Sent::Answered)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}
