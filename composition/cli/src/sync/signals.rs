//! SIGTERM and SIGINT: the first one drains, the second one ends the process at once.

use std::io;

use scion::sync::events::EventLevel;
use tokio_util::sync::CancellationToken;

use super::start::Start;

/// The exit code after a second signal: 128 and the number of SIGINT, as shells count.
pub(crate) const ENDED_BY_SIGNAL: i32 = 130;

/// Waits for signals while `work` runs.
pub(crate) async fn drained_by<T>(start: &Start, cancel: &CancellationToken, work: impl Future<Output = T>) -> T {
    tokio::pin!(work);
    let mut signals = Signals::listen().ok();
    loop {
        tokio::select! {
            biased;
            out = &mut work => return out,
            () = next(&mut signals) => {
                if cancel.is_cancelled() {
                    // What was committed is durable; everything else is read again next time.
                    start.clear();
                    std::process::exit(ENDED_BY_SIGNAL);
                }
                start.say(EventLevel::Info, "draining", "draining: pages in flight end first; a second signal ends at once");
                cancel.cancel();
            }
        }
    }
}

async fn next(signals: &mut Option<Signals>) {
    match signals {
        Some(signals) => signals.next().await,
        None => std::future::pending().await,
    }
}

/// Both signals.
#[cfg(unix)]
pub(crate) struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
