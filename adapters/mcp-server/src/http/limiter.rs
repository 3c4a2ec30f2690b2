//! How often one caller may ask.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use scion_domain::rate_bucket::{RateBuckets, RateKey, RateLimit};
use scion_domain::surface::CallerIdentity;
use tokio::time::Instant;

/// The JSON-RPC code of "not now" (`wire/mcp-surface.md` 2.7).
pub(super) const CODE: i32 = -32_000;

pub(crate) struct Limiter {
    started: Instant,
    buckets: Mutex<RateBuckets>,
}

impl Limiter {
    pub(super) fn new(limit: RateLimit) -> Self {
        Self { started: Instant::now(), buckets: Mutex::new(RateBuckets::new(limit)) }
    }

    /// Takes one request, or says how long until there is one.
    pub(super) fn take(&self, caller: Option<&CallerIdentity>) -> Result<(), Duration> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        buckets.take(RateKey::of_caller(caller), self.started.elapsed())
    }
}

/// The error of a request that came too soon.
pub(super) fn error(wait: Duration) -> serde_json::Value {
    // Rounded up: whoever waits that long is let in.
    let wait = u64::try_from(wait.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
    serde_json::json!({
        "code": CODE,
        "message": "rate limit exceeded",
        "data": { "code": "server_rate_limited", "retry_after_ms": wait },
    })
}
