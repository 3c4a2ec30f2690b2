//! Cost as a budget: what a server says about it, and when the next operation may start.

use std::time::Duration;

use crate::json::{Json, JsonNumber};
use crate::time::Timestamp;

/// Cost points. Servers count in whole points; parts are rounded up where they are spent and down where they are left.
pub type Cost = u64;

/// The most points that are believed; what is above counts as this.
const MAX_POINTS: Cost = 1_000_000_000_000;
/// The longest wait a budget asks for.
const MAX_WAIT: Duration = Duration::from_hours(1);

/// What a server says about cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostReport {
    /// So many points until a time, then the whole limit again (`data.rateLimit` as GitHub has it).
    Window {
        /// What this operation cost.
        cost: Cost,
        /// What is left.
        remaining: Cost,
        /// When the limit is whole again, in milliseconds since the Unix epoch.
        reset_at_ms: i64,
    },
    /// A bucket that is refilled all the time (`extensions.cost.throttleStatus` as Shopify has it).
    Bucket {
        /// What this operation was thought to cost: a throttled one as well.
        requested: Cost,
        /// What the bucket holds at most.
        maximum: Cost,
        /// What it holds now.
        available: Cost,
        /// What flows in each second.
        restore_per_second: Cost,
    },
}

impl CostReport {
    /// Reads what stands in an answer, if anything does.
    pub(super) fn read(data: Option<&Json>, extensions: Option<&Json>) -> Option<Self> {
        Self::bucket(extensions).or_else(|| Self::window(data))
    }

    fn window(data: Option<&Json>) -> Option<Self> {
        let limit = data?.get("rateLimit")?;
        let reset = Timestamp::parse(limit.get("resetAt")?.as_str()?).ok()?;
        Some(Self::Window {
            cost: points(limit.get("cost"), true).unwrap_or(1),
            remaining: points(limit.get("remaining"), false)?,
            // Rounded up: a second early is a refusal.
            reset_at_ms: reset
                .unix_seconds()
                .saturating_add(i64::from(!reset.fraction_digits().is_empty()))
                .saturating_mul(1000),
        })
    }

    fn bucket(extensions: Option<&Json>) -> Option<Self> {
        let cost = extensions?.get("cost")?;
        let status = cost.get("throttleStatus")?;
        Some(Self::Bucket {
            requested: points(cost.get("requestedQueryCost"), true).unwrap_or(1),
            maximum: points(status.get("maximumAvailable"), false)?,
            available: points(status.get("currentlyAvailable"), false)?,
            restore_per_second: points(status.get("restoreRate"), false)?,
        })
    }

    /// What the operation cost.
    pub const fn cost(&self) -> Cost {
        match self {
            Self::Window { cost, .. } => *cost,
            Self::Bucket { requested, .. } => *requested,
        }
    }
}

/// A number of points, not negative, rounded up or down.
fn points(value: Option<&Json>, up: bool) -> Option<Cost> {
    let number = value?.as_number()?;
    if number.is_integer() {
        return number
            .as_u64()
            .map(|points| points.min(MAX_POINTS))
            .or_else(|| (!number.as_text().starts_with('-')).then_some(MAX_POINTS));
    }
    fraction(number, up)
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the value is clamped before"
)]
fn fraction(number: &JsonNumber, up: bool) -> Option<Cost> {
    let value = number.as_f64();
    if value.is_nan() || value < 0.0 {
        return None;
    }
    let rounded = if up { value.ceil() } else { value.floor() };
    Some(rounded.min(MAX_POINTS as f64) as Cost)
}

/// Paces operations by what they cost. Times are those of one clock; the first operation goes at once, since nothing is known.
#[derive(Clone, Debug, Default)]
pub struct CostBudget {
    last: Option<(CostReport, i64)>,
    /// Points reserved by operations under way since the report.
    reserved: Cost,
    /// Points never to be spent, left for others that share the limit.
    keep: Cost,
}

