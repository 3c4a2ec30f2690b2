//! When a key set is fetched (keys rotate; token senders invent key ids).

/// How long a key set is used without asking again, in milliseconds.
pub const FRESH_MS: i64 = 600_000;

/// The shortest time between two fetches, whatever the tokens say, in milliseconds.
pub const INTERVAL_MS: i64 = 30_000;

/// How long an old key set is used while the issuer does not answer, in milliseconds from its fetch.
pub const STALE_MS: i64 = 3_600_000;

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyStep {
    /// Decide with the keys at hand.
    Use,
    /// Fetch first; then, whether that worked or not, decide with the keys at hand if [`KeyCache::usable`].
    Fetch,
    /// There are no keys, and it is too early to ask again.
    Unavailable,
}

/// The times of one key set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyCache {
    fetched_at_ms: Option<i64>,
    tried_at_ms: Option<i64>,
}

impl KeyCache {
    /// A token is to be checked; `known` says whether a key at hand fits it.
    pub fn step(&self, known: bool, now_ms: i64) -> KeyStep {
        let rested = self.tried_at_ms.is_none_or(|tried| now_ms.saturating_sub(tried) >= INTERVAL_MS);
        let fresh = self.fetched_at_ms.is_some_and(|fetched| now_ms.saturating_sub(fetched) < FRESH_MS);
        match (fresh && known, rested) {
            (false, true) => KeyStep::Fetch,
            (false, false) if !self.usable(now_ms) => KeyStep::Unavailable,
            _ => KeyStep::Use,
        }
    }

    /// A fetch starts. Told before it starts, so that its failure counts against the interval too.
    pub const fn tried(&mut self, now_ms: i64) {
        self.tried_at_ms = Some(now_ms);
    }

    /// A fetch brought a key set.
    pub const fn fetched(&mut self, now_ms: i64) {
        self.fetched_at_ms = Some(now_ms);
    }

    /// Whether the keys at hand may decide.
    pub fn usable(&self, now_ms: i64) -> bool {
        self.fetched_at_ms.is_some_and(|fetched| now_ms.saturating_sub(fetched) < STALE_MS)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_unknown_key_asks_again_once_per_interval() {
        let mut cache = KeyCache::default();
        assert_eq!(cache.step(false, 0), KeyStep::Fetch);
        cache.tried(0);
        assert_eq!(cache.step(false, 1), KeyStep::Unavailable);
        cache.fetched(2);
        assert_eq!(cache.step(true, 10), KeyStep::Use);
        assert_eq!(cache.step(false, 10), KeyStep::Use, "a storm of unknown ids asks nobody");
        assert_eq!(cache.step(false, INTERVAL_MS), KeyStep::Fetch);
        cache.tried(INTERVAL_MS);
        assert_eq!(cache.step(true, FRESH_MS + 2), KeyStep::Fetch);
        cache.tried(FRESH_MS + 2);
        assert_eq!(cache.step(true, FRESH_MS + 3), KeyStep::Use, "stale while the issuer is silent");
        assert_eq!(cache.step(true, STALE_MS + 2), KeyStep::Fetch);
        cache.tried(STALE_MS + 2);
        assert_eq!(cache.step(true, STALE_MS + 3), KeyStep::Unavailable);
    }

    proptest! {
        #[test]
        fn fetches_never_come_closer_than_the_interval(
            asks in proptest::collection::vec((0i64..20_000, any::<bool>(), any::<bool>()), 1..200)
        ) {
            let (mut cache, mut now, mut last) = (KeyCache::default(), 0, None);
            for (wait, known, answers) in asks {
                now += wait;
                if cache.step(known, now) == KeyStep::Fetch {
                    if let Some(last) = last {
                        prop_assert!(now - last >= INTERVAL_MS);
                    }
                    last = Some(now);
                    cache.tried(now);
                    if answers {
                        cache.fetched(now);
                    }
                }
            }
        }
    }
}
