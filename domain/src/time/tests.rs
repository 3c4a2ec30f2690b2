use proptest::prelude::*;

use super::calendar::days_since_epoch;
use super::*;

fn at(text: &str) -> Timestamp {
    Timestamp::parse_or_utc(text).unwrap_or_else(|refusal| panic!("{text}: {refusal}"))
}

#[test]
fn what_vendors_send_is_read() {
    for (text, seconds, fraction) in [
        ("1970-01-01T00:00:00Z", 0, ""),
        ("2026-03-01T12:00:00Z", 1_772_366_400, ""),
        ("2026-03-01t12:00:00z", 1_772_366_400, ""),
        ("2026-03-01 12:00:00+00:00", 1_772_366_400, ""),
        ("2026-03-01T14:00:00+02:00", 1_772_366_400, ""),
        ("2026-03-01T14:00:00+0200", 1_772_366_400, ""),
        ("2026-03-01T14:00:00 +02", 1_772_366_400, ""),
        ("2026-03-01T06:30:00-05:30", 1_772_366_400, ""),
        ("2026-03-01T12:00Z", 1_772_366_400, ""),
        ("20260301T120000Z", 1_772_366_400, ""),
        ("20260301T1200Z", 1_772_366_400, ""),
        ("2026-03-01T12:00:00.000000000000001Z", 1_772_366_400, "000000000000001"),
        ("2026-03-01T12:00:00,120Z", 1_772_366_400, "12"),
        ("2026-03-01T12:00:00.000Z", 1_772_366_400, ""),
        ("2026-03-01T24:00:00Z", 1_772_409_600, ""),
        ("2016-12-31T23:59:60Z", 1_483_228_800, ""),
        ("2000-02-29T00:00:00Z", 951_782_400, ""),
        ("0000-01-01T00:00:00Z", -62_167_219_200, ""),
        ("9999-12-31T23:59:59Z", 253_402_300_799, ""),
        ("1969-12-31T23:59:59.5Z", -1, "5"),
    ] {
        let time = Timestamp::parse(text).unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
        assert_eq!((time.unix_seconds(), time.fraction_digits(), time.as_text()), (seconds, fraction, text));
    }
}

#[test]
fn a_missing_zone_is_utc_only_where_that_is_said() {
    for text in ["2026-03-01", "20260301", "2026-03-01T12:00:00", "2026-03-01 12:00"] {
        assert_eq!(Timestamp::parse(text), Err(TimeRefusal::NoZone), "{text}");
        assert!(Timestamp::parse_or_utc(text).is_ok(), "{text}");
    }
    assert_eq!(at("2026-03-01"), at("2026-03-01T01:00:00+01:00"));
}

#[test]
fn what_is_not_a_time_is_refused() {
    for text in [
        "",
        "now",
        "2026",
        "2026-03",
        "2026-3-1",
        "2026-03-01T",
        "2026-03-01T12",
        "2026-03-01T12:00:00.Z",
        "2026-03-0112:00:00Z",
        "2026-03-01T12:00:00Zx",
        "2026-03-01T12:00:00+",
        "2026-03-01T12:00:00+2",
        "2026-03-01T12:00:00+02:",
        "+2026-03-01",
        "2026-0301",
        "2026-03-01T12:00:00\u{2212}02:00",
        "Sun, 01 Mar 2026 12:00:00 GMT",
        "２０２６-03-01",
    ] {
        assert_eq!(Timestamp::parse_or_utc(text), Err(TimeRefusal::Malformed), "{text}");
    }
    for (text, field) in [
        ("2026-02-30T00:00:00Z", "date"),
        ("1900-02-29", "date"),
        ("2026-13-01", "date"),
        ("2026-00-01", "date"),
        ("2026-01-00", "date"),
        ("2026-03-01T25:00:00Z", "hour"),
        ("2026-03-01T24:00:01Z", "hour"),
        ("2026-03-01T24:00:00.1Z", "hour"),
        ("2026-03-01T12:60:00Z", "minute"),
        ("2026-03-01T12:00:61Z", "second"),
        ("2026-03-01T12:00:00+24:00", "offset"),
        ("2026-03-01T12:00:00+02:60", "offset"),
    ] {
        assert_eq!(Timestamp::parse(text), Err(TimeRefusal::OutOfRange { field }), "{text}");
    }
    let long = format!("2026-03-01T12:00:00.{}Z", "1".repeat(300));
    assert!(matches!(Timestamp::parse(&long), Err(TimeRefusal::TooLong { limit: 256, .. })));
}

#[test]
fn marks_of_one_kind_compare_by_value() {
    for (less, more) in [
        ("2026-03-01T12:00:00+02:00", "2026-03-01T11:00:00Z"),
        ("2026-03-01T12:00:00.123456789Z", "2026-03-01T12:00:00.1234567890001Z"),
        ("2026-03-01", "2026-03-01T00:00:01Z"),
        ("9", "10"),
        ("-10", "-9"),
        ("9007199254740992", "9007199254740993"),
        ("0.1", "0.10000000000000000000000000000000000000001"),
        ("1e999999998", "1e999999999"),
        ("-1", "0"),
        ("abc", "abd"),
        ("~~~", "0"),
        ("zzz", "2026-03-01T12:00:00Z"),
        ("99999999999", "1970-01-01T00:00:00Z"),
    ] {
        assert_eq!(Watermark::compare(less, more), Ordering::Less, "{less} {more}");
        assert_eq!(Watermark::compare(more, less), Ordering::Greater, "{less} {more}");
    }
    for (a, b) in [("10", "10.0"), ("007", "7"), ("-0", "0"), ("2026-03-01T12:00:00Z", "2026-03-01T13:00:00.00+01:00")]
    {
        assert_eq!(Watermark::compare(a, b), Ordering::Equal, "{a} {b}");
    }
}

