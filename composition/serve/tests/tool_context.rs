//! What a handler gets from its context: progress, log, cache, deadline, effects; and what embedders and observers see.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use scion_domain::call::LogLevel;
use scion_domain::json::{Json, parse, to_compact};
use scion_domain::refusal::Refusal as _;
use scion_domain::refusals;
use scion_domain::surface::CallScope;
use scion_domain::tool_context::{
    CallEvent, CallEventKind, EffectIntent, EffectOutcome, ReceiptReference, RecoveredResult, RecoveryRequest,
    TerminalState, ToolExecutionContext,
};
use scion_domain::work::{ApprovalRequest, ApprovalState, WorkRefusal};
use scion_domain::writeback::EffectStatus;
use scion_ports::{Approvals, CallObserver, EffectReceipts, async_trait};
use scion_serve::{CallGovernance, Delivery, ServedSurface, Tool, ToolRefusal};
use support::{Asks, Backend, Client, WRITING, call, deleting, desk, done, meta, meta_text, of, scope_of, yes};

refusals! {
    /// What the vendor does.
    enum VendorRefusal {
        /// No.
        NotThere => "vendor_not_there", CallerMistake, Never, "there is no such ticket", "look for it";
        /// Silence.
        Silent => "vendor_silent", Unavailable, Later, "the vendor does not answer", "try later";
    }
}

fn silent_client() -> Arc<Client> {
    Arc::new(Client { token: false, ..Client::new(Asks::Not) })
}

