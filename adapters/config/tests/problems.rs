//! What a person reads when the file is wrong.
#![allow(clippy::unwrap_used, reason = "a test helper that panics fails its test")]

use std::fmt::Write as _;

use scion_config::{read, read_bytes};
use scion_domain::config::{ConfigProblems, ConfigRefusal, EndpointTarget};
use scion_domain::refusal::Refusal as _;

fn wrong(text: &str) -> ConfigProblems {
    read(text, "fleet.yaml").unwrap_err()
}

/// `line:column path code` of each problem.
fn brief(problems: &ConfigProblems) -> Vec<String> {
    let one =
        |p: &scion_domain::config::ConfigProblem| format!("{}:{} {} {}", p.line, p.column, p.path, p.refusal.code());
    problems.problems.iter().map(one).collect()
}

#[test]
fn all_problems_are_reported_with_their_places() {
    let text = "\
settings:
  max_concurency: 3
  backoff_initial_seconds: soon
connectors:
  - connector: Desk
    endpoint:
      url: https://desk.example/mcp
      bearer_token: hunter2
    provision: flase
    interval: 60
  - endpoint: {command: x, args: [8080]}
";
    let problems = wrong(text);
    assert_eq!(
        brief(&problems),
        [
            "2:3 settings.max_concurency config_unknown_key",
            "3:28 settings.backoff_initial_seconds config_wrong_type",
            "5:16 connectors.0.connector config_bad_name",
            "8:21 connectors.0.endpoint.bearer_token config_not_a_reference",
            "9:16 connectors.0.provision config_wrong_type",
            "10:5 connectors.0.interval config_unknown_key",
            "11:5 connectors.1.connector config_missing_key",
            "11:35 connectors.1.endpoint.args.0 config_wrong_type",
        ]
    );
    let shown = problems.to_string();
    assert!(shown.contains("fleet.yaml:2:3: settings.max_concurency: unknown key; did you mean `max_concurrency`?"));
    assert!(shown.contains("expected true or false, found text"));
    assert!(shown.contains("expected text, found a number"));
    assert!(!shown.contains("hunter2") && !shown.contains("flase") && !shown.contains("soon"));
}

#[test]
fn json_positions_are_those_of_the_file() {
    let text = "{\n  \"connectors\": [\n    {\"connector\": \"d\", \"end\\\"point\": 1}\n  ],\n  \"connectors\": []\n}";
    let problems = read(text, "fleet.JSON").unwrap_err();
    assert_eq!(
        brief(&problems),
        [
            "3:5 connectors.0.endpoint config_missing_key",
            "3:24 connectors.0.end\"point config_unknown_key",
            "5:3 connectors config_duplicate_key",
        ]
    );
    let broken = read("{\"settings\": {\n  \"max_concurrency\": 1,,}}", "f.json").unwrap_err();
    assert_eq!((broken.problems[0].line, broken.problems[0].refusal.code()), (2, "config_malformed"));
    for (text, code) in
        [("", "config_empty"), ("null", "config_empty"), ("[]", "config_wrong_type"), ("{} x", "config_malformed")]
    {
        assert_eq!(read(text, "f.json").unwrap_err().problems[0].refusal.code(), code, "{text:?}");
    }
    assert!(
        read("{\"connectors\": [{\"connector\": \"d\", \"endpoint\": {\"command\": \"\\ud83d\\ude00\"}}]}", "f.json")
            .is_ok()
    );
}

#[test]
fn words_that_yaml_versions_read_differently_need_quotes() {
    for word in ["yes", "Off", "true", "~", "12", "1e3", "0x1f"] {
        let plain = format!("connectors: [{{connector: d, endpoint: {{command: {word}}}}}]");
        assert_eq!(brief(&wrong(&plain))[0].split(' ').next_back(), Some("config_wrong_type"), "{word}");
        let quoted = format!("connectors: [{{connector: d, endpoint: {{command: \"{word}\"}}}}]");
        assert!(read(&quoted, "f.yaml").is_ok(), "{word}");
        let tagged = format!("connectors: [{{connector: d, endpoint: {{command: !!str {word}}}}}]");
        assert!(read(&tagged, "f.yaml").is_ok(), "{word}");
    }
}

