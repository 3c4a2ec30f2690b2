//! Health bodies as text: the peer's member order and spacing, so that a text comparison of an old probe still holds.

use scion_domain::json::{Json, to_spaced};

/// Members in the peer's order; what is not listed follows by name.
const ORDER: [&str; 12] = [
    "status",
    "component",
    "heartbeat_age_seconds",
    "age_seconds",
    "max_age_seconds",
    "reasons",
    "connectors",
    "last_success_seconds_ago",
    "consecutive_failures",
    "next_retry_seconds",
    "credentials_ok",
    "credential_error",
];

/// Writes a body.
pub(super) fn text(value: &Json) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Json, out: &mut String) {
    let Json::Object(members) = value else {
        out.push_str(&to_spaced(value));
        return;
    };
    let rank = |key: &str| ORDER.iter().position(|known| *known == key).unwrap_or(ORDER.len());
    let mut members: Vec<_> = members.iter().collect();
    members.sort_by_key(|(key, _)| rank(key));
    out.push('{');
    for (index, (key, value)) in members.into_iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        out.push_str(&to_spaced(&Json::from(key.as_str())));
        out.push_str(": ");
        write(value, out);
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use scion_domain::json::parse;

    use super::*;

    #[test]
    fn every_body_of_the_vectors_is_text_for_text() {
        // The order of the vectors is that of the peer: read them as text.
        for line in [
            r#"{"status": "ok", "heartbeat_age_seconds": 0.0}"#,
            r#"{"status": "error", "component": "scheduler_loop", "age_seconds": 180.5, "max_age_seconds": 180.0}"#,
            r#"{"status": "not_ready", "reasons": ["a"], "connectors": {"a": {"last_success_seconds_ago": null, "consecutive_failures": 0, "next_retry_seconds": null, "credentials_ok": null, "credential_error": ""}, "z": {}}}"#,
        ] {
            assert_eq!(text(&parse(line).unwrap()), line);
        }
    }
}
