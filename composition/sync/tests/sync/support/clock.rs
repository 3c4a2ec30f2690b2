//! Tokio's paused time behind the clock port.

use std::time::Duration;

use scion_ports::{Clock, async_trait};
use tokio::time::Instant;

pub struct PausedClock {
    origin: Instant,
}

impl Default for PausedClock {
    fn default() -> Self {
        Self { origin: Instant::now() }
    }
}

#[async_trait]
impl Clock for PausedClock {
    fn unix_millis(&self) -> i64 {
        1_780_000_000_000 + i64::try_from(self.monotonic().as_millis()).unwrap()
    }

    fn monotonic(&self) -> Duration {
        self.origin.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