#[test]
fn booleans_and_times_are_read_or_refused_never_guessed() {
    for (value, expected) in
        [("yes", Some(true)), ("\"Off\"", Some(false)), ("0", Some(false)), ("nope", None), ("", None), ("[]", None)]
    {
        let text = format!("connectors: [{{connector: d, endpoint: {{command: d}}, provision: {value}}}]");
        assert_eq!(read(&text, "f.yaml").ok().map(|c| c.connectors[0].provision), expected, "{value}");
    }
    for (value, good) in [
        ("0.5", true),
        ("1_000", true),
        ("'5'", true),
        ("1:30", false),
        (".inf", false),
        ("1e300", false),
        ("-1", false),
        ("true", false),
        ("inf", false),
        ("nan", false),
        ("1e-300", false),
    ] {
        let text = format!("settings: {{registry_refresh_seconds: {value}}}");
        assert_eq!(read(&text, "f.yaml").is_ok(), good, "{value}");
    }
}

#[test]
fn anchors_aliases_and_merge_keys_are_followed() {
    let text = "\
connectors:
  - &base
    connector: a
    interval_seconds: 60
    endpoint: &end {url: https://d/mcp}
  - <<: *base
    connector: b
  - connector: c
    endpoint: *end
";
    let config = read(text, "f.yaml").unwrap();
    assert_eq!(config.connectors.len(), 3);
    assert_eq!(config.connectors[1].interval.as_secs(), 60);
    assert!(matches!(&config.connectors[2].endpoint.target, EndpointTarget::Url { url, .. } if url == "https://d/mcp"));
    assert_eq!(wrong("a: &a [*a]").problems[0].refusal, ConfigRefusal::AliasLoop);
}

#[test]
fn bombs_are_refused_quickly() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let below = format!("*a{}, ", level - 1).repeat(10);
        let _ = writeln!(bomb, "a{level}: &a{level} [{below}]");
    }
    assert!(matches!(wrong(&bomb).problems[0].refusal, ConfigRefusal::TooManyValues { .. }));
    let deep = "[".repeat(100_000);
    assert_eq!(wrong(&deep).problems[0].refusal, ConfigRefusal::TooDeep { limit: 64 });
    assert_eq!(read(&deep, "f.json").unwrap_err().problems[0].refusal, ConfigRefusal::TooDeep { limit: 64 });
    let dashes = "- ".repeat(100_000);
    assert!(matches!(wrong(&dashes).problems[0].refusal, ConfigRefusal::TooDeep { .. }));
    let many = (0..2000).fold(String::new(), |text, i| text + "k" + &i.to_string() + ": 1\n");
    assert_eq!(wrong(&many).problems.len(), ConfigProblems::LIMIT);
}

#[test]
fn mistakes_around_the_endpoint_name_the_field() {
    for (endpoint, path, code) in [
        ("{url: 'https://u:hunter2@d/mcp'}", "connectors.0.endpoint.url", "config_url_credentials"),
        ("{url: https://d, args: [a]}", "connectors.0.endpoint.args", "config_wrong_endpoint"),
        ("{command: d, env: {'A=B': env://X}}", "connectors.0.endpoint.env.A=B", "config_bad_env_name"),
        ("{command: d, env: {A: hunter2}}", "connectors.0.endpoint.env.A", "config_not_a_reference"),
        ("{command: d, env: {A: null}}", "connectors.0.endpoint.env.A", "config_wrong_type"),
        ("{command: \"d\\0\"}", "connectors.0.endpoint.command", "config_out_of_range"),
        (
            "{url: https://d, client_credentials: {issuer: 'http://i', client_id: c, client_secret_ref: 'env://S'}}",
            "connectors.0.endpoint.client_credentials.issuer",
            "config_bad_auth_url",
        ),
        (
            "{url: https://d, client_credentials: {issuer: 'https://i', client_id: \"c\\n\", client_secret_ref: 'env://S'}}",
            "connectors.0.endpoint.client_credentials.client_id",
            "config_out_of_range",
        ),
    ] {
        let problems = wrong(&format!("connectors: [{{connector: d, endpoint: {endpoint}}}]"));
        assert_eq!((problems.problems[0].path.as_str(), problems.problems[0].refusal.code()), (path, code));
        assert!(!problems.to_string().contains("hunter2"));
    }
}

#[test]
fn bytes_and_marks() {
    assert!(read_bytes("\u{feff}connectors: []".as_bytes(), "f.yaml").is_ok());
    let latin = read_bytes(b"settings:\n  x: \xe9", "f.yaml").unwrap_err();
    assert_eq!(brief(&latin), ["2:6 document config_not_utf8"]);
    assert_eq!(brief(&wrong("a: [\n"))[0].split(' ').next_back(), Some("config_malformed"));
    assert_eq!(wrong("{? [a] : b}").problems[0].refusal, ConfigRefusal::NotAKey);
}
