use std::collections::BTreeSet;

use crate::id::{ConnectorName, Digest256};
use crate::json::parse;
use crate::model::PackEntry;
use crate::pack::{Break, Compatibility, CompatibilityRefusal, admit, decide};

fn tool(schema: &str, version: Option<&str>) -> PackEntry {
    let mut entry = PackEntry {
        kind: "tool".into(),
        uri: "tool://c/t".into(),
        input_schema: Some(crate::canonical::peer_json(&parse(schema).unwrap()).into_bytes()),
        output_schema: Some(b"{}".to_vec()),
        ..PackEntry::default()
    };
    entry.annotations.contract_version = version.map(str::to_owned);
    entry
}

fn prompt(arguments: &str) -> PackEntry {
    let body = format!(r#"{{"arguments":{arguments}}}"#).into_bytes();
    PackEntry { kind: "prompt".into(), uri: "prompt://c/p".into(), body, ..PackEntry::default() }
}

const BASE: &str = r#"{"type":"object","properties":{"a":{"type":"string"}}}"#;
const WORDS: &str = r#"{"type":"object","properties":{"a":{"type":"string","description":"A"}}}"#;
const MORE: &str = r#"{"type":"object","properties":{"a":{"type":"string"},"b":{}}}"#;
const NEEDS: &str = r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}"#;
const LESS: &str = r#"{"type":"object","properties":{}}"#;
const OTHER: &str = r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#;

#[test]
fn what_a_change_means_is_decided_by_what_callers_send() {
    let base = tool(BASE, None);
    assert_eq!(decide(&base, &tool(WORDS, None)), Compatibility::Same);
    assert_eq!(decide(&base, &tool(MORE, None)), Compatibility::Compatible);
    let broken = |found| Compatibility::Breaking(BTreeSet::from([found]));
    assert_eq!(decide(&base, &tool(NEEDS, None)), broken(Break::ArgumentRequired("a".into())));
    assert_eq!(decide(&base, &tool(LESS, None)), broken(Break::ArgumentRemoved("a".into())));
    assert_eq!(decide(&base, &tool(OTHER, None)), broken(Break::ArgumentChanged("a".into())));
    let silent = PackEntry { output_schema: None, ..tool(BASE, None) };
    assert_eq!(decide(&base, &silent), broken(Break::AnswerChanged));
    let (plain, more, needs) = (
        prompt(r#"[{"name":"x"}]"#),
        prompt(r#"[{"name":"x"},{"name":"y"}]"#),
        prompt(r#"[{"name":"x","required":true}]"#),
    );
    assert_eq!(decide(&plain, &more), Compatibility::Compatible);
    assert_eq!(decide(&plain, &needs), broken(Break::ArgumentRequired("x".into())));
    assert_eq!(decide(&more, &plain), broken(Break::ArgumentRemoved("y".into())));
}

#[test]
fn a_breaking_change_needs_a_version_and_a_version_has_one_meaning() {
    let connector = ConnectorName::parse("c").unwrap();
    let run = |before: &[PackEntry], after: &[PackEntry]| admit(&connector, &Digest256::ZERO, before, after);
    let uri = || "tool://c/t".to_owned();
    assert_eq!(run(&[tool(BASE, None)], &[tool(LESS, None)]), Err(CompatibilityRefusal::Breaking { uri: uri() }));
    let same = run(&[tool(BASE, Some("1"))], &[tool(LESS, Some("1"))]);
    assert_eq!(same, Err(CompatibilityRefusal::VersionConflict { uri: uri() }));
    let raised = run(&[tool(BASE, Some("1"))], &[tool(LESS, Some("2"))]).unwrap();
    assert!(matches!(raised[0].decision, Compatibility::Breaking(_)));
    let silenced = run(&[tool(BASE, Some("1"))], &[tool(LESS, None)]);
    assert_eq!(silenced, Err(CompatibilityRefusal::Breaking { uri: uri() }), "dropping the version says nothing");
    let gone = run(&[tool(BASE, None), prompt("[]")], &[tool(MORE, None)]).unwrap();
    assert_eq!(gone.iter().map(|receipt| receipt.uri.as_str()).collect::<Vec<_>>(), ["prompt://c/p", "tool://c/t"]);
    assert_eq!((gone[0].after, gone[1].decision.clone()), (None, Compatibility::Compatible));
}

#[test]
fn a_receipt_is_bound_to_the_entries_and_to_the_admitted_pack() {
    let connector = ConnectorName::parse("c").unwrap();
    let digest = |pack: [u8; 32], after: &str| {
        let receipts = admit(&connector, &Digest256::from_bytes(pack), &[tool(BASE, None)], &[tool(after, None)]);
        receipts.unwrap()[0].digest
    };
    assert_eq!(digest([1; 32], MORE), digest([1; 32], MORE));
    assert_ne!(digest([1; 32], MORE), digest([2; 32], MORE));
    assert_ne!(digest([1; 32], MORE), digest([1; 32], BASE));
}
