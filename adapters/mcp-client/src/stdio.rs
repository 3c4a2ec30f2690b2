//! A server as a child process: one message a line on its standard input and output.

mod child;
pub(crate) mod framer;
mod stderr;

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::Mutex;
use tokio_util::sync::{CancellationToken, DropGuard};

pub(crate) use child::{Child, Launch, start};

use crate::fault::{End, Fault};
use crate::wire::{self, Pending};
use framer::{Framed, LineFramer};

/// A pipe holds 64 KiB, so a read never gives more.
const READ_BUFFER: usize = 64 << 10;
/// How long the exit status may lag behind the end of the output.
const STATUS_LAG: Duration = Duration::from_millis(500);

/// The message stream of one child.
pub(crate) struct StdioTransport {
    input: Arc<Mutex<Option<ChildStdin>>>,
    output: BufReader<ChildStdout>,
    framer: LineFramer,
    pending: Pending,
    end: Arc<End>,
    child: Child,
    stop: CancellationToken,
    _stop_on_drop: DropGuard,
}

impl StdioTransport {
    pub(crate) fn new(input: ChildStdin, output: ChildStdout, child: Child, end: Arc<End>, limit: usize) -> Self {
        let stop = child.stop_token();
        Self {
            input: Arc::new(Mutex::new(Some(input))),
            output: BufReader::with_capacity(READ_BUFFER, output),
            framer: LineFramer::new(limit),
            pending: Pending::default(),
            end,
            child,
            _stop_on_drop: stop.clone().drop_guard(),
            stop,
        }
    }

    /// The next framed line. Cancellation-safe: what was read stays in the framer.
    async fn next(&mut self) -> Result<Framed, Fault> {
        loop {
            let available = match self.output.fill_buf().await {
                Ok([]) | Err(_) => return Err(self.ended().await),
                Ok(available) => available,
            };
            let (used, framed) = self.framer.feed(available);
            self.output.consume(used);
            if let Some(framed) = framed {
                return Ok(framed);
            }
        }
    }

    /// Why the output ended: the child is gone, or it closed its output and lives on.
    async fn ended(&mut self) -> Fault {
        match tokio::time::timeout(STATUS_LAG, self.child.status()).await {
            Ok(status) => Fault::Exited(status),
            Err(_) => Fault::Closed,
        }
    }

    async fn read(&mut self) -> Result<ServerJsonRpcMessage, Fault> {
        loop {
            match self.next().await? {
                Framed::Line => {
                    let line = self.framer.line();
                    if line.iter().all(u8::is_ascii_whitespace) {
                        continue;
                    }
                    if let Some(message) = wire::read(line, &self.pending).map_err(|_| Fault::Noise)? {
                        return Ok(message);
                    }
                }
                Framed::Oversized(id) => {
                    // The stream is still in step, so only the call that asked for this answer fails.
                    let answer = id.and_then(|id| wire::oversized(&id, &self.pending));
                    return answer.ok_or(Fault::TooLarge);
                }
            }
        }
    }
}

impl Transport<RoleClient> for StdioTransport {
    type Error = io::Error;

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        self.pending.note(&message);
        let line = serde_json::to_vec(&message).map(|mut line| {
            line.push(b'\n');
            line
        });
        let input = Arc::clone(&self.input);
        let stop = self.stop.clone();
        let (end, mut child) = (Arc::clone(&self.end), self.child.clone());
        async move {
            let line = line?;
            let write = async {
                let mut input = input.lock().await;
                let pipe = input.as_mut().ok_or(io::ErrorKind::NotConnected)?;
                pipe.write_all(&line).await?;
                pipe.flush().await
            };
            // A child that does not read must not keep the session from closing.
            let done = tokio::select! {
                done = write => done,
                () = stop.cancelled() => return Err(io::ErrorKind::NotConnected.into()),
            };
            // A pipe breaks because its reader is gone: say so before the session is closed for the broken pipe.
            if done.is_err()
                && let Ok(status) = tokio::time::timeout(STATUS_LAG, child.status()).await
            {
                end.set(Fault::Exited(status));
            }
            done
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let child = self.child.clone();
        tokio::select! {
            biased;
            read = self.read() => match read {
                Ok(message) => return Some(message),
                Err(fault) => self.end.set(fault),
            },
            // The child is gone but something it started still holds its output.
            status = lingering(child) => self.end.set(Fault::Exited(status)),
        }
        None
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.end.set(Fault::Closed);
        self.stop.cancel();
        drop(self.input.lock().await.take());
        Ok(())
    }
}

async fn lingering(mut child: Child) -> String {
    let status = child.status().await;
    tokio::time::sleep(STATUS_LAG).await;
    status
}
