//! Virtual time and seeded randomness.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use scion_ports::{Clock, Entropy};

/// A clock over tokio's time, which a test can pause; the wall clock starts at a fixed date.
#[derive(Debug)]
pub struct VirtualClock {
    origin: tokio::time::Instant,
}

impl Default for VirtualClock {
    fn default() -> Self {
        Self { origin: tokio::time::Instant::now() }
    }
}

/// 2026-01-01T00:00:00Z.
const EPOCH_MS: i64 = 1_767_225_600_000;

#[async_trait]
impl Clock for VirtualClock {
    fn unix_millis(&self) -> i64 {
        EPOCH_MS + i64::try_from(self.monotonic().as_millis()).unwrap_or(i64::MAX - EPOCH_MS)
    }

    fn monotonic(&self) -> Duration {
        self.origin.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// SplitMix64: the same seed gives the same numbers, everywhere.
#[derive(Debug)]
pub struct SeededEntropy {
    state: AtomicU64,
}

impl SeededEntropy {
    /// From a seed.
    pub const fn new(seed: u64) -> Self {
        Self { state: AtomicU64::new(seed) }
    }

    /// The next number.
    pub fn next(&self) -> u64 {
        let step = 0x9e37_79b9_7f4a_7c15_u64;
        let mut z = self.state.fetch_add(step, Ordering::Relaxed).wrapping_add(step);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// The next number below a bound; 0 for the bound 0.
    pub fn below(&self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.next() % bound }
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            let bytes = self.next().to_le_bytes();
            chunk.copy_from_slice(&bytes[..chunk.len()]);
        }
    }
}
