//! Requests: every style, bodies, and what no value can do.

#![allow(clippy::unwrap_used, reason = "a test helper that cannot go on ends the test")]

mod common;

use std::borrow::Cow;

use common::{model, only};
use percent_encoding::percent_decode_str;
use proptest::prelude::*;
use scion_domain::json::{Json, JsonObject, parse};
use scion_domain::openapi::PlanRefusal;
use scion_domain::refusal::Refusal as _;
use scion_openapi::{Operation, RequestPlan, request_plan};

fn arguments(text: &str) -> JsonObject {
    parse(text).unwrap().as_object().unwrap().clone()
}

fn plan(operation: &Operation, text: &str) -> Result<RequestPlan, PlanRefusal> {
    request_plan(operation, &arguments(text))
}

const LIST: &str = "{type: array, items: {type: string}}";
const OBJECT: &str = "{type: object, properties: {R: {type: string}, G: {type: string}}}";

fn parameter(place: &str, style: &str, explode: bool, schema: &str) -> Operation {
    let path = if place == "path" { "/x/{v}" } else { "/x" };
    only(&format!(
        "  {path}: {{get: {{operationId: op, parameters: [{{name: v, in: {place}, required: true, style: {style}, explode: {explode}, schema: {schema}}}]}}}}\n"
    ))
}

