use proptest::prelude::*;

use super::*;
use crate::digest::sha256;
use crate::json::parse;
use crate::test_vectors::{load, section, text};

fn read(text: &str) -> Json {
    parse(text).unwrap_or_else(|refusal| panic!("{text}: {refusal}"))
}

#[test]
fn every_peer_text_and_its_digest() {
    let file = load("canonical.json");
    for case in section(&file, "json_texts") {
        let value = read(text(case, "value_json"));
        let canonical = peer_json(&value);
        assert_eq!(canonical, text(case, "canonical"));
        assert_eq!(sha256(canonical.as_bytes()).to_hex(), text(case, "sha256"));
        assert_eq!(peer_json_unescaped(&value), text(case, "unescaped_form"));
        assert_eq!(peer_json_strict(&value).unwrap(), canonical);
    }
}

#[test]
fn every_peer_float_text() {
    let file = load("canonical.json");
    for case in section(&file, "float_texts") {
        let mut out = String::new();
        assert!(numbers::write_python_float(from_hex_float(text(case, "hex")), &mut out));
        assert_eq!(out, text(case, "text"));
    }
}

/// Python's `float.hex` form.
fn from_hex_float(text: &str) -> f64 {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = text.strip_prefix("0x").unwrap().split_once('p').unwrap();
    let (whole, fraction) = mantissa.split_once('.').unwrap();
    let exponent: i64 = exponent.parse().unwrap();
    let mantissa = u64::from_str_radix(fraction, 16).unwrap();
    let biased = if whole == "1" { u64::try_from(exponent + 1023).unwrap() } else { 0 };
    f64::from_bits(u64::from(negative) << 63 | biased << 52 | mantissa)
}

#[test]
fn overflow_is_a_word_in_the_plain_form_and_refused_in_the_strict_one() {
    let file = load("canonical.json");
    let mut ran = 0;
    for case in section(&file, "non_finite") {
        let (number, value) = match text(case, "value") {
            "inf" => ("1e400", f64::INFINITY),
            "-inf" => ("-1e400", f64::NEG_INFINITY),
            _ => ("", f64::NAN),
        };
        let mut out = String::new();
        assert!(!numbers::write_python_float(value, &mut out));
        assert_eq!(out, text(case, "plain_canonical"));
        if !number.is_empty() {
            let value = read(&format!("{{\"a/b\":[0,{number}]}}"));
            assert_eq!(peer_json(&value), format!("{{\"a/b\":[0,{out}]}}"));
            let refusal = peer_json_strict(&value).unwrap_err();
            assert_eq!(refusal, CanonicalRefusal::NotFinite { pointer: "/a~1b/1".into() });
            assert!(rfc8785(&value).is_err());
            ran += 1;
        }
    }
    assert_eq!(ran, 2);
}

#[test]
fn the_peer_has_one_integer_zero_and_exact_integers() {
    assert_eq!(
        peer_json(&read("[-0,-0.0,-0e5,123456789012345678901234567890]")),
        "[0,-0.0,-0.0,123456789012345678901234567890]"
    );
}

#[test]
fn rfc_8785_orders_by_utf_16_and_writes_doubles() {
    // The sample of RFC 8785 section 3.2.2, and the key order of 3.2.3.
    let value = read(
        r#"{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],
            "string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}"#,
    );
    assert_eq!(
        rfc8785(&value).unwrap(),
        "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"
    );
    let keys = read(r#"{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}"#);
    assert_eq!(rfc8785(&keys).unwrap(), "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\u{fb33}\":3}");
    assert_eq!(rfc8785(&read("[-0,-0.0,1.0,9007199254740993]")).unwrap(), "[0,0,1,9007199254740992]");
}

#[test]
fn lossless_numbers_are_values() {
    for (number, normal) in [
        ("0", "0"),
        ("-0", "-0"),
        ("-0.00e9", "-0"),
        ("0e5", "0"),
        ("1", "1"),
        ("1.0", "1"),
        ("1.00", "1"),
        ("10e-1", "1"),
        ("100", "1e2"),
        ("1E2", "1e2"),
        ("1.50", "15e-1"),
        ("-0.0015", "-15e-4"),
        ("1e400", "1e400"),
        ("1e-400", "1e-400"),
        ("9007199254740993", "9007199254740993"),
        ("1.0e+0000000000000000000000000000000000001", "1e1"),
        ("0.1234567890123456789012345678901234567890", "123456789012345678901234567890123456789e-39"),
    ] {
        assert_eq!(lossless_json(&read(number)), normal, "{number}");
    }
    let absurd = format!("1e{}", "9".repeat(40));
    assert_eq!(lossless_json(&read(&absurd)), absurd);
}

#[test]
fn what_a_double_holds() {
    for (number, fits) in [
        ("0.1", true),
        ("0.10", true),
        ("1e300", true),
        ("5e-324", true),
        ("1.7976931348623157e308", true),
        ("-0.0", true),
        ("0.30000000000000004", true),
        ("1e400", false),
        ("1e-400", false),
        ("0.1000000000000000055", false),
        ("1234567890123456789012345678901234567890.5", false),
        ("9007199254740993.0", false),
    ] {
        assert_eq!(decimal::fits_double(read(number).as_number().unwrap()), fits, "{number}");
    }
}

pub(crate) fn any_number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|value| value.to_string()),
        any::<f64>().prop_filter("finite", |value| value.is_finite()).prop_map(|value| format!("{value:e}")),
        "-?(0|[1-9][0-9]{0,40})(\\.[0-9]{1,40})?([eE][+-]?[0-9]{1,4})?",
    ]
}