impl CostBudget {
    /// A budget that leaves so many points of the server's limit to others.
    pub const fn keeping(points: Cost) -> Self {
        Self { last: None, reserved: 0, keep: points }
    }

    /// The most a server has said it ever allows at once, less what is kept.
    pub fn capacity(&self) -> Option<Cost> {
        match self.last {
            Some((CostReport::Bucket { maximum, .. }, _)) => Some(maximum.saturating_sub(self.keep)),
            _ => None,
        }
    }

    /// The last report, unless it is more than an hour old: then the server is asked again, whatever it said. One report must not
    /// stop a client for ever.
    fn believed(&self, now_unix_ms: i64) -> Option<(CostReport, i64)> {
        self.last.filter(|(_, at)| u128::from(now_unix_ms.abs_diff(*at)) < MAX_WAIT.as_millis())
    }

    /// Reserves an operation. `Ok` when it may start now; otherwise how long to wait before asking again. `Err(None)`: never, it is more
    /// than the server's bucket holds.
    pub fn reserve(&mut self, cost: Cost, now_unix_ms: i64) -> Result<(), Option<Duration>> {
        let Some((report, at)) = self.believed(now_unix_ms) else {
            self.reserved = self.reserved.saturating_add(cost);
            return Ok(());
        };
        let needed = cost.saturating_add(self.reserved).saturating_add(self.keep);
        let wait = match report {
            CostReport::Window { remaining, reset_at_ms, .. } => {
                if needed <= remaining || now_unix_ms >= reset_at_ms {
                    None
                } else {
                    Some(millis(reset_at_ms.saturating_sub(now_unix_ms)))
                }
            }
            CostReport::Bucket { maximum, available, restore_per_second, .. } => {
                if cost.saturating_add(self.keep) > maximum {
                    return Err(None);
                }
                let elapsed = u64::try_from(now_unix_ms.saturating_sub(at)).unwrap_or(0);
                let flowed = restore_per_second.saturating_mul(elapsed) / 1000;
                let here = available.saturating_add(flowed).min(maximum);
                if needed <= here {
                    None
                } else if restore_per_second == 0 {
                    Some(MAX_WAIT)
                } else {
                    let missing = (needed - here).saturating_mul(1000);
                    Some(Duration::from_millis(missing.div_ceil(restore_per_second)))
                }
            }
        };
        match wait {
            None => {
                self.reserved = self.reserved.saturating_add(cost);
                Ok(())
            }
            Some(wait) => Err(Some(wait.min(MAX_WAIT).max(Duration::from_millis(1)))),
        }
    }

    /// Notes that an operation that had reserved `cost` is over, and what the server said.
    pub fn settle(&mut self, cost: Cost, report: Option<CostReport>, now_unix_ms: i64) {
        self.reserved = self.reserved.saturating_sub(cost);
        if let Some(report) = report {
            // Answers can overtake each other: of one window the lowest remainder is the true one.
            let stale = match (self.believed(now_unix_ms), report) {
                (
                    Some((CostReport::Window { remaining: before, reset_at_ms: old, .. }, _)),
                    CostReport::Window { remaining, reset_at_ms, .. },
                ) => reset_at_ms < old || (reset_at_ms == old && remaining > before),
                _ => false,
            };
            if !stale {
                self.last = Some((report, now_unix_ms));
            }
        }
    }
}

