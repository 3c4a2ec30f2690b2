//! Pacing by reservation, as a value: who asks gets the time of its turn, in the order of asking.

use std::time::Duration;

/// How fast requests may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    interval: Duration,
    burst: u32,
}

impl Rate {
    /// At most one request every `interval`.
    pub const fn every(interval: Duration) -> Self {
        Self { interval, burst: 1 }
    }

    /// So many requests may start at once after a quiet time; at least 1. The long-term rate stays the same.
    #[must_use]
    pub const fn burst(self, requests: u32) -> Self {
        Self { interval: self.interval, burst: if requests == 0 { 1 } else { requests } }
    }

    /// The time between two requests.
    pub const fn interval(self) -> Duration {
        self.interval
    }
}

/// So many requests a second, evenly spaced, a second's worth of them at once after a quiet time. 0 counts as 1.
pub fn per_second(requests: u32) -> Rate {
    let requests = requests.max(1);
    Rate::every(Duration::from_secs(1) / requests).burst(requests)
}

/// So many requests a minute, evenly spaced. 0 counts as 1.
pub fn per_minute(requests: u32) -> Rate {
    Rate::every(Duration::from_mins(1) / requests.max(1))
}

/// The turns of one upstream (the generic cell rate algorithm). Times are those of one monotonic clock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    rate: Option<Rate>,
    /// When the next turn would be if no burst were allowed.
    next: Duration,
    /// Nobody starts before this.
    paused_until: Duration,
}

impl Turns {
    /// Turns at a rate; `None` is no limit but pauses.
    pub const fn new(rate: Option<Rate>) -> Self {
        Self { rate, next: Duration::ZERO, paused_until: Duration::ZERO }
    }

    /// Takes the next turn; answers how long to wait for it. A wait above `at_most` takes no turn and is the error.
    pub fn reserve(&mut self, now: Duration, at_most: Duration) -> Result<Duration, Duration> {
        let from = now.max(self.paused_until);
        let Some(rate) = self.rate else {
            let wait = from.saturating_sub(now);
            return if wait > at_most { Err(wait) } else { Ok(wait) };
        };
        let credit = rate.interval.saturating_mul(rate.burst - 1);
        let start = from.max(self.next.saturating_sub(credit));
        let wait = start.saturating_sub(now);
        if wait > at_most {
            return Err(wait);
        }
        self.next = self.next.max(start).saturating_add(rate.interval);
        Ok(wait)
    }

    /// Nobody starts before `until`; a shorter pause than the present one changes nothing.
    pub fn pause(&mut self, until: Duration) {
        self.paused_until = self.paused_until.max(until);
    }
}

/// How many retries the requests of one client may cause: each request brings a share of a retry, each retry takes a whole one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryBudget {
    thousandths: u64,
    share: u64,
    ceiling: u64,
}

impl RetryBudget {
    /// `percent` retries for 100 requests over time, and up to `reserve` retries from a standing start.
    pub const fn new(percent: u32, reserve: u32) -> Self {
        let ceiling = reserve as u64 * 1000;
        Self { thousandths: ceiling, share: percent as u64 * 10, ceiling }
    }

    /// Notes a request (not a retry).
    pub const fn request(&mut self) {
        let sum = self.thousandths + self.share;
        self.thousandths = if sum > self.ceiling { self.ceiling } else { sum };
    }

    /// Takes a retry; false when there is none.
    pub const fn retry(&mut self) -> bool {
        if self.thousandths < 1000 {
            return false;
        }
        self.thousandths -= 1000;
        true
    }
}

impl Default for RetryBudget {
    /// 20 retries for 100 requests, 10 in reserve.
    fn default() -> Self {
        Self::new(20, 10)
    }
}
