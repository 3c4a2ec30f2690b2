//! The reader answers on any text: it never panics, and never repeats a secret that stands in the wrong place.

use proptest::prelude::*;
use scion_config::{read, read_bytes};

/// Text made of the pieces YAML and JSON are made of, so that the grammar is reached.
fn document() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("connectors:\n"),
        Just("settings:\n"),
        Just("  - connector: desk\n"),
        Just("    endpoint:\n"),
        Just("      url: https://d/mcp\n"),
        Just("      env: {A: env://B}\n"),
        Just("- "),
        Just(": "),
        Just("? "),
        Just("["),
        Just("]"),
        Just("{"),
        Just("}"),
        Just(","),
        Just("\n"),
        Just("  "),
        Just("\t"),
        Just("&a "),
        Just("*a"),
        Just("<<: *a\n"),
        Just("!!str "),
        Just("!x "),
        Just("---\n"),
        Just("...\n"),
        Just("|\n"),
        Just(">-\n"),
        Just("\""),
        Just("'"),
        Just("#"),
        Just("%YAML 1.2\n"),
        Just("\u{feff}"),
        Just("é"),
        Just("\\"),
        Just("null"),
        Just("1"),
        Just("@")
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_gets_an_answer(text in any::<String>()) {
        let _ = read(&text, "f.yaml");
        let _ = read(&text, "f.json");
    }

    #[test]
    fn anything_like_a_document_gets_an_answer(text in document()) {
        for name in ["f.yaml", "f.json"] {
            if let Err(problems) = read(&text, name) {
                prop_assert!(!problems.problems.is_empty());
                prop_assert!(!problems.to_string().is_empty());
            }
        }
    }

    #[test]
    fn any_bytes_get_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_bytes(&bytes, "f.yaml");
    }

    #[test]
    fn no_value_is_repeated(secret in "[a-z0-9]{12,20}", field in prop::sample::select(vec![
        "connector", "endpoint", "presets", "provision", "interval_seconds", "data_resources", "max_pages_per_cycle",
        "endpoint: {url: x, bearer_token", "endpoint: {command: x, args", "endpoint: {url: x, client_credentials",
        "endpoint: {url: x, timeout_seconds", "unknown",
    ])) {
        let close = if field.contains('{') { "}" } else { "" };
        let text = format!("connectors:\n  - {field}: {secret}9{close}\n");
        if let Err(problems) = read(&text, "f.yaml") {
            prop_assert!(!problems.to_string().contains(&secret));
        }
    }
}
