//! What one caller may take from the others.

use std::num::NonZeroU32;
use std::time::Duration;

use scion_domain::listener::ListenerSettings;
use scion_domain::rate_bucket::RateLimit;
use serde_json::json;

use crate::wire::{Got, Server, enveloped, initialize, open, verified};

const CALL: [(&str, &str); 3] =
    [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "desk_whoami")];

async fn call(server: &Server, token: &str) -> Got {
    let mut headers = CALL.to_vec();
    headers.push(("authorization", token));
    server.post(&headers, &enveloped("tools/call", json!({"name": "desk_whoami", "arguments": {}}))).await
}

fn slow() -> RateLimit {
    RateLimit { per_second: NonZeroU32::new(2).unwrap(), burst: NonZeroU32::new(3).unwrap() }
}

#[tokio::test]
async fn a_caller_that_asks_too_often_is_told_when_to_return() {
    let server = Server::start_with(verified(), ListenerSettings::default(), |options| {
        options.rate = Some(slow());
    })
    .await;
    for _ in 0..3 {
        assert_eq!(call(&server, "Bearer token-of-ada").await.message()["result"]["content"][0]["text"], "ada");
    }
    let refused = call(&server, "Bearer token-of-ada").await;
    let message = refused.message();
    assert_eq!((refused.status, message["error"]["code"].as_i64(), &message["id"]), (200, Some(-32_000), &json!(7)));
    assert_eq!(message["error"]["data"]["code"], "server_rate_limited");
    let wait = message["error"]["data"]["retry_after_ms"].as_u64().unwrap();
    assert!((1..=500).contains(&wait), "{wait}");
    let other = call(&server, "Bearer token-of-bob").await;
    assert_eq!(other.message()["result"]["content"][0]["text"], "bob", "another caller has a bucket of its own");
    tokio::time::sleep(Duration::from_millis(wait)).await;
    assert_eq!(call(&server, "Bearer token-of-ada").await.message()["result"]["content"][0]["text"], "ada");
}

#[tokio::test]
async fn of_thirty_requests_at_once_some_are_refused_unless_the_limit_is_off() {
    for (rate, refuses) in [(Some(RateLimit::default()), true), (None, false)] {
        let server = Server::start_with(open(), ListenerSettings::default(), |options| options.rate = rate).await;
        let calls = (0..30).map(|_| call(&server, "Bearer of-nobody"));
        let answers = futures_util::future::join_all(calls).await;
        let refused = answers.iter().filter(|got| got.message()["error"]["code"] == -32_000).count();
        assert_eq!(refused > 0, refuses, "{refused}");
        assert!(refused <= 10, "{refused}");
    }
}

#[tokio::test]
async fn what_is_no_request_is_not_refused() {
    let server = Server::start_with(open(), ListenerSettings::default(), |options| {
        options.rate = Some(RateLimit { per_second: NonZeroU32::MIN, burst: NonZeroU32::MIN });
    })
    .await;
    // Opening takes the only request there is; the notification after it is let through.
    let _session = server.session(&[]).await;
    let second = server.post(&[], &initialize()).await;
    assert_eq!(second.message()["error"]["code"], -32_000, "{second:?}");
}

#[tokio::test]
async fn calls_at_once_are_bounded_over_all_conversations() {
    let server = Server::start_with(open(), ListenerSettings::default(), |options| {
        options.serve.max_calls = 1;
        options.serve.call_timeout = Duration::from_millis(700);
    })
    .await;
    let hang = [CALL[0], CALL[1], ("mcp-name", "desk_hang")];
    let message = enveloped("tools/call", json!({"name": "desk_hang", "arguments": {}}));
    let hangs = async { (server.post(&hang, &message).await, std::time::Instant::now()) };
    let waits = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        (call(&server, "Bearer of-nobody").await, std::time::Instant::now())
    };
    let ((hung, hung_until), (answered, answered_at)) = tokio::join!(hangs, waits);
    assert_eq!(hung.message()["result"]["isError"], true, "{hung:?}");
    assert_eq!(answered.message()["result"]["content"][0]["text"], "nobody");
    assert!(answered_at + Duration::from_millis(50) >= hung_until, "the second call did not wait for its turn");
}
