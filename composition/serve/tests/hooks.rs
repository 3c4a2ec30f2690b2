//! What a connector registers beyond plain tools.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use scion_domain::http::{Bytes, Method, StatusCode};
use scion_domain::json::{Json, JsonObject, to_compact};
use scion_domain::mcp::{ToolCall, ToolDescription};
use scion_domain::refusal::Refusal as _;
use scion_domain::surface::CallScope;
use scion_domain::tool_surface::{Operation, OperationInputs};
use scion_ports::{NoChannel, ToolSurface as _};
use scion_serve::{
    Action, BoundOperation, Connector, ConnectorBuilder, Identity, Readiness, RouteAnswer, RouteRequest, Router,
    ServedRoute, ServedSurface, Tool, ToolGroup, ToolRefusal,
};

fn desk() -> ConnectorBuilder {
    Connector::builder(Identity::new("desk-mcp", "1.2.3"))
}

fn tool(name: &str) -> Tool {
    let answer = Json::from(name);
    Tool::read(name).handle(move |_context, _args| std::future::ready(Ok::<_, ToolRefusal>(answer.clone())))
}

fn rooms() -> ToolGroup {
    let router = Router::named("desk_rooms").prefix("rooms").action(Action::new("list")).action(Action::new("book"));
    let router = router.handle(|_context, action, _args| async move { Ok::<_, ToolRefusal>(Json::from(&*action)) });
    ToolGroup::new("rooms").tool(tool("desk_floors")).router(router)
}

fn set(name: &str, value: &str) -> [(String, String); 1] {
    [(name.to_owned(), value.to_owned())]
}

async fn listed(surface: &ServedSurface) -> Vec<ToolDescription> {
    surface.list_tools(&CallScope::default()).await.unwrap()
}

async fn names(builder: ConnectorBuilder) -> Vec<String> {
    listed(&builder.build().unwrap()).await.into_iter().map(|tool| tool.name).collect()
}

fn code(builder: ConnectorBuilder) -> &'static str {
    builder.build().err().unwrap().code()
}

