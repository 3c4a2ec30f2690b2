//! The keys of each mapping, and the closest right key to a wrong one.

/// The whole document.
pub(crate) const DOCUMENT: &[&str] = &["settings", "connectors"];
/// `settings`.
pub(crate) const SETTINGS: &[&str] =
    &["max_concurrency", "backoff_initial_seconds", "backoff_max_seconds", "registry_refresh_seconds"];
/// One of `connectors`.
pub(crate) const CONNECTOR: &[&str] = &[
    "connector",
    "endpoint",
    "presets",
    "provision",
    "interval_seconds",
    "data_resources",
    "mapping_reference",
    "empty_authoritative_approval",
    "max_pages_per_cycle",
    "leave_out_foreign_edges",
];
/// `endpoint`.
pub(crate) const ENDPOINT: &[&str] =
    &["url", "command", "args", "env", "bearer_token", "client_credentials", "timeout_seconds"];
/// `client_credentials`.
pub(crate) const CREDENTIALS: &[&str] = &["issuer", "token_url", "client_id", "client_secret_ref", "audience", "scope"];

const PLACES: [(&str, &[&str]); 5] = [
    ("the top of the file", DOCUMENT),
    ("`settings`", SETTINGS),
    ("a connector", CONNECTOR),
    ("`endpoint`", ENDPOINT),
    ("`client_credentials`", CREDENTIALS),
];

/// What to say about a key that is not one of `known`.
pub(crate) fn hint(key: &str, known: &[&str]) -> String {
    let folded = key.trim().to_lowercase().replace(['-', ' '], "_");
    if let Some(closest) = closest(&folded, known) {
        return format!("did you mean `{closest}`?");
    }
    if let Some((place, _)) = PLACES.iter().find(|(_, keys)| keys.contains(&folded.as_str())) {
        return format!("`{folded}` belongs to {place}");
    }
    format!("known here: {}", known.join(", "))
}

fn closest<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    // A key longer than any we know is not a slip of the finger, and the comparison is quadratic.
    if key.len() > 64 {
        return None;
    }
    let score = |candidate: &str| {
        let typed = strsim::jaro_winkler(key, candidate);
        // `max_pages` for `max_pages_per_cycle`, `interval` for `interval_seconds`.
        let shortened = key.len() >= 4 && (candidate.starts_with(key) || key.starts_with(candidate));
        if shortened { typed.max(0.95) } else { typed }
    };
    let best = known.iter().copied().max_by(|a, b| score(a).total_cmp(&score(b)))?;
    (score(best) >= 0.85).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_key_is_found() {
        for (typed, meant) in [
            ("intervall_seconds", "interval_seconds"),
            ("interval", "interval_seconds"),
            ("Max-Pages-Per-Cycle", "max_pages_per_cycle"),
            ("preset", "presets"),
            ("mapping_refrence", "mapping_reference"),
            ("conector", "connector"),
        ] {
            assert_eq!(hint(typed, CONNECTOR), format!("did you mean `{meant}`?"), "{typed}");
        }
        assert_eq!(hint("url", CONNECTOR), "`url` belongs to `endpoint`");
        assert_eq!(hint("workers", SETTINGS), format!("known here: {}", SETTINGS.join(", ")));
        assert!(hint(&"x".repeat(100_000), SETTINGS).starts_with("known here"));
    }
}
