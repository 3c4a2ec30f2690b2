use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::json::Json;
use crate::refusal::Retry;
use crate::test_vectors::{load, section};

fn seconds(value: &Json) -> Duration {
    Duration::from_secs_f64(value.as_number().unwrap().as_f64())
}

#[test]
fn every_backoff_vector() {
    let file = load("runner.json");
    for case in section(&file, "backoff") {
        let backoff = Backoff::new(seconds(case.get("initial").unwrap()), seconds(case.get("maximum").unwrap()));
        let Some(ok) = case.get("ok") else {
            assert!(backoff.is_err());
            continue;
        };
        let mut backoff = backoff.unwrap();
        let delays = section(ok, "delays");
        for delay in delays {
            assert_eq!(backoff.failed(), seconds(delay));
        }
        assert_eq!(backoff.failures() as usize, delays.len());
        backoff.reset();
        assert_eq!((backoff.failures(), backoff.failed()), (0, seconds(ok.get("after_reset").unwrap())));
    }
}

#[test]
fn a_maximum_below_the_initial_delay_is_refused_at_once() {
    let refusal = Backoff::new(Duration::from_secs(5), Duration::from_secs(1)).unwrap_err();
    assert_eq!(refusal, RetryRefusal::MaximumBelowInitial { initial_ms: 5000, maximum_ms: 1000 });
    let second = Duration::from_secs(1);
    for attempts in [0, 11] {
        assert!(matches!(
            RetryPolicy::new(attempts, second, second, second),
            Err(RetryRefusal::Attempts { limit: 10, .. })
        ));
    }
    assert!(RetryPolicy::new(10, second, second, Duration::ZERO).is_ok());
}

fn attempt(number: u32) -> Attempt {
    Attempt {
        number,
        retry: Retry::Later,
        idempotent: true,
        not_sent: false,
        retry_after: None,
        remaining: Some(Duration::from_hours(1)),
    }
}

#[test]
fn ceilings_double_up_to_the_maximum() {
    let policy = RetryPolicy::new(10, Duration::from_millis(500), Duration::from_secs(30), Duration::ZERO).unwrap();
    let ceilings: Vec<f64> = (1..10).map(|number| policy.ceiling(number).as_secs_f64()).collect();
    assert_eq!(ceilings, [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]);
    assert_eq!(policy.ceiling(u32::MAX), Duration::from_secs(30));
}

#[test]
fn each_reason_to_give_up() {
    let policy = RetryPolicy::DEFAULT;
    let give_up = |attempt: Attempt| match policy.decide(&attempt, u64::MAX) {
        Decision::GiveUp(why) => why,
        Decision::After(delay) => panic!("waits {delay:?}"),
    };
    assert_eq!(give_up(Attempt { retry: Retry::Never, ..attempt(1) }), GiveUp::Permanent);
    assert_eq!(give_up(Attempt { retry: Retry::AfterReadback, ..attempt(1) }), GiveUp::ReadBackFirst);
    assert_eq!(give_up(Attempt { idempotent: false, ..attempt(1) }), GiveUp::NotRepeatable);
    assert_eq!(give_up(attempt(3)), GiveUp::Exhausted);
    let asks = |seconds| Attempt { retry_after: Some(Duration::from_secs(seconds)), ..attempt(1) };
    assert_eq!(give_up(asks(121)), GiveUp::RetryAfterTooLong);
    assert_eq!(give_up(asks(u64::MAX)), GiveUp::RetryAfterTooLong);
    assert_eq!(policy.decide(&asks(120), 0), Decision::After(Duration::from_mins(2)));
    assert_eq!(give_up(Attempt { remaining: Some(Duration::from_mins(2)), ..asks(120) }), GiveUp::Deadline);
    assert_eq!(give_up(Attempt { remaining: None, ..attempt(1) }), GiveUp::NoDeadline);
    let unsent = Attempt { idempotent: false, not_sent: true, ..attempt(1) };
    assert!(matches!(policy.decide(&unsent, 7), Decision::After(_)));
}

proptest! {
    #[test]
    fn a_wait_stays_under_its_ceiling_and_inside_the_deadline(number in 1u32..10, random in any::<u64>(), left in 0u64..60_000) {
        let policy = RetryPolicy::new(10, Duration::from_millis(500), Duration::from_secs(30), Duration::ZERO).unwrap();
        let remaining = Duration::from_millis(left);
        match policy.decide(&Attempt { remaining: Some(remaining), ..attempt(number) }, random) {
            Decision::After(delay) => prop_assert!(delay < policy.ceiling(number) && delay < remaining),
            Decision::GiveUp(why) => prop_assert_eq!(why, GiveUp::Deadline),
        }
    }

    #[test]
    fn more_randomness_waits_longer(a in any::<u64>(), b in any::<u64>()) {
        let wait = |random| match RetryPolicy::DEFAULT.decide(&attempt(2), random) {
            Decision::After(delay) => delay,
            Decision::GiveUp(why) => panic!("{why:?}"),
        };
        prop_assert_eq!(wait(a.min(b)), wait(a).min(wait(b)));
        prop_assert_eq!(wait(0), Duration::ZERO);
    }

    #[test]
    fn delays_never_shrink_without_a_success(initial in 1u64..1000, more in 0u64..100_000, failures in 1usize..100) {
        let mut backoff = Backoff::new(Duration::from_millis(initial), Duration::from_millis(initial + more)).unwrap();
        let delays: Vec<_> = (0..failures).map(|_| backoff.failed()).collect();
        prop_assert!(delays.is_sorted());
        prop_assert!(delays.iter().all(|delay| *delay <= Duration::from_millis(initial + more)));
    }
}
