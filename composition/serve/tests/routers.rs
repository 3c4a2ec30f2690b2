//! Tools that route an action: split, covered by operations, kept whole; what asks, and who is how dangerous.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;

use scion_domain::json::{Json, parse, to_compact};
use scion_domain::mcp::{ToolCall, ToolDescription, ToolHints, ToolResult};
use scion_domain::surface::CallScope;
use scion_domain::tool_surface::{
    InputField, KeptReason, Operation, OperationInputs, RiskDeclaration, RouterMode, SplitOutcome, Verb,
};
use scion_ports::{CallChannel, ToolSurface as _};
use scion_serve::{
    Action, BoundOperation, Connector, ConnectorBuilder, Identity, Router, RouterBuilder, ServedSurface, Tool,
    ToolRefusal,
};
use support::{Asks, Backend, Client, accepted, object, yes};

fn desk() -> ConnectorBuilder {
    Connector::builder(Identity::new("desk-mcp", "1.0.0"))
}

fn text() -> Json {
    Json::from([("type", "string".into())])
}

fn rooms() -> RouterBuilder {
    let hints = ToolHints { read_only: Some(true), open_world: Some(false), ..ToolHints::default() };
    Router::named("desk_rooms").description("Rooms.").tag("rooms").hints(hints).inputs(OperationInputs::of(vec![
        InputField::required("name", text()),
        InputField::optional("floor", text(), Json::Null),
    ]))
}

fn three() -> RouterBuilder {
    rooms()
        .action(Action::new("list").reads(["floor"]))
        .action(Action::new("book").reads(["name", "floor"]))
        .action(Action::new("purge").reads(["name"]).alias("wipe_out").destructive(true))
        .action(Action::new("list_actions"))
}

/// Answers the action and what it was given, and counts.
fn echo(router: RouterBuilder, backend: &Backend) -> Router {
    let backend = backend.clone();
    router.handle(move |_context, action, args| {
        backend.hit();
        async move { Ok::<_, ToolRefusal>(Json::from([(&*action, Json::Object(args.into_object()))])) }
    })
}

fn plain(router: RouterBuilder) -> Router {
    echo(router, &Backend::default())
}

fn operation(method: &str) -> BoundOperation {
    let operation = Operation {
        method: method.into(),
        domain: "rooms".into(),
        description: String::from("x"),
        verb: Some(Verb::Get),
        sent: Vec::new(),
        inputs: OperationInputs::default(),
    };
    BoundOperation::new(operation, |_context, _args| async { Ok::<_, ToolRefusal>(Json::from("operation")) })
}

async fn listed(surface: &ServedSurface) -> Vec<ToolDescription> {
    surface.list_tools(&CallScope::default()).await.unwrap()
}

async fn names(surface: &ServedSurface) -> Vec<String> {
    listed(surface).await.into_iter().map(|tool| tool.name).collect()
}

async fn call(surface: &ServedSurface, client: &Arc<Client>, tool: &str, arguments: &str) -> ToolResult {
    let call = ToolCall { tool: tool.to_owned(), arguments: object(arguments) };
    let channel = Arc::clone(client) as Arc<dyn CallChannel>;
    surface.call_tool(&CallScope::default(), channel, call).await.unwrap().done().unwrap()
}

async fn says(surface: &ServedSurface, tool: &str, arguments: &str) -> String {
    call(surface, &Arc::new(Client::new(Asks::Not)), tool, arguments).await.texts.remove(0)
}

fn refused(builder: ConnectorBuilder) -> String {
    builder.build().err().unwrap().to_string()
}