#[test]
fn a_watermark_never_goes_back_and_keeps_its_spelling() {
    assert_eq!(Watermark::advance(None, "b"), "b");
    assert_eq!(Watermark::advance(Some("2026-03-01T12:00:00Z"), "2026-03-01T12:30:00+01:00"), "2026-03-01T12:00:00Z");
    assert_eq!(Watermark::advance(Some("2026-03-01T12:00:00Z"), "2026-03-01T13:00:00+01:00"), "2026-03-01T12:00:00Z");
    assert_eq!(
        Watermark::advance(Some("2026-03-01T12:00:00Z"), "2026-03-01T13:00:01+01:00"),
        "2026-03-01T13:00:01+01:00"
    );
    assert_eq!(Watermark::advance(Some("2026-03-01T12:00:00Z"), "unknown"), "2026-03-01T12:00:00Z");
    assert_eq!(Watermark::advance(Some("9"), "10"), "10");
}

#[test]
fn only_a_mark_of_the_same_kind_is_covered() {
    let noon = "2026-03-01T12:00:00Z";
    for (seen, covered) in [
        (noon, true),
        ("2026-03-01T13:00:00+01:00", true),
        ("2026-02-28", true),
        ("2026-03-01T12:00:00.0000000001Z", false),
        ("unknown", false),
        ("", false),
        ("1772366400", false),
    ] {
        assert_eq!(Watermark::covers(noon, seen), covered, "{seen}");
    }
    assert!(Watermark::covers("10", "9.99") && !Watermark::covers("10", "abc"));
}

#[test]
fn every_day_of_two_centuries_follows_the_one_before() {
    let mut last = days_since_epoch(1899, 12, 31).unwrap();
    for year in 1900..2101 {
        for month in 1..=12 {
            for day in 1..=31 {
                if let Some(days) = days_since_epoch(year, month, day) {
                    assert_eq!(days, last + 1, "{year}-{month}-{day}");
                    last = days;
                }
            }
        }
    }
}

fn any_time() -> impl Strategy<Value = String> {
    let fraction = prop_oneof![Just(String::new()), "\\.[0-9]{1,12}"];
    let zone = prop_oneof![
        Just("Z".to_owned()),
        Just(String::new()),
        (0..24, 0..60).prop_map(|(h, m)| format!("+{h:02}:{m:02}")),
        (0..24, 0..60).prop_map(|(h, m)| format!("-{h:02}{m:02}")),
    ];
    let clock = (0..24, 0..60, 0..61, fraction, zone);
    (0..10_000, 1..13, 1..29, prop::option::of(clock)).prop_map(|(year, month, day, clock)| {
        let clock = clock.map_or(String::new(), |(h, m, s, f, z)| format!("T{h:02}:{m:02}:{s:02}{f}{z}"));
        format!("{year:04}-{month:02}-{day:02}{clock}")
    })
}

fn any_mark() -> impl Strategy<Value = String> {
    prop_oneof![
        any_time(),
        crate::canonical::tests::any_number(),
        "[0-9a-z.:-]{0,6}",
        any::<String>(),
        "2026-03-01T12:00:0[0-2](\\.0{0,3})?(Z|\\+00:00)?"
    ]
}

proptest! {
    #[test]
    fn marks_are_totally_ordered(a in any_mark(), b in any_mark(), c in any_mark()) {
        let order = Watermark::compare;
        prop_assert_eq!(order(&a, &a), Ordering::Equal);
        prop_assert_eq!(order(&a, &b), order(&b, &a).reverse());
        if order(&a, &b) != Ordering::Greater && order(&b, &c) != Ordering::Greater {
            prop_assert_ne!(order(&a, &c), Ordering::Greater);
            if order(&a, &b) == Ordering::Less || order(&b, &c) == Ordering::Less {
                prop_assert_eq!(order(&a, &c), Ordering::Less);
            }
        }
    }

    #[test]
    fn advancing_reaches_the_maximum_in_any_order(marks in prop::collection::vec(any_mark(), 1..8)) {
        let reach = |marks: &mut dyn Iterator<Item = &String>| marks.fold(None, |current: Option<String>, seen| {
            let next = Watermark::advance(current.as_deref(), seen);
            if let Some(current) = &current {
                assert_ne!(Watermark::compare(&next, current), Ordering::Less);
            }
            Some(next)
        }).unwrap();
        let (forward, backward) = (reach(&mut marks.iter()), reach(&mut marks.iter().rev()));
        prop_assert_eq!(Watermark::compare(&forward, &backward), Ordering::Equal);
        prop_assert!(marks.iter().all(|mark| Watermark::compare(mark, &forward) != Ordering::Greater));
    }

    #[test]
    fn times_never_panic_and_keep_their_text(text in any::<String>(), time in any_time()) {
        let _ = Timestamp::parse_or_utc(&text);
        let read = at(&time);
        prop_assert_eq!(read.as_text(), time.as_str());
    }

    #[test]
    fn an_offset_moves_the_text_and_not_the_instant(day in 1..29, hour in 0i64..24, offset in 0i64..24) {
        let utc = at(&format!("2026-03-{day:02}T{hour:02}:00:00Z"));
        let local = at(&format!("2026-03-{day:02}T{hour:02}:00:00+{offset:02}:00"));
        prop_assert_eq!(utc.unix_seconds() - local.unix_seconds(), offset * 3600);
    }
}
