//! What a call is answered.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use scion_domain::json::{Json, JsonLimits, JsonObject, parse};
use scion_domain::mcp::{ToolCall, ToolResult};
use scion_domain::refusal::Refusal as _;
use scion_domain::refusals;
use scion_domain::surface::CallScope;
use scion_ports::{NoChannel, ToolSurface as _};
use scion_serve::{Connector, Param, Tool, ToolBuilder, ToolRefusal};

refusals! {
    /// What the desk refuses.
    pub enum DeskRefusal {
        /// Closed.
        Closed { hours: u8 } => "desk_closed", Unavailable, Later, "the desk is closed for {hours} hours", "come back later";
    }
}

async fn call(tool: Tool, arguments: &str) -> ToolResult {
    let name = "desk_tool".to_owned();
    let surface = Connector::builder(scion_serve::identity!()).tool(tool).build().unwrap();
    let arguments = parse(arguments).unwrap().as_object().unwrap().clone();
    surface
        .call_tool(&CallScope::default(), Arc::new(NoChannel), ToolCall { tool: name, arguments })
        .await
        .unwrap()
        .done()
        .unwrap()
}

fn desk_tool() -> ToolBuilder {
    Tool::read("desk_tool")
}

async fn answer(tool: ToolBuilder, value: Json) -> ToolResult {
    call(tool.handle(move |_context, _args| std::future::ready(Ok::<_, ToolRefusal>(value.clone()))), "{}").await
}

#[tokio::test]
async fn there_is_always_one_text_even_for_nothing() {
    let list = || parse(r#"{"type":"array"}"#).unwrap();
    for (value, text) in [("[]", "[]"), ("null", "null"), ("{}", "{}"), ("false", "false"), ("\"\"", "")] {
        let value = parse(value).unwrap();
        assert_eq!(answer(desk_tool(), value.clone()).await.texts, [text]);
        let wrapped = answer(desk_tool().output_schema(list()), value.clone()).await;
        assert_eq!(wrapped.texts, [text]);
        assert_eq!(wrapped.structured, Some(Json::from([("result", value)])));
        assert!(wrapped.wrapped && !wrapped.is_error);
    }
}

#[tokio::test]
async fn numbers_reach_the_text_digit_by_digit() {
    let text = r#"{"big":9007199254740993,"deep":1e400,"long":1234567890123456789012345678901234567890.5,"zero":-0}"#;
    let result = answer(desk_tool(), parse(text).unwrap()).await;
    assert_eq!(result.texts, [text]);
    assert_eq!(result.decode(JsonLimits::DEFAULT).unwrap(), parse(text).unwrap());
}

#[tokio::test]
async fn a_value_against_its_own_schema_is_the_connectors_fault() {
    let object = parse(r#"{"type":"object"}"#).unwrap();
    let result = answer(desk_tool().output_schema(object), Json::Array(Vec::new())).await;
    assert!(result.is_error && result.texts[0].starts_with("tool_wrong_shape: "), "{result:?}");
}

#[tokio::test]
async fn a_refusal_is_an_answer_with_its_code_and_nothing_else() {
    let refused = desk_tool()
        .handle(|_context, _args| async { Err::<Json, ToolRefusal>(DeskRefusal::Closed { hours: 3 }.into()) });
    let result = call(refused, "{}").await;
    assert!(result.is_error);
    assert_eq!(result.texts, ["desk_closed: the desk is closed for 3 hours; come back later"]);
    assert_eq!(result.structured, None);
    assert_eq!(DeskRefusal::CATALOGUE.len(), 1);
    assert_eq!(DeskRefusal::Closed { hours: 1 }.retry(), scion_domain::refusal::Retry::Later);
}

#[tokio::test]
async fn arguments_are_checked_before_the_handler_sees_them() {
    let tool = || {
        desk_tool()
            .param(Param::text("name", "whose").up_to(5))
            .param(Param::integer("page", "which").between(1, 9).or(1))
            .param(Param::flag("deep", "whether").optional())
            .handle(|_context, args| async move {
                let deep = args.optional_text("deep").is_ok_and(|none| none.is_none());
                Ok::<_, ToolRefusal>(Json::from([
                    ("name", args.text("name")?.into()),
                    ("page", Json::from(args.count("page")? as u64)),
                    ("silent", deep.into()),
                ]))
            })
    };
    assert_eq!(call(tool(), r#"{"name":"Ada"}"#).await.texts, [r#"{"name":"Ada","page":1,"silent":true}"#]);
    for (arguments, code) in [
        ("{}", "argument_missing"),
        (r#"{"name":null}"#, "argument_missing"),
        (r#"{"name":7}"#, "argument_wrong_type"),
        (r#"{"name":"Augusta"}"#, "argument_too_long"),
        (r#"{"name":"Ada","page":10}"#, "argument_out_of_range"),
        (r#"{"name":"Ada","pgae":1}"#, "argument_unknown"),
    ] {
        let result = call(tool(), arguments).await;
        assert!(result.is_error && result.texts[0].starts_with(code), "{arguments}: {:?}", result.texts);
    }
}

#[tokio::test]
async fn a_tool_with_its_own_schema_gets_what_it_declares() {
    let schema: JsonObject = parse(r#"{"type":"object","additionalProperties":false,"properties":{"filter":{}}}"#)
        .unwrap()
        .as_object()
        .unwrap()
        .clone();
    let tool = || {
        desk_tool()
            .input_schema(schema.clone())
            .handle(|_context, args| async { Ok::<_, ToolRefusal>(args.into_object().into()) })
    };
    assert_eq!(call(tool(), r#"{"filter":[1]}"#).await.texts, [r#"{"filter":[1]}"#]);
    assert!(call(tool(), r#"{"other":1}"#).await.is_error);
}

#[tokio::test]
async fn what_is_not_there_is_refused_by_name_within_bounds() {
    let surface = Connector::builder(scion_serve::identity!()).build().unwrap();
    let scope = CallScope::default();
    let call = ToolCall { tool: "x".repeat(10_000), arguments: JsonObject::new() };
    let refusal = surface.call_tool(&scope, Arc::new(NoChannel), call).await.unwrap_err();
    assert_eq!(refusal.code(), "surface_unknown_tool");
    assert!(refusal.to_string().len() < 200);
    let refusal = surface.read_resource(&scope, "connector://nothing").await.unwrap_err();
    assert_eq!(refusal.code(), "surface_unknown_resource");
}
