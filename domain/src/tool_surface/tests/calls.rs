//! Arguments, actions, results and confirmation bindings.

use std::collections::BTreeMap;
use std::time::Duration;

use super::super::*;
use super::{each, texts};
use crate::json::{Json, JsonObject, parse};
use crate::refusal::Refusal as _;
use crate::test_vectors::{load, section, text};
use crate::time::Timestamp;

#[test]
fn surface_params_json() {
    each("params_json", |case| {
        let input = case.get("input").unwrap();
        let given = match (input.get("repr").and_then(Json::as_str), input.get("length").and_then(Json::as_number)) {
            (Some(bytes), Some(_)) if bytes.starts_with("b'") => Json::from("{\"a\":1}"),
            (Some(_), Some(length)) => {
                let length = usize::try_from(length.as_u64().unwrap()).unwrap();
                let frame = "{\"a\":\"\"}";
                let long = format!("{{\"a\":\"{}\"}}", "x".repeat(length - frame.len()));
                assert_eq!(long.len(), length);
                Json::from(long)
            }
            _ => input.clone(),
        };
        let read = read_params_json(Some(&given));
        match case.get("ok") {
            Some(Json::Bool(true)) => assert_eq!(read.unwrap().len(), 1),
            Some(expected) => assert_eq!(Json::Object(read.unwrap()), *expected),
            None => {
                assert!(case.get("error").is_some());
                let too_long = input.get("length").is_some();
                let code = if too_long { "params_json_too_long" } else { "params_json_not_object" };
                assert_eq!(read.unwrap_err().code(), code, "{given:?}");
            }
        }
    });
    assert_eq!(read_params_json(None), Ok(JsonObject::new()));
}

#[test]
fn surface_bodies_fold() {
    each("body_folding", |case| {
        let (parameters, takes_more): (&[&str], bool) = match text(case, "function") {
            "f_body" => (&["a", "body"], false),
            "f_data" => (&["a", "data"], false),
            "f_two" => (&["data", "body"], false),
            "f_kw" => (&["body"], true),
            "f_plain" => (&["a"], false),
            other => panic!("a function the test does not know: {other}"),
        };
        let given = case.get("kwargs").and_then(Json::as_object).unwrap().clone();
        assert_eq!(Json::Object(fold_body(parameters, takes_more, given)), *case.get("result").unwrap());
    });
}

#[test]
fn surface_actions_resolve() {
    let actions = || ["box", "close_ticket", "get_ticket", "list_ticket"].map(str::to_owned);
    each("resolve_action", |case| {
        let mut table = ActionTable::new("desk", actions());
        for (word, action) in case.get("aliases").and_then(Json::as_object).into_iter().flatten() {
            table = table.alias(word, action.as_str().unwrap());
        }
        match (table.resolve(text(case, "action")), case.get("ok")) {
            (Ok(ActionAnswer::Run(action)), Some(Json::String(expected))) => assert_eq!(action, *expected),
            (Ok(ActionAnswer::Actions(answer)), Some(expected)) => assert_eq!(answer, *expected),
            (Err(refusal), None) => {
                assert!(case.get("error").is_some());
                assert_eq!(refusal.code(), "action_unknown");
            }
            (answer, expected) => panic!("{answer:?}, not {expected:?}"),
        }
    });
    each("suggestions", |case| {
        let table = ActionTable::new("desk", actions());
        assert_eq!(table.close_to(text(case, "action")), texts(case.get("suggestions")), "{}", text(case, "action"));
    });
    let table = ActionTable::new("desk", actions());
    let refusal = table.resolve("get_tickt").unwrap_err().to_string();
    assert_eq!(refusal, "`desk` has no such action; close ones: get_ticket, list_ticket, close_ticket");
    let two = ActionTable::new("desk", ["boxe".to_owned(), "box".to_owned()]);
    assert_eq!(two.resolve("boxes").unwrap_err().code(), "action_unknown");
    assert!(table.close_to(&"get_ticket".repeat(50)).is_empty());
}

