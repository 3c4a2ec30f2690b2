//! What goes wrong in a tool or with a client costs one answer, and is named.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use scion_domain::call::CallOutcome;
use scion_domain::json::Json;
use scion_domain::mcp::{
    Attachment, PromptBody, PromptDescription, ResourceBody, ResourceDescription, ResourceTemplate, ToolCall,
    ToolDescription, ToolResult,
};
use scion_domain::surface::{CallScope, SurfaceIdentity, SurfaceRefusal, TransportRefusal};
use scion_mcp_server::ServeOptions;
use scion_ports::{CallChannel, ChangeFeed, ToolSurface, async_trait};
use scion_serve::{ServedSurface, Tool, ToolRefusal};
use serde_json::{Value, json};
use support::{Era, Raw, message, toy};

const ERAS: [Era; 2] = [Era::Handshake, Era::Enveloped];

/// Counts the handlers that are under way.
#[derive(Clone, Default)]
struct Running(Arc<AtomicUsize>);

struct Guard(Running);

impl Running {
    fn enter(&self) -> Guard {
        self.0.fetch_add(1, Ordering::SeqCst);
        Guard(self.clone())
    }

    async fn becomes(&self, count: usize) {
        let reached = async {
            while self.0.load(Ordering::SeqCst) != count {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), reached).await.expect("the expected number of handlers");
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn hanging(running: &Running) -> Tool {
    let running = running.clone();
    Tool::read("hang").handle(move |_context, _args| {
        let guard = running.enter();
        async move {
            std::future::pending::<()>().await;
            drop(guard);
            Ok::<_, ToolRefusal>(Json::Null)
        }
    })
}

fn quick() -> Tool {
    Tool::read("quick").handle(|_context, _args| async { Ok::<_, ToolRefusal>(Json::from("done")) })
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn cancelling_a_call_drops_its_future() {
    for era in ERAS {
        let running = Running::default();
        let mut client = Raw::open(toy(vec![hanging(&running), quick()]), ServeOptions::default(), era).await;
        client.send(&message(era, 7, "tools/call", json!({"name": "hang", "arguments": {}}))).await;
        running.becomes(1).await;
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
        client.send(&cancel).await;
        running.becomes(0).await;
        assert_eq!(text(&client.call(era, 8, "quick", json!({})).await), "done");
    }
}

#[tokio::test]
async fn dropping_the_transport_cancels_every_call() {
    let running = Running::default();
    let mut client = Raw::open(toy(vec![hanging(&running)]), ServeOptions::default(), Era::Handshake).await;
    for id in 1..=3 {
        client.send(&message(Era::Handshake, id, "tools/call", json!({"name": "hang", "arguments": {}}))).await;
    }
    running.becomes(3).await;
    client.server.abort();
    running.becomes(0).await;
}

#[tokio::test]
async fn a_tool_that_takes_too_long_is_stopped_and_named() {
    let running = Running::default();
    let options = ServeOptions { call_timeout: Duration::from_millis(50), ..ServeOptions::default() };
    let mut client = Raw::open(toy(vec![hanging(&running)]), options, Era::Handshake).await;
    let answer = client.call(Era::Handshake, 1, "hang", json!({})).await;
    assert_eq!(answer["result"]["isError"], true);
    assert!(text(&answer).starts_with("tool_timed_out: `hang`"), "{answer}");
    running.becomes(0).await;
}

#[tokio::test]
async fn a_tool_that_panics_costs_one_answer_and_says_nothing_of_why() {
    let panicking = Tool::read("panic").handle(|_context, _args| async {
        assert!(std::hint::black_box(false), "secret of the inside");
        Ok::<_, ToolRefusal>(Json::Null)
    });
    let mut client = Raw::open(toy(vec![panicking, quick()]), ServeOptions::default(), Era::Handshake).await;
    let answer = client.call(Era::Handshake, 1, "panic", json!({})).await;
    assert!(text(&answer).starts_with("tool_panicked: ") && !answer.to_string().contains("secret"), "{answer}");
    assert_eq!(text(&client.call(Era::Handshake, 2, "quick", json!({})).await), "done");
}

#[tokio::test]
async fn an_answer_over_its_bound_is_refused_not_cut() {
    let large = Tool::read("large").handle(|_context, _args| async { Ok::<_, ToolRefusal>("x".repeat(2_000).into()) });
    let options = ServeOptions { max_answer_bytes: 1_000, ..ServeOptions::default() };
    let mut client = Raw::open(toy(vec![large]), options, Era::Handshake).await;
    let answer = client.call(Era::Handshake, 1, "large", json!({})).await;
    assert!(text(&answer).starts_with("tool_answer_too_large: "), "{answer}");
}

/// Answers every call with two pictures.
struct Pictures(ServedSurface);

#[async_trait]
impl ToolSurface for Pictures {
    fn identity(&self) -> &SurfaceIdentity {
        self.0.identity()
    }

    async fn list_tools(&self, scope: &CallScope) -> Result<Vec<ToolDescription>, SurfaceRefusal> {
        self.0.list_tools(scope).await
    }

    async fn call_tool(
        &self,
        _scope: &CallScope,
        _channel: Arc<dyn CallChannel>,
        _call: ToolCall,
    ) -> Result<CallOutcome, SurfaceRefusal> {
        let picture = || Attachment::Image { media_type: "image/png".to_owned(), bytes: vec![0; 400] };
        let attachments = vec![picture(), picture()];
        Ok(ToolResult { texts: vec!["x".repeat(200)], attachments, ..ToolResult::default() }.into())
    }

    async fn list_resources(&self, scope: &CallScope) -> Result<Vec<ResourceDescription>, SurfaceRefusal> {
        self.0.list_resources(scope).await
    }

    async fn read_resource(&self, scope: &CallScope, uri: &str) -> Result<ResourceBody, SurfaceRefusal> {
        self.0.read_resource(scope, uri).await
    }

    async fn list_resource_templates(&self, scope: &CallScope) -> Result<Vec<ResourceTemplate>, SurfaceRefusal> {
        self.0.list_resource_templates(scope).await
    }

    async fn list_prompts(&self, scope: &CallScope) -> Result<Vec<PromptDescription>, SurfaceRefusal> {
        self.0.list_prompts(scope).await
    }

    async fn get_prompt(
        &self,
        scope: &CallScope,
        name: &str,
        arguments: BTreeMap<String, String>,
    ) -> Result<PromptBody, SurfaceRefusal> {
        self.0.get_prompt(scope, name, arguments).await
    }

    fn changes(&self) -> Box<dyn ChangeFeed> {
        self.0.changes()
    }
}

#[tokio::test]
async fn attachments_count_into_the_bound_of_an_answer() {
    for (max_answer_bytes, fits) in [(1_000, true), (999, false)] {
        let options = ServeOptions { max_answer_bytes, ..ServeOptions::default() };
        let mut client = Raw::open(Pictures(toy(vec![quick()])), options, Era::Handshake).await;
        let answer = client.call(Era::Handshake, 1, "quick", json!({})).await;
        assert_eq!(text(&answer).starts_with("tool_answer_too_large: "), !fits, "{answer}");
        assert_eq!(answer["result"]["content"].as_array().unwrap().len(), if fits { 3 } else { 1 });
    }
}

#[tokio::test]
async fn calls_over_the_bound_wait_their_turn() {
    let running = Running::default();
    let options = ServeOptions { max_calls: 2, ..ServeOptions::default() };
    let mut client = Raw::open(toy(vec![hanging(&running), quick()]), options, Era::Handshake).await;
    for id in 1..=5 {
        client.send(&message(Era::Handshake, id, "tools/call", json!({"name": "hang", "arguments": {}}))).await;
    }
    running.becomes(2).await;
    // Listing is not a call, so it goes on.
    assert!(client.request(Era::Handshake, 9, "tools/list", json!({})).await["result"]["tools"].is_array());
    for id in 1..=5 {
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        client.send(&cancel).await;
    }
    running.becomes(0).await;
    assert_eq!(text(&client.call(Era::Handshake, 10, "quick", json!({})).await), "done");
}

#[tokio::test]
async fn a_request_over_its_bound_is_dropped_and_the_next_one_is_served() {
    let options = ServeOptions { max_request_bytes: 4_096, ..ServeOptions::default() };
    let mut client = Raw::open(toy(vec![quick()]), options, Era::Handshake).await;
    let long =
        message(Era::Handshake, 1, "tools/call", json!({"name": "quick", "arguments": {"x": "x".repeat(9_000)}}));
    client.send(&long).await;
    client.send_text("this is no JSON at all").await;
    let answer = client.call(Era::Handshake, 2, "quick", json!({})).await;
    assert_eq!((answer["id"].as_u64(), text(&answer)), (Some(2), "done"));
}

#[tokio::test]
async fn a_huge_or_deep_request_costs_itself_only() {
    let mut client = Raw::open(toy(vec![quick()]), ServeOptions::default(), Era::Handshake).await;
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"quick","arguments":{arguments}}}}}"#
        )
    };
    client.send_text(&call(&format!(r#"{{"x":"{}"}}"#, "y".repeat(50 << 20)))).await;
    client.send_text(&call(&format!("{{\"x\":{}{}}}", "[".repeat(200_000), "]".repeat(200_000)))).await;
    let answer = client.call(Era::Handshake, 2, "quick", json!({})).await;
    assert_eq!((answer["id"].as_u64(), text(&answer)), (Some(2), "done"), "{answer}");
}

/// JSON leaves it open; the last one counts, for the check, for the question to a person and for the call alike.
#[tokio::test]
async fn of_a_name_given_twice_the_last_one_counts() {
    let say = Tool::read("say")
        .param(scion_serve::Param::text("text", "What to say"))
        .handle(|_context, args| async move { Ok::<_, ToolRefusal>(Json::from(args.text("text")?)) });
    let mut client = Raw::open(toy(vec![say]), ServeOptions::default(), Era::Handshake).await;
    let twice = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"say","arguments":{"text":"first","text":"last"}}}"#;
    client.send_text(twice).await;
    assert_eq!(text(&client.receive().await), "last");
}

