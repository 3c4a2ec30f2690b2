//! Money without rounding.

use std::fmt;

/// Decimals that are kept: the most that tokens of the known networks have.
const SCALE: u32 = 18;
/// One whole unit.
const ONE: u128 = 10u128.pow(SCALE);

/// An amount of one currency, never negative, exact to 18 decimals and below 3.4·10²⁰.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(u128);

impl Amount {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// Reads `12`, `0.25` or `12.250`: digits, and at most 18 of them behind a point. No sign, no exponent.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = match text.split_once('.') {
            Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
            Some(_) => return None,
            None => (text, ""),
        };
        let whole = digits(whole)?;
        let scale = SCALE.checked_sub(u32::try_from(fraction.len()).ok()?)?;
        let fraction = if fraction.is_empty() { 0 } else { digits(fraction)? };
        let fraction = fraction.checked_mul(10u128.pow(scale))?;
        whole.checked_mul(ONE)?.checked_add(fraction).map(Self)
    }

    /// From a count of the smallest unit of something with so many decimals, at most 18.
    pub fn from_atomic(units: &str, decimals: u8) -> Option<Self> {
        let scale = SCALE.checked_sub(u32::from(decimals))?;
        digits(units)?.checked_mul(10u128.pow(scale)).map(Self)
    }

    /// The sum, if it is in range.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// What is left, at least nothing.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

fn digits(text: &str) -> Option<u128> {
    // `parse` takes a sign; an amount has none.
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

impl fmt::Display for Amount {
    /// The shortest exact text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = (self.0 / ONE, self.0 % ONE);
        if fraction == 0 {
            return write!(f, "{whole}");
        }
        let fraction = format!("{fraction:018}");
        write!(f, "{whole}.{}", fraction.trim_end_matches('0'))
    }
}

impl fmt::Debug for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Amount({self})")
    }
}

impl serde::Serialize for Amount {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_read_exactly_or_not_at_all() {
        for (text, shown) in
            [("0", "0"), ("00.10", "0.1"), ("0.000000000000000001", "0.000000000000000001"), ("12.250", "12.25")]
        {
            assert_eq!(Amount::parse(text).unwrap().to_string(), shown);
        }
        for bad in [
            "",
            ".",
            "1.",
            ".5",
            "-1",
            "+1",
            "1e3",
            "0x1",
            "1 ",
            "0.0000000000000000001",
            "9".repeat(40).as_str(),
            "1.٣",
        ] {
            assert_eq!(Amount::parse(bad), None, "{bad}");
        }
        assert_eq!(Amount::from_atomic("10000", 6), Amount::parse("0.01"));
        assert_eq!(Amount::from_atomic("1", 19), None);
        assert_eq!(Amount::from_atomic("", 6), None);
        assert_eq!(Amount(u128::MAX).checked_add(Amount(1)), None);
    }

    proptest! {
        #[test]
        fn an_amount_reads_what_it_writes(units in any::<u128>()) {
            prop_assert_eq!(Amount::parse(&Amount(units).to_string()), Some(Amount(units)));
        }

        #[test]
        fn any_text_gets_an_answer(text in ".{0,50}", decimals in any::<u8>()) {
            let _ = (Amount::parse(&text), Amount::from_atomic(&text, decimals));
        }
    }
}
