//! Turns of one upstream, shared by every client that calls it.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use scion_domain::http::{CallRefusal, Rate, Turns};
use scion_ports::Clock;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How often and how many at once. Clones share their turns, so hand one to every client of the same upstream.
///
/// A turn is reserved in the order of asking; who does not want to wait for it any more leaves its gap unused. Without a
/// rate there is no pace, only the pauses a server asks for.
#[derive(Clone)]
pub struct Pacing {
    turns: Arc<Mutex<Turns>>,
    slots: Option<Arc<Semaphore>>,
    longest_pause: Duration,
}

impl Pacing {
    /// At a rate, or at none.
    pub fn new(rate: Option<Rate>) -> Self {
        Self { turns: Arc::new(Mutex::new(Turns::new(rate))), slots: None, longest_pause: Duration::from_mins(2) }
    }

    /// So many calls at once, bodies included; at least 1.
    #[must_use]
    pub fn concurrent(mut self, calls: usize) -> Self {
        self.slots = Some(Arc::new(Semaphore::new(calls.clamp(1, Semaphore::MAX_PERMITS))));
        self
    }

    /// Waits for a turn. One that comes after `deadline` (a time of the clock) is refused and nothing is reserved.
    pub async fn turn(&self, clock: &dyn Clock, deadline: Duration) -> Result<Turn, CallRefusal> {
        let slot = match &self.slots {
            None => None,
            // The semaphore is never closed, so there is always a permit to wait for.
            Some(slots) => slots.clone().acquire_owned().await.ok(),
        };
        let now = clock.monotonic();
        let reserved = self.lock().reserve(now, deadline.saturating_sub(now));
        match reserved {
            Ok(Duration::ZERO) => {}
            Ok(wait) => clock.sleep(wait).await,
            Err(wait) => {
                return Err(CallRefusal::Paced { wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX) });
            }
        }
        Ok(Turn { _slot: slot })
    }

    /// Nobody starts for so long, at most two minutes: the server said so.
    pub fn pause(&self, now: Duration, wait: Duration) {
        self.lock().pause(now.saturating_add(wait.min(self.longest_pause)));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Turns> {
        // The state is a few numbers and right after each step, so a panic elsewhere does not spoil it.
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Pacing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pacing").field("turns", &*self.lock()).finish_non_exhaustive()
    }
}

impl From<Rate> for Pacing {
    fn from(rate: Rate) -> Self {
        Self::new(Some(rate))
    }
}

/// A call under way; dropping it frees its place.
#[derive(Debug)]
pub struct Turn {
    _slot: Option<OwnedSemaphorePermit>,
}
