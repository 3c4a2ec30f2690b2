//! One tool per operation: names, hints, schemas, arguments, and what asks.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use scion_domain::call::{Asking, CallOutcome};
use scion_domain::json::{Json, JsonObject, parse};
use scion_domain::mcp::{ToolCall, ToolDescription};
use scion_domain::refusal::Refusal as _;
use scion_domain::surface::CallScope;
use scion_domain::tool_surface::{InputField, Operation, OperationInputs, Verb};
use scion_ports::{CallChannel, ToolSurface as _};
use scion_serve::{
    BoundOperation, Connector, ConnectorBuilder, Identity, Operations, ServedSurface, Tool, ToolRefusal,
};
use support::{Asks, Backend, Client, accepted, object, yes};

fn kind(name: &str) -> Json {
    Json::from([("type", name.into())])
}

fn operation(method: &str, domain: &str, verb: Option<Verb>, inputs: OperationInputs) -> Operation {
    let description = format!("What {method} does.");
    Operation { method: method.into(), domain: domain.into(), description, verb, sent: Vec::new(), inputs }
}

/// Answers what it was given, and counts.
fn echo(operation: Operation, backend: &Backend) -> BoundOperation {
    let backend = backend.clone();
    BoundOperation::new(operation, move |_context, args| {
        backend.hit();
        async move { Ok::<_, ToolRefusal>(Json::Object(args.members().clone())) }
    })
}

#[derive(Default)]
struct Tickets(Backend);

impl Operations for Tickets {
    fn operations(api: Arc<Self>) -> Vec<BoundOperation> {
        let id = || InputField::required("ticketId", kind("integer"));
        let page = InputField::optional("pageSize", kind("integer"), Json::from(50_i64));
        let span = OperationInputs::of(vec![
            InputField::required("from", kind("string")).argument("from", "from_"),
            InputField::optional("in", kind("string"), Json::Null).argument("in", "in_"),
        ]);
        let of = OperationInputs::of;
        [
            operation("listTickets", "Tickets", Some(Verb::Get), of(vec![page])),
            operation(
                "create_ticket",
                "Tickets",
                Some(Verb::Post),
                of(vec![InputField::required("title", kind("string"))]),
            ),
            operation("replace_ticket", "Tickets", Some(Verb::Put), of(vec![id()])),
            operation("close_ticket", "Tickets", Some(Verb::Delete), of(vec![id()])),
            operation("desk_find", "Tickets", None, span),
        ]
        .map(|described| echo(described, &api.0))
        .into()
    }
}

#[derive(Default)]
struct Rooms(Backend);

impl Operations for Rooms {
    const PREFIX: Option<&'static str> = Some("rooms");

    fn operations(api: Arc<Self>) -> Vec<BoundOperation> {
        [
            operation("rooms", "Building", None, OperationInputs::default()),
            operation("purge_bookings", "Building", None, OperationInputs::default()),
            operation("run", "Building", None, OperationInputs::default().and_more()),
        ]
        .map(|described| echo(described, &api.0))
        .into()
    }
}

fn desk() -> ConnectorBuilder {
    Connector::builder(Identity::new("desk-mcp", "1.0.0"))
}

async fn listed(surface: &ServedSurface) -> Vec<ToolDescription> {
    surface.list_tools(&CallScope::default()).await.unwrap()
}

async fn call(surface: &ServedSurface, client: &Arc<Client>, tool: &str, arguments: &str) -> CallOutcome {
    let call = ToolCall { tool: tool.to_owned(), arguments: object(arguments) };
    surface.call_tool(&CallScope::default(), Arc::clone(client) as Arc<dyn CallChannel>, call).await.unwrap()
}

async fn answer(surface: &ServedSurface, tool: &str, arguments: &str) -> JsonObject {
    let client = Arc::new(Client::new(Asks::Not));
    let result = call(surface, &client, tool, arguments).await.done().unwrap();
    assert!(!result.is_error, "{result:?}");
    parse(&result.texts[0]).unwrap().as_object().unwrap().clone()
}

fn refused(builder: ConnectorBuilder) -> String {
    let refusal = builder.build().err().unwrap();
    format!("{} {refusal}", refusal.code())
}

