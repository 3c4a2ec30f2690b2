//! Spacing of requests.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

use crate::options::Pace;

/// Hands out turns. Waiting callers are served in order.
#[derive(Debug)]
pub(crate) struct Pacer {
    min_interval: Duration,
    next: Mutex<Option<Instant>>,
    slots: Option<Arc<Semaphore>>,
}

impl Pacer {
    pub(crate) fn new(pace: Pace) -> Self {
        let slots = pace.max_in_flight.map(|most| Arc::new(Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS))));
        Self { min_interval: pace.min_interval, next: Mutex::new(None), slots }
    }

    /// Waits for a turn; the turn ends when the answer is dropped. Dropping the wait gives nothing away.
    pub(crate) async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        let permit = match &self.slots {
            // The semaphore is never closed, so an error cannot happen; without a permit the request still runs.
            Some(slots) => Arc::clone(slots).acquire_owned().await.ok(),
            None => None,
        };
        if !self.min_interval.is_zero() {
            let mut next = self.next.lock().await;
            if let Some(at) = *next {
                sleep_until(at).await;
            }
            *next = Some(Instant::now() + self.min_interval);
        }
        permit
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::Pacer;
    use crate::options::Pace;

    #[tokio::test(start_paused = true)]
    async fn starts_are_spaced_by_the_interval() {
        let pacer = Pacer::new(Pace { min_interval: Duration::from_millis(200), max_in_flight: None });
        let begin = Instant::now();
        for _ in 0..3 {
            pacer.turn().await;
        }
        assert_eq!(begin.elapsed().as_millis() / 100, 4);
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_is_free_again_when_its_holder_is_done() {
        let pacer = Pacer::new(Pace { min_interval: Duration::ZERO, max_in_flight: Some(1) });
        let held = pacer.turn().await;
        assert!(tokio::time::timeout(Duration::from_secs(1), pacer.turn()).await.is_err());
        drop(held);
        assert!(tokio::time::timeout(Duration::from_secs(1), pacer.turn()).await.is_ok());
    }
}