/// Proves: SDK-CONNECTOR-CONTROL-R050.2
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn producers_side_by_side_give_strictly_increasing_notices_and_a_summary() {
    let surface = of(Tool::read("desk_scan").handle(|context, _args| async move {
        context.progress(0.0, Some(80.0), Some("begin")).await?;
        let tasks: Vec<_> = (0..8)
            .map(|producer| {
                let context = context.clone();
                tokio::spawn(async move {
                    for step in 0..10_u32 {
                        if producer % 2 == 0 {
                            context.advance(1.0, None).await.unwrap();
                        } else {
                            // Several producers report the same points.
                            context.progress(f64::from(step), None, Some("point")).await.unwrap();
                        }
                        tokio::task::yield_now().await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        Ok::<_, ToolRefusal>(Json::Null)
    }));
    for _ in 0..20 {
        let client = Arc::new(Client::new(Asks::Not));
        let result = done(&surface, &scope_of("acme", "r-9"), &client, "{}").await;
        let notices = client.notices.lock().unwrap();
        assert!(notices.len() > 10);
        assert!(notices.windows(2).all(|pair| pair[0].completed < pair[1].completed));
        assert!(notices.iter().all(|notice| notice.total == Some(80.0) && notice.completed <= 80.0));
        assert_eq!(meta(&result, "lastSequence"), Some(&Json::from(notices.len() as u64)));
        assert_eq!(meta_text(&result, "request"), Some("r-9"));
        assert_eq!(meta_text(&result, "state"), Some("succeeded"));
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R050.2, SDK-CONNECTOR-CONTROL-R050.5
#[tokio::test]
async fn without_a_token_nothing_is_sent_and_the_summary_is_there() {
    let surface = of(Tool::read("desk_scan").handle(|context, _args| async move {
        assert_eq!(context.progress(1.0, Some(2.0), Some("half")).await?, Delivery::Unwatched);
        assert_eq!(context.progress(1.0, None, Some("still half")).await?, Delivery::Suppressed);
        Ok::<_, ToolRefusal>(Json::Null)
    }));
    let client = silent_client();
    let result = done(&surface, &scope_of("acme", "7"), &client, "{}").await;
    assert!(client.notices.lock().unwrap().is_empty());
    let summary = parse(r#"{"completed":1.0,"message":"still half","total":2.0}"#).unwrap();
    assert_eq!(meta(&result, "progress").map(to_compact), Some(to_compact(&summary)));
    assert_eq!(meta(&result, "lastSequence"), Some(&Json::from(1)));
}

/// Proves: SDK-CONNECTOR-CONTROL-R050.4
#[tokio::test]
async fn a_lost_notice_is_counted_and_repeats_no_effect() {
    let backend = Backend::default();
    let counted = backend.clone();
    let surface = of(Tool::with_hints("desk_send", WRITING).handle(move |context, _args| {
        let backend = counted.clone();
        async move {
            assert_eq!(context.progress(1.0, None, None).await?, Delivery::Sent);
            backend.hit();
            assert_eq!(context.progress(2.0, None, None).await?, Delivery::Lost);
            assert_eq!(context.progress(3.0, None, None).await?, Delivery::Lost);
            Ok::<_, ToolRefusal>(Json::from("sent"))
        }
    }));
    let client = Arc::new(Client { deaf_from: 1, ..Client::new(Asks::Not) });
    let result = done(&surface, &scope_of("acme", "1"), &client, "{}").await;
    assert_eq!((result.texts.as_slice(), backend.hits()), (&["sent".to_owned()][..], 1));
    assert_eq!(meta(&result, "lostNotices"), Some(&Json::from(2)));
}

/// Proves: SDK-CONNECTOR-CONTROL-R050.2
#[tokio::test]
async fn nothing_is_sent_once_the_call_is_over() {
    let late: Arc<Mutex<Option<scion_serve::ToolContext>>> = Arc::default();
    let kept = Arc::clone(&late);
    let surface = of(Tool::read("desk_scan").handle(move |context, _args| {
        *kept.lock().unwrap() = Some(context);
        async { Ok::<_, ToolRefusal>(Json::Null) }
    }));
    let client = Arc::new(Client::new(Asks::Not));
    done(&surface, &CallScope::default(), &client, "{}").await;
    let context = late.lock().unwrap().take().unwrap();
    context.cancelled().await;
    assert!(context.is_cancelled());
    assert_eq!(context.progress(1.0, None, None).await.unwrap_err().code(), "cancelled");
    assert_eq!(context.log(LogLevel::Info, "late").await, Delivery::Lost);
    context.cache().put("k", 1_u8);
    assert_eq!(context.cache().get::<u8>("k"), None);
    assert!(client.notices.lock().unwrap().is_empty() && client.lines.lock().unwrap().is_empty());
}

/// Proves: SDK-CONNECTOR-CONTROL-R050
#[tokio::test]
async fn log_lines_and_messages_carry_no_secret() {
    let surface = of(Tool::read("desk_scan").handle(|context, _args| async move {
        let data =
            parse(r#"{"password":"hunter22","url":"Authorization: Bearer abcdef123456","n":[1,"api_key=abcdef99"]}"#);
        context.log(LogLevel::Warning, data.unwrap()).await;
        context.log(LogLevel::Info, "x".repeat(100_000)).await;
        context.progress(1.0, None, Some("token=abcdef123456")).await?;
        Ok::<_, ToolRefusal>(Json::Null)
    }));
    let client = Arc::new(Client::new(Asks::Not));
    let result = done(&surface, &CallScope::default(), &client, "{}").await;
    let told = format!(
        "{:?}{:?}{:?}",
        client.lines.lock().unwrap(),
        client.notices.lock().unwrap(),
        result.meta.get("team.knuckles/execution")
    );
    for secret in ["hunter22", "abcdef123456", "abcdef99"] {
        assert!(!told.contains(secret), "{told}");
    }
    assert!(told.contains("a log line of 100002 bytes was left out"));
}

/// Proves: SDK-CONNECTOR-CONTROL-R050.2
#[tokio::test]
async fn a_cache_lives_in_one_request_and_tenants_side_by_side_do_not_meet() {
    let backend = Backend::default();
    let counted = backend.clone();
    let barrier = Arc::new(tokio::sync::Barrier::new(2));
    let surface = Arc::new(of(Tool::read("desk_who").handle(move |context, _args| {
        let (backend, barrier) = (counted.clone(), Arc::clone(&barrier));
        async move {
            let mut seen = Vec::new();
            for _ in 0..3 {
                let tenant = context.caller().unwrap().tenant.to_string();
                let cache = context.cache();
                let made = cache.get_or_try_init("tenant", || async {
                    backend.hit();
                    barrier.wait().await;
                    Ok::<_, ToolRefusal>(tenant)
                });
                seen.push(made.await?.as_str().to_owned());
            }
            assert_eq!(context.cache().get::<u8>("tenant"), None, "another type, another place");
            Ok::<_, ToolRefusal>(Json::from(seen.join(" ")))
        }
    })));
    let (one, two) = (scope_of("acme", "1"), scope_of("other", "1"));
    let client = silent_client();
    let (one, two) = tokio::join!(done(&surface, &one, &client, "{}"), done(&surface, &two, &client, "{}"));
    assert_eq!((one.texts[0].as_str(), two.texts[0].as_str()), ("acme acme acme", "other other other"));
    assert_eq!(backend.hits(), 2);
}

struct Guard(Arc<AtomicBool>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R050.2, SDK-CONNECTOR-CONTROL-R050.4
#[tokio::test(start_paused = true)]
async fn the_time_of_a_call_ends_its_handler_and_its_cache() {
    let dropped = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&dropped);
    let surface = of(Tool::read("desk_slow").handle(move |context, _args| {
        let guard = Guard(Arc::clone(&flag));
        async move {
            let _guard = guard;
            assert!(context.time_left() > Duration::from_secs(9));
            context.cache().put("k", 1_u8);
            let watcher = context.clone();
            tokio::spawn(async move {
                watcher.cancelled().await;
                assert_eq!(watcher.cache().get::<u8>("k"), None);
            });
            std::future::pending::<()>().await;
            Ok::<_, ToolRefusal>(Json::Null)
        }
    }));
    let scope = CallScope::default().with_time_limit(Some(Duration::from_secs(10)));
    let started = tokio::time::Instant::now();
    let result = done(&surface, &scope, &silent_client(), "{}").await;
    assert!(started.elapsed() < Duration::from_secs(10), "in time for the transport to say it");
    assert!(dropped.load(Ordering::SeqCst), "the backend's call is dropped with the handler");
    assert!(result.is_error && result.texts[0].starts_with("tool_timed_out: "));
    assert_eq!(
        (meta_text(&result, "state"), meta_text(&result, "reason")),
        (Some("failed"), Some("deadline_exceeded"))
    );
}

// ---- approvals

struct Desk {
    state: ApprovalState,
    approved: Mutex<Option<ApprovalRequest>>,
    spent: Mutex<Vec<String>>,
}

#[async_trait]
impl Approvals for Desk {
    async fn request(&self, request: &ApprovalRequest) -> Result<ApprovalState, WorkRefusal> {
        let mut approved = self.approved.lock().unwrap();
        let first = approved.get_or_insert_with(|| request.clone());
        Ok(if first.digest == request.digest { self.state } else { ApprovalState::Pending })
    }

    async fn state(&self, _digest: &scion_domain::id::Digest256) -> Result<ApprovalState, WorkRefusal> {
        Ok(self.state)
    }

    async fn spend(&self, digest: &scion_domain::id::Digest256) -> Result<(), WorkRefusal> {
        let mut spent = self.spent.lock().unwrap();
        if spent.contains(&digest.to_hex()) {
            return Err(WorkRefusal::Settled { what: "the approval" });
        }
        spent.push(digest.to_hex());
        Ok(())
    }
}

fn approving(state: ApprovalState) -> Arc<Desk> {
    Arc::new(Desk { state, approved: Mutex::default(), spent: Mutex::default() })
}

/// Proves: SDK-CONNECTOR-CONTROL-R050.4
#[tokio::test]
async fn a_destructive_call_needs_its_own_approval_which_is_used_once() {
    let backend = Backend::default();
    let desk_with = |approvals: Arc<Desk>| desk(&backend).governed_by(CallGovernance::default().approvals(approvals));
    let five = r#"{"ticket_id":5}"#;
    for (state, why) in [
        (ApprovalState::Pending, "nobody has approved it yet"),
        (ApprovalState::Rejected, "its approval was denied"),
        (ApprovalState::Spent, "used already or has expired"),
    ] {
        let client = Arc::new(Client::saying(yes()));
        let result = done(&desk_with(approving(state)), &scope_of("acme", "1"), &client, five).await;
        assert!(result.is_error && result.texts[0].starts_with("approval_required: ") && result.texts[0].contains(why));
        assert_eq!((backend.hits(), client.questions.lock().unwrap().len()), (0, 0), "nobody is asked in vain");
        assert_eq!(meta_text(&result, "reason"), Some("approval_required"));
    }
    let surface = desk_with(approving(ApprovalState::Approved));
    let client = Arc::new(Client::saying(yes()));
    let unknown = done(&surface, &CallScope::default(), &client, five).await;
    assert_eq!((backend.hits(), meta_text(&unknown, "reason")), (0, Some("invalid_context")));
    assert!(!done(&surface, &scope_of("acme", "1"), &client, five).await.is_error);
    assert_eq!(backend.hits(), 1);
    for (scope, arguments) in
        [(scope_of("acme", "2"), five), (scope_of("other", "1"), five), (scope_of("acme", "3"), r#"{"ticket_id":6}"#)]
    {
        let refused = done(&surface, &scope, &client, arguments).await;
        assert_eq!((backend.hits(), meta_text(&refused, "reason")), (1, Some("approval_required")));
    }
    let declined = desk_with(approving(ApprovalState::Approved));
    let no = Arc::new(Client::saying(scion_domain::call::Reply::Declined));
    done(&declined, &scope_of("acme", "1"), &no, five).await;
    assert_eq!(backend.hits(), 1, "an approval is no confirmation");
    assert!(!done(&declined, &scope_of("acme", "2"), &client, five).await.is_error, "and a no does not use it up");
}

// ---- receipts and recovery

#[derive(Default)]
struct Ledger {
    opened: Mutex<Vec<EffectIntent>>,
    settled: Mutex<Vec<(String, EffectStatus, scion_domain::mcp::ToolResult)>>,
}

#[async_trait]
impl EffectReceipts for Ledger {
    async fn open(&self, intent: &EffectIntent) -> Result<ReceiptReference, WorkRefusal> {
        let mut opened = self.opened.lock().unwrap();
        let same = |known: &EffectIntent| {
            (&known.context.tenant, &known.context.request) == (&intent.context.tenant, &intent.context.request)
        };
        if opened.iter().any(same) {
            return Err(WorkRefusal::Settled { what: "the request" });
        }
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
        _arguments_digest: scion_domain::id::Digest256,
    ) -> Result<Option<RecoveredResult>, WorkRefusal> {
        let opened = self.opened.lock().unwrap();
        let own = |known: &EffectIntent| {
            (&known.context.tenant, &known.context.actor, &known.context.request)
                == (&context.tenant, &context.actor, &request.request)
        };
        let Some(index) = opened.iter().position(own) else { return Ok(None) };
        let reference = format!("receipt:{}", index + 1);
        let settled = self.settled.lock().unwrap();
        let found = settled.iter().find(|(receipt, ..)| *receipt == reference);
        Ok(found.map(|(receipt, status, result)| RecoveredResult {
            result: result.clone(),
            receipt: ReceiptReference::parse(receipt).unwrap(),
            status: *status,
        }))
    }
}

fn with_ledger(tool: Tool) -> (ServedSurface, Arc<Ledger>) {
    let ledger = Arc::new(Ledger::default());
    (of(tool).governed_by(CallGovernance::default().receipts(Arc::clone(&ledger) as _)), ledger)
}

/// Proves: SDK-CONNECTOR-CONTROL-R050.4
#[tokio::test(start_paused = true)]
async fn an_effect_that_may_have_happened_is_uncertain_and_names_its_receipt() {
    type End = fn() -> std::pin::Pin<Box<dyn Future<Output = Result<Json, ToolRefusal>> + Send>>;
    let ends: [(&str, End, &str, EffectStatus); 5] = [
        ("applied", || Box::pin(async { Ok(Json::Null) }), "succeeded", EffectStatus::Applied),
        (
            "refused by the vendor",
            || Box::pin(async { Err(VendorRefusal::NotThere.into()) }),
            "failed",
            EffectStatus::NoEffect,
        ),
        ("silence", || Box::pin(async { Err(VendorRefusal::Silent.into()) }), "uncertain", EffectStatus::Uncertain),
        ("out of time", || Box::pin(std::future::pending()), "uncertain", EffectStatus::Uncertain),
        ("panic", || Box::pin(async { panic!("secret") }), "uncertain", EffectStatus::Uncertain),
    ];
    for (name, end, state, status) in ends {
        let (surface, ledger) = with_ledger(deleting("desk_delete_ticket").handle(move |_context, _args| end()));
        let scope = scope_of("acme", "1").with_time_limit(Some(Duration::from_secs(5)));
        let client = Arc::new(Client::saying(yes()));
        let result = done(&surface, &scope, &client, r#"{"ticket_id":5}"#).await;
        assert_eq!(
            (meta_text(&result, "state"), meta_text(&result, "receipt")),
            (Some(state), Some("receipt:1")),
            "{name}"
        );
        let settled = ledger.settled.lock().unwrap();
        assert_eq!((settled.len(), settled[0].1), (1, status), "{name}");
        if state == "uncertain" {
            assert!(result.is_error && result.texts[0].starts_with("effect_uncertain: "), "{name}");
            assert!(result.texts[0].contains("receipt:1") && !result.texts[0].contains("secret"), "{name}");
        }
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R050.4
#[tokio::test]
async fn a_handler_says_what_it_knows_of_its_effects() {
    for (name, settle, state) in
        [("no", Some(false), "failed"), ("yes", Some(true), "uncertain"), ("unknown", None, "uncertain")]
    {
        let surface = of(Tool::with_hints("desk_send", WRITING).handle(move |context, _args| async move {
            let effect = context.effect(Some("vendor:42"))?;
            match settle {
                Some(true) => effect.applied(),
                Some(false) => effect.not_applied(),
                None => drop(effect),
            }
            Err::<Json, ToolRefusal>(VendorRefusal::NotThere.into())
        }));
        let result = done(&surface, &CallScope::default(), &silent_client(), "{}").await;
        assert_eq!(
            (meta_text(&result, "state"), meta_text(&result, "receipt")),
            (Some(state), Some("vendor:42")),
            "{name}"
        );
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R050.4
#[tokio::test]
async fn a_result_is_recovered_from_its_receipt_or_not_at_all() {
    let backend = Backend::default();
    let counted = backend.clone();
    let deleting = || {
        let backend = counted.clone();
        deleting("desk_delete_ticket").handle(move |_context, _args| {
            let times = backend.hit();
            async move { Ok::<_, ToolRefusal>(Json::from(i64::try_from(times).unwrap())) }
        })
    };
    let five = r#"{"ticket_id":5}"#;
    let client = Arc::new(Client::saying(yes()));
    let asks_for = |tenant: &str, request: &str| {
        let request = RecoveryRequest { session: None, request: request.into() };
        scope_of(tenant, "99").with_recovery(Some(Arc::new(request)))
    };
    let (surface, _ledger) = with_ledger(deleting());
    assert_eq!(done(&surface, &scope_of("acme", "1"), &client, five).await.texts, ["1"]);
    let again = done(&surface, &asks_for("acme", "1"), &client, five).await;
    assert_eq!((again.texts.as_slice(), meta_text(&again, "receipt")), (&["1".to_owned()][..], Some("receipt:1")));
    let same_request = done(&surface, &scope_of("acme", "1"), &client, five).await;
    assert_eq!(meta_text(&same_request, "reason"), Some("recovery_unavailable"), "one request, one effect");
    for scope in [asks_for("acme", "2"), asks_for("other", "1")] {
        let refused = done(&surface, &scope, &client, five).await;
        assert!(refused.is_error && refused.texts[0].starts_with("recovery_unavailable: "));
    }
    let anonymous =
        CallScope::default().with_recovery(Some(Arc::new(RecoveryRequest { session: None, request: "1".into() })));
    assert_eq!(meta_text(&done(&surface, &anonymous, &client, five).await, "reason"), Some("invalid_context"));
    let without = done(&of(deleting()), &asks_for("acme", "1"), &client, five).await;
    assert_eq!(meta_text(&without, "reason"), Some("recovery_unavailable"));
    assert_eq!(backend.hits(), 1);
}

// ---- evidence

#[derive(Default)]
struct Seen(Mutex<Vec<(String, String)>>);

impl CallObserver for Seen {
    fn observe(&self, event: &CallEvent<'_>) {
        let kind = match event.kind {
            CallEventKind::Ended { result, .. } => {
                format!(
                    "ended {} {:?} {:?}",
                    result.state.as_str(),
                    result.reason,
                    result.receipt.as_ref().map(ReceiptReference::as_str)
                )
            }
            CallEventKind::Started => "started".to_owned(),
            CallEventKind::Asked => "asked".to_owned(),
            CallEventKind::Answered { yes } => format!("answered {yes}"),
            CallEventKind::CacheHit => "hit".to_owned(),
            CallEventKind::NotificationLost => "lost".to_owned(),
        };
        let approval = matches!(event.kind, CallEventKind::Ended { approval: Some(_), .. });
        self.0.lock().unwrap().push((
            format!("{} {kind}{}", event.sequence, if approval { " approved" } else { "" }),
            format!("{event:?}"),
        ));
    }
}

impl Seen {
    fn kinds(&self) -> Vec<String> {
        self.0.lock().unwrap().drain(..).map(|(kind, _)| kind).collect()
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R050.5
#[tokio::test]
async fn observers_see_ids_digests_and_ends_in_order_and_no_value() {
    let seen = Arc::new(Seen::default());
    let ledger = Arc::new(Ledger::default());
    let governance = CallGovernance::default()
        .observer(Arc::clone(&seen) as _)
        .approvals(approving(ApprovalState::Approved))
        .receipts(Arc::clone(&ledger) as _);
    let surface = of(deleting("desk_delete_ticket").handle(|context, _args| async move {
        context.cache().put("private", "value-in-cache".to_owned());
        let _ = context.cache().get::<String>("private");
        context.progress(1.0, None, None).await?;
        Ok::<_, ToolRefusal>(Json::Null)
    }))
    .governed_by(governance);
    let client = Arc::new(Client { deaf_from: 0, ..Client::saying(yes()) });
    done(&surface, &scope_of("acme", "r-1"), &client, r#"{"ticket_id":777}"#).await;
    let raw = seen.0.lock().unwrap().iter().map(|(_, raw)| raw.clone()).collect::<Vec<_>>().join("\n");
    assert_eq!(
        seen.kinds(),
        [
            "1 started",
            "2 asked",
            "3 answered true",
            "4 hit",
            "5 lost",
            "6 ended succeeded None Some(\"receipt:1\") approved"
        ]
    );
    for id in ["acme", "ada", "desk-mcp", "desk_delete_ticket", "r-1"] {
        assert!(raw.contains(id), "{id} not in {raw}");
    }
    assert!(!raw.contains("777") && !raw.contains("value-in-cache"), "{raw}");

    done(&surface, &scope_of("acme", "r-2"), &client, r#"{"ticket_id":0}"#).await;
    assert_eq!(seen.kinds(), ["1 started", "2 ended failed Some(\"argument_out_of_range\") None"]);
}

/// Proves: SDK-CONNECTOR-CONTROL-R050.5
#[tokio::test]
async fn a_call_that_is_dropped_ends_for_its_observers_too() {
    let seen = Arc::new(Seen::default());
    for (tool, state) in [
        (
            Tool::read("desk_slow").handle(|_context, _args| std::future::pending::<Result<Json, ToolRefusal>>()),
            "cancelled",
        ),
        (
            deleting("desk_delete").handle(|_context, _args| std::future::pending::<Result<Json, ToolRefusal>>()),
            "uncertain",
        ),
    ] {
        let surface = of(tool).governed_by(CallGovernance::default().observer(Arc::clone(&seen) as _));
        let arguments = if state == "cancelled" { "{}" } else { r#"{"ticket_id":1}"# };
        let client = Arc::new(Client::saying(yes()));
        let task = tokio::spawn(async move { call(&surface, &CallScope::default(), &client, arguments).await });
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        task.abort();
        let _ = task.await;
        let last = seen.kinds().pop().unwrap();
        assert!(last.contains(&format!("ended {state} Some(\"cancelled\")")), "{last}");
    }
    assert_eq!(TerminalState::ALL.len(), 4);
}

/// Proves: SDK-CONNECTOR-CONTROL-R050.4
#[tokio::test]
async fn contradicting_identities_are_refused_before_the_handler() {
    let backend = Backend::default();
    let counted = backend.clone();
    let surface = of(Tool::read("desk_list").handle(move |_context, _args| {
        counted.hit();
        async { Ok::<_, ToolRefusal>(Json::Null) }
    }));
    let token = scion_domain::surface::PresentedToken {
        text: scion_domain::secret::Secret::new("t".to_owned()),
        verified: scion_domain::served_security::VerifiedToken {
            subject: Some("ada".into()),
            tenant: Some("other".into()),
            client: None,
            scopes: [].into(),
            audiences: [].into(),
            expires_at: None,
            claims: [].into(),
        },
    };
    let scope = scope_of("acme", "1").with_token(Some(Arc::new(token)));
    let result = done(&surface, &scope, &silent_client(), "{}").await;
    assert!(result.is_error && result.texts[0].starts_with("invalid_context: "));
    assert_eq!(backend.hits(), 0);
}