fn millis(milliseconds: i64) -> Duration {
    Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::parse;

    fn bucket(available: Cost) -> CostReport {
        CostReport::Bucket { requested: 10, maximum: 1000, available, restore_per_second: 50 }
    }

    #[test]
    fn both_forms_are_read() {
        let data =
            parse(r#"{"rateLimit": {"cost": 3, "remaining": 4997, "resetAt": "1970-01-01T00:00:10Z"}}"#).unwrap();
        let window = CostReport::read(Some(&data), None);
        assert_eq!(window, Some(CostReport::Window { cost: 3, remaining: 4997, reset_at_ms: 10_000 }));
        let more = parse(
            r#"{"cost": {"requestedQueryCost": 10, "actualQueryCost": null, "throttleStatus": {"maximumAvailable": 1000.0, "currentlyAvailable": 999.9, "restoreRate": 50}}}"#,
        );
        assert_eq!(CostReport::read(None, Some(&more.unwrap())), Some(bucket(999)));
        for odd in [
            r#"{"cost": {"throttleStatus": {"maximumAvailable": -1, "currentlyAvailable": 1, "restoreRate": 50}}}"#,
            r#"{"cost": {"throttleStatus": {"maximumAvailable": "x", "currentlyAvailable": 1, "restoreRate": 50}}}"#,
            r#"{"cost": 5}"#,
        ] {
            assert_eq!(CostReport::read(None, Some(&parse(odd).unwrap())), None, "{odd}");
        }
        let huge = parse(
            r#"{"cost": {"throttleStatus": {"maximumAvailable": 1e400, "currentlyAvailable": 99999999999999999999, "restoreRate": 0}}}"#,
        );
        assert_eq!(CostReport::read(None, Some(&huge.unwrap())).map(|report| report.cost()), Some(1));
    }

    #[test]
    fn no_report_stops_a_client_for_ever() {
        let year_9999 = 253_370_764_800_000;
        let window = |remaining, reset_at_ms| CostReport::Window { cost: 1, remaining, reset_at_ms };
        let never = CostReport::Bucket { requested: 1, maximum: 0, available: 0, restore_per_second: 0 };
        for report in [window(0, year_9999), never] {
            let mut budget = CostBudget::default();
            budget.settle(0, Some(report), 0);
            assert!(budget.reserve(1, 3_599_999).is_err());
            assert_eq!(budget.reserve(1, 3_600_000), Ok(()), "{report:?}");
            budget.settle(1, Some(window(9, 3_700_000)), 3_600_000);
            assert_eq!(budget.reserve(9, 3_600_001), Ok(()), "what is said now counts");
            assert!(budget.reserve(1, 3_600_001).is_err());
        }
    }

    #[test]
    fn a_bucket_refills_and_a_window_resets() {
        let mut budget = CostBudget::default();
        assert_eq!(budget.reserve(500, 0), Ok(()));
        budget.settle(500, Some(bucket(100)), 1000);
        assert_eq!(budget.reserve(100, 1000), Ok(()));
        assert_eq!(budget.reserve(100, 1000), Err(Some(Duration::from_secs(2))));
        assert_eq!(budget.reserve(100, 3000), Ok(()));
        assert_eq!(budget.reserve(1001, 1_000_000), Err(None));
        assert_eq!(budget.capacity(), Some(1000));
        let mut budget = CostBudget::keeping(10);
        budget.settle(0, Some(CostReport::Window { cost: 1, remaining: 15, reset_at_ms: 60_000 }), 0);
        assert_eq!(budget.reserve(5, 0), Ok(()));
        assert_eq!(budget.reserve(5, 0), Err(Some(Duration::from_mins(1))));
        budget.settle(5, Some(CostReport::Window { cost: 1, remaining: 100, reset_at_ms: 60_000 }), 1);
        assert_eq!(budget.reserve(6, 1), Err(Some(Duration::from_millis(59_999))));
        assert_eq!(budget.reserve(6, 60_000), Ok(()));
    }

    proptest! {
        /// Operations that start in one moment never cost more together than the server has left.
        #[test]
        fn what_starts_at_once_fits(available in 0u64..1000, keep in 0u64..100, costs in proptest::collection::vec(1u64..300, 0..20)) {
            let mut budget = CostBudget::keeping(keep);
            budget.settle(0, Some(bucket(available)), 0);
            let started: u64 = costs.iter().filter(|cost| budget.reserve(**cost, 0).is_ok()).sum();
            prop_assert!(started == 0 || started + keep <= available);
        }
    }
}