#[test]
fn every_style_of_the_specification() {
    let (list, object) = (r#"{"v":["a b","c,d"]}"#, r#"{"v":{"R":"1","G":"2,3"}}"#);
    for (place, style, explode, schema, call, expected) in [
        ("path", "simple", false, LIST, list, "a%20b,c%2Cd"),
        ("path", "simple", false, OBJECT, object, "G,2%2C3,R,1"),
        ("path", "simple", true, OBJECT, object, "G=2%2C3,R=1"),
        ("path", "label", false, LIST, list, ".a%20b,c%2Cd"),
        ("path", "label", true, LIST, list, ".a%20b.c%2Cd"),
        ("path", "label", true, OBJECT, object, ".G=2%2C3.R=1"),
        ("path", "matrix", false, LIST, list, ";v=a%20b,c%2Cd"),
        ("path", "matrix", true, LIST, list, ";v=a%20b;v=c%2Cd"),
        ("path", "matrix", true, OBJECT, object, ";G=2%2C3;R=1"),
        ("query", "form", true, LIST, list, "v=a%20b&v=c%2Cd"),
        ("query", "form", false, LIST, list, "v=a%20b,c%2Cd"),
        ("query", "form", true, OBJECT, object, "G=2%2C3&R=1"),
        ("query", "form", false, OBJECT, object, "v=G,2%2C3,R,1"),
        ("query", "spaceDelimited", false, LIST, list, "v=a%20b%20c%2Cd"),
        ("query", "pipeDelimited", false, LIST, list, "v=a%20b%7Cc%2Cd"),
        ("query", "deepObject", true, OBJECT, object, "v%5BG%5D=2%2C3&v%5BR%5D=1"),
        ("cookie", "form", false, LIST, list, "v=a%20b,c%2Cd"),
    ] {
        let plan = plan(&parameter(place, style, explode, schema), call).unwrap();
        let cookies: Vec<_> = plan.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let got = match place {
            "path" => plan.path.strip_prefix("/x/").unwrap().to_owned(),
            "query" => plan.query_string(),
            _ => cookies.join("; "),
        };
        assert_eq!(got, expected, "{place} {style} {explode}");
    }
    let header = parameter("header", "simple", true, OBJECT);
    assert_eq!(plan(&header, r#"{"v":{"R":"1","G":"2"}}"#).unwrap().headers, [("v".to_owned(), "G=2,R=1".to_owned())]);
}

#[test]
fn values_change_neither_the_path_nor_the_header() {
    let path = parameter("path", "simple", false, "{type: string}");
    for bad in ["", ".", "..", "../a", "a/../b", "a/..", "..\\\\a", "a\\\\..\\\\b"] {
        let refusal = plan(&path, &format!("{{\"v\":\"{bad}\"}}")).unwrap_err();
        assert_eq!(refusal.code(), "plan_path_value", "{bad}");
    }
    assert_eq!(plan(&path, r#"{"v":"..a/b..?b#c"}"#).unwrap().path, "/x/..a%2Fb..%3Fb%23c");
    assert_eq!(
        plan(&parameter("path", "label", false, "{type: string}"), r#"{"v":"."}"#).unwrap_err().code(),
        "plan_path_value"
    );
    let header = parameter("header", "simple", false, "{type: string}");
    for bad in ["a\\r\\nX: y", "\\u0000", " a"] {
        let refusal = plan(&header, &format!("{{\"v\":\"{bad}\"}}")).unwrap_err();
        assert_eq!(refusal.code(), "plan_header_value", "{bad}");
    }
    let list = parameter("header", "simple", false, LIST);
    assert_eq!(plan(&list, r#"{"v":["a,b"]}"#).unwrap_err().code(), "plan_header_value");
    assert_eq!(plan(&path, "{}").unwrap_err().code(), "plan_argument_missing");
    assert_eq!(plan(&path, r#"{"v":null}"#).unwrap_err().code(), "plan_argument_missing");
    assert_eq!(plan(&path, r#"{"v":"a","secret":1}"#).unwrap_err(), PlanRefusal::Unknown);
}

#[test]
fn an_open_object_sets_no_other_parameter() {
    let open = "{name: more, in: query, schema: {type: object, additionalProperties: {type: string}}}";
    let operation = only(&format!(
        "  /x?v=1: {{get: {{operationId: op, parameters: [{open}, {{name: account, in: query, schema: {{type: string}}}}]}}}}\n"
    ));
    assert_eq!(plan(&operation, r#"{"more":{"a":"1"},"account":"x"}"#).unwrap().query_string(), "v=1&account=x&a=1");
    for bad in ["account", "account[]", "v"] {
        let call = format!(r#"{{"account":"x","more":{{"{bad}":"y"}}}}"#);
        assert_eq!(plan(&operation, &call), Err(PlanRefusal::Unknown), "{bad}");
    }
}

#[test]
fn a_next_page_leaves_what_is_fixed() {
    let operation = only(
        "  /x?v=1: {get: {operationId: op, parameters: [{name: account, in: query, schema: {type: string}}, {name: f, in: query, style: deepObject, explode: true, schema: {type: object, properties: {k: {type: string}}}}]}}\n",
    );
    let fixed = arguments(r#"{"account":"acme","f":{"k":"1"}}"#);
    for given in ["page=2", "account=evil&page=2", "v=9&acc%6Funt=evil&page=2&account[]=evil&f[k]=2&f%5Bk%5D=3"] {
        let query = scion_openapi::with_fixed(&operation, &fixed, given);
        assert_eq!(query, "page=2&v=1&account=acme&f%5Bk%5D=1", "{given}");
    }
}

#[test]
fn no_parameter_makes_another_method() {
    let operation = only(
        "  /x: {get: {operationId: op, parameters: [{name: X-HTTP-Method-Override, in: header, schema: {type: string}}, {name: q, in: query, schema: {type: string}}]}}\n",
    );
    assert_eq!(operation.parameters.len(), 1);
}

fn bodied(media: &str, content: &str) -> Operation {
    only(&format!(
        "  /x: {{post: {{operationId: op, requestBody: {{required: true, content: {{'{media}': {content}}}}}}}}}\n"
    ))
}

#[test]
fn bodies_of_every_kind() {
    let properties = "{type: object, properties: {a: {type: string}, l: {type: array, items: {type: string}}, o: {type: object, properties: {k: {type: integer}}}, f: {type: string, format: binary}}}";
    let form = bodied(
        "application/x-www-form-urlencoded",
        &format!("{{schema: {properties}, encoding: {{o: {{style: deepObject}}}}}}"),
    );
    let sent = plan(&form, r#"{"body":{"a":"x&y","l":["1","2"],"o":{"k":3}}}"#).unwrap();
    assert_eq!(&sent.body.unwrap()[..], b"a=x%26y&l=1&l=2&o%5Bk%5D=3");
    let parts = bodied("multipart/form-data", &format!("{{schema: {properties}}}"));
    let sent = plan(&parts, r#"{"body":{"a":"x","f":"AP8=","o":{"k":3}}}"#).unwrap();
    let boundary = sent.content_type.unwrap().split_once("boundary=").unwrap().1.to_owned();
    let mut expected = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--{boundary}\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\nContent-Type: application/octet-stream\r\n\r\n").into_bytes();
    expected.extend_from_slice(b"\x00\xff\r\n");
    expected.extend_from_slice(format!("--{boundary}\r\nContent-Disposition: form-data; name=\"o\"\r\nContent-Type: application/json\r\n\r\n{{\"k\":3}}\r\n--{boundary}--\r\n").as_bytes());
    assert_eq!(&sent.body.unwrap()[..], &expected[..]);
    let text = plan(&bodied("text/plain", "{}"), r#"{"body":"a\nb"}"#).unwrap();
    assert_eq!((&text.body.unwrap()[..], text.content_type.as_deref()), (&b"a\nb"[..], Some("text/plain")));
    let bytes = bodied("application/pdf", "{}");
    assert_eq!(&plan(&bytes, r#"{"body":"AP8="}"#).unwrap().body.unwrap()[..], b"\x00\xff");
    assert_eq!(plan(&bytes, r#"{"body":"not base64!"}"#).unwrap_err().code(), "plan_argument_encoded");
    let refusal = plan(&form, r#"{"body":"hunter2"}"#).unwrap_err();
    assert_eq!(refusal.code(), "plan_argument_type");
    assert!(!refusal.to_string().contains("hunter2"), "{refusal}");
    let merge = plan(&bodied("application/merge-patch+json", "{}"), r#"{"body":"{\"a\":null}"}"#).unwrap();
    assert_eq!(&merge.body.unwrap()[..], br#"{"a":null}"#);
}

#[test]
fn debug_output_has_no_values() {
    let text = format!("{:?}", plan(&parameter("query", "form", false, LIST), r#"{"v":["hunter2"]}"#).unwrap());
    assert!(!text.contains("hunter2"), "{text}");
}

fn decoded(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// A server that takes the style apart gets the values of the call.
    #[test]
    fn lists_come_back_as_they_were(items in prop::collection::vec("\\PC{1,12}", 1..5), which in 0_usize..9) {
        let (place, style, explode, before, separator) = [
            ("path", "simple", false, "", ","),
            ("path", "label", false, ".", ","),
            ("path", "label", true, ".", "."),
            ("path", "matrix", false, ";v=", ","),
            ("path", "matrix", true, ";v=", ";v="),
            ("query", "form", false, "v=", ","),
            ("query", "form", true, "v=", "&v="),
            ("query", "pipeDelimited", false, "v=", "%7C"),
            ("query", "spaceDelimited", false, "v=", "%20"),
        ][which];
        prop_assume!(style != "pipeDelimited" || !items.iter().any(|item| item.contains('|')));
        prop_assume!(style != "spaceDelimited" || !items.iter().any(|item| item.contains(' ')));
        let call = JsonObject::from([("v".to_owned(), Json::Array(items.iter().map(|item| Json::from(item.as_str())).collect()))]);
        match request_plan(&parameter(place, style, explode, LIST), &call) {
            Ok(plan) => {
                let text = if place == "path" { plan.path[3..].to_owned() } else { plan.query_string() };
                prop_assert!(text.is_ascii() && !text.contains(['/', '?', '#', ' ']));
                let rest = text.strip_prefix(before).unwrap();
                let back: Vec<_> = rest.split(separator).map(decoded).collect();
                prop_assert_eq!(back, items);
            }
            Err(refusal) => {
                prop_assert_eq!(refusal.code(), "plan_path_value");
                prop_assert!(items.iter().all(|item| item.chars().all(|c| c == '.')));
            }
        }
    }

    /// No text of a caller leaves its place.
    #[test]
    fn objects_come_back_as_they_were(r in "\\PC{0,12}", g in "\\PC{0,12}", deep in any::<bool>()) {
        let style = if deep { "deepObject" } else { "form" };
        let object = Json::from([("R", Json::from(r.as_str())), ("G", Json::from(g.as_str()))]);
        let call = JsonObject::from([("v".to_owned(), object)]);
        let plan = request_plan(&parameter("query", style, true, OBJECT), &call).unwrap();
        let query = plan.query_string();
        let pairs: Vec<_> = query.split('&').map(|pair| pair.split_once('=').unwrap()).collect();
        let back: Vec<_> = pairs.iter().map(|(name, value)| (decoded(name), decoded(value))).collect();
        let names = if deep { ["v[G]", "v[R]"] } else { ["G", "R"] };
        prop_assert_eq!(back, [(names[0].into(), g.as_str().into()), (names[1].into(), r.as_str().into())]);
    }
}

#[test]
fn a_body_may_be_left_out_only_where_it_is_optional() {
    let optional = "openapi: 3.0.0\npaths: {/x: {post: {operationId: op, requestBody: {content: {text/plain: {}}}}}}\n";
    assert_eq!(plan(&model(optional).operations[0], "{}").unwrap().body, None);
    assert_eq!(plan(&bodied("text/plain", "{}"), "{}").unwrap_err().code(), "plan_argument_missing");
}
