//! Whether one more attempt of an operation is worth it.

use std::time::Duration;

use super::{RetryRefusal, backoff::check};
use crate::refusal::Retry;

/// How often and how long to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    max_attempts: u32,
    initial: Duration,
    maximum: Duration,
    max_retry_after: Duration,
}

/// One failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Which attempt failed, from 1.
    pub number: u32,
    /// What its refusal says about trying again.
    pub retry: Retry,
    /// Doing it twice has the effect of doing it once.
    pub idempotent: bool,
    /// The request cannot have reached the other side.
    pub not_sent: bool,
    /// How long the other side asks to wait.
    pub retry_after: Option<Duration>,
    /// What is left of the operation's one deadline; `None` when it has none.
    pub remaining: Option<Duration>,
}

/// What to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Wait this long, then try again.
    After(Duration),
    /// Report the failure.
    GiveUp(GiveUp),
}

/// Why there is no further attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GiveUp {
    /// The same request gets the same answer.
    Permanent,
    /// The outcome is unknown: the state must be read first.
    ReadBackFirst,
    /// It may have had an effect, and doing it twice is not safe.
    NotRepeatable,
    /// All attempts are used.
    Exhausted,
    /// The other side asks for a longer wait than the policy allows.
    RetryAfterTooLong,
    /// The wait does not fit into what is left of the deadline.
    Deadline,
    /// There is no deadline. What hangs without one hangs again.
    NoDeadline,
}

impl RetryPolicy {
    /// The most attempts a policy may have.
    pub const MAX_ATTEMPTS: u32 = 10;

    /// Three attempts, 0.5 s doubling up to 30 s, and up to 120 s where the other side asks for it (`wire/mcp-surface.md` 6.2).
    pub const DEFAULT: Self = Self {
        max_attempts: 3,
        initial: Duration::from_millis(500),
        maximum: Duration::from_secs(30),
        max_retry_after: Duration::from_mins(2),
    };

    /// A policy. Refuses attempts outside 1 to 10, an initial delay of zero, and a maximum below it.
    pub fn new(
        max_attempts: u32,
        initial: Duration,
        maximum: Duration,
        max_retry_after: Duration,
    ) -> Result<Self, RetryRefusal> {
        if !(1..=Self::MAX_ATTEMPTS).contains(&max_attempts) {
            return Err(RetryRefusal::Attempts { attempts: max_attempts, limit: Self::MAX_ATTEMPTS });
        }
        check(initial, maximum)?;
        Ok(Self { max_attempts, initial, maximum, max_retry_after })
    }

    /// Attempts in all, the first included.
    pub const fn max_attempts(&self) -> u32 {
        self.max_attempts
    }

    /// The longest wait after a failed attempt (numbered from 1) when the other side asks for none.
    pub fn ceiling(&self, attempt: u32) -> Duration {
        let doublings = attempt.saturating_sub(1).min(31);
        self.initial.saturating_mul(1 << doublings).min(self.maximum)
    }

    /// Decides about the next attempt. `random` is uniform over all `u64`.
    ///
    /// The wait is full jitter: uniform between zero and the ceiling, so that callers that failed together do not return
    /// together. A wait the other side asks for is kept exactly, or the operation is given up when it is longer than the policy
    /// allows. A request that may have arrived is repeated only when it is idempotent.
    pub fn decide(&self, attempt: &Attempt, random: u64) -> Decision {
        match attempt.retry {
            Retry::Never => return Decision::GiveUp(GiveUp::Permanent),
            Retry::AfterReadback => return Decision::GiveUp(GiveUp::ReadBackFirst),
            Retry::Later => {}
        }
        if !attempt.idempotent && !attempt.not_sent {
            return Decision::GiveUp(GiveUp::NotRepeatable);
        }
        if attempt.number >= self.max_attempts {
            return Decision::GiveUp(GiveUp::Exhausted);
        }
        let delay = match attempt.retry_after {
            Some(asked) if asked > self.max_retry_after => return Decision::GiveUp(GiveUp::RetryAfterTooLong),
            Some(asked) => asked,
            None => jitter(self.ceiling(attempt.number), random),
        };
        match attempt.remaining {
            None => Decision::GiveUp(GiveUp::NoDeadline),
            Some(remaining) if delay >= remaining => Decision::GiveUp(GiveUp::Deadline),
            Some(_) => Decision::After(delay),
        }
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A uniform share of a duration: `random / 2^64` of it.
fn jitter(ceiling: Duration, random: u64) -> Duration {
    let nanos = u64::try_from(ceiling.as_nanos()).unwrap_or(u64::MAX);
    let share = (u128::from(nanos) * u128::from(random)) >> 64;
    Duration::from_nanos(u64::try_from(share).unwrap_or(u64::MAX))
}
