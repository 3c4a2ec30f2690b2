use super::file::{desk, tool, turtle};
use crate::json::Json;
use crate::model::PackEntry;
use crate::pack::{Fate, Impact, PackDiff};

const PAGED: &str = r#"{"type": "object", "properties": {"page": {"type": "integer"}}}"#;
const KEYED: &str = r#"{"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}"#;

fn diff(old: &[PackEntry], new: &[PackEntry]) -> PackDiff {
    PackDiff::of(&desk(), old, new)
}

fn fates(diff: &PackDiff) -> Vec<(&str, &Fate, Impact)> {
    diff.changes.iter().map(|change| (change.name.as_str(), &change.fate, change.impact)).collect()
}

#[test]
fn the_same_pack_has_no_difference() {
    let pack = [tool("a", PAGED), tool("b", KEYED)];
    let same = diff(&pack, &[tool("b", KEYED), tool("a", PAGED)]);
    assert_eq!((same.kept, same.changes.len(), same.impact()), (2, 0, Impact::None));
    assert_eq!(diff(&[], &[]).impact(), Impact::None);
}

#[test]
fn a_tool_is_kept_split_covered_or_lost() {
    let old = [tool("issues", PAGED), tool("get_issue", KEYED), tool("wiki", PAGED), tool("kept", PAGED)];
    let split = diff(&old[..1], &[tool("issues_list", PAGED), tool("issues_get", KEYED), tool("issuesx", PAGED)]);
    let parts = Fate::Split(vec!["issues_get".to_owned(), "issues_list".to_owned()]);
    assert!(fates(&split).contains(&("issues", &parts, Impact::Review)));
    assert_eq!(split.impact(), Impact::Review);
    let covered = diff(&old[1..2], &[tool("issue_get", KEYED)]);
    assert!(fates(&covered).contains(&("get_issue", &Fate::Covered("issue_get".to_owned()), Impact::Review)));
    let lost = diff(&old, &old[3..]);
    assert_eq!((lost.kept, lost.impact()), (1, Impact::Breaks));
    assert!(lost.changes.iter().all(|change| change.fate == Fate::Lost));
    let added = diff(&old[3..], &old);
    assert_eq!((added.kept, added.impact()), (1, Impact::None));
}

/// A tool that was there before covers nothing: it had its own callers.
#[test]
fn only_a_new_tool_covers_a_lost_one() {
    let old = [tool("one", KEYED), tool("two", KEYED)];
    assert_eq!(diff(&old, &old[1..]).impact(), Impact::Breaks);
}

#[test]
fn a_contract_is_judged_as_a_stream_and_a_caller_would() {
    let wider = r#"{"type": "object", "properties": {"page": {"type": "integer"}, "size": {"type": "integer"}}}"#;
    let other = r#"{"type": "object", "properties": {"page": {"type": "string"}}}"#;
    let needs = r#"{"type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"]}"#;
    for (schema, impact) in [(wider, Impact::None), (other, Impact::Breaks)] {
        let found = diff(&[tool("a", PAGED)], &[tool("a", schema)]);
        assert_eq!(found.impact(), impact, "{found:?}");
    }
    let narrower = diff(&[tool("a", PAGED)], &[tool("a", needs)]);
    assert_eq!(narrower.impact(), Impact::Breaks);
    let details = &narrower.changes[0].details;
    assert!(details[0].contains("REQUIREDNESS_CHANGED"), "{narrower:?}");
    assert_eq!(details[1], "the argument page is needed now");
}

#[test]
fn a_promise_taken_back_breaks_callers() {
    let (mut safe, mut unsafe_now) = (tool("a", PAGED), tool("a", PAGED));
    safe.annotations.read_only_hint = Some(true);
    unsafe_now.annotations.read_only_hint = None;
    assert_eq!(diff(&[safe.clone()], &[unsafe_now.clone()]).impact(), Impact::Breaks);
    assert_eq!(diff(&[unsafe_now], &[safe.clone()]).impact(), Impact::None);
    let mut scoped = safe.clone();
    scoped.annotations.required_scopes.insert("repo".to_owned());
    assert_eq!(diff(&[safe], &[scoped]).changes[0].details, ["needs further scopes: repo"]);
}

#[test]
fn an_ontology_counts_by_what_it_states() {
    let of = |body: &str| [turtle("ontology://desk/a.ttl", body)];
    let old = of("<https://d.example/a> <https://d.example/p> <https://d.example/b>, <https://d.example/c> .");
    let same = of("@prefix d: <https://d.example/> . d:a d:p d:c . d:a d:p d:b .");
    let other = of("@prefix d: <https://d.example/> . d:a d:p d:c .");
    assert_eq!(diff(&old, &same).impact(), Impact::None);
    assert_eq!(diff(&old, &same).changes.len(), 1);
    assert_eq!(diff(&old, &other).impact(), Impact::Review);
    assert_eq!(diff(&old, &[]).impact(), Impact::Breaks);
}

#[test]
fn the_document_says_it_in_the_words_of_the_table() {
    let found = diff(&[tool("issues", PAGED)], &[tool("issues_list", PAGED)]).to_json();
    assert_eq!(found.get("impact").and_then(Json::as_str), Some("review"));
    let change = &found.get("changes").and_then(Json::as_array).unwrap()[0];
    assert_eq!(change.get("fate").and_then(Json::as_str), Some("split"));
}
