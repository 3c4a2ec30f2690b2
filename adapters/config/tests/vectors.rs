//! Every configuration of the vectors, as JSON and as YAML.
#![allow(clippy::unwrap_used, reason = "a test helper that panics fails its test")]

use std::time::Duration;

use scion_config::{MAX_BYTES, read, read_bytes, read_file};
use scion_domain::config::{ConfigProblems, ConfigRefusal, EndpointTarget, RunnerConfig};
use serde_json::{Value, json};

fn vectors() -> Value {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/vectors/runner.json"));
    serde_json::from_str(text).unwrap()
}

fn section(name: &str) -> Vec<Value> {
    let cases = vectors()[name].as_array().unwrap().clone();
    assert!(!cases.is_empty());
    cases
}

fn secs(duration: Duration) -> Value {
    json!(duration.as_secs_f64())
}

/// Our model in the shape the vectors show.
fn shown(config: &RunnerConfig) -> Value {
    let connectors: Vec<Value> = config
        .connectors
        .iter()
        .map(|c| {
            let (url, command, args, env, bearer, credentials) = match &c.endpoint.target {
                EndpointTarget::Url { url, bearer_token, client_credentials } => {
                    let credentials = client_credentials.as_ref().map(|c| {
                        json!({"issuer": c.issuer, "token_url": c.token_url, "client_id": c.client_id,
                            "client_secret_ref": c.client_secret_ref, "audience": c.audience, "scope": c.scope})
                    });
                    (url.as_str(), "", json!([]), json!({}), bearer_token.as_str(), credentials)
                }
                EndpointTarget::Command { command, args, env } => {
                    ("", command.as_str(), json!(args), json!(env), "", None)
                }
            };
            json!({"connector": c.connector.as_str(), "endpoint": {"url": url, "command": command, "args": args,
                "env": env, "bearer_token": bearer, "client_credentials": credentials,
                "timeout_seconds": secs(c.endpoint.timeout)},
                "presets": c.presets.iter().map(AsRef::<str>::as_ref).collect::<Vec<_>>(), "provision": c.provision,
                "interval_seconds": secs(c.interval),
                "data_resources": c.data_resources.iter().map(|(uri, names)|
                    (uri.clone(), json!(names.iter().map(AsRef::<str>::as_ref).collect::<Vec<_>>())))
                    .collect::<serde_json::Map<_, _>>(),
                "mapping_reference": c.mapping_reference,
                "empty_authoritative_approval": c.empty_authoritative_approval,
                "max_pages_per_cycle": c.max_pages_per_cycle})
        })
        .collect();
    json!({"settings": {"max_concurrency": config.settings.max_concurrency,
        "backoff_initial_seconds": secs(config.settings.backoff_initial),
        "backoff_max_seconds": secs(config.settings.backoff_max),
        "registry_refresh_seconds": secs(config.settings.registry_refresh)}, "connectors": connectors})
}

fn check(id: &str, read: Result<RunnerConfig, ConfigProblems>, case: &Value) {
    match (read, case.get("ok")) {
        (Ok(config), Some(expected)) => assert_eq!(&shown(&config), expected, "{id}"),
        // Deviations: refused where the mistake is written.
        (Err(problems), Some(_)) => {
            let refusal = &problems.problems[0].refusal;
            let expected = match id {
                "backoff-max-below-initial" => matches!(refusal, ConfigRefusal::BackoffOrder),
                "duplicate-key" => matches!(refusal, ConfigRefusal::DuplicateKey { first_line: 1 }),
                _ => false,
            };
            assert!(expected && problems.problems.len() == 1, "{id}: {problems}");
        }
        (Err(problems), None) => {
            let text = problems.to_string();
            assert!(!text.contains("hunter2"), "{id}: {text}");
            for name in case["error"]["names"].as_array().unwrap() {
                // Deviation: the second connector of a name is named, not the document.
                let name = if id == "duplicate" { "connectors.1.connector" } else { name.as_str().unwrap() };
                let below = format!("{name}.");
                let named = problems.problems.iter().any(|p| p.path == name || p.path.starts_with(&below));
                assert!(named, "{id} does not name {name}: {text}");
            }
        }
        (Ok(_), None) => panic!("{id} was accepted"),
    }
}

#[test]
fn every_configuration_of_the_vectors() {
    for case in section("configs") {
        let id = case["id"].as_str().unwrap();
        let document = case["document"].to_string();
        check(id, read(&document, "fleet.json"), &case);
        check(id, read(&document, "fleet.yaml"), &case);
    }
}

#[test]
fn every_raw_document_of_the_vectors() {
    for case in section("raw_documents") {
        let id = case["id"].as_str().unwrap();
        let text = case["text"].as_str().unwrap();
        let bytes = match id {
            "too-large" => vec![b'#'; MAX_BYTES + 1],
            "exactly-1-mib" => vec![b'#'; MAX_BYTES],
            "latin-1" => b"a: \xe9".to_vec(),
            _ if text.starts_with('<') => panic!("{id} has no text to build"),
            _ => text.as_bytes().to_vec(),
        };
        check(id, read_bytes(&bytes, "fleet.yaml"), &case);
    }
}

#[test]
fn defaults_and_bounds_are_those_of_the_vectors() {
    let vectors = vectors();
    let minimal = read("connectors: [{connector: desk, endpoint: {url: https://desk.example/mcp}}]", "f.yaml").unwrap();
    assert_eq!(shown(&minimal), vectors["defaults"]);
    assert_eq!(shown(&read("{}", "f.yaml").unwrap())["settings"], vectors["settings_defaults"]);
    let bounds = &vectors["bounds"];
    assert_eq!(bounds["max_config_bytes"], MAX_BYTES);
    for (key, section) in [("max_concurrency", "settings"), ("max_pages_per_cycle", "connector")] {
        let (low, high) = (bounds[key][0].as_u64().unwrap(), bounds[key][1].as_u64().unwrap());
        for (value, good) in [(low, true), (high, true), (low - 1, false), (high + 1, false)] {
            let text = match section {
                "settings" => format!("settings: {{{key}: {value}}}"),
                _ => format!("connectors: [{{connector: d, endpoint: {{command: d}}, {key}: {value}}}]"),
            };
            assert_eq!(read(&text, "f.yaml").is_ok(), good, "{key} {value}");
        }
    }
}

#[test]
fn a_missing_file_and_a_directory_are_refused() {
    assert!(vectors()["missing_file"]["error"].is_object());
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let missing = read_file(&here.join("no-such.yaml")).unwrap_err();
    assert!(matches!(missing.problems[0].refusal, ConfigRefusal::Unreadable { what: "there is no such file" }));
    assert!(matches!(read_file(here).unwrap_err().problems[0].refusal, ConfigRefusal::Unreadable { .. }));
}
