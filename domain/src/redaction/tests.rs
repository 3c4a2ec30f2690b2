use std::collections::BTreeMap;

use super::*;
use crate::http::{HeaderMap, HeaderName, HeaderValue};
use crate::json::Json;
use crate::test_vectors::{load, section, text};

fn secrets(case: &Json) -> Vec<&str> {
    case.get("secrets").and_then(Json::as_array).unwrap_or_default().iter().filter_map(Json::as_str).collect()
}

/// Where the peer leaves something readable and we do not, or the other way round (`conformance/vectors/DEVIATIONS.md`).
fn ours(text: &str) -> Option<&'static str> {
    match text {
        // A name of several words is as sensitive as its last word.
        "my_token=abcdefgh" => Some("my_token=***REDACTED***"),
        _ => None,
    }
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R006
#[test]
fn every_vector_of_names_headers_urls_and_texts() {
    let file = load("redaction.json");
    assert_eq!(file.get("url_marker").and_then(Json::as_str), Some(URL_MARKER));
    assert_eq!(file.get("log_marker").and_then(Json::as_str), Some(LOG_MARKER));
    assert_eq!(file.get("message_marker").and_then(Json::as_str), Some(MESSAGE_MARKER));
    for case in section(&file, "names") {
        let sensitive = case.get("sensitive").and_then(Json::as_bool).unwrap();
        assert_eq!(is_sensitive_name(text(case, "name")), sensitive, "{}", text(case, "name"));
    }
    for case in section(&file, "urls") {
        assert_eq!(redact_url(text(case, "url")), text(case, "ok"), "{}", text(case, "url"));
    }
    for case in section(&file, "log_texts") {
        let given = text(case, "text");
        let expected = ours(given).unwrap_or_else(|| text(case, "redacted"));
        let once = redact_log_text(given, &secrets(case));
        assert_eq!(once, expected);
        assert_eq!(redact_log_text(&once, &secrets(case)), once, "redacting twice changes nothing");
        if let Some(contains) = case.get("contains_secret").and_then(Json::as_bool) {
            assert_eq!(contains_secret(given), contains || ours(given).is_some(), "{given}");
        }
    }
    let message = file.get("message").unwrap();
    assert_eq!(redact_message(text(message, "text"), &secrets(message)), text(message, "output"));

    let headers = file.get("headers").unwrap();
    let mut map = HeaderMap::new();
    for pair in section(headers, "input") {
        let [name, value] = pair.as_array().unwrap() else { panic!("a pair") };
        let name = HeaderName::from_bytes(name.as_str().unwrap().as_bytes()).unwrap();
        map.append(name, HeaderValue::from_str(value.as_str().unwrap()).unwrap());
    }
    // Header names have no case; the map has lower-cased them.
    let expected: BTreeMap<String, String> = headers
        .get("output")
        .and_then(Json::as_object)
        .unwrap()
        .iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), value.as_str().unwrap().to_owned()))
        .collect();
    assert_eq!(redact_headers(&map), expected);
}

#[test]
fn what_the_vectors_do_not_say() {
    assert_eq!(redact_log_text("bearer 0123456789", &[]), "bearer ***REDACTED***");
    assert_eq!(redact_log_text("basic authentication failed", &[]), "basic authentication failed");
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl";
    assert_eq!(redact_log_text(&format!("got {jwt} here"), &[]), "got ***REDACTED*** here");
    assert_eq!(redact_log_text("https://u:p@ss/w@h", &[]), "https://u:***REDACTED***@ss/w@h");
    assert_eq!(redact_log_text("q=p%40ss", &["p@ss"]), "q=***REDACTED***");
    assert_eq!(redact_log_text("ab abc", &["ab", "abc"]), "***REDACTED*** ***REDACTED***");
    assert_eq!(redact_url("mailto:someone@a.example?token=1"), "mailto:REDACTED");
    assert_eq!(redact_url("//user:pass@a.example/p"), "REDACTED");
    for kept in ["http://a.example", "http://[::1]:80", "https://a.example:443?q=1", "https://a.example/"] {
        assert_eq!(redact_url(&redact_url(kept)), redact_url(kept), "{kept}");
    }
    assert_eq!(redact_url("http://a.example:80"), "http://a.example:80");
    assert_eq!(redact_url("http:/a:80/b"), "http://a/b");
    assert_eq!(redact_url("https://a.example:443/p"), "https://a.example:443/p");
    let mut marked = HeaderValue::from_static("x");
    marked.set_sensitive(true);
    let map = HeaderMap::from_iter([(HeaderName::from_static("x-plain"), marked)]);
    assert_eq!(redact_headers(&map)["x-plain"], "REDACTED");
}
