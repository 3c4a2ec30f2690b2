//! Doubling delays with a ceiling.

use std::time::Duration;

use super::RetryRefusal;

/// The delay after each failure in a row: the initial one, then twice as long each time, up to the maximum. A success resets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backoff {
    initial: Duration,
    maximum: Duration,
    next: Duration,
    failures: u32,
}

impl Backoff {
    /// A pace. Refuses an initial delay of zero and a maximum below the initial delay.
    pub fn new(initial: Duration, maximum: Duration) -> Result<Self, RetryRefusal> {
        check(initial, maximum)?;
        Ok(Self { initial, maximum, next: initial, failures: 0 })
    }

    /// Notes a failure; answers how long to wait before the next attempt.
    pub fn failed(&mut self) -> Duration {
        let delay = self.next;
        self.next = self.next.saturating_mul(2).min(self.maximum);
        self.failures = self.failures.saturating_add(1);
        delay
    }

    /// Notes a success.
    pub fn reset(&mut self) {
        self.next = self.initial;
        self.failures = 0;
    }

    /// Failures since the last success.
    pub const fn failures(&self) -> u32 {
        self.failures
    }
}

pub(super) fn check(initial: Duration, maximum: Duration) -> Result<(), RetryRefusal> {
    if initial.is_zero() {
        return Err(RetryRefusal::NoDelay);
    }
    if maximum < initial {
        let (initial_ms, maximum_ms) = (initial.as_millis(), maximum.as_millis());
        return Err(RetryRefusal::MaximumBelowInitial { initial_ms, maximum_ms });
    }
    Ok(())
}