/// Proves: SDK-CONNECTOR-CONTROL-R019.2
#[tokio::test]
async fn a_group_is_tagged_and_switched_by_its_setting() {
    let build = || {
        desk().inline_tool(tool("desk_now")).tool_group(rooms()).tool_group(ToolGroup::new("x").tool(tool("desk_x")))
    };
    assert_eq!(names(build()).await, ["desk_floors", "desk_now", "desk_x", "rooms_book", "rooms_list"]);
    assert_eq!(names(build().settings(set("ROOMSTOOL", "off"))).await, ["desk_now", "desk_x"]);
    assert_eq!(names(build().settings(set("ROOMSTOOL", " TRUE "))).await.len(), 5);
    let own = || desk().tool_group(rooms().toggle("WITH_ROOMS"));
    assert_eq!(names(own().settings(set("ROOMSTOOL", "off"))).await.len(), 3);
    assert_eq!(names(own().settings(set("WITH_ROOMS", "0"))).await.len(), 0);

    let refusal = build().settings(set("ROOMSTOOL", "s3cret")).build().err().unwrap();
    assert_eq!(refusal.code(), "tool_toggle_invalid");
    assert!(refusal.to_string().contains("ROOMSTOOL") && !refusal.to_string().contains("s3cret"), "{refusal}");
    assert_eq!(code(build().tool(tool("desk_plain"))), "tool_registry_conflict");

    let tools = listed(&build().build().unwrap()).await;
    let tags =
        |name: &str| to_compact(&Json::Object(tools.iter().find(|tool| tool.name == name).unwrap().meta.clone()));
    assert_eq!(tags("desk_floors"), r#"{"fastmcp":{"tags":["rooms"]}}"#);
    assert_eq!(tags("rooms_book"), r#"{"fastmcp":{"tags":["rooms","split-action"]}}"#);
    assert_eq!(tags("desk_now"), "{}");
}

struct Factory(&'static str);

/// Proves: SDK-CONNECTOR-CONTROL-R019.2, SDK-CONNECTOR-CONTROL-R032
#[tokio::test]
async fn a_registration_runs_last_and_is_told_the_connector() {
    let surface = desk()
        .register(|context| {
            assert_eq!((context.server(), context.version()), ("desk-mcp", "1.2.3"));
            assert_eq!((context.setting("TOKEN"), context.setting("OTHER")), (Some("s3cret"), None));
            assert!(!format!("{context:?}").contains("s3cret"));
            assert_eq!(context.tools(), ["desk_now", "desk_more"]);
            assert!(context.client_factory::<String>().is_none());
            vec![tool(context.client_factory::<Factory>().unwrap().0)]
        })
        .additional_tool(tool("desk_more"))
        .client_factory(Arc::new(Factory("desk_a")))
        .settings(set("TOKEN", "s3cret"))
        .tool(tool("desk_now"))
        .build()
        .unwrap();
    let registered: Vec<_> = surface.registered_tools().tools().map(|(name, _)| name.as_str()).collect();
    assert_eq!(registered, ["desk_now", "desk_more", "desk_a"]);
    let call = ToolCall { tool: "desk_a".into(), arguments: JsonObject::new() };
    let answer = surface.call_tool(&CallScope::default(), Arc::new(NoChannel), call).await.unwrap().done().unwrap();
    assert_eq!(answer.texts, ["desk_a"]);
    assert_eq!(code(desk().tool(tool("desk_now")).register(|_| vec![tool("desk_now")])), "tool_duplicate");
}

/// Proves: SDK-CONNECTOR-CONTROL-R026
#[tokio::test]
async fn results_of_operations_are_coerced() {
    let operation = Operation {
        method: "list".into(),
        domain: "desk".into(),
        description: "Lists.".into(),
        verb: None,
        sent: Vec::new(),
        inputs: OperationInputs::default(),
    };
    let operation = BoundOperation::new(operation, |_context, _args| async { Ok::<_, ToolRefusal>(Json::from("raw")) });
    let wrap = |value: Json| Ok(Json::from([("items", vec![value].into())]));
    let surface =
        desk().bound_operations(None, vec![operation]).tool(tool("desk_x")).coerce_results(wrap).build().unwrap();
    for (name, text) in [("desk_list", r#"{"items":["raw"]}"#), ("desk_x", "desk_x")] {
        let call = ToolCall { tool: name.into(), arguments: JsonObject::new() };
        let answer = surface.call_tool(&CallScope::default(), Arc::new(NoChannel), call).await.unwrap().done().unwrap();
        assert_eq!(answer.texts, [text]);
    }
}

fn route(path: &str, method: Method) -> ServedRoute {
    ServedRoute::new(path, [method], |request: RouteRequest| async move {
        RouteAnswer { status: StatusCode::OK, media_type: "text/plain", body: request.query.into_bytes() }
    })
}

/// Proves: SDK-CONNECTOR-CONTROL-R019.2
#[tokio::test]
async fn routes_and_readiness_are_declared_and_checked() {
    let builder = desk()
        .route(route("/hooks", Method::GET).name("hooks"))
        .route(route("/hooks", Method::POST))
        .readiness(|| async { Ok(Readiness { ready: true, detail: JsonObject::new() }) });
    let surface = builder.build().unwrap();
    assert_eq!(surface.routes().iter().map(ServedRoute::label).collect::<Vec<_>>(), ["hooks", "/hooks"]);
    let request = RouteRequest { method: Method::GET, query: "a=1".into(), body: Bytes::new() };
    assert_eq!(surface.routes()[0].answer(request).await.body, b"a=1");
    assert!(surface.readiness().unwrap().probe().await.unwrap().ready);
    assert!(desk().build().unwrap().readiness().is_none());

    for path in [
        "/health",
        "/ready",
        "/ready/",
        "/mcp",
        "/sse",
        "/messages/",
        "/.well-known/x",
        "hooks",
        "",
        "/a/../b",
        "/a?b",
        "/a b",
    ] {
        assert_eq!(code(desk().route(route(path, Method::GET))), "connector_route_invalid", "{path}");
    }
    assert_eq!(code(desk().route(route("/a", Method::GET)).route(route("/a", Method::GET))), "connector_route_invalid");
    let silent = ServedRoute::new("/a", [], |_| async {
        RouteAnswer { status: StatusCode::OK, media_type: "text/plain", body: Vec::new() }
    });
    assert_eq!(code(desk().route(silent)), "connector_route_invalid");
}