/// Proves: SDK-CONNECTOR-CONTROL-R020.3, SDK-CONNECTOR-CONTROL-R020.5
#[tokio::test]
async fn a_router_becomes_one_tool_for_each_action() {
    let surface = desk().router(plain(three())).router(plain(Router::named("desk_misc"))).build().unwrap();
    assert_eq!(names(&surface).await, ["desk_misc", "desk_rooms_book", "desk_rooms_list", "desk_rooms_purge"]);
    let tools = listed(&surface).await;
    let tool = |name: &str| tools.iter().find(|tool| tool.name == name).unwrap();
    let of = |name: &str| {
        let hints = tool(name).hints;
        (hints.read_only, hints.destructive, hints.open_world)
    };
    assert_eq!(of("desk_rooms_list"), (Some(true), Some(false), Some(false)));
    assert_eq!(of("desk_rooms_book"), (Some(false), Some(false), Some(false)));
    assert_eq!(of("desk_rooms_purge"), (Some(false), Some(true), Some(false)));
    let purge = tool("desk_rooms_purge");
    assert_eq!(to_compact(&Json::Object(purge.meta.clone())), r#"{"fastmcp":{"tags":["rooms","split-action"]}}"#);
    assert_eq!(
        to_compact(&purge.input_schema),
        r#"{"additionalProperties":false,"properties":{"name":{"type":"string"}},"required":["name"],"type":"object"}"#
    );
    assert_eq!(says(&surface, "desk_rooms_list", r#"{"floor":"2"}"#).await, r#"{"list":{"floor":"2"}}"#);
    assert!(says(&surface, "desk_rooms_list", r#"{"name":"a"}"#).await.contains("argument_unknown"));

    let report = surface.action_split_report();
    assert_eq!(report.served_by("desk_rooms", "book"), Some("desk_rooms_book"));
    assert_eq!(report.served_by("desk_rooms", "list_actions"), None);
    assert_eq!(report.kept().collect::<Vec<_>>(), ["desk_misc"]);
    let misc = report.entries.iter().find(|entry| entry.router == "desk_misc").unwrap();
    assert_eq!(misc.outcome, SplitOutcome::Kept(KeptReason::ActionsUnknown));
}

/// Proves: SDK-CONNECTOR-CONTROL-R020.2
#[tokio::test]
async fn an_action_that_an_operation_serves_gets_no_second_tool() {
    let router = rooms()
        .action(Action::new("list_rooms"))
        .action(Action::new("show").operation("get_room"))
        .action(Action::new("note"))
        .action(Action::new("book").reads(["name"]));
    let note =
        Tool::read("desk_rooms_note").handle(|_context, _args| async { Ok::<_, ToolRefusal>(Json::from("note")) });
    let operations = || vec![operation("list_rooms"), operation("get_room")];
    let surface = desk().bound_operations(None, operations()).tool(note).router(plain(router)).build().unwrap();
    assert_eq!(names(&surface).await, ["desk_get_room", "desk_list_rooms", "desk_rooms_book", "desk_rooms_note"]);
    let report = surface.action_split_report();
    let served = ["list_rooms", "show", "note", "book"].map(|action| report.served_by("desk_rooms", action).unwrap());
    assert_eq!(served, ["desk_list_rooms", "desk_get_room", "desk_rooms_note", "desk_rooms_book"]);
    let outcomes: Vec<_> = report.entries.iter().map(|entry| entry.outcome).collect();
    let covered = SplitOutcome::CoveredByOperation;
    assert_eq!(outcomes, [covered, covered, SplitOutcome::CoveredByName, SplitOutcome::Split]);
    assert_eq!(says(&surface, report.served_by("desk_rooms", "show").unwrap(), "{}").await, "operation");

    let generic =
        desk().bound_operations(None, operations()).router(plain(rooms().client_operations())).build().unwrap();
    assert_eq!(names(&generic).await, ["desk_get_room", "desk_list_rooms"]);
    assert_eq!(generic.action_split_report().served_by("desk_rooms", "get_room"), Some("desk_get_room"));

    let same = Tool::read("desk_get_room").handle(|_context, _args| async { Ok::<_, ToolRefusal>(Json::Null) });
    let text = refused(desk().bound_operations(None, operations()).tool(same));
    assert!(text.contains("an operation") && text.contains("a tool of a registrar"), "{text}");
    let router = plain(Router::named("desk_get_room").action(Action::new("x")));
    assert!(refused(desk().bound_operations(None, operations()).router(router)).contains("tool_surface_collision"));
}

/// Proves: SDK-CONNECTOR-CONTROL-R020, SDK-CONNECTOR-CONTROL-R020.2
#[tokio::test]
async fn a_router_kept_by_choice_answers_its_actions_and_proposes_close_ones() {
    let surface = desk().router_mode(RouterMode::Keep).router(plain(three())).build().unwrap();
    let tools = listed(&surface).await;
    assert_eq!(tools.len(), 1);
    assert_eq!(to_compact(&Json::Object(tools[0].meta.clone())), r#"{"fastmcp":{"tags":["action-dispatch","rooms"]}}"#);
    assert_eq!(tools[0].hints.read_only, Some(false));
    assert_eq!(
        tools[0].input_schema.get("properties").unwrap().get("action").unwrap().get("description"),
        Some(&Json::from("One of: list, book, purge, list_actions"))
    );
    let ask = |action: &str| format!(r#"{{"action":"{action}","name":"a"}}"#);
    for word in ["list_actions", "help", "actions"] {
        let answer = says(&surface, "desk_rooms", &ask(word)).await;
        assert_eq!(answer, r#"{"actions":["book","list","purge"],"service":"desk_rooms"}"#);
    }
    assert_eq!(says(&surface, "desk_rooms", &ask("books")).await, r#"{"book":{"name":"a"}}"#);
    let unknown = says(&surface, "desk_rooms", &ask("bok")).await;
    assert!(unknown.contains("action_unknown") && unknown.contains("book"), "{unknown}");
    assert!(says(&surface, "desk_rooms", r#"{"name":"a"}"#).await.contains("action"));
}

/// Proves: SDK-CONNECTOR-CONTROL-R026, SDK-CONNECTOR-CONTROL-R020.3
#[tokio::test]
async fn a_destructive_action_asks_split_or_whole_by_whichever_word() {
    for (mode, tool, arguments) in [
        (RouterMode::Split, "desk_rooms_purge", r#"{"name":"a"}"#),
        (RouterMode::Keep, "desk_rooms", r#"{"name":"a","action":"purge"}"#),
        (RouterMode::Keep, "desk_rooms", r#"{"name":"a","action":"purges"}"#),
        (RouterMode::Keep, "desk_rooms", r#"{"name":"a","action":"wipe_out"}"#),
    ] {
        let backend = Backend::default();
        let surface = desk().router_mode(mode).router(echo(three(), &backend)).build().unwrap();
        for client in [Client::new(Asks::Not), Client::saying(accepted(r#"{"confirmed":false}"#))] {
            call(&surface, &Arc::new(client), tool, arguments).await;
        }
        assert_eq!(backend.hits(), 0, "{arguments}");
        let client = Arc::new(Client::saying(yes()));
        let result = call(&surface, &client, tool, arguments).await;
        assert_eq!(result.texts, [r#"{"purge":{"name":"a"}}"#]);
        assert_eq!((backend.hits(), client.questions.lock().unwrap().len()), (1, 1), "{arguments}");
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R020.2
#[tokio::test]
async fn actions_are_read_from_the_schema_of_the_action() {
    for schema in
        [r#"{"enum":["open","close"]}"#, r#"{"type":"string","description":"What to do. One of: open, close."}"#]
    {
        let router = Router::named("desk_doors").prefix("door").actions_of_schema(&parse(schema).unwrap());
        let surface = desk().router(plain(router)).build().unwrap();
        assert_eq!(names(&surface).await, ["door_close", "door_open"]);
    }
    let computed = Router::named("desk_doors").actions_of_schema(&text());
    assert_eq!(names(&desk().router(plain(computed)).build().unwrap()).await, ["desk_doors"]);
    let stray = rooms().action(Action::new("x").reads(["nothing"]));
    assert!(refused(desk().router(plain(stray))).contains("tool_surface_action_parameter"));
}

/// Proves: SDK-CONNECTOR-CONTROL-R020.5
#[tokio::test]
async fn a_tool_without_a_risk_class_prevents_the_start() {
    let tool = |class: &str| ("desk_rooms".to_owned(), RiskDeclaration::Tool(class.to_owned()));
    let reads = || rooms().action(Action::new("list")).action(Action::new("show"));
    let surface = desk().router(plain(reads())).risk_classes([tool("read")], ["read"]).build().unwrap();
    assert_eq!(surface.risk_class("desk_rooms_list"), Some("read"));
    let text = refused(desk().router(plain(three())).risk_classes([tool("read")], ["read"]));
    assert!(text.contains("unclassified tools prevent start-up: desk_rooms_book, desk_rooms_purge"), "{text}");

    let by_action: BTreeMap<_, _> =
        [("list", "read"), ("book", "write"), ("purge", "delete")].map(|(a, c)| (a.to_owned(), c.to_owned())).into();
    let declared = || [("desk_rooms".to_owned(), RiskDeclaration::Actions(by_action.clone()))];
    let surface = desk().router(plain(three())).risk_classes(declared(), ["read"]).build().unwrap();
    assert_eq!(surface.risk_class("desk_rooms_purge"), Some("delete"));
    let stray = Tool::read("desk_stray").handle(|_context, _args| async { Ok::<_, ToolRefusal>(Json::Null) });
    let text = refused(desk().router(plain(three())).additional_tool(stray).risk_classes(declared(), ["read"]));
    assert!(text.contains("desk_stray"), "{text}");
}
