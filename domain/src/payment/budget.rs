//! What may be spent, and what has been.

use std::fmt;

use super::Amount;
use crate::json::{self, Json, JsonLimits};

/// How much may be paid without asking for a higher limit. Both limits are zero by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaymentBudget {
    /// The currency of both limits, as [`PaymentAsset`](super::PaymentAsset) names it.
    pub currency: String,
    /// The most for one call.
    pub per_call: Amount,
    /// The most for one day, UTC.
    pub per_day: Amount,
}

/// One of the two limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentLimit {
    /// Of one call.
    PerCall,
    /// Of one day.
    PerDay,
}

impl PaymentLimit {
    /// `per_call` or `per_day`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PerCall => "per_call",
            Self::PerDay => "per_day",
        }
    }
}

impl fmt::Display for PaymentLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

const MS_PER_DAY: i64 = 86_400_000;

/// What has been spent or reserved on one day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PaymentDay {
    /// Days since the Unix epoch, UTC.
    pub day: i64,
    /// Spent and reserved.
    pub spent: Amount,
}

impl PaymentDay {
    /// The day of a time, going on from what was stored. A clock that goes back does not give a day its money back.
    pub fn at(stored: Option<Self>, unix_millis: i64) -> Self {
        let today = unix_millis.div_euclid(MS_PER_DAY);
        match stored {
            Some(stored) if stored.day >= today => stored,
            _ => Self { day: today, spent: Amount::ZERO },
        }
    }

    /// With an amount reserved; `None` when that would exceed the limit.
    #[must_use]
    pub fn reserve(self, amount: Amount, per_day: Amount) -> Option<Self> {
        let spent = self.spent.checked_add(amount).filter(|spent| *spent <= per_day)?;
        Some(Self { day: self.day, spent })
    }

    /// With an amount given back that was reserved on a day; nothing when that day is over.
    #[must_use]
    pub fn release(self, reserved_on: i64, amount: Amount) -> Self {
        if reserved_on == self.day { Self { day: self.day, spent: self.spent.saturating_sub(amount) } } else { self }
    }

    /// As bytes for a store.
    pub fn to_bytes(self) -> Vec<u8> {
        json::to_compact(&Json::from([("day", self.day.into()), ("spent", self.spent.to_string().into())])).into_bytes()
    }

    /// From bytes of a store; `None` when they are not from [`Self::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let value = json::parse_with(bytes, JsonLimits { max_bytes: 1024, max_depth: 4, max_number_chars: 32 }).ok()?;
        let day = value.get("day")?.as_number()?.as_i64()?;
        Some(Self { day, spent: Amount::parse(value.get("spent")?.as_str()?)? })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_day_ends_and_never_comes_back() {
        let one = Amount::parse("1").unwrap();
        let monday = PaymentDay::at(None, 5 * MS_PER_DAY + 7).reserve(one, one).unwrap();
        assert_eq!(PaymentDay::at(Some(monday), 6 * MS_PER_DAY - 1), monday);
        assert_eq!(PaymentDay::at(Some(monday), 4 * MS_PER_DAY), monday);
        let tuesday = PaymentDay::at(Some(monday), 6 * MS_PER_DAY);
        assert_eq!((tuesday.day, tuesday.spent), (6, Amount::ZERO));
        assert_eq!(tuesday.release(5, one), tuesday);
        assert_eq!(monday.release(5, one).spent, Amount::ZERO);
        assert_eq!(PaymentDay::at(None, -1).day, -1);
        assert_eq!(PaymentBudget::default().per_call, Amount::ZERO);
        assert_eq!(PaymentBudget::default().per_day, Amount::ZERO);
    }

    proptest! {
        #[test]
        fn what_is_stored_is_read_again(day in any::<i64>(), spent in "[0-9]{1,12}(\\.[0-9]{1,18})?") {
            let state = PaymentDay { day, spent: Amount::parse(&spent).unwrap() };
            prop_assert_eq!(PaymentDay::from_bytes(&state.to_bytes()), Some(state));
        }

        /// No order of reservations and releases passes the limit.
        #[test]
        fn the_limit_holds(steps in proptest::collection::vec((0u32..50, any::<bool>()), 0..40)) {
            let limit = Amount::parse("100").unwrap();
            let mut state = PaymentDay::at(None, 0);
            for (units, give_back) in steps {
                let amount = Amount::parse(&units.to_string()).unwrap();
                state = if give_back { state.release(0, amount) } else { state.reserve(amount, limit).unwrap_or(state) };
                prop_assert!(state.spent <= limit);
            }
        }
    }
}
