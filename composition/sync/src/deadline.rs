//! One total deadline per operation, on the clock port so that simulated runs use virtual time.

use std::future::Future;
use std::time::Duration;

use scion_ports::Clock;

/// A point in time an operation must not pass; everything inside spends from it.
#[derive(Clone, Copy)]
pub(crate) struct Deadline<'c> {
    clock: &'c dyn Clock,
    end: Duration,
}

impl<'c> Deadline<'c> {
    pub(crate) fn after(clock: &'c dyn Clock, limit: Duration) -> Self {
        Self { clock, end: clock.monotonic().saturating_add(limit) }
    }

    pub(crate) fn remaining(&self) -> Duration {
        self.end.saturating_sub(self.clock.monotonic())
    }

    pub(crate) fn has_passed(&self) -> bool {
        self.remaining().is_zero()
    }

    /// Runs a future inside a part of what is left; `None` when that part ran out. The future is dropped then.
    pub(crate) async fn run<T>(&self, part: Duration, future: impl Future<Output = T>) -> Option<T> {
        within(self.clock, part.min(self.remaining()), future).await
    }

    /// Waits, but not past the end.
    pub(crate) async fn pause(&self, wait: Duration) {
        self.clock.sleep(wait.min(self.remaining())).await;
    }
}

/// Runs a future for at most `limit`; the future is polled first, so an answer that is there wins.
pub(crate) async fn within<T>(clock: &dyn Clock, limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        out = future => Some(out),
        () = clock.sleep(limit) => None,
    }
}
