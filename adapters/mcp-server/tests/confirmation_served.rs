//! Destructive confirmation over real sessions: both eras, both dispatch paths, every exchange of the vectors, and a backend
//! that counts.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use scion_domain::json::Json;
use scion_domain::mcp::ToolHints;
use scion_mcp_server::ServeOptions;
use scion_serve::{Connector, Identity, Param, ServedSurface, Tool, ToolRefusal};
use serde_json::{Value, json};
use support::{Era, Raw};

const KEY: &str = "destructive_action_confirmation";
const ERAS: [Era; 2] = [Era::Handshake, Era::Enveloped];

#[derive(Clone, Default)]
struct Backend(Arc<AtomicUsize>);

impl Backend {
    fn hits(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    fn delete(&self) -> Json {
        self.0.fetch_add(1, Ordering::SeqCst);
        Json::from([("deleted", true.into())])
    }
}

fn elicitation() -> Value {
    json!({"elicitation": {}})
}

/// The two dispatch paths: a tool of its own, and a router that was kept whole.
fn desk(backend: &Backend) -> ServedSurface {
    let destructive =
        ToolHints { read_only: Some(false), destructive: Some(true), idempotent: Some(true), open_world: Some(true) };
    let (one, two) = (backend.clone(), backend.clone());
    let own = Tool::with_hints("desk_delete_ticket", destructive)
        .operation("delete_ticket")
        .param(Param::integer("ticket_id", "The ticket").between(1, 1000))
        .handle(move |_context, _args| std::future::ready(Ok::<_, ToolRefusal>(one.delete())));
    let writing = ToolHints { destructive: Some(false), ..destructive };
    let router = Tool::with_hints("desk_router", writing)
        .asks(scion_serve::Asks::ByAction("action".to_owned()))
        .param(Param::text("action", "What to do"))
        .param(Param::integer("ticket_id", "The ticket").between(1, 1000))
        .handle(move |_context, _args| std::future::ready(Ok::<_, ToolRefusal>(two.delete())));
    Connector::builder(Identity::new("acme-desk-mcp", "1.4.0")).tool(own).tool(router).build().unwrap()
}

/// The two ways to the same operation.
fn paths() -> [Value; 2] {
    [
        json!({"name": "desk_delete_ticket", "arguments": {"ticket_id": 5}}),
        json!({"name": "desk_router", "arguments": {"action": "delete_ticket", "ticket_id": 5}}),
    ]
}

fn with(call: &Value, extra: &Value) -> Value {
    let mut call = call.clone();
    for (key, value) in extra.as_object().unwrap() {
        call[key] = value.clone();
    }
    call
}

/// Calls, answers the question as told, and gives the final message.
async fn exchange(client: &mut Raw, era: Era, id: u64, call: &Value, reply: &Value) -> Value {
    client.post(era, id, "tools/call", call.clone()).await;
    let asked = client.receive().await;
    match era {
        Era::Handshake => {
            assert_eq!(asked["method"], "elicitation/create", "{asked}");
            assert_eq!(asked["params"]["mode"], "form");
            let mut answer = reply.clone();
            answer["jsonrpc"] = json!("2.0");
            answer["id"] = asked["id"].clone();
            client.send(&answer).await;
        }
        Era::Enveloped => {
            assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
            let state = asked["result"]["requestState"].clone();
            let replies = reply.get("result").map_or(json!({}), |reply| json!({ KEY: reply }));
            let again = with(call, &json!({"requestState": state, "inputResponses": replies}));
            client.post(era, id + 1000, "tools/call", again).await;
        }
    }
    client.receive().await
}

fn structured(answer: &Value) -> &Value {
    &answer["result"]["structuredContent"]
}

/// Proves: SDK-CONNECTOR-CONTROL-R026.1
#[tokio::test]
async fn only_an_accepted_literal_true_reaches_the_backend_and_once() {
    let noes = [
        json!({"result": {"action": "accept", "content": {"confirmed": false}}}),
        json!({"result": {"action": "accept", "content": {"confirmed": "true"}}}),
        json!({"result": {"action": "accept", "content": {"confirmed": "yes"}}}),
        json!({"result": {"action": "accept", "content": {"confirmed": 1}}}),
        json!({"result": {"action": "accept", "content": {"confirmed": [true]}}}),
        json!({"result": {"action": "accept", "content": {"confirmed": {"confirmed": true}}}}),
        json!({"result": {"action": "accept", "content": {"confirmed": {"value": false}}}}),
        json!({"result": {"action": "accept", "content": {"value": {"confirmed": true}}}}),
        json!({"result": {"action": "accept", "content": {}}}),
        json!({"result": {"action": "accept", "content": true}}),
        json!({"result": {"action": "accept", "content": [true]}}),
        json!({"result": {"action": "accept"}}),
        json!({"result": {"action": "yes", "content": {"confirmed": true}}}),
        json!({"result": {"confirmed": true}}),
        json!({"result": {}}),
        json!({"result": {"action": "decline"}}),
        json!({"result": {"action": "decline", "content": {"confirmed": true}}}),
        json!({"result": {"action": "cancel"}}),
        json!({"result": {"action": "cancel", "content": {"confirmed": true}}}),
        json!({"error": {"code": -32601, "message": "no"}}),
        json!({"error": {"code": -32603, "message": "the dialog broke"}}),
    ];
    for era in ERAS {
        for call in paths() {
            let backend = Backend::default();
            let mut client = Raw::open_with(desk(&backend), ServeOptions::default(), era, elicitation()).await;
            for (index, no) in noes.iter().enumerate() {
                let answer = exchange(&mut client, era, 10 + index as u64, &call, no).await;
                assert_eq!(
                    structured(&answer),
                    &json!({"cancelled": true, "operation": "delete_ticket"}),
                    "{era:?} {no}"
                );
                assert_eq!(answer["result"]["isError"], false, "{answer}");
                assert_eq!(backend.hits(), 0, "{era:?} {no}");
            }
            let yes = json!({"result": {"action": "accept", "content": {"confirmed": true}}});
            let answer = exchange(&mut client, era, 100, &call, &yes).await;
            assert_eq!(structured(&answer), &json!({"deleted": true}), "{era:?} {answer}");
            assert_eq!(backend.hits(), 1, "{era:?}");
            client.hang_up().await.unwrap();
            assert_eq!(backend.hits(), 1);
        }
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R026.1
#[tokio::test]
async fn a_client_that_did_not_offer_to_be_asked_is_refused_at_once_and_never_hangs() {
    for capabilities in [json!({}), json!({"elicitation": {"url": {}}}), json!({"sampling": {}})] {
        for era in ERAS {
            for call in paths() {
                let backend = Backend::default();
                let mut client =
                    Raw::open_with(desk(&backend), ServeOptions::default(), era, capabilities.clone()).await;
                let answer = client.request(era, 1, "tools/call", call.clone()).await;
                assert_eq!(structured(&answer), &json!({"cancelled": true, "operation": "delete_ticket"}), "{answer}");
                let forced = with(
                    &call,
                    &json!({
                        "requestState": "v1.AAAA",
                        "inputResponses": { KEY: {"action": "accept", "content": {"confirmed": true}} },
                    }),
                );
                let answer = client.request(era, 2, "tools/call", forced).await;
                assert_eq!(structured(&answer), &json!({"cancelled": true, "operation": "delete_ticket"}), "{answer}");
                assert_eq!(backend.hits(), 0);
            }
        }
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R026.1
#[tokio::test]
async fn states_that_are_not_of_this_call_are_refused_by_the_protocol() {
    for call in paths() {
        let backend = Backend::default();
        let era = Era::Enveloped;
        let mut client = Raw::open_with(desk(&backend), ServeOptions::default(), era, elicitation()).await;
        let mut other = Raw::open_with(desk(&backend), ServeOptions::default(), era, elicitation()).await;
        let yes = json!({"action": "accept", "content": {"confirmed": true}});
        let first = client.request(era, 1, "tools/call", call.clone()).await;
        let state = first["result"]["requestState"].clone();
        let again = |call: &Value, state: &Value| {
            with(call, &json!({"requestState": state, "inputResponses": { KEY: yes.clone() }}))
        };
        let mut six = call.clone();
        six["arguments"]["ticket_id"] = json!(6);
        let expected = json!({
            "code": -32602, "message": "Invalid or expired requestState", "data": {"reason": "invalid_request_state"},
        });
        for (id, repeated) in [again(&six, &state), again(&call, &json!("v1.AAAA"))].into_iter().enumerate() {
            let answer = client.request(era, 2 + id as u64, "tools/call", repeated).await;
            assert_eq!(answer["error"], expected);
        }
        let elsewhere = other.request(era, 1, "tools/call", again(&call, &state)).await;
        assert_eq!(elsewhere["error"], expected, "another process");
        assert_eq!(backend.hits(), 0);
        let answer = client.request(era, 10, "tools/call", again(&call, &state)).await;
        assert_eq!((structured(&answer), backend.hits()), (&json!({"deleted": true}), 1));
        let replay = client.request(era, 11, "tools/call", again(&call, &state)).await;
        assert_eq!((&replay["error"], backend.hits()), (&expected, 1));
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R026.1
#[tokio::test]
async fn a_cancelled_request_or_a_client_that_leaves_reaches_no_backend() {
    for call in paths() {
        for leaves in [false, true] {
            let backend = Backend::default();
            let era = Era::Handshake;
            let mut client = Raw::open_with(desk(&backend), ServeOptions::default(), era, elicitation()).await;
            client.post(era, 1, "tools/call", call.clone()).await;
            let asked = client.receive().await;
            if leaves {
                drop(client);
            } else {
                let gone = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
                client.send(&gone).await;
                tokio::time::sleep(Duration::from_millis(50)).await;
                let yes = json!({"action": "accept", "content": {"confirmed": true}});
                client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": yes})).await;
                let next = client.request(era, 2, "tools/list", json!({})).await;
                assert!(next.to_string().contains("desk_delete_ticket"), "{next}");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
            assert_eq!(backend.hits(), 0);
        }
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R026.1
#[tokio::test]
async fn what_destroys_nothing_asks_nobody() {
    for era in ERAS {
        let backend = Backend::default();
        let mut client = Raw::open_with(desk(&backend), ServeOptions::default(), era, elicitation()).await;
        let call = json!({"name": "desk_router", "arguments": {"action": "close_ticket", "ticket_id": 5}});
        let answer = client.request(era, 1, "tools/call", call).await;
        assert_eq!((structured(&answer), backend.hits()), (&json!({"deleted": true}), 1));
    }
}

/// A client of another make, which shows the question to somebody and passes the answer on.
struct Person {
    says: rmcp::model::ElicitResult,
    asked: Arc<AtomicUsize>,
}

impl rmcp::ClientHandler for Person {
    fn get_info(&self) -> rmcp::model::ClientConfig {
        let mut config = rmcp::model::ClientConfig::default();
        config.capabilities.elicitation = Some(rmcp::model::ElicitationCapability::default());
        config
    }

    async fn create_elicitation(
        &self,
        _request: rmcp::model::ElicitRequestParams,
        _context: rmcp::service::RequestContext<rmcp::RoleClient>,
    ) -> Result<rmcp::model::ElicitResult, rmcp::ErrorData> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Ok(self.says.clone())
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R026.1
#[tokio::test]
async fn an_independent_client_confirms_and_declines_in_either_era() {
    use rmcp::ClientServiceExt as _;
    use rmcp::model::{CallToolRequestParams, ElicitResult, ElicitationAction, ProtocolVersion};
    use rmcp::service::ClientLifecycleMode;

    let modes = || {
        let discover = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
        [ClientLifecycleMode::Initialize, discover]
    };
    let yes = ElicitResult::new(ElicitationAction::Accept).with_content(json!({"confirmed": true}));
    let no = ElicitResult::new(ElicitationAction::Accept).with_content(json!({"confirmed": false}));
    for (says, hits) in [(yes, 1), (no, 0), (ElicitResult::new(ElicitationAction::Decline), 0)] {
        for mode in modes() {
            for call in paths() {
                let backend = Backend::default();
                let (near, far) = tokio::io::duplex(1 << 16);
                let (read, write) = tokio::io::split(far);
                let surface = Arc::new(desk(&backend));
                tokio::spawn(scion_mcp_server::serve_io(surface, read, write, ServeOptions::default()));
                let asked = Arc::new(AtomicUsize::new(0));
                let person = Person { says: says.clone(), asked: Arc::clone(&asked) };
                let client = person.serve_with_lifecycle(near, mode.clone()).await.unwrap();
                let name = call["name"].as_str().unwrap().to_owned();
                let arguments = call["arguments"].as_object().unwrap().clone();
                let result =
                    client.call_tool(CallToolRequestParams::new(name).with_arguments(arguments)).await.unwrap();
                assert_eq!((asked.load(Ordering::SeqCst), backend.hits()), (1, hits), "{result:?}");
                client.cancel().await.unwrap();
            }
        }
    }
}

fn vectors(section: &str) -> Vec<Value> {
    let path = format!("{}/../../conformance/vectors/mcp_wire.json", env!("CARGO_MANIFEST_DIR"));
    let file: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let cases = file[section].as_array().unwrap().clone();
    assert!(!cases.is_empty());
    cases
}

/// What a message says, without prose, opaque values and the member that only we send.
fn bare(mut message: Value) -> Value {
    for member in ["jsonrpc", "id"] {
        message.as_object_mut().unwrap().remove(member);
    }
    if let Some(result) = message.get_mut("result").and_then(Value::as_object_mut)
        && let Some(meta) = result.get_mut("_meta").and_then(Value::as_object_mut)
    {
        meta.remove("team.knuckles/execution");
        if meta.is_empty() {
            result.remove("_meta");
        }
    }
    message
}

/// Every exchange of `confirmation_legacy`.
///
/// Proves: SDK-CONNECTOR-CONTROL-R026.1
#[tokio::test]
async fn the_handshake_exchanges_of_the_vectors() {
    for case in vectors("confirmation_legacy") {
        let backend = Backend::default();
        let era = Era::Handshake;
        let capabilities = case["client_capabilities"].clone();
        let mut client = Raw::open_with(desk(&backend), ServeOptions::default(), era, capabilities.clone()).await;
        client.post(era, 7, "tools/call", paths()[0].clone()).await;
        // Deviation: a client that did not offer to be asked is not asked.
        if capabilities.get("elicitation").is_some() {
            let mut asked = client.receive().await;
            // The protocol library asks for progress of every request it makes.
            asked["params"].as_object_mut().unwrap().remove("_meta");
            let mut expected = case["server_request"][0]["params"].clone();
            expected["message"] = asked["params"]["message"].clone();
            assert_eq!(asked["params"], expected, "{}", case["id"]);
            let mut reply = case["client_reply"].clone();
            reply["jsonrpc"] = json!("2.0");
            reply["id"] = asked["id"].clone();
            client.send(&reply).await;
        }
        assert_eq!(bare(client.receive().await), case["response"], "{}", case["id"]);
        assert_eq!(backend.hits(), usize::from(case["id"] == "accept"));
    }
}

/// Every exchange of `confirmation_modern`.
///
/// Proves: SDK-CONNECTOR-CONTROL-R026.1
#[tokio::test]
async fn the_enveloped_exchanges_of_the_vectors() {
    let era = Era::Enveloped;
    let mut accepted = 0;
    for case in vectors("confirmation_modern") {
        let backend = Backend::default();
        let mut client = Raw::open_with(desk(&backend), ServeOptions::default(), era, elicitation()).await;
        let first = client.request(era, 1, "tools/call", paths()[0].clone()).await;
        let mut state = first["result"]["requestState"].clone();
        let mut call = json!({"name": "desk_delete_ticket", "arguments": case.get("arguments").unwrap_or(&json!({"ticket_id": 5}))});
        if let Some(extra) = case.get("extra") {
            call = with(&call, extra);
        }
        match case["id"].as_str().unwrap() {
            "state from another server process" => {
                let mut other = Raw::open_with(desk(&backend), ServeOptions::default(), era, elicitation()).await;
                state = other.request(era, 1, "tools/call", paths()[0].clone()).await["result"]["requestState"].clone();
                call = with(
                    &call,
                    &json!({
                        "requestState": "<opaque>",
                        "inputResponses": { KEY: {"action": "accept", "content": {"confirmed": true}} },
                    }),
                );
            }
            "accepted again (replay)" => {
                let once = with(&call, &json!({ "requestState": state.clone() }));
                client.request(era, 2, "tools/call", once).await;
                assert_eq!(backend.hits(), 1);
            }
            _ => {}
        }
        if call.get("requestState") == Some(&json!("<opaque>")) {
            call["requestState"] = state;
        }
        let mut answer = bare(client.request(era, 3, "tools/call", call).await);
        let mut expected = case["response"].clone();
        if case["id"] == "accepted again (replay)" {
            // Deviation: the peer runs the operation again.
            expected = vectors("confirmation_modern")[1]["response"].clone();
            assert_eq!(backend.hits(), 1);
        }
        if case["id"] == "first call" {
            answer["result"]["requestState"] = json!("<opaque>");
            let ours = &mut answer["result"]["inputRequests"][KEY]["params"];
            let message = ours["message"].as_str().unwrap().to_owned();
            assert!(message.contains("`delete_ticket`") && message.contains(r#"{"ticket_id":5}"#), "{message}");
            ours["message"] = expected["result"]["inputRequests"][KEY]["params"]["message"].clone();
            ours["requestedSchema"]["properties"]["confirmed"]["title"] = json!("<free text>");
        }
        assert_eq!(answer, expected, "{}", case["id"]);
        if case["id"] == "accepted" {
            accepted = backend.hits();
        }
    }
    assert_eq!(accepted, 1);
}
