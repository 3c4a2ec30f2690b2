//! Which ends of an exchange are worth another attempt: what the answer or the refusal means to a
//! [`RetryPolicy`](crate::retry::RetryPolicy).

use std::time::Duration;

use super::{HttpRefusal, Method, RateSnapshot, StatusCode};
use crate::refusal::{Refusal as _, Retry};
use crate::retry::{Attempt, RetryPolicy};

/// The policy of one client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetryRules {
    /// How often, and how long to wait.
    pub policy: RetryPolicy,
    /// A 403 that comes with `Retry-After` or an exhausted window is a throttle. Off unless the vendor is known to do so.
    pub forbidden_is_throttle: bool,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug)]
pub enum AttemptEnd<'a> {
    /// With an answer.
    Answer {
        /// Its status.
        status: StatusCode,
        /// What it says about rate limits.
        rate: Option<&'a RateSnapshot>,
    },
    /// Without one.
    Failed(&'a HttpRefusal),
}

/// One attempt of a request.
#[derive(Clone, Copy, Debug)]
pub struct AttemptFacts<'a> {
    /// The method.
    pub method: &'a Method,
    /// The author declares that sending it twice does what sending it once does.
    pub declared_safe: bool,
    /// Which attempt it was, from 1.
    pub number: u32,
    /// What is left of the request's one deadline.
    pub remaining: Duration,
    /// The wall clock, in Unix milliseconds.
    pub now_unix_ms: i64,
    /// How it ended.
    pub end: AttemptEnd<'a>,
}

/// GET, HEAD, OPTIONS, PUT, DELETE, TRACE (RFC 9110 section 9.2.2).
pub fn is_idempotent(method: &Method) -> bool {
    method.is_idempotent()
}

/// 408, 429, 502, 503, 504. A 500 is not: it is as likely to come again, and its effect is unknown.
pub fn is_retryable_status(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 429 | 502 | 503 | 504)
}

impl RetryRules {
    /// Whether the answer says "too fast": 429, or a 403 the rules count as one.
    pub fn is_throttle(&self, status: StatusCode, rate: Option<&RateSnapshot>) -> bool {
        status == StatusCode::TOO_MANY_REQUESTS
            || (self.forbidden_is_throttle
                && status == StatusCode::FORBIDDEN
                && rate.is_some_and(|rate| rate.retry_after.is_some() || rate.exhausted()))
    }

    /// What the attempt means to the policy; `None` for an answer that needs no other.
    pub fn attempt(&self, facts: &AttemptFacts<'_>) -> Option<Attempt> {
        let (retry, not_sent, retry_after) = match facts.end {
            AttemptEnd::Answer { status, rate } => {
                if !is_retryable_status(status) && !self.is_throttle(status, rate) {
                    return None;
                }
                (Retry::Later, false, rate.and_then(|rate| rate.asked_wait(facts.now_unix_ms)))
            }
            AttemptEnd::Failed(refusal) => (refusal.retry(), refusal.before_sending(), None),
        };
        Some(Attempt {
            number: facts.number,
            retry,
            idempotent: facts.declared_safe || is_idempotent(facts.method),
            not_sent,
            retry_after,
            remaining: Some(facts.remaining),
        })
    }
}
