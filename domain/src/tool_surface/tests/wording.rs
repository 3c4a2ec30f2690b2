//! Names, verbs, hints, confirmation and toggles.

use super::super::*;
use super::{each, hints_of, texts, vectors};
use crate::json::Json;
use crate::refusal::Refusal as _;
use crate::test_vectors::text;

#[test]
fn surface_prefixes() {
    each("prefixes", |case| {
        let (service, declared) = (text(case, "service"), case.get("tool_prefix").and_then(Json::as_str));
        let prefix = ToolPrefix::of_service(service, declared);
        // DEVIATIONS.md: a prefix that no client accepts is refused, not served.
        if service == "größe-mcp" || declared == Some("Desk Prefix") {
            assert_eq!(prefix.unwrap_err().code(), "tool_surface_prefix");
        } else {
            assert_eq!(prefix.unwrap().as_str(), text(case, "prefix"), "{service}");
        }
    });
}

#[test]
fn surface_tool_names() {
    each("tool_names", |case| {
        let (method, prefix) = (text(case, "method"), text(case, "prefix"));
        if prefix.is_empty() {
            // DEVIATIONS.md: there is no empty prefix.
            assert_eq!(ToolPrefix::parse(prefix).unwrap_err().code(), "tool_surface_prefix");
            return;
        }
        let name = ToolName::of_operation(&ToolPrefix::parse(prefix).unwrap(), method).unwrap();
        // DEVIATIONS.md: names are in snake case.
        let expected = if method == "listTickets" { "desk_list_tickets" } else { text(case, "tool") };
        assert_eq!(name.as_str(), expected);
    });
}

#[test]
fn surface_snake_case_keeps_acronyms_together() {
    for (given, expected) in [
        ("pageSize", "page_size"),
        ("X-Trace", "x__trace"),
        ("userID", "user_id"),
        ("HTTPServer", "http_server"),
        ("list_tickets", "list_tickets"),
        ("getV2Items", "get_v2_items"),
        ("Delete_It", "delete_it"),
    ] {
        assert_eq!(snake_case(given), expected);
    }
}

#[test]
fn surface_verb_annotations() {
    each("verb_annotations", |case| {
        let operation = text(case, "operation");
        let verb = case.get("verb").and_then(Json::as_str).map(|word| Verb::parse(word).unwrap());
        let expected = case.get("annotations").unwrap();
        assert_eq!(operation_hints(operation, verb), hints_of(expected), "{operation} {verb:?}");
        assert_eq!(operation_title(operation), text(expected, "title"));
        assert_eq!(verb.map(|verb| Verb::parse(&verb.as_str().to_lowercase())), verb.map(Some));
    });
}

/// The vector names fixture methods by where they say their HTTP method; this is that place for each.
#[test]
fn surface_verb_detection() {
    each("verb_detection", |case| {
        let (method, expected) = (text(case, "method"), case.get("verb").and_then(Json::as_str));
        let (declared, description, sent): (_, &str, &[Verb]) = match method {
            "doc_get" => (None, "GET /things\nLists things.", &[]),
            "doc_second" => (None, "Makes a thing.\n\n    POST /things", &[Verb::Get]),
            "doc_inline" => (None, "Sends GET /things when asked. Get /x.", &[]),
            "body_literal" => (None, "", &[Verb::Put]),
            "body_two" => (None, "", &[Verb::Get, Verb::Post]),
            "body_call" => (None, "", &[Verb::Patch, Verb::Patch]),
            "body_client" => (None, "", &[Verb::Delete]),
            "body_other" | "body_none" => (None, "", &[]),
            "attr" => (Some(Verb::Post), "GET /things", &[Verb::Put]),
            other => panic!("a method the test does not know: {other}"),
        };
        let http = case.get("manifest").and_then(|entry| entry.get("http")).and_then(Json::as_str);
        let verb = detect_verb(method, http, declared, description, sent);
        if http == Some("TRACE") {
            // DEVIATIONS.md: an unknown method is refused.
            assert_eq!(verb.unwrap_err().code(), "tool_surface_verb");
        } else {
            assert_eq!(verb.unwrap().map(Verb::as_str), expected, "{method}");
        }
    });
}

#[test]
fn surface_destructive_names_and_words() {
    each("destructive_names", |case| {
        let said = |member: &str| case.get("operation").and_then(|operation| operation.get(member));
        let verb = said("http").and_then(Json::as_str).and_then(Verb::parse);
        let declared = said("destructive").and_then(Json::as_bool);
        let expected = case.get("destructive").and_then(Json::as_bool).unwrap();
        assert_eq!(is_destructive(text(case, "action"), verb, declared), expected, "{}", text(case, "action"));
    });
    let file = vectors();
    assert_eq!(texts(file.get("destructive_tokens")), DESTRUCTIVE_TOKENS);
    assert_eq!(texts(file.get("read_tokens")), READ_TOKENS);
    assert_eq!(texts(file.get("discovery_actions")), DISCOVERY_ACTIONS);
}

#[test]
fn surface_split_annotations() {
    each("split_annotations", |case| {
        let (action, expected) = (text(case, "action"), case.get("annotations").unwrap());
        assert_eq!(action_hints(action, crate::mcp::ToolHints::default()), hints_of(expected), "{action}");
        assert_eq!(action_title(action), text(expected, "title"));
    });
}

#[test]
fn surface_toggles() {
    assert_eq!(
        (toggle_name("rooms"), toggle_name("work-items")),
        ("ROOMSTOOL".to_owned(), "WORK_ITEMSTOOL".to_owned())
    );
    assert_eq!((tag_is_on(None), tag_is_on(Some(" ")), tag_is_on(Some("true"))), (Ok(true), Ok(true), Ok(true)));
    assert!(tag_is_on(Some("maybe")).is_err());
    let file = vectors();
    let off = file.get("action_split").and_then(|section| section.get("toggled_off")).unwrap();
    let (name, value) = text(off, "setting").split_once('=').unwrap();
    assert_eq!((toggle_name("rooms").as_str(), tag_is_on(Some(value))), (name, Ok(false)));
    assert!(texts(off.get("tools")).is_empty() && texts(off.get("registrar_tags")).is_empty());
}

#[test]
fn surface_versions_are_stamped_once() {
    let version = ToolVersion::parse("1.2.0").unwrap();
    let once = version.stamp(Some("Lists tickets.\n"));
    assert_eq!(once, "Lists tickets.\n\nVersion: 1.2.0");
    assert_eq!(ToolVersion::parse("1.3.0").unwrap().stamp(Some(&once)), "Lists tickets.\n\nVersion: 1.3.0");
    assert_eq!(version.stamp(None), "Version: 1.2.0");
    let mut meta = crate::json::JsonObject::new();
    version.mark(&mut meta);
    assert_eq!(meta.get(ToolVersion::META_KEY), Some(&Json::from("1.2.0")));
    for bad in ["", "1 2", "1\n2", "ü", &"1".repeat(65)] {
        assert_eq!(ToolVersion::parse(bad).unwrap_err().code(), "tool_surface_version");
    }
}
