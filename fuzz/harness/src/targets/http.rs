//! What a server writes into header fields and error bodies.

use std::time::Duration;

use scion_domain::http::{
    HeaderMap, HeaderName, HeaderValue, Problem, RateSnapshot, StatusCode, retry_after, throttle_wait,
};
use scion_domain::json::Json;
use scion_domain::pagination::http::{link_cursor, next_link};
use scion_domain::redaction::{contains_secret, redact_log_text, redact_url};

/// 2026-03-01T12:00:00Z.
const NOW_MS: i64 = 1_772_366_400_000;

/// Lines of `name: value`. One reading of them is made, a wait stays under its cap, and the same value read later asks for no
/// longer wait.
pub fn rate_headers(data: &[u8]) {
    let mut headers = HeaderMap::new();
    for line in data.split(|byte| *byte == b'\n').take(64) {
        let Some(at) = line.iter().position(|byte| *byte == b':') else { continue };
        let name = HeaderName::from_bytes(line[..at].trim_ascii());
        let value = HeaderValue::from_bytes(line[at + 1..].trim_ascii());
        if let (Ok(name), Ok(value)) = (name, value) {
            if let Some(wait) = value.to_str().ok().and_then(|text| retry_after(text, NOW_MS)) {
                let later = value.to_str().ok().and_then(|text| retry_after(text, NOW_MS + 1000));
                assert!(later.is_some_and(|later| later <= wait), "{value:?}");
            }
            headers.append(name, value);
        }
    }
    let snapshot = RateSnapshot::read(&headers, NOW_MS);
    let cap = Duration::from_secs(15);
    assert!(throttle_wait(snapshot.as_ref(), NOW_MS, Duration::from_secs(1), cap) <= cap);
    if let Some(snapshot) = snapshot {
        assert!(snapshot.to_json().as_object().is_some_and(|members| !members.is_empty()), "{snapshot:?}");
        let _ = snapshot.asked_wait(i64::MAX);
        let _ = snapshot.asked_wait(i64::MIN);
    }
}

/// A `Link` header. What it names is a part of it, and a cursor made of it is a path.
pub fn link_header(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Some(target) = next_link(&text) {
        assert!(text.contains(&format!("<{target}>")), "{target}");
    }
    if let Ok(Some(cursor)) = link_cursor("/v1/items", &text, "https://api.example") {
        assert!(cursor.starts_with('/'), "{cursor}");
    }
}

/// An error body, and texts to redact. A problem stays inside its bounds, its safe type is an identifier, and redacting twice
/// changes nothing.
pub fn problem(data: &[u8]) {
    let problem = Problem::read(StatusCode::CONFLICT, Some("application/problem+json"), data);
    assert!(problem.extensions.len() <= 32 && problem.status == 409);
    assert!(
        [&problem.title, &problem.detail]
            .iter()
            .all(|text| text.as_ref().is_none_or(|text| text.chars().count() <= 2048))
    );
    assert!(problem.safe_kind().len() <= 200 && problem.safe_kind().is_ascii());
    assert_eq!(problem.to_json().get("status"), Some(&Json::from(409_u64)));
    let text = String::from_utf8_lossy(data);
    let once = redact_log_text(&text, &[]);
    assert_eq!(redact_log_text(&once, &[]), once);
    assert_eq!(contains_secret(&text), once != text);
    let url = redact_url(&text);
    assert_eq!(redact_url(&url), url, "{text:?}");
}
