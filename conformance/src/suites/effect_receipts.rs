//! The suite of [`EffectReceipts`].

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use scion_domain::digest::sha256;
use scion_domain::id::{Digest256, TenantId};
use scion_domain::json::Json;
use scion_domain::mcp::ToolResult;
use scion_domain::surface::{CallScope, CallerIdentity};
use scion_domain::tool_context::{ContextParts, EffectIntent, EffectOutcome, RecoveryRequest, ToolExecutionContext};
use scion_domain::work::WorkRefusal;
use scion_domain::writeback::EffectStatus;
use scion_ports::EffectReceipts;

use crate::ensure;
use crate::fixtures::connector_named;
use crate::report::Report;

type Checked = Result<(), String>;

/// Makes stores of receipts to test.
#[async_trait]
pub trait ReceiptFixture: Send + Sync {
    /// An empty store.
    async fn open(&self) -> Arc<dyn EffectReceipts>;

    /// The store that was opened last, as a restarted process finds it.
    async fn reopen(&self) -> Arc<dyn EffectReceipts>;
}

/// Runs every check.
pub async fn run(fixture: &dyn ReceiptFixture) -> Report {
    let mut report = Report::new("EffectReceipts");
    report.add("O1", "an_opened_receipt_survives_and_gives_no_answer", durable(fixture).await);
    report.add("O2", "receipts_of_different_requests_differ", distinct(fixture).await);
    report.add("O3", "a_receipt_is_settled_once", once(fixture).await);
    report.add("O3", "an_unknown_receipt_is_refused", unknown(fixture).await);
    report.add("O4", "the_answer_is_the_one_that_was_settled", exact(fixture).await);
    report.add("O4", "nobody_else_and_nothing_else_gets_it", guarded(fixture).await);
    report
}

fn context(tenant: &str, actor: &str, connector: &str, operation: &str, request: &str) -> ToolExecutionContext {
    let tenant = TenantId::parse(tenant).expect("a name of the suite");
    let caller = CallerIdentity::new(tenant, actor, "suite").expect("names of the suite");
    let scope = CallScope::default()
        .with_caller(Some(caller))
        .with_session(Some("session-1".into()))
        .with_request(Some(request.into()));
    let (connector, operation) = (connector_named(connector), Arc::from(operation));
    let deadline = Instant::now() + Duration::from_mins(1);
    let parts =
        ContextParts { scope: &scope, connector: &connector, operation: &operation, deadline, reports_progress: false };
    ToolExecutionContext::bind(parts).expect("a whole identity")
}

fn own(request: &str) -> ToolExecutionContext {
    context("acme", "ada", "desk", "delete_ticket", request)
}

fn arguments(text: &str) -> Digest256 {
    sha256(text.as_bytes())
}

fn intent(request: &str) -> EffectIntent {
    EffectIntent { context: own(request), arguments_digest: arguments("5"), approval: Some(arguments("approval")) }
}

fn result(text: &str) -> ToolResult {
    let structured = Some(Json::from([("text", text.into()), ("none", Json::Null)]));
    ToolResult { texts: vec![text.to_owned()], structured, wrapped: true, ..ToolResult::default() }
}

fn asked(request: &str) -> RecoveryRequest {
    RecoveryRequest { session: Some("session-1".into()), request: request.into() }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn plain(refusal: WorkRefusal) -> String {
    refusal.to_string()
}

async fn durable(fixture: &dyn ReceiptFixture) -> Checked {
    let store = fixture.open().await;
    let receipt = store.open(&intent("1")).await.map_err(plain)?;
    let store = fixture.reopen().await;
    let early = store.recover(&own("9"), &asked("1"), arguments("5")).await.map_err(plain)?;
    ensure!(early.is_none(), "an answer for a receipt that is not settled");
    let outcome = EffectOutcome { status: EffectStatus::Applied, result: &result("done") };
    store.settle(&receipt, outcome).await.map_err(|refusal| format!("the receipt is gone: {refusal}"))
}

async fn distinct(fixture: &dyn ReceiptFixture) -> Checked {
    let store = fixture.open().await;
    let one = store.open(&intent("1")).await.map_err(plain)?;
    let two = store.open(&intent("2")).await.map_err(plain)?;
    ensure!(one != two, "two requests have one receipt");
    Ok(())
}

async fn once(fixture: &dyn ReceiptFixture) -> Checked {
    let store = fixture.open().await;
    let receipt = store.open(&intent("1")).await.map_err(plain)?;
    let settle = |status, text| {
        let (store, receipt) = (Arc::clone(&store), receipt.clone());
        async move { store.settle(&receipt, EffectOutcome { status, result: &result(text) }).await }
    };
    settle(EffectStatus::Uncertain, "first").await.map_err(plain)?;
    match settle(EffectStatus::Applied, "second").await {
        Err(WorkRefusal::Settled { .. }) => {}
        other => return Err(format!("a second settling answered {other:?}")),
    }
    Ok(())
}

async fn unknown(fixture: &dyn ReceiptFixture) -> Checked {
    let store = fixture.open().await;
    let receipt =
        scion_domain::tool_context::ReceiptReference::parse("nobody-knows-this").map_err(|no| no.to_string())?;
    match store.settle(&receipt, EffectOutcome { status: EffectStatus::Applied, result: &result("x") }).await {
        Err(WorkRefusal::Unknown { .. }) => Ok(()),
        other => Err(format!("an unknown receipt answered {other:?}")),
    }
}

async fn exact(fixture: &dyn ReceiptFixture) -> Checked {
    let store = fixture.open().await;
    for (request, status) in
        [("1", EffectStatus::Applied), ("2", EffectStatus::NoEffect), ("3", EffectStatus::Uncertain)]
    {
        let receipt = store.open(&intent(request)).await.map_err(plain)?;
        store.settle(&receipt, EffectOutcome { status, result: &result(request) }).await.map_err(plain)?;
        let store = fixture.reopen().await;
        let found = store.recover(&own("9"), &asked(request), arguments("5")).await.map_err(plain)?;
        let Some(found) = found else { return Err(format!("no answer for the settled request {request}")) };
        ensure!(found.status == status, "the status is another: {:?}", found.status);
        ensure!(found.result == result(request), "the answer is another: {:?}", found.result);
        ensure!(found.receipt == receipt, "the receipt is another");
    }
    Ok(())
}

async fn guarded(fixture: &dyn ReceiptFixture) -> Checked {
    let store = fixture.open().await;
    let receipt = store.open(&intent("1")).await.map_err(plain)?;
    let outcome = EffectOutcome { status: EffectStatus::Applied, result: &result("secret") };
    store.settle(&receipt, outcome).await.map_err(plain)?;
    let others = [
        ("tenant", context("other", "ada", "desk", "delete_ticket", "9"), asked("1"), arguments("5")),
        ("actor", context("acme", "eve", "desk", "delete_ticket", "9"), asked("1"), arguments("5")),
        ("connector", context("acme", "ada", "wiki", "delete_ticket", "9"), asked("1"), arguments("5")),
        ("operation", context("acme", "ada", "desk", "purge", "9"), asked("1"), arguments("5")),
        ("arguments", own("9"), asked("1"), arguments("6")),
        ("request", own("9"), asked("2"), arguments("5")),
        ("session", own("9"), RecoveryRequest { session: Some("session-2".into()), ..asked("1") }, arguments("5")),
    ];
    for (what, context, request, arguments) in others {
        let found = store.recover(&context, &request, arguments).await.map_err(plain)?;
        ensure!(found.is_none(), "another {what} gets the answer");
    }
    Ok(())
}
