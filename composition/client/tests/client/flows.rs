//! The flows of the golden vectors.

use std::time::Duration;

use scion_domain::http::HttpRefusal;
use scion_domain::json::{Json, JsonNumber, to_compact};
use scion_domain::refusal::Refusal as _;

use crate::support::{Script, Step, broken};

fn step(entry: &Json) -> Step {
    let host = || "api.example".to_owned();
    match entry {
        Json::String(error) => Step::Refuse(match error.as_str() {
            "ConnectError" => HttpRefusal::Connect { host: host() },
            "ReadError" => broken(),
            "ReadTimeout" => HttpRefusal::Timeout { host: host(), phase: "idle" },
            other => panic!("{other}"),
        }),
        Json::Array(parts) => {
            let status = u16::try_from(parts[0].as_number().unwrap().as_u64().unwrap()).unwrap();
            let headers = parts.get(1).and_then(Json::as_object).cloned().unwrap_or_default();
            let headers = headers.iter().filter_map(|(name, value)| {
                let name = ["retry-after", "location"].into_iter().find(|known| known == name)?;
                Some((name, value.as_str().unwrap().to_owned()))
            });
            let body = parts.get(2).and_then(Json::as_str).unwrap_or("{}");
            Step::Answer(status, headers.collect(), body.to_owned())
        }
        other => panic!("{other:?}"),
    }
}

fn seconds(value: &Json) -> Duration {
    Duration::from_secs_f64(value.as_number().unwrap().as_f64())
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R001, SDK-CONNECTOR-CONTROL-R780.3
#[tokio::test(start_paused = true)]
async fn every_flow_of_the_vectors() {
    let text = include_str!("../../../../conformance/vectors/ratelimit.json");
    let file = scion_domain::json::parse(text).unwrap();
    let flows = file.get("flows").and_then(Json::as_array).unwrap();
    assert!(flows.len() >= 15);
    for flow in flows {
        let id = flow.get("id").and_then(Json::as_str).unwrap();
        let script = Script::new(flow.get("script").and_then(Json::as_array).unwrap().iter().map(step));
        let client = script.client().await;
        let method = flow.get("method").and_then(Json::as_str).unwrap();
        let request = if method == "POST" { client.post("/x") } else { client.get("/x") };
        let request = if id == "too-large" { request.max_bytes(50) } else { request };
        let result = request.json::<Json>().await;

        let times = script.times_ms();
        let waits: Vec<u128> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let expected = flow.get("waits").and_then(Json::as_array).unwrap().iter();
        let expected: Vec<u128> = expected.map(|wait| seconds(wait).as_millis()).collect();
        // The longest jitter is one tick short of the ceiling; timers round up to a millisecond.
        let near = waits.iter().zip(&expected).all(|(wait, expected)| wait.abs_diff(*expected) <= 1);
        assert!(near && waits.len() == expected.len(), "{id}: {waits:?} {expected:?}");
        let count = flow.get("requests").and_then(Json::as_number).and_then(JsonNumber::as_u64);
        assert_eq!(u64::try_from(times.len()).ok(), count, "{id}");

        // A redirect is no content, and the last failure says more than that there were several.
        let wanted = match (id, flow.get("error").and_then(|error| error.get("type")).and_then(Json::as_str)) {
            ("redirect-not-followed", _) => Some("response_redirected"),
            ("not-json", _) => Some("response_not_json"),
            ("three-503" | "post-503" | "500-not-retried", _) => Some("response_server"),
            ("post-read-error" | "get-read-errors", _) => Some("http_broken"),
            (_, Some("HttpRateLimitedError")) => Some("response_rate_limited"),
            (_, Some("ResponseTooLargeError")) => Some("http_too_large"),
            (_, Some("HttpUnauthorizedError")) => Some("response_unauthorized"),
            (_, None) => None,
            (_, Some(other)) => panic!("{id}: {other}"),
        };
        match result {
            Ok(value) => {
                assert_eq!(wanted, None, "{id}");
                assert_eq!(to_compact(&value), to_compact(flow.get("value").unwrap()), "{id}");
            }
            Err(refusal) => assert_eq!(Some(refusal.code()), wanted, "{id}"),
        }
    }
}
