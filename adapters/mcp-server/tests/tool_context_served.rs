//! The tool context over real sessions: progress, terminal metadata, approvals, receipts and recovery, in both eras.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use scion_domain::id::{Digest256, TenantId};
use scion_domain::json::Json;
use scion_domain::mcp::{ToolHints, ToolResult};
use scion_domain::surface::CallerIdentity;
use scion_domain::tool_context::{
    CallEvent, CallEventKind, EffectIntent, EffectOutcome, ReceiptReference, RecoveredResult, RecoveryRequest,
    ToolExecutionContext,
};
use scion_domain::work::{ApprovalRequest, ApprovalState, WorkRefusal};
use scion_domain::writeback::EffectStatus;
use scion_mcp_server::ServeOptions;
use scion_ports::{Approvals, CallObserver, EffectReceipts, ToolSurface, async_trait};
use scion_serve::{Asks, CallGovernance, Connector, Identity, Param, Tool, ToolRefusal};
use serde_json::{Value, json};
use support::{Era, Raw};

const KEY: &str = "destructive_action_confirmation";
const ERAS: [Era; 2] = [Era::Handshake, Era::Enveloped];
const DESTRUCTIVE: ToolHints =
    ToolHints { read_only: Some(false), destructive: Some(true), idempotent: Some(true), open_world: Some(true) };

fn caller(tenant: &str) -> CallerIdentity {
    CallerIdentity::new(TenantId::parse(tenant).unwrap(), "ada", "cli").unwrap()
}

/// Everything behind the server that can be counted.
#[derive(Default)]
struct World {
    effects: AtomicUsize,
    identities: Mutex<Vec<String>>,
    approved: Mutex<Vec<String>>,
    spent: Mutex<Vec<Digest256>>,
    opened: Mutex<Vec<EffectIntent>>,
    settled: Mutex<Vec<(String, EffectStatus, ToolResult)>>,
    events: Mutex<Vec<String>>,
    lost: AtomicUsize,
}

