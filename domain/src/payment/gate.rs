//! Whether a challenge may be paid.

use super::{Amount, PaymentBudget, PaymentChallenge, PaymentLimit, PaymentOffer, PaymentRefused};

/// What the gate says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaymentDecision<'c> {
    /// The offer may be paid once it is approved.
    Allowed {
        /// Which one: the cheapest that can be paid.
        offer: &'c PaymentOffer,
        /// The limit that left the least.
        limit: PaymentLimit,
    },
    /// None may.
    Refused(PaymentRefused),
}

/// Decides about challenges. It holds nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct PaymentGate;

impl PaymentGate {
    /// Allows the cheapest offer in the budget's currency that `payable` accepts, if it fits the limit of one call and what the day's limit
    /// leaves after `spent`. A price of nothing fits a budget of nothing.
    pub fn decide<'c>(
        challenge: &'c PaymentChallenge,
        budget: &PaymentBudget,
        spent: Amount,
        payable: impl Fn(&PaymentOffer) -> bool,
    ) -> PaymentDecision<'c> {
        let usable = challenge.offers.iter().filter(|offer| offer.currency == budget.currency && payable(offer));
        let Some(offer) = usable.min_by_key(|offer| offer.amount) else {
            return PaymentDecision::Refused(PaymentRefused::UnsupportedScheme);
        };
        let left = budget.per_day.saturating_sub(spent);
        let limit = if budget.per_call <= left { PaymentLimit::PerCall } else { PaymentLimit::PerDay };
        if offer.amount > budget.per_call.min(left) {
            // Where both are too small, the one a retry tomorrow does not lift is named.
            let limit = if offer.amount > budget.per_call { PaymentLimit::PerCall } else { PaymentLimit::PerDay };
            return PaymentDecision::Refused(PaymentRefused::OverBudget {
                amount: offer.amount,
                currency: offer.currency.clone(),
                limit,
            });
        }
        PaymentDecision::Allowed { offer, limit }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::Json;
    use crate::refusal::Refusal as _;

    fn amount(text: &str) -> Amount {
        Amount::parse(text).unwrap()
    }

    fn asks(prices: &[(&str, &str)]) -> PaymentChallenge {
        let offer = |(scheme, price): &(&str, &str)| PaymentOffer {
            scheme: (*scheme).into(),
            network: "n".into(),
            asset: "a".into(),
            amount: amount(price),
            currency: "USDC".into(),
            payee: "p".into(),
            terms: Json::Null,
        };
        PaymentChallenge { version: 1, offers: prices.iter().map(offer).collect(), skipped: 0 }
    }

    fn budget(per_call: &str, per_day: &str) -> PaymentBudget {
        PaymentBudget { currency: "USDC".into(), per_call: amount(per_call), per_day: amount(per_day) }
    }

    fn decide(
        challenge: &PaymentChallenge,
        budget: &PaymentBudget,
        spent: &str,
    ) -> Result<(Amount, PaymentLimit), PaymentRefused> {
        match PaymentGate::decide(challenge, budget, amount(spent), |offer| offer.scheme == "exact") {
            PaymentDecision::Allowed { offer, limit } => Ok((offer.amount, limit)),
            PaymentDecision::Refused(refused) => Err(refused),
        }
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R049.2
    #[test]
    fn a_decision_names_the_limit_that_applied() {
        let challenge = asks(&[("exact", "2"), ("exact", "1"), ("upto", "0.1")]);
        let over = |found: Result<_, PaymentRefused>| match found {
            Err(PaymentRefused::OverBudget { limit, .. }) => limit,
            other => panic!("{other:?}"),
        };
        assert_eq!(decide(&challenge, &budget("1", "10"), "0"), Ok((amount("1"), PaymentLimit::PerCall)));
        assert_eq!(decide(&challenge, &budget("5", "3"), "2"), Ok((amount("1"), PaymentLimit::PerDay)));
        assert_eq!(over(decide(&challenge, &budget("0.999999999999999999", "10"), "0")), PaymentLimit::PerCall);
        assert_eq!(over(decide(&challenge, &budget("5", "3"), "2.000000000000000001")), PaymentLimit::PerDay);
        assert_eq!(over(decide(&challenge, &budget("5", "3"), "100")), PaymentLimit::PerDay);
        assert_eq!(over(decide(&challenge, &budget("0", "0"), "0")), PaymentLimit::PerCall);
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R049.2, SDK-CONNECTOR-CONTROL-R049.4
    #[test]
    fn nothing_is_paid_until_limits_are_set_and_in_their_currency_only() {
        let challenge = asks(&[("exact", "0.000001")]);
        let unset = PaymentBudget { currency: "USDC".into(), ..PaymentBudget::default() };
        assert_eq!(decide(&challenge, &unset, "0").unwrap_err().reason(), "over_budget");
        let other = PaymentBudget { currency: "EUR".into(), ..budget("5", "5") };
        assert_eq!(decide(&challenge, &other, "0").unwrap_err(), PaymentRefused::UnsupportedScheme);
        let refused = decide(&asks(&[]), &budget("5", "5"), "0").unwrap_err();
        assert_eq!((refused.reason(), refused.code()), ("unsupported_scheme", "payment_unsupported_scheme"));
        assert_eq!(decide(&asks(&[("upto", "1")]), &budget("5", "5"), "0").unwrap_err().reason(), "unsupported_scheme");
    }

    proptest! {
        #[test]
        fn what_is_allowed_fits_both_limits(price in 0u32..100, call in 0u32..100, day in 0u32..100, spent in 0u32..100) {
            let challenge = asks(&[("exact", &price.to_string())]);
            let allowed = decide(&challenge, &budget(&call.to_string(), &day.to_string()), &spent.to_string()).is_ok();
            prop_assert_eq!(allowed, price <= call && price <= day.saturating_sub(spent));
        }
    }
}