pub(crate) fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any_number().prop_map(|text| Json::Number(JsonNumber::from_text(&text).unwrap())),
        any::<String>().prop_map(Json::String),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
            prop::collection::btree_map(any::<String>(), inner, 0..6).prop_map(Json::Object),
        ]
    })
}

/// Writes an object with its members in reverse order.
fn reversed(value: &Json) -> String {
    match value {
        Json::Array(items) => format!("[{}]", items.iter().map(reversed).collect::<Vec<_>>().join(",")),
        Json::Object(members) => {
            let members = members.iter().rev().map(|(key, item)| {
                let mut out = String::new();
                write_text(key, &mut out, true);
                format!("{out} : {}", reversed(item))
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(" , "))
        }
        other => crate::json::to_compact(other),
    }
}

proptest! {
    #[test]
    fn canonical_text_reads_back_to_itself(value in any_json()) {
        let lossless = lossless_json(&value);
        prop_assert_eq!(lossless_json(&read(&lossless)), lossless);
        if let Ok(strict) = peer_json_strict(&value) {
            prop_assert!(strict.is_ascii());
            prop_assert_eq!(peer_json_strict(&read(&strict)).unwrap(), strict.clone());
            prop_assert_eq!(&peer_json(&value), &strict);
            prop_assert_eq!(peer_json(&read(&peer_json_unescaped(&value))), strict);
        }
        if let Ok(text) = rfc8785(&value) {
            prop_assert_eq!(rfc8785(&read(&text)).unwrap(), text);
        }
    }

    #[test]
    fn member_order_and_blanks_do_not_matter(value in any_json()) {
        let other = read(&reversed(&value));
        prop_assert_eq!(lossless_json(&other), lossless_json(&value));
        prop_assert_eq!(peer_json(&other), peer_json(&value));
        prop_assert_eq!(rfc8785(&other), rfc8785(&value));
    }

    #[test]
    fn lossless_numbers_are_equal_exactly_when_their_values_are(a in any_number(), b in any_number()) {
        use bigdecimal::BigDecimal;
        let (x, y): (BigDecimal, BigDecimal) = (a.parse().unwrap(), b.parse().unwrap());
        let same = lossless_json(&read(&a)) == lossless_json(&read(&b));
        let zero = BigDecimal::from(0);
        let same_sign = x != zero || a.starts_with('-') == b.starts_with('-');
        prop_assert_eq!(same, x == y && same_sign);
        let order = decimal::Decimal::parse(&a).unwrap().compare(&decimal::Decimal::parse(&b).unwrap());
        prop_assert_eq!(order, x.cmp(&y));
    }

    #[test]
    fn a_changed_last_digit_changes_the_lossless_text(whole in "[1-9][0-9]{0,30}", fraction in "[0-9]{0,30}", a in 0u8..10, b in 0u8..10) {
        let number = |last: u8| lossless_json(&read(&format!("{whole}.{fraction}{last}")));
        prop_assert_eq!(number(a) == number(b), a == b);
        prop_assert_eq!(number(a), lossless_json(&read(&format!("{whole}.{fraction}{a}00"))));
    }

    #[test]
    fn python_floats_read_back(value in any::<f64>()) {
        let mut out = String::new();
        if numbers::write_python_float(value, &mut out) {
            prop_assert_eq!(out.parse::<f64>().unwrap().to_bits(), value.to_bits());
            prop_assert!(out.contains(['.', 'e']));
        }
    }
}