impl World {
    fn effects(&self) -> usize {
        self.effects.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Approvals for World {
    async fn request(&self, request: &ApprovalRequest) -> Result<ApprovalState, WorkRefusal> {
        let shown = format!("{} {} {:?}", request.tenant, request.operation, request.arguments.get("ticket_id"));
        let approved = self.approved.lock().unwrap().contains(&shown);
        Ok(match (approved, self.spent.lock().unwrap().contains(&request.digest)) {
            (_, true) => ApprovalState::Spent,
            (true, _) => ApprovalState::Approved,
            (false, _) => ApprovalState::Rejected,
        })
    }

    async fn state(&self, _digest: &Digest256) -> Result<ApprovalState, WorkRefusal> {
        Ok(ApprovalState::Pending)
    }

    async fn spend(&self, digest: &Digest256) -> Result<(), WorkRefusal> {
        self.spent.lock().unwrap().push(*digest);
        Ok(())
    }
}

#[async_trait]
impl EffectReceipts for World {
    async fn open(&self, intent: &EffectIntent) -> Result<ReceiptReference, WorkRefusal> {
        let mut opened = self.opened.lock().unwrap();
        opened.push(intent.clone());
        Ok(ReceiptReference::parse(&format!("receipt:{}", opened.len())).unwrap())
    }

    async fn settle(&self, receipt: &ReceiptReference, outcome: EffectOutcome<'_>) -> Result<(), WorkRefusal> {
        self.settled.lock().unwrap().push((receipt.as_str().to_owned(), outcome.status, outcome.result.clone()));
        Ok(())
    }

    async fn recover(
        &self,
        context: &ToolExecutionContext,
        request: &RecoveryRequest,
        _arguments_digest: Digest256,
    ) -> Result<Option<RecoveredResult>, WorkRefusal> {
        let opened = self.opened.lock().unwrap();
        let own = |intent: &EffectIntent| {
            intent.context.tenant == context.tenant && intent.context.request == request.request
        };
        let Some(index) = opened.iter().position(own) else { return Ok(None) };
        let settled = self.settled.lock().unwrap();
        Ok(settled.get(index).map(|(receipt, status, result)| RecoveredResult {
            result: result.clone(),
            receipt: ReceiptReference::parse(receipt).unwrap(),
            status: *status,
        }))
    }
}

impl CallObserver for World {
    fn observe(&self, event: &CallEvent<'_>) {
        let ids = event.ids;
        match event.kind {
            CallEventKind::NotificationLost => {
                self.lost.fetch_add(1, Ordering::SeqCst);
            }
            CallEventKind::Ended { result, approval, .. } => self.events.lock().unwrap().push(format!(
                "{:?} {:?} {} {} {:?} {} {:?} {:?} approved={} trace={}",
                ids.tenant,
                ids.actor,
                ids.connector,
                ids.operation,
                ids.request,
                result.state.as_str(),
                result.reason,
                result.receipt.as_ref().map(ReceiptReference::as_str),
                approval.is_some(),
                ids.trace,
            )),
            _ => {}
        }
    }
}

/// Both dispatch paths run the same work: a tool of its own, and a router kept whole.
fn surface(world: &Arc<World>, governance: CallGovernance) -> Arc<dyn ToolSurface> {
    let work = |world: &Arc<World>| {
        let world = Arc::clone(world);
        move |context: scion_serve::ToolContext, _args| {
            let world = Arc::clone(&world);
            async move {
                let identity = context.execution()?;
                world.identities.lock().unwrap().push(format!(
                    "{} {} {} {} {}",
                    identity.tenant, identity.actor, identity.connector, identity.operation, identity.request
                ));
                let cache = context.cache();
                let tenant: Arc<String> = cache
                    .get_or_try_init("tenant", || async { Ok::<_, ToolRefusal>(identity.tenant.to_string()) })
                    .await?;
                context.progress(0.0, Some(4.0), Some("begin")).await?;
                let halves = [context.clone(), context.clone()].map(|context| {
                    tokio::spawn(async move {
                        for _ in 0..2 {
                            context.advance(1.0, None).await.unwrap();
                            tokio::task::yield_now().await;
                        }
                    })
                });
                for half in halves {
                    half.await.unwrap();
                }
                world.effects.fetch_add(1, Ordering::SeqCst);
                context.log(scion_domain::call::LogLevel::Warning, "token=abcdef123456 used").await;
                context.progress(4.0, None, Some("done")).await?;
                Ok::<_, ToolRefusal>(Json::from([("tenant", tenant.as_str().into())]))
            }
        }
    };
    let ticket = || Param::integer("ticket_id", "The ticket").between(1, 1000);
    let own = Tool::with_hints("desk_delete_ticket", DESTRUCTIVE).operation("delete_ticket").param(ticket());
    let router = Tool::with_hints("desk_router", ToolHints { destructive: Some(false), ..DESTRUCTIVE })
        .asks(Asks::ByAction("action".to_owned()))
        .operation("delete_ticket")
        .param(Param::text("action", "What to do"))
        .param(ticket());
    let read = Tool::read("desk_scan");
    let surface = Connector::builder(Identity::new("desk-mcp", "1.0.0"))
        .tool(own.handle(work(world)))
        .tool(router.handle(work(world)))
        .tool(read.handle(work(world)))
        .build()
        .unwrap();
    Arc::new(surface.governed_by(governance.observer(Arc::clone(world) as _)))
}

fn calls() -> [Value; 2] {
    [
        json!({"name": "desk_delete_ticket", "arguments": {"ticket_id": 5}}),
        json!({"name": "desk_router", "arguments": {"action": "delete_ticket", "ticket_id": 5}}),
    ]
}

/// Makes a call, says yes where asked, and gives the notices and the final message.
async fn run(client: &mut Raw, era: Era, id: u64, mut call: Value, token: Option<&str>) -> (Vec<Value>, Value) {
    if let Some(token) = token {
        call["_meta"] = json!({"progressToken": token});
    }
    call["_meta"]["io.modelcontextprotocol/logLevel"] = json!("info");
    call["_meta"]["traceparent"] = json!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    client.post(era, id, "tools/call", call.clone()).await;
    let mut notices = Vec::new();
    loop {
        let message = client.receive().await;
        if message["method"] == "elicitation/create" {
            let yes = json!({"action": "accept", "content": {"confirmed": true}});
            client.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": yes})).await;
        } else if message["result"]["resultType"] == "input_required" {
            call["requestState"] = message["result"]["requestState"].clone();
            call["inputResponses"] = json!({ KEY: {"action": "accept", "content": {"confirmed": true}} });
            client.post(era, id, "tools/call", call.clone()).await;
        } else if message.get("method").is_some() {
            notices.push(message);
        } else {
            return (notices, message);
        }
    }
}

fn execution(answer: &Value) -> &Value {
    &answer["result"]["_meta"]["team.knuckles/execution"]
}

async fn open(surface: &Arc<dyn ToolSurface>, tenant: &str, era: Era) -> Raw {
    Raw::open_as(caller(tenant), Arc::clone(surface), era, json!({"elicitation": {}})).await
}

/// Proves: SDK-CONNECTOR-CONTROL-R050, SDK-CONNECTOR-CONTROL-R050.2, SDK-CONNECTOR-CONTROL-R050.3, SDK-CONNECTOR-CONTROL-R050.6
#[tokio::test]
async fn served_progress_comes_in_order_before_a_result_that_sums_it_up() {
    for era in ERAS {
        for call in calls() {
            let world = Arc::new(World::default());
            let surface = surface(&world, CallGovernance::default());
            let mut client = open(&surface, "acme", era).await;
            let (notices, answer) = run(&mut client, era, 7, call.clone(), Some("tok")).await;
            let progress: Vec<_> =
                notices.iter().filter(|notice| notice["method"] == "notifications/progress").collect();
            let completed: Vec<_> =
                progress.iter().map(|notice| notice["params"]["progress"].as_f64().unwrap()).collect();
            assert_eq!(completed, [0.0, 1.0, 2.0, 3.0, 4.0], "{era:?}");
            assert!(progress.iter().all(|notice| notice["params"]["progressToken"] == "tok"));
            let lines: Vec<_> = notices.iter().filter(|notice| notice["method"] == "notifications/message").collect();
            assert_eq!(lines.len(), 1, "{era:?} {notices:?}");
            assert!(!lines[0].to_string().contains("abcdef123456"), "{lines:?}");
            assert_eq!(
                execution(&answer),
                &json!({
                    "state": "succeeded", "lastSequence": 5, "request": "7",
                    "progress": {"completed": 4.0, "total": 4.0, "message": "done"},
                }),
                "an equal report moves the summary only"
            );
            // The same context identity on both dispatch paths.
            assert_eq!(world.identities.lock().unwrap().as_slice(), ["acme ada desk-mcp delete_ticket 7"]);
            assert_eq!(world.effects(), 1);

            let (notices, answer) = run(&mut client, era, 8, call, None).await;
            assert!(notices.iter().all(|notice| notice["method"] != "notifications/progress"), "no token, no notice");
            assert_eq!(execution(&answer)["lastSequence"], 5);
            assert_eq!(execution(&answer)["request"], "8");
        }
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R050.2, SDK-CONNECTOR-CONTROL-R050.6
#[tokio::test]
async fn tenants_side_by_side_see_their_own_cache_and_identity() {
    for era in ERAS {
        let world = Arc::new(World::default());
        let surface = surface(&world, CallGovernance::default());
        let clients: Vec<_> = ["acme", "other"]
            .into_iter()
            .map(|tenant| {
                let surface = Arc::clone(&surface);
                tokio::spawn(async move {
                    let mut client = open(&surface, tenant, era).await;
                    for id in 1..20 {
                        let call = json!({"name": "desk_scan", "arguments": {}});
                        let (_, answer) = run(&mut client, era, id, call, None).await;
                        assert_eq!(answer["result"]["structuredContent"], json!({"tenant": tenant}));
                    }
                })
            })
            .collect();
        for client in clients {
            client.await.unwrap();
        }
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R050.4, SDK-CONNECTOR-CONTROL-R050.5, SDK-CONNECTOR-CONTROL-R050.6
#[tokio::test]
async fn approvals_receipts_and_recovery_over_a_session() {
    for era in ERAS {
        for call in calls() {
            let world = Arc::new(World::default());
            let governance =
                CallGovernance::default().approvals(Arc::clone(&world) as _).receipts(Arc::clone(&world) as _);
            let surface = surface(&world, governance);
            let mut client = open(&surface, "acme", era).await;

            let (_, denied) = run(&mut client, era, 1, call.clone(), None).await;
            assert_eq!(execution(&denied)["reason"], "approval_required", "{denied}");
            assert_eq!(denied["result"]["isError"], true);
            assert_eq!((world.effects(), world.opened.lock().unwrap().len()), (0, 0));
            let number = call["arguments"]["ticket_id"].as_u64().map(Json::from);
            world.approved.lock().unwrap().push(format!("acme delete_ticket {number:?}"));

            let mut anonymous =
                Raw::open_with_arc(Arc::clone(&surface), ServeOptions::default(), era, json!({"elicitation": {}}))
                    .await;
            let (_, unknown) = run(&mut anonymous, era, 1, call.clone(), None).await;
            assert_eq!((&execution(&unknown)["reason"], world.effects()), (&json!("invalid_context"), 0));
            let mut other = open(&surface, "other", era).await;
            let (_, theirs) = run(&mut other, era, 1, call.clone(), None).await;
            assert_eq!((&execution(&theirs)["reason"], world.effects()), (&json!("approval_required"), 0));

            let (_, done) = run(&mut client, era, 2, call.clone(), None).await;
            assert_eq!(execution(&done)["receipt"], "receipt:1", "{done}");
            assert_eq!(world.effects(), 1);
            let (_, again) = run(&mut client, era, 3, call.clone(), None).await;
            assert_eq!((&execution(&again)["reason"], world.effects()), (&json!("approval_required"), 1));

            // The client comes back in a new session and asks for the result it lost.
            client.hang_up().await.unwrap();
            let mut client = open(&surface, "acme", era).await;
            let mut recovery = call.clone();
            recovery["_meta"] = json!({"team.knuckles/recover": {"request": "2"}});
            client.post(era, 9, "tools/call", recovery.clone()).await;
            let recovered = client.receive().await;
            assert_eq!(recovered["result"]["structuredContent"], json!({"tenant": "acme"}), "{recovered}");
            assert_eq!(execution(&recovered)["receipt"], "receipt:1");
            other.post(era, 9, "tools/call", recovery.clone()).await;
            let refused = other.receive().await;
            assert_eq!(execution(&refused)["reason"], "recovery_unavailable", "{refused}");
            assert_eq!(world.effects(), 1, "nothing ran again");

            let events = world.events.lock().unwrap().join("\n");
            let ended = "Some(\"acme\") Some(\"ada\") desk-mcp delete_ticket Some(\"2\") succeeded None Some(\"receipt:1\") \
                         approved=true trace=0af7651916cd43dd8448eb211c80319c";
            assert!(events.contains(ended), "{events}");
            let denied = "Some(\"1\") failed Some(\"approval_required\") None approved=false";
            assert!(events.contains(denied), "{events}");
        }
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R050.4, SDK-CONNECTOR-CONTROL-R050.6
#[tokio::test]
async fn a_reconnect_without_a_producer_of_results_is_refused_and_repeats_nothing() {
    for era in ERAS {
        for call in calls() {
            let world = Arc::new(World::default());
            let surface = surface(&world, CallGovernance::default());
            // The client leaves as soon as it has answered; the effect happens, its notices and its result are lost.
            let mut client = open(&surface, "acme", era).await;
            let (_, first) = run(&mut client, era, 1, call.clone(), Some("tok")).await;
            assert_eq!(execution(&first)["state"], "succeeded");
            client.hang_up().await.unwrap();
            let mut client = open(&surface, "acme", era).await;
            let mut recovery = call.clone();
            recovery["_meta"] = json!({"team.knuckles/recover": {"request": "1"}});
            client.post(era, 2, "tools/call", recovery).await;
            let refused = client.receive().await;
            assert_eq!(refused["result"]["isError"], true);
            assert_eq!(execution(&refused)["reason"], "recovery_unavailable");
            assert_eq!(world.effects(), 1);
        }
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R050.4, SDK-CONNECTOR-CONTROL-R050.6
#[tokio::test]
async fn a_lost_client_repeats_no_effect_and_cancellation_reaches_the_backend() {
    struct Backend(Arc<AtomicUsize>);
    impl Drop for Backend {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    for era in ERAS {
        let (entered, dropped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (begun, gone) = (Arc::clone(&entered), Arc::clone(&dropped));
        let world = Arc::new(World::default());
        let slow = Tool::read("desk_slow").handle(move |context, _args| {
            let (begun, backend) = (Arc::clone(&begun), Backend(Arc::clone(&gone)));
            async move {
                begun.fetch_add(1, Ordering::SeqCst);
                let _backend = backend;
                context.progress(1.0, None, None).await?;
                std::future::pending::<()>().await;
                Ok::<_, ToolRefusal>(Json::Null)
            }
        });
        let surface = Connector::builder(Identity::new("desk-mcp", "1.0.0")).tool(slow).build().unwrap();
        let surface = surface.governed_by(CallGovernance::default().observer(Arc::clone(&world) as _));
        let mut client = open(&(Arc::new(surface) as _), "acme", era).await;
        let call = json!({"name": "desk_slow", "arguments": {}, "_meta": {"progressToken": 1}});
        client.post(era, 1, "tools/call", call).await;
        assert_eq!(client.receive().await["method"], "notifications/progress");
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
        client.send(&cancel).await;
        for _ in 0..200 {
            if dropped.load(Ordering::SeqCst) == 1 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!((entered.load(Ordering::SeqCst), dropped.load(Ordering::SeqCst)), (1, 1), "{era:?}");
        assert!(world.events.lock().unwrap()[0].contains("cancelled Some(\"cancelled\")"));
    }
}
