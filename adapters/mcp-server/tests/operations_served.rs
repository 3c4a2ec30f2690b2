//! The operations of a sample client, as a client of the protocol lists and calls them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use scion_domain::json::Json;
use scion_domain::tool_surface::{InputField, Operation, OperationInputs, Verb};
use scion_mcp_server::ServeOptions;
use scion_serve::{Action, BoundOperation, Connector, Identity, Operations, Router, ToolRefusal};
use serde_json::{Value, json};
use support::{Era, Raw};

struct Desk;

impl Operations for Desk {
    fn operations(_api: Arc<Self>) -> Vec<BoundOperation> {
        let integer = || Json::from([("type", "integer".into())]);
        let id = || InputField::required("ticket_id", integer());
        [
            ("list_tickets", Verb::Get, vec![InputField::optional("page", integer(), Json::from(1_i64))]),
            ("create_ticket", Verb::Post, vec![InputField::required("title", Json::from([("type", "string".into())]))]),
            ("replace_ticket", Verb::Put, vec![id()]),
            ("close_ticket", Verb::Delete, vec![id()]),
        ]
        .map(|(method, verb, fields)| {
            let operation = Operation {
                method: method.into(),
                domain: "tickets".into(),
                description: format!("Does {method}."),
                verb: Some(verb),
                sent: Vec::new(),
                inputs: OperationInputs::of(fields),
            };
            BoundOperation::new(operation, move |_context, args| async move {
                Ok::<_, ToolRefusal>(Json::from([("did", method.into()), ("with", Json::Object(args.into_object()))]))
            })
        })
        .into()
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R020, SDK-CONNECTOR-CONTROL-R020.3, SDK-CENTRALIZED-CAPABILITIES-R015
#[tokio::test]
async fn a_client_lists_and_calls_one_tool_for_each_operation() {
    for era in [Era::Handshake, Era::Enveloped] {
        let router = Router::named("desk_rooms").action(Action::new("list")).action(Action::new("list_tickets"));
        let router = router.handle(|_context, action, _args| async move { Ok::<_, ToolRefusal>(Json::from(&*action)) });
        let surface = Connector::builder(Identity::new("desk-mcp", "1")).operations(Arc::new(Desk)).router(router);
        let mut client = Raw::open(surface.build().unwrap(), ServeOptions::default(), era).await;
        let listed = client.request(era, 1, "tools/list", json!({})).await;
        let tools = listed["result"]["tools"].as_array().unwrap().clone();
        let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(
            names,
            ["desk_close_ticket", "desk_create_ticket", "desk_list_tickets", "desk_replace_ticket", "desk_rooms_list"]
        );
        let hints = |at: usize| {
            let hints = &tools[at]["annotations"];
            [&hints["readOnlyHint"], &hints["destructiveHint"], &hints["idempotentHint"]].map(Value::as_bool)
        };
        assert_eq!(hints(0), [Some(false), Some(true), Some(true)]);
        assert_eq!(hints(1), [Some(false), Some(false), Some(false)]);
        assert_eq!(hints(2), [Some(true), Some(false), Some(true)]);
        assert_eq!(hints(3), [Some(false), Some(false), Some(true)]);
        assert_eq!(tools[1]["description"], "Does create_ticket.");
        assert_eq!(tools[1]["inputSchema"]["required"], json!(["title"]));
        assert_eq!(tools[1]["inputSchema"]["properties"]["title"], json!({"type": "string"}));
        assert_eq!(tools[2]["inputSchema"]["properties"]["page"], json!({"type": "integer", "default": 1}));
        assert!(tools.iter().all(|tool| tool["inputSchema"]["additionalProperties"] == false));

        let call = json!({"name": "desk_replace_ticket", "arguments": {"ticket_id": 7}});
        let called = client.request(era, 2, "tools/call", call).await;
        assert_eq!(called["result"]["content"][0]["text"], r#"{"did":"replace_ticket","with":{"ticket_id":7}}"#);
        let call = json!({"name": "desk_rooms_list", "arguments": {}});
        let called = client.request(era, 3, "tools/call", call).await;
        assert_eq!(called["result"]["content"][0]["text"], "list");
    }
}