#[tokio::test]
async fn what_is_unknown_is_a_protocol_error_with_its_code() {
    for (era, resource_code) in [(Era::Handshake, -32002), (Era::Enveloped, -32602)] {
        let mut client = Raw::open(toy(vec![quick()]), ServeOptions::default(), era).await;
        let answer = client.call(era, 1, "nope", json!({})).await;
        assert_eq!(answer["error"]["code"], -32602);
        assert_eq!(answer["error"]["data"]["code"], "surface_unknown_tool");
        let answer = client.request(era, 2, "resources/read", json!({"uri": "connector://nope"})).await;
        assert_eq!(answer["error"]["code"], resource_code);
        assert_eq!(answer["error"]["data"]["code"], "surface_unknown_resource");
        let answer = client.request(era, 3, "no/such/method", json!({})).await;
        assert_eq!(answer["error"]["code"], -32601);
    }
}

#[tokio::test]
async fn refused_arguments_are_an_answer_the_caller_can_read() {
    let mut client = Raw::open(toy(vec![quick()]), ServeOptions::default(), Era::Handshake).await;
    let answer = client.call(Era::Handshake, 1, "quick", json!({"pgae": 1})).await;
    assert_eq!(answer["result"]["isError"], true);
    assert!(text(&answer).starts_with("argument_unknown: "), "{answer}");
}

#[tokio::test]
async fn a_client_may_leave_at_any_time() {
    let idle = Raw::serve(toy(vec![]), ServeOptions::default());
    assert_eq!(idle.hang_up().await, Ok(()));
    let opened = Raw::open(toy(vec![]), ServeOptions::default(), Era::Handshake).await;
    assert_eq!(opened.hang_up().await, Ok(()));
    let mut wrong = Raw::serve(toy(vec![]), ServeOptions::default());
    wrong.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    assert_eq!(wrong.server.await.unwrap(), Err(TransportRefusal::Opening));
}
