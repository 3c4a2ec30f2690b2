//! What one cycle of one stream may cost (R004.22).

use std::time::Duration;

use scion_domain::retry::RetryPolicy;

/// Budgets of one cycle. A budget that is used up ends the cycle as `partial`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncBudget {
    /// The most pages.
    pub max_pages: u64,
    /// The most records read; checked between pages.
    pub max_records: Option<u64>,
    /// The longest time; checked between pages.
    pub max_time: Option<Duration>,
    /// Attempts at one page and the waits between them.
    pub retry: RetryPolicy,
    /// The total time of one page, attempts and waits included.
    pub page_time: Duration,
}

impl Default for SyncBudget {
    fn default() -> Self {
        Self {
            max_pages: 1000,
            max_records: None,
            max_time: None,
            retry: RetryPolicy::DEFAULT,
            page_time: Duration::from_mins(5),
        }
    }
}

impl SyncBudget {
    /// Whether the cycle may read another page.
    pub fn allows(&self, pages: u64, records: u64, elapsed: Duration) -> bool {
        pages < self.max_pages
            && self.max_records.is_none_or(|most| records < most)
            && self.max_time.is_none_or(|most| elapsed < most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_budget_ends_the_cycle() {
        let budget = SyncBudget {
            max_pages: 2,
            max_records: Some(10),
            max_time: Some(Duration::from_secs(1)),
            ..SyncBudget::default()
        };
        assert!(budget.allows(1, 9, Duration::ZERO));
        assert!(!budget.allows(2, 0, Duration::ZERO));
        assert!(!budget.allows(0, 10, Duration::ZERO));
        assert!(!budget.allows(0, 0, Duration::from_secs(1)));
    }
}
