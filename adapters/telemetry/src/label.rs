//! Labels from a bounded set.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The most tools that have measurements of their own; further ones share [`OTHER`].
pub(crate) const MAX_TOOLS: usize = 1000;
/// The most refusal codes that have a counter of their own. Codes are compiled in, so this is a second line.
pub(crate) const MAX_CODES: usize = 1000;
/// What stands for everything beyond a bound.
pub(crate) const OTHER: &str = "other";

/// Something per label, made when the label is first seen.
#[derive(Debug)]
pub(crate) struct Bounded<T> {
    limit: usize,
    known: RwLock<HashMap<Box<str>, Arc<T>>>,
}

impl<T> Bounded<T> {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, known: RwLock::default() }
    }

    pub(crate) fn get(&self, label: &str, make: impl FnOnce(&str) -> T) -> Arc<T> {
        // A poisoned lock guards a map that is only ever added to.
        if let Some(found) = self.known.read().unwrap_or_else(PoisonError::into_inner).get(label) {
            return Arc::clone(found);
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let label = if known.len() < self.limit || known.contains_key(label) { label } else { OTHER };
        Arc::clone(known.entry(label.into()).or_insert_with(|| Arc::new(make(label))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_beyond_the_bound_share_one() {
        let bounded = Bounded::new(3);
        for index in 0..100 {
            bounded.get(&format!("tool_{index}"), str::to_owned);
        }
        assert_eq!(bounded.known.read().unwrap().len(), 4);
        assert_eq!(*bounded.get("tool_99", str::to_owned), OTHER);
        assert_eq!(*bounded.get("tool_1", str::to_owned), "tool_1");
    }
}
