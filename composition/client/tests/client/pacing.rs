//! Turns, pauses and places.

use std::time::Duration;

use futures_util::future::join_all;
use proptest::prelude::*;
use scion_client::{ClientBuilder, Pacing, Rate, per_second};
use scion_domain::http::Turns;

use crate::support::{Script, Step, code, ok, status, with};

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R005
#[tokio::test(start_paused = true)]
async fn concurrent_calls_take_turns_in_the_order_of_asking() {
    let script = Script::new([ok("{}")]);
    let client = script.build(|builder| builder.rate_limit(Rate::every(Duration::from_millis(100)))).await;
    let clones: Vec<_> = (0..6).map(|_| client.clone()).collect();
    let calls = clones.iter().enumerate().map(|(index, client)| client.get(&format!("/{index}")).send());
    assert!(join_all(calls).await.iter().all(Result::is_ok));
    assert_eq!(script.times_ms(), [0, 100, 200, 300, 400, 500]);
    assert_eq!(script.paths(), ["/v1/0", "/v1/1", "/v1/2", "/v1/3", "/v1/4", "/v1/5"]);

    // Another client of the same upstream takes turns in the same row.
    let other = script.build(|builder| builder.rate_limit(client.pacing())).await;
    other.get("/other").send().await.unwrap();
    assert_eq!(script.times_ms()[6], 600);
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R005
#[tokio::test(start_paused = true)]
async fn a_turn_after_the_deadline_is_not_waited_for() {
    let script = Script::new([ok("{}")]);
    let client = script.build(|builder| builder.rate_limit(Rate::every(Duration::from_secs(10)))).await;
    client.get("/x").send().await.unwrap();
    let before = tokio::time::Instant::now();
    let refused = client.get("/x").total_timeout(Duration::from_secs(5)).send().await;
    assert_eq!((code(refused), before.elapsed(), script.count()), ("client_paced", Duration::ZERO, 1));
    client.get("/x").send().await.unwrap();
    assert_eq!(script.times_ms(), [0, 10_000], "a refused call has taken no turn");
}

#[tokio::test(start_paused = true)]
async fn a_retry_without_a_turn_tells_of_the_failure_before_it() {
    let script = Script::new([status(503)]);
    let client = script.build(|builder| builder.rate_limit(Rate::every(Duration::from_mins(1)))).await;
    assert_eq!((code(client.get("/x").send().await), script.count()), ("response_server", 1));
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R005
#[tokio::test(start_paused = true)]
async fn an_exhausted_window_holds_every_call_back() {
    let exhausted = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "7")];
    let steps = [with(200, &exhausted, "{}"), ok("{}")];
    let script = Script::new(steps.clone());
    let client = script.client().await;
    client.get("/x").send().await.unwrap();
    assert!(join_all((0..3).map(|_| client.get("/x").send())).await.iter().all(Result::is_ok));
    assert_eq!(script.times_ms(), [0, 7000, 7000, 7000]);

    let script = Script::new(steps);
    let client = script.build(|builder| builder.adaptive(false)).await;
    client.get("/x").send().await.unwrap();
    client.get("/x").send().await.unwrap();
    assert_eq!(script.times_ms(), [0, 0]);
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R005
#[tokio::test(start_paused = true)]
async fn no_more_calls_at_once_than_allowed() {
    let script = Script::new([Step::Slow(Duration::from_secs(1))]);
    let client = script.build(|builder| builder.max_concurrent(3)).await;
    assert!(join_all((0..9).map(|_| client.get("/x").bytes())).await.iter().all(Result::is_ok));
    assert_eq!((script.peak(), script.times_ms()[8]), (3, 2000));

    // A body that is unread holds its place; a call that is dropped, or waits to be repeated, does not.
    let script = Script::new([ok("{}")]);
    let client = script.build(|builder| builder.max_concurrent(1)).await;
    let response = client.get("/x").send().await.unwrap();
    let second = || client.get("/x").total_timeout(Duration::from_secs(1)).send();
    assert_eq!(code(second().await), "client_deadline");
    drop(response);
    assert_eq!(code(second().await), "ok");

    let script = Script::new([with(429, &[("retry-after", "5")], ""), ok("{}")]);
    let client = script.build(|builder| ClientBuilder::adaptive(builder, false).max_concurrent(1)).await;
    let (first, second) = tokio::join!(client.get("/first").send(), client.get("/second").bytes());
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(
        (script.paths(), script.times_ms()),
        (vec!["/v1/first".into(), "/v1/second".into(), "/v1/first".into()], vec![0, 0, 5000])
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_given_up_leaves_everything_as_it_was() {
    let script = Script::new([Step::Hang, ok("{}")]);
    let client = script.build(|builder| builder.max_concurrent(1)).await;
    let hanging = tokio::time::timeout(Duration::from_secs(1), client.get("/x").send()).await;
    assert!(hanging.is_err());
    assert_eq!(code(client.get("/x").send().await), "ok");
    let script = Script::new([status(503)]);
    let client = script.client().await;
    let waiting = tokio::time::timeout(Duration::from_millis(10), client.get("/x").send()).await;
    assert!(waiting.is_err());
    assert_eq!(script.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_pause_has_an_end() {
    let script = Script::new([ok("{}")]);
    let pacing = Pacing::new(None);
    pacing.pause(Duration::ZERO, Duration::MAX);
    let client = script.build(|builder| builder.rate_limit(pacing).total_timeout(Duration::from_hours(1))).await;
    client.get("/x").send().await.unwrap();
    assert_eq!(script.times_ms(), [120_000]);
}

proptest! {
    #[test]
    fn turns_keep_the_rate_and_the_order(asks in prop::collection::vec((0u64..500, 0u64..3000), 1..60), per in 1u32..20) {
        let mut turns = Turns::new(Some(per_second(per)));
        let (mut now, mut starts) = (Duration::ZERO, Vec::new());
        for (later, patience) in asks {
            now += Duration::from_millis(later);
            match turns.reserve(now, Duration::from_millis(patience)) {
                Ok(wait) => starts.push(now + wait),
                Err(wait) => prop_assert!(wait > Duration::from_millis(patience)),
            }
        }
        prop_assert!(starts.is_sorted(), "first come, first served");
        // A window of a second holds at most its own worth and one burst.
        for (index, start) in starts.iter().enumerate() {
            let inside = starts[index..].iter().take_while(|other| **other < *start + Duration::from_secs(1)).count();
            prop_assert!(inside <= 2 * per as usize, "{inside} starts within a second at {per}");
        }
    }
}
