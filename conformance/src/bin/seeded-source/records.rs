//! The records: a pure function of the seed and their number.

use std::fmt::Write as _;

use crate::options::Options;

const STATES: [&str; 5] = ["open", "waiting", "assigned", "solved", "closed"];
const WORDS: [&str; 16] = [
    "printer",
    "network",
    "licence",
    "invoice",
    "gateway",
    "cluster",
    "monitor",
    "account",
    "storage",
    "release",
    "payroll",
    "contract",
    "terminal",
    "schedule",
    "inventory",
    "warehouse",
];

/// SplitMix64: small, fast and the same everywhere.
pub(crate) struct Mix(pub(crate) u64);

impl Mix {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Appends record `number` as JSON text.
pub(crate) fn write(options: &Options, number: u64, out: &mut String) {
    let mut mix = Mix(options.seed ^ number.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let touched = options.touch > 0 && number.is_multiple_of(options.touch);
    let word = |value: u64| WORDS[(value % 16) as usize];
    let (a, b, c, d) = (mix.next(), mix.next(), mix.next(), mix.next());
    // Writing to a String cannot fail.
    let _ = write!(
        out,
        "{{\"id\":\"rec-{:016x}\",\"number\":{number},\"title\":\"{} {} {}\",\"status\":\"{}\",\"priority\":{},\"amount\":{}.{:02},\
         \"owner\":\"owner-{}\",\"created_at\":\"2026-{:02}-{:02}T{:02}:{:02}:{:02}Z\",\"open\":{},\"note\":\"",
        if options.random_ids { number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ options.seed } else { number },
        word(a),
        word(a >> 8),
        number,
        STATES[(b % 5) as usize],
        b >> 8 & 7,
        c % 100_000,
        c >> 32 & 63,
        d % 997,
        a % 12 + 1,
        b % 28 + 1,
        c % 24,
        d % 60,
        a >> 16 & 31,
        !touched
    );
    for _ in 0..4 {
        let value = mix.next();
        for shift in 0..8 {
            out.push_str(word(value >> (shift * 8)));
            out.push(' ');
        }
    }
    out.push_str(if touched { "changed\"}" } else { "end\"}" });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_ten_fields_and_about_five_hundred_bytes() {
        let options = Options::parse(std::iter::empty()).unwrap();
        let mut total = 0;
        for number in 0..1000 {
            let mut text = String::new();
            write(&options, number, &mut text);
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(value.as_object().unwrap().len(), 10);
            total += text.len();
        }
        assert!((450..=560).contains(&(total / 1000)), "{}", total / 1000);
    }
}