/// Values of the fixture, as a connector in Rust would have them.
fn fixture(name: &str) -> ToolValue {
    let model = || ToolValue::Json(parse(r#"{"query": "q", "page": 1, "tags": []}"#).unwrap());
    match name {
        "none" => ToolValue::Json(Json::Null),
        "int" => ToolValue::Json(Json::from(1)),
        "float" => ToolValue::Json(parse("1.5").unwrap()),
        "text" => ToolValue::Text("é".to_owned()),
        "bytes" => ToolValue::Bytes(vec![0, 255, 16]),
        "bytes-text" => ToolValue::Bytes(b"abc".to_vec()),
        "date" => ToolValue::shown("2026-03-01"),
        "datetime" => ToolValue::Time(Timestamp::parse("2026-03-01T09:00:00+00:00").unwrap()),
        "datetime-naive" => ToolValue::Time(Timestamp::parse_or_utc("2026-03-01T09:00:00").unwrap()),
        "decimal" => ToolValue::shown("1.50".parse::<bigdecimal::BigDecimal>().unwrap()),
        "uuid" => ToolValue::shown("00000000-0000-0000-0000-000000000005"),
        "set" => ToolValue::List(vec![Json::from(3).into()]),
        "tuple" => ToolValue::List(vec![Json::from(1).into(), ToolValue::Text("a".to_owned())]),
        "enum" => ToolValue::shown("red"),
        "timedelta" => ToolValue::Span(Duration::from_secs(90)),
        "model" => model(),
        "model-list" => ToolValue::List(vec![model()]),
        "response" => ToolValue::Status(204),
        "object" => ToolValue::shown("plain-object"),
        "nested" => {
            let inner = [("1".to_owned(), ToolValue::Bytes(b"x".to_vec())), ("r".to_owned(), ToolValue::Status(204))];
            ToolValue::Object(BTreeMap::from([("a".to_owned(), ToolValue::Object(BTreeMap::from(inner)))]))
        }
        other => panic!("a value the test does not know: {other}"),
    }
}

#[test]
fn surface_results_are_made_json() {
    each("coercion", |case| {
        let name = text(case, "value");
        assert_eq!(Json::from(fixture(name)), *case.get("ok").unwrap(), "{name}");
    });
    for (millis, expected) in
        [(0, "PT0S"), (86_400_000, "P1D"), (90_061_500, "P1DT1H1M1.5S"), (60_000, "PT1M"), (1, "PT0.001S")]
    {
        assert_eq!(Json::from(ToolValue::Span(Duration::from_millis(millis))), Json::from(expected));
    }
}

#[test]
fn surface_confirmation_bindings() {
    each("confirmation_bindings", |case| {
        let binding = confirmation_binding(text(case, "action"), case.get("arguments").and_then(Json::as_object));
        assert_eq!(binding.to_string(), text(case, "binding"));
    });
}

/// Our client's reading of results. The peer's differs in three cases (DEVIATIONS.md).
#[test]
fn surface_results_decode() {
    let file = load("tool_results.json");
    for case in section(&file, "decoded") {
        let (id, result) = (text(case, "id"), case.get("result").unwrap());
        let blocks = result.get("content").and_then(Json::as_array).unwrap().iter();
        let wrap = result.get("_meta").and_then(|meta| meta.get("fastmcp")).and_then(|meta| meta.get("wrap_result"));
        let answer = crate::mcp::ToolResult {
            texts: blocks.filter_map(|block| block.get("text").and_then(Json::as_str)).map(str::to_owned).collect(),
            structured: result.get("structuredContent").cloned(),
            wrapped: wrap.and_then(Json::as_bool).unwrap_or(false),
            is_error: result.get("isError").and_then(Json::as_bool).unwrap_or(false),
            ..crate::mcp::ToolResult::default()
        };
        let decoded = answer.decode(crate::json::JsonLimits::DEFAULT);
        let expected = case.get("ok").unwrap();
        match id {
            "wrapped-empty-list" => assert_eq!(decoded.unwrap(), Json::Array(Vec::new())),
            "text-space" => assert_eq!(decoded.unwrap(), Json::from("  ")),
            "duplicate-keys" => assert_eq!(decoded.unwrap_err().code(), "json_duplicate_member"),
            _ => assert_eq!(decoded.unwrap(), *expected, "{id}"),
        }
    }
}

#[test]
fn surface_binding_opens_parameters_once() {
    let inputs =
        OperationInputs::of(vec![InputField::required("a", Json::from([("type", "integer".into())]))]).and_more();
    let given = |text: &str| parse(text).unwrap().as_object().unwrap().clone();
    let bound = inputs.bind(given(r#"{"a": 1, "params_json": "{\"b\": 2, \"c\": null}"}"#)).unwrap();
    assert_eq!(Json::Object(bound), parse(r#"{"a": 1, "b": 2}"#).unwrap());
    assert_eq!(
        inputs.bind(given(r#"{"a": 1, "params_json": "{\"a\": 2}"}"#)).unwrap_err().code(),
        "params_json_duplicate"
    );
}
