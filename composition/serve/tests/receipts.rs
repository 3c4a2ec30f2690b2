//! Receipts in a key-value store: the port's suite, what is left to reconcile, and a recovery through a surface.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::{Arc, Mutex};

use scion_conformance::reference::{MemoryKeyValues, VirtualClock};
use scion_conformance::suites::effect_receipts::{self, ReceiptFixture};
use scion_domain::json::Json;
use scion_domain::refusals;
use scion_domain::tool_context::RecoveryRequest;
use scion_ports::{EffectReceipts, async_trait};
use scion_serve::{CallGovernance, StoredReceipts, ToolRefusal};
use support::{Backend, Client, deleting, done, meta_text, of, scope_of, yes};

refusals! {
    /// What the vendor does.
    enum VendorRefusal {
        /// Silence.
        Silent => "vendor_silent", Unavailable, Later, "the vendor does not answer", "try later";
    }
}

fn receipts(store: &MemoryKeyValues) -> Arc<StoredReceipts> {
    Arc::new(StoredReceipts::new(Arc::new(store.clone()), Arc::new(VirtualClock::default())))
}

#[derive(Default)]
struct Stores(Mutex<MemoryKeyValues>);

#[async_trait]
impl ReceiptFixture for Stores {
    async fn open(&self) -> Arc<dyn EffectReceipts> {
        *self.0.lock().unwrap() = MemoryKeyValues::default();
        self.reopen().await
    }

    async fn reopen(&self) -> Arc<dyn EffectReceipts> {
        receipts(&self.0.lock().unwrap())
    }
}

#[tokio::test]
async fn stored_receipts_pass_the_suite() {
    effect_receipts::run(&Stores::default()).await.assert_passed();
}

/// Proves: SDK-CONNECTOR-CONTROL-R050.4
#[tokio::test]
async fn what_is_uncertain_is_listed_and_what_is_settled_is_recovered_after_a_restart() {
    let store = MemoryKeyValues::default();
    let backend = Backend::default();
    let surface = || {
        let counted = backend.clone();
        let tool = deleting("desk_delete_ticket").handle(move |_context, args| {
            counted.hit();
            async move {
                match args.integer("ticket_id")? {
                    7 => Err(ToolRefusal::from(VendorRefusal::Silent)),
                    8 => Ok(Json::from("x".repeat(600_000))),
                    id => Ok(Json::from([("deleted", id.into())])),
                }
            }
        });
        of(tool).governed_by(CallGovernance::default().receipts(receipts(&store)))
    };
    let client = Arc::new(Client::saying(yes()));
    for (request, ticket) in [("1", 5), ("2", 7), ("3", 8)] {
        let arguments = format!(r#"{{"ticket_id":{ticket}}}"#);
        done(&surface(), &scope_of("acme", request), &client, &arguments).await;
    }
    let receipts = receipts(&store);
    let (mut open, mut next) = receipts.unsettled(None, 2).await.unwrap();
    while let Some(after) = next {
        let (more, further) = receipts.unsettled(Some(&after), 2).await.unwrap();
        open.extend(more);
        next = further;
    }
    assert_eq!(open.len(), 1);
    assert_eq!(open[0].facts.get("request").and_then(Json::as_str), Some("2"));
    assert_eq!(open[0].facts.get("status").and_then(Json::as_str), Some("uncertain"));

    let recovering = |request: &str| {
        let request = RecoveryRequest { session: None, request: request.into() };
        scope_of("acme", "9").with_recovery(Some(Arc::new(request)))
    };
    let again = done(&surface(), &recovering("1"), &client, r#"{"ticket_id":5}"#).await;
    assert_eq!(again.texts, [r#"{"deleted":5}"#]);
    assert_eq!((meta_text(&again, "state"), backend.hits()), (Some("succeeded"), 3));
    let uncertain = done(&surface(), &recovering("2"), &client, r#"{"ticket_id":7}"#).await;
    assert_eq!((uncertain.is_error, meta_text(&uncertain, "state")), (true, Some("uncertain")));
    let large = done(&surface(), &recovering("3"), &client, r#"{"ticket_id":8}"#).await;
    assert_eq!(meta_text(&large, "reason"), Some("recovery_unavailable"), "too large to be kept");
    let other = done(&surface(), &recovering("1"), &client, r#"{"ticket_id":6}"#).await;
    assert_eq!((meta_text(&other, "reason"), backend.hits()), (Some("recovery_unavailable"), 3));
}
