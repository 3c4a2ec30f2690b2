//! Tools that act for their caller, declared in every way there is.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use scion_domain::json::{Json, parse};
use scion_domain::mcp::{ToolCall, ToolHints};
use scion_domain::refusal::Refusal as _;
use scion_domain::tool_surface::{Operation, OperationInputs, RouterMode, Verb};
use scion_ports::{CallChannel, ToolSurface as _};
use scion_serve::{
    Action, BoundOperation, Connector, ConnectorBuilder, Identity, Router, ServedSurface, Tool, ToolRefusal,
};
use support::{Asks, Backend, Client, object, scope_of};

fn desk() -> ConnectorBuilder {
    Connector::builder(Identity::new("desk-mcp", "1.0.0"))
}

fn tool(backend: &Backend) -> Tool {
    let backend = backend.clone();
    Tool::read("desk_mine").requires_actor().handle(move |_context, _args| {
        backend.hit();
        async { Ok::<_, ToolRefusal>(Json::Null) }
    })
}

fn operation(backend: &Backend) -> BoundOperation {
    let backend = backend.clone();
    let described = Operation {
        method: "list_own".into(),
        domain: "Desk".into(),
        description: "Lists what is mine.".into(),
        verb: Some(Verb::Get),
        sent: Vec::new(),
        inputs: OperationInputs::default(),
    };
    BoundOperation::new(described, move |_context, _args| {
        backend.hit();
        async { Ok::<_, ToolRefusal>(Json::Null) }
    })
}

fn router(backend: &Backend) -> Router {
    let backend = backend.clone();
    let actions = ToolHints { read_only: Some(true), ..ToolHints::default() };
    let router = Router::named("desk_rooms").hints(actions).requires_actor();
    router.action(Action::new("list")).action(Action::new("get")).handle(move |_context, _action, _args| {
        backend.hit();
        async { Ok::<_, ToolRefusal>(Json::Null) }
    })
}

/// Every tool says that it needs an actor, and refuses a caller whom only the host knows.
async fn all_refuse(surface: &ServedSurface, count: usize) {
    let scope = scope_of("acme", "1");
    let tools = surface.list_tools(&scope).await.unwrap();
    assert_eq!(tools.len(), count);
    for tool in tools {
        assert_eq!(tool.meta.get("team.knuckles/requiresActor"), Some(&Json::from(true)), "{}", tool.name);
        let client = Arc::new(Client::new(Asks::Not)) as Arc<dyn CallChannel>;
        let call = ToolCall { tool: tool.name.clone(), arguments: object("{}") };
        let result = surface.call_tool(&scope, client, call).await.unwrap().done().unwrap();
        assert!(
            result.is_error && result.texts[0].starts_with("identity_required: "),
            "{}: {:?}",
            tool.name,
            result.texts
        );
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R902.1, SDK-CONNECTOR-CONTROL-R902.4
#[tokio::test]
async fn the_flag_is_read_from_every_declaration() {
    let backend = Backend::default();
    let manifest = parse(r#"[{"method":"list_own","requires_actor":true}]"#).unwrap();
    all_refuse(&desk().tool(tool(&backend)).build().unwrap(), 1).await;
    let bound = vec![operation(&backend).requires_actor()];
    all_refuse(&desk().bound_operations(None, bound).build().unwrap(), 1).await;
    let bound = vec![operation(&backend)];
    all_refuse(&desk().manifest(manifest).bound_operations(None, bound).build().unwrap(), 1).await;
    all_refuse(&desk().router(router(&backend)).build().unwrap(), 2).await;
    all_refuse(&desk().router_mode(RouterMode::Keep).router(router(&backend)).build().unwrap(), 1).await;
    assert_eq!(backend.hits(), 0);

    let plain = desk().bound_operations(None, vec![operation(&backend)]).build().unwrap();
    let listed = plain.list_tools(&scope_of("acme", "1")).await.unwrap();
    assert!(!listed[0].meta.contains_key("team.knuckles/requiresActor"), "false unless set");
}

/// Proves: SDK-CONNECTOR-CONTROL-R902.1
#[tokio::test]
async fn an_action_that_another_tool_serves_still_needs_its_actor() {
    let backend = Backend::default();
    let covered = |action: Action| {
        Router::named("desk_mine")
            .requires_actor()
            .action(action)
            .handle(|_context, _action, _args| async { Ok::<_, ToolRefusal>(Json::Null) })
    };
    let by_operation = || covered(Action::new("own").operation("list_own"));
    let by_client = Router::named("desk_mine").requires_actor().client_operations();
    let by_client = by_client.handle(|_context, _action, _args| async { Ok::<_, ToolRefusal>(Json::Null) });
    let plain = || vec![operation(&backend)];
    let flagged = || vec![operation(&backend).requires_actor()];
    let by_name = Tool::read("desk_mine_list").handle(|_context, _args| async { Ok::<_, ToolRefusal>(Json::Null) });

    for dropped in [
        desk().bound_operations(None, plain()).router(by_operation()),
        desk().bound_operations(None, plain()).router(by_client),
        desk().tool(by_name).router(covered(Action::new("list"))),
    ] {
        let refusal = dropped.build().err().unwrap();
        assert_eq!(refusal.code(), "router_actor_dropped", "{refusal}");
        assert!(refusal.to_string().contains("desk_mine"), "{refusal}");
    }
    all_refuse(&desk().bound_operations(None, flagged()).router(by_operation()).build().unwrap(), 1).await;
    let whole = desk().router_mode(RouterMode::Keep).bound_operations(None, flagged()).router(by_operation());
    all_refuse(&whole.build().unwrap(), 2).await;
}
