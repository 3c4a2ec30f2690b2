//! Exact decimal values read from number texts, without expanding exponents: `1e999999999` costs what its text costs.

use std::cmp::Ordering;
use std::fmt::Write as _;

use crate::json::JsonNumber;

/// A decimal: `head` then `tail` as one run of significant digits, times ten to the `exponent`. No leading or trailing
/// zeros; no digits at all for zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decimal<'t> {
    negative: bool,
    head: &'t str,
    tail: &'t str,
    exponent: i128,
}

impl<'t> Decimal<'t> {
    /// Reads a number. Leading zeros are allowed, because vendors pad counters. `None` when the text is not a number, or its
    /// exponent has more than 30 digits.
    pub(crate) fn parse(text: &'t str) -> Option<Self> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], parse_exponent(&unsigned[at + 1..])?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (mantissa, ""),
        };
        if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let mut head = whole.trim_start_matches('0');
        let mut tail = fraction.trim_end_matches('0');
        let mut exponent = exponent - length(tail);
        if head.is_empty() {
            tail = tail.trim_start_matches('0');
        }
        if tail.is_empty() {
            let digits = head.trim_end_matches('0');
            exponent += length(head) - length(digits);
            head = digits;
        }
        if head.is_empty() && tail.is_empty() {
            exponent = 0;
        }
        Some(Self { negative, head, tail, exponent })
    }

    fn is_zero(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty()
    }

    fn digits(&self) -> impl Iterator<Item = u8> {
        self.head.bytes().chain(self.tail.bytes())
    }

    /// The power of ten just above the value: 0.d1d2d3... times ten to this.
    fn magnitude(&self) -> i128 {
        self.exponent + length(self.head) + length(self.tail)
    }

    fn write(&self, out: &mut String) {
        if self.negative {
            out.push('-');
        }
        if self.is_zero() {
            out.push('0');
            return;
        }
        out.push_str(self.head);
        out.push_str(self.tail);
        if self.exponent != 0 {
            // Writing to a String cannot fail.
            let _ = write!(out, "e{}", self.exponent);
        }
    }

    /// Orders by value; the two zeros are equal.
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        let sign = |d: &Self| match (d.is_zero(), d.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let (a, b) = (sign(self), sign(other));
        if a != b || a == 0 {
            return a.cmp(&b);
        }
        let size = self.magnitude().cmp(&other.magnitude()).then_with(|| self.digits().cmp(other.digits()));
        if self.negative { size.reverse() } else { size }
    }
}

fn length(digits: &str) -> i128 {
    // A text in memory is shorter than 2^63 bytes.
    digits.len() as i128
}

fn parse_exponent(text: &str) -> Option<i128> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = digits.trim_start_matches('0');
    if digits.len() > 30 {
        return None;
    }
    let value: i128 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
    Some(if negative { -value } else { value })
}

/// Writes the one text of a decimal value; a number with an absurd exponent as it stands.
pub(crate) fn write_normal(text: &str, out: &mut String) {
    match Decimal::parse(text) {
        Some(decimal) => decimal.write(out),
        None => out.push_str(text),
    }
}

/// Whether a double holds this number: its shortest text reads as the same decimal value, sign of zero included. `0.1`
/// does; `0.1000000000000000055`, `1e400` and `1e-400` do not.
pub(crate) fn fits_double(number: &JsonNumber) -> bool {
    let Some(exact) = Decimal::parse(number.as_text()) else { return false };
    let digits = exact.head.len() + exact.tail.len();
    // Fifteen digits always survive the way through a double (IEEE 754, DBL_DIG).
    if digits <= 15 && (-290..290).contains(&exact.magnitude()) {
        return true;
    }
    let value = number.as_f64();
    if !value.is_finite() {
        return false;
    }
    let shortest = format!("{value:e}");
    Decimal::parse(&shortest)
        .is_some_and(|read| read.compare(&exact) == Ordering::Equal && read.negative == exact.negative)
}