/// Proves: SDK-CONNECTOR-CONTROL-R020, SDK-CONNECTOR-CONTROL-R026
#[tokio::test]
async fn each_operation_of_two_clients_is_one_tool() {
    let surface =
        desk().operations(Arc::new(Tickets::default())).operations(Arc::new(Rooms::default())).build().unwrap();
    let tools = listed(&surface).await;
    let mut names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "desk_close_ticket",
            "desk_create_ticket",
            "desk_find",
            "desk_list_tickets",
            "desk_replace_ticket",
            "rooms",
            "rooms_purge_bookings",
            "rooms_run",
        ]
    );
    let tool = |name: &str| tools.iter().find(|tool| tool.name == name).unwrap();
    let list = tool("desk_list_tickets");
    assert_eq!(
        (list.title.as_deref(), list.description.as_deref()),
        (Some("List tickets"), Some("What listTickets does."))
    );
    assert_eq!(
        scion_domain::json::to_compact(&list.input_schema),
        r#"{"additionalProperties":false,"properties":{"page_size":{"default":50,"type":"integer"}},"type":"object"}"#
    );
    let tags = |name: &str| scion_domain::json::to_compact(&Json::Object(tool(name).meta.clone()));
    assert_eq!(tags("desk_find"), r#"{"fastmcp":{"tags":["gated","granular","operation","tickets"]}}"#);
    assert_eq!(tags("rooms"), r#"{"fastmcp":{"tags":["building","gated","granular","operation"]}}"#);
    let hints = |name: &str| {
        let hints = tool(name).hints;
        [hints.read_only, hints.destructive, hints.idempotent].map(Option::unwrap_or_default)
    };
    assert_eq!(hints("desk_list_tickets"), [true, false, true]);
    assert_eq!(hints("desk_create_ticket"), [false, false, false]);
    assert_eq!(hints("desk_replace_ticket"), [false, false, true]);
    assert_eq!(hints("desk_close_ticket"), [false, true, true]);
    assert_eq!(surface.untyped_tools(), ["rooms_run"]);
}

/// Proves: SDK-CONNECTOR-CONTROL-R026, SDK-CONNECTOR-CONTROL-R026.2
#[tokio::test]
async fn arguments_reach_the_handler_under_the_names_of_the_operation() {
    let surface =
        desk().operations(Arc::new(Tickets::default())).operations(Arc::new(Rooms::default())).build().unwrap();
    let tools = listed(&surface).await;
    let find = &tools.iter().find(|tool| tool.name == "desk_find").unwrap().input_schema;
    assert!(find.get("properties").unwrap().get("from").is_some(), "{find:?}");
    assert!(find.get("properties").unwrap().get("from_").is_none(), "{find:?}");
    assert_eq!(answer(&surface, "desk_find", r#"{"from":"a","in":null}"#).await, object(r#"{"from_":"a"}"#));
    assert_eq!(answer(&surface, "desk_replace_ticket", r#"{"ticket_id":7}"#).await, object(r#"{"ticket_id":7}"#));
    let opened = answer(&surface, "rooms_run", r#"{"params_json":"{\"floor\":2}"}"#).await;
    assert_eq!(opened, object(r#"{"floor":2}"#));

    let client = Arc::new(Client::new(Asks::Not));
    let stray = call(&surface, &client, "desk_find", r#"{"from_":"a"}"#).await.done().unwrap();
    assert!(stray.is_error, "{stray:?}");
    let bad = call(&surface, &client, "rooms_run", r#"{"params_json":"[]"}"#).await.done().unwrap();
    assert!(bad.is_error && bad.texts[0].contains("params_json"), "{bad:?}");
}

/// Proves: SDK-CONNECTOR-CONTROL-R020
#[tokio::test]
async fn the_manifest_goes_before_what_an_operation_says() {
    let manifest = parse(
        r#"[{"method":"create_ticket","name":"open","http":"PUT","summary":"Opens a ticket.","destructive":true,
             "parameters":[{"name":"X-Trace","in":"path","schema":{"type":"string"}}]}]"#,
    );
    let tickets = Arc::new(Tickets::default());
    let surface = desk().manifest(manifest.unwrap()).operations(Arc::clone(&tickets)).build().unwrap();
    let tools = listed(&surface).await;
    let tool = tools.iter().find(|tool| tool.name == "desk_open").unwrap();
    assert_eq!(tool.description.as_deref(), Some("Opens a ticket."));
    assert_eq!((tool.hints.destructive, tool.hints.idempotent), (Some(true), Some(true)));
    assert_eq!(tool.input_schema.get("required"), Some(&Json::from(vec!["x__trace".into()])));
    let client = Arc::new(Client::saying(accepted(r#"{"confirmed":false}"#)));
    call(&surface, &client, "desk_open", r#"{"x__trace":"1"}"#).await;
    assert_eq!((client.questions.lock().unwrap().len(), tickets.0.hits()), (1, 0));

    let stray = parse(r#"[{"method":"nothing"}]"#).unwrap();
    assert!(refused(desk().manifest(stray).operations(tickets)).contains("there is no such operation"));
    assert!(refused(desk().manifest(Json::from(true))).starts_with("connector_operations_invalid"));
}

/// Proves: SDK-CONNECTOR-CONTROL-R026
#[tokio::test]
async fn a_destructive_operation_asks_and_a_no_never_reaches_the_client() {
    let (tickets, rooms) = (Arc::new(Tickets::default()), Arc::new(Rooms::default()));
    let surface = desk().operations(Arc::clone(&tickets)).operations(Arc::clone(&rooms)).build().unwrap();
    let close = r#"{"ticket_id":7}"#;
    for client in [Client::new(Asks::Not), Client::saying(accepted(r#"{"confirmed":false}"#))] {
        let client = Arc::new(client);
        assert!(matches!(client.asking(), Asking::Unsupported | Asking::Direct));
        call(&surface, &client, "desk_close_ticket", close).await;
        call(&surface, &client, "rooms_purge_bookings", "{}").await;
    }
    assert_eq!((tickets.0.hits(), rooms.0.hits()), (0, 0));
    let client = Arc::new(Client::saying(yes()));
    call(&surface, &client, "desk_close_ticket", close).await;
    assert_eq!((tickets.0.hits(), client.questions.lock().unwrap().len()), (1, 1));
    call(&surface, &client, "desk_create_ticket", r#"{"title":"x"}"#).await;
    assert_eq!((tickets.0.hits(), client.questions.lock().unwrap().len()), (2, 1));
}

/// Proves: SDK-CONNECTOR-CONTROL-R026, SDK-CONNECTOR-CONTROL-R020.2
#[test]
fn two_tools_of_one_name_are_refused() {
    let twice = desk().operations(Arc::new(Rooms::default())).operations(Arc::new(Rooms::default()));
    let text = refused(twice);
    assert!(text.starts_with("connector_operations_invalid") && text.contains("tool_surface_collision"), "{text}");
    let own = Tool::read("rooms_run").handle(|_context, _args| async { Ok::<_, ToolRefusal>(Json::Null) });
    assert!(refused(desk().operations(Arc::new(Rooms::default())).tool(own)).contains("`rooms_run`"));
}
