//! How often one caller may ask a served connector (`wire/mcp-surface.md` 2.7).
//!
//! [`RateBuckets::take`] decides from the caller's key and the time; the transport waits for nothing and keeps no timer.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::time::Duration;

use blake2::digest::consts::U16;
use blake2::{Blake2s, Digest as _};

use crate::surface::CallerIdentity;

/// Requests of one caller: so many a second, and so many at once after a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Requests a second, in the long run.
    pub per_second: NonZeroU32,
    /// Requests at once.
    pub burst: NonZeroU32,
}

impl Default for RateLimit {
    /// Ten a second and twenty at once.
    fn default() -> Self {
        const fn number(value: u32) -> NonZeroU32 {
            NonZeroU32::MIN.saturating_add(value - 1)
        }
        Self { per_second: number(10), burst: number(20) }
    }
}

impl RateLimit {
    /// The time after which one more request is given.
    fn interval(self) -> Duration {
        (Duration::from_secs(1) / self.per_second.get()).max(Duration::from_nanos(1))
    }
}

/// Whose requests are counted together. It holds no name of a caller, only a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RateKey {
    /// Everybody who is nobody.
    Anonymous,
    /// One client acting for one principal of one tenant.
    Caller([u8; 16]),
    /// Everybody for whom there was no place any more.
    Others,
}

impl RateKey {
    /// The key of what a token says; a part that is missing is empty.
    pub fn of(client: &str, subject: &str, tenant: &str) -> Self {
        if client.is_empty() && subject.is_empty() && tenant.is_empty() {
            return Self::Anonymous;
        }
        let mut digest = Blake2s::<U16>::new();
        for (part, end) in [(client, &b"\0"[..]), (subject, b"\0"), (tenant, b"")] {
            digest.update(part.as_bytes());
            digest.update(end);
        }
        Self::Caller(digest.finalize().into())
    }

    /// The key of a verified caller.
    pub fn of_caller(caller: Option<&CallerIdentity>) -> Self {
        caller.map_or(Self::Anonymous, |caller| Self::of(&caller.client, &caller.principal, caller.tenant.as_str()))
    }
}

impl std::fmt::Display for RateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Anonymous => f.write_str("anonymous"),
            Self::Others => f.write_str("others"),
            Self::Caller(digest) => {
                f.write_str("caller_")?;
                digest.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}

/// The most callers that are counted on their own.
pub const MAX_RATE_KEYS: usize = 16_384;

/// The buckets of all callers.
#[derive(Debug)]
pub struct RateBuckets {
    limit: RateLimit,
    most: usize,
    /// When each bucket is full again; one that is not here is full.
    full_at: HashMap<RateKey, Duration>,
    swept_at: Duration,
}

impl RateBuckets {
    /// Full buckets.
    pub fn new(limit: RateLimit) -> Self {
        Self { limit, most: MAX_RATE_KEYS, full_at: HashMap::new(), swept_at: Duration::ZERO }
    }

    /// The same for fewer callers.
    #[must_use]
    pub fn with_most(mut self, most: usize) -> Self {
        self.most = most.clamp(1, MAX_RATE_KEYS);
        self
    }

    /// Takes one request from the caller's bucket, or says how long to wait until there is one. `now` counts from any fixed moment.
    pub fn take(&mut self, key: RateKey, now: Duration) -> Result<(), Duration> {
        let interval = self.limit.interval();
        // What the bucket holds when it is full, but for the one request that is taken.
        let room = interval.saturating_mul(self.limit.burst.get() - 1);
        let key = self.place(key, now, room);
        let full_at = self.full_at.entry(key).or_insert(now);
        let missing = full_at.saturating_sub(now);
        if missing > room {
            return Err(missing.saturating_sub(room));
        }
        *full_at = now.saturating_add(missing).saturating_add(interval);
        Ok(())
    }

    /// The key to count under: full buckets make room for a new caller; when there is none, newcomers share a bucket.
    fn place(&mut self, key: RateKey, now: Duration, room: Duration) -> RateKey {
        if self.full_at.len() < self.most || self.full_at.contains_key(&key) {
            return key;
        }
        // Looking through all of them is worth it once in the time a bucket takes to fill.
        if now.saturating_sub(self.swept_at) >= room {
            self.swept_at = now;
            self.full_at.retain(|_, full_at| *full_at > now);
        }
        if self.full_at.len() < self.most { key } else { RateKey::Others }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;
    use crate::test_vectors::{load, section, text};

    #[test]
    fn every_caller_has_the_bucket_of_the_vectors() {
        for case in section(&load("tool_surface.json"), "rate_limit_buckets") {
            let claim = |name| case.get("claims").and_then(|claims| claims.get(name)).and_then(Json::as_str);
            let client = case.get("client_id").and_then(Json::as_str).unwrap_or_default();
            let key = RateKey::of(client, claim("sub").unwrap_or_default(), claim("tenant_id").unwrap_or_default());
            assert_eq!(key.to_string(), text(case, "bucket"));
        }
    }

    #[test]
    fn a_burst_is_given_and_then_the_rate() {
        let mut buckets = RateBuckets::new(RateLimit::default());
        let (ada, bob) = (RateKey::of("c", "ada", "t"), RateKey::of("c", "bob", "t"));
        let start = Duration::from_secs(5);
        for _ in 0..20 {
            assert_eq!(buckets.take(ada, start), Ok(()));
        }
        assert_eq!(buckets.take(ada, start), Err(Duration::from_millis(100)));
        assert_eq!(buckets.take(ada, start), Err(Duration::from_millis(100)), "a refusal costs nothing");
        assert_eq!(buckets.take(bob, start), Ok(()));
        let later = start + Duration::from_millis(100);
        assert_eq!(buckets.take(ada, later), Ok(()));
        assert!(buckets.take(ada, later).is_err());
        let rested = start + Duration::from_mins(1);
        assert_eq!((0..30).filter(|_| buckets.take(ada, rested).is_ok()).count(), 20);
    }

    #[test]
    fn many_callers_take_bounded_space_and_no_freedom() {
        let mut buckets = RateBuckets::new(RateLimit::default()).with_most(100);
        let key = |number: u32| RateKey::of("c", &number.to_string(), "t");
        let given = (0..10_000).filter(|number| buckets.take(key(*number), Duration::ZERO).is_ok()).count();
        assert_eq!(given, 100 + 20);
        assert!(buckets.full_at.len() <= 101);
        assert_eq!(buckets.take(key(20_000), Duration::from_mins(1)), Ok(()));
        assert_eq!(buckets.full_at.len(), 1);
    }
}
