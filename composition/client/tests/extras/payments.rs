use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use scion_client::{ClientRefusal, GovernedClient, PaymentContext, Payments, StoredPayments};
use scion_domain::json::Json;
use scion_domain::payment::{Amount, PaymentBudget, PaymentLimit};
use scion_domain::refusal::Refusal as _;
use scion_domain::work::ApprovalState;
use scion_lab::{Answer, Behaviour, Lab, Received};
use scion_ports::{KeyValueStore as _, PaymentRecorder as _};

use crate::support::{Desk, PROOF, Till, amount, budget, builder, challenge, context, ports};

/// Asks for so many units of a millionth, and answers who pays.
fn shop(units: &'static str) -> impl Fn(&Received) -> Behaviour {
    move |received| match received.header("x-payment") {
        Some(_) => Answer::ok(r#"{"paid": true}"#).into(),
        None => Answer::status(402).body(challenge(units)).into(),
    }
}

async fn client(lab: &Lab, payments: Arc<Payments>) -> GovernedClient {
    builder(lab).payments(payments).build_with(&ports()).await.unwrap()
}

async fn buy(client: &GovernedClient, context: Option<&PaymentContext>) -> Result<Json, ClientRefusal> {
    let request = client.get("/report").query("key", "query-secret");
    match context {
        Some(context) => request.pay_in(context).json().await,
        None => request.json().await,
    }
}

fn payment_headers(lab: &Lab) -> usize {
    lab.received().iter().filter(|received| received.contains(PROOF)).count()
}

/// Proves: SDK-CONNECTOR-CONTROL-R049.3, SDK-CONNECTOR-CONTROL-R049.5, SDK-CONNECTOR-CONTROL-R049, SDK-CENTRALIZED-CAPABILITIES-R007
#[tokio::test]
async fn a_challenge_is_paid_once_after_approval_and_recorded() {
    let lab = Lab::scripted(shop("10000")).await;
    let (till, desk) = (Till::new(), Desk::new(ApprovalState::Approved));
    let client = client(&lab, till.payments(budget("1", "1"))).await;
    let answer = buy(&client, Some(&context(desk.clone(), "r-1"))).await.unwrap();
    assert_eq!(answer.get("paid"), Some(&true.into()));
    assert_eq!((lab.received().len(), payment_headers(&lab)), (2, 1));
    let asked = desk.asked.lock().unwrap()[0].clone();
    assert_eq!(asked.operation, "payment");
    for (name, value) in
        [("amount", "0.01"), ("currency", "USDC"), ("payee", "0xPAYEE"), ("request", "r-1"), ("actor", "agent-7")]
    {
        assert_eq!(asked.arguments[name], value.into());
    }
    let records = till.book.records.lock().unwrap().clone();
    assert_eq!(records.len(), 1);
    let record = &records[0];
    assert_eq!((record.outcome.as_str(), record.reason, record.limit), ("paid", None, Some(PaymentLimit::PerCall)));
    assert_eq!(
        (record.amount, record.payee.as_deref(), record.approver.as_deref()),
        (Some(amount("0.01")), Some("0xPAYEE"), Some("ada"))
    );
    assert_eq!((record.actor.as_deref(), record.request.as_deref()), (Some("agent-7"), Some("r-1")));
    assert!(record.request_url.ends_with("/report"), "{}", record.request_url);
    assert_eq!(till.wallet.orders.lock().unwrap()[0].transaction_id, record.transaction_id);
    // The approval is used up; the same request does not pay again.
    let again = buy(&client, Some(&context(desk, "r-1"))).await.unwrap_err();
    assert_eq!((again.code(), payment_headers(&lab)), ("payment_not_approved", 1));
}

/// Proves: SDK-CONNECTOR-CONTROL-R049.4, SDK-CONNECTOR-CONTROL-R049.5
#[tokio::test]
async fn refusals_send_no_payment_and_leave_one_record_each() {
    let usual = || budget("1", "1");
    let elsewhere = PaymentBudget { currency: "EUR".into(), ..usual() };
    for (limits, approval, with_context, units, reason) in [
        (budget("0", "0"), ApprovalState::Approved, true, "10000", "over_budget"),
        (budget("0.009", "1"), ApprovalState::Approved, true, "10000", "over_budget"),
        (budget("1", "0.009999999999999999"), ApprovalState::Approved, true, "10000", "over_budget"),
        (usual(), ApprovalState::Rejected, true, "10000", "not_approved"),
        (usual(), ApprovalState::Pending, true, "10000", "not_approved"),
        (usual(), ApprovalState::Spent, true, "10000", "not_approved"),
        (usual(), ApprovalState::Approved, false, "10000", "no_context"),
        (elsewhere, ApprovalState::Approved, true, "10000", "unsupported_scheme"),
        (usual(), ApprovalState::Approved, true, "ten", "unsupported_scheme"),
    ] {
        let lab = Lab::scripted(shop(units)).await;
        let (till, desk) = (Till::new(), Desk::new(approval));
        let client = client(&lab, till.payments(limits)).await;
        let context = context(desk, "r-1");
        let refusal = buy(&client, with_context.then_some(&context)).await.unwrap_err();
        assert_eq!(refusal.code(), format!("payment_{reason}"));
        assert_eq!(till.book.outcomes(), [("refused", Some(reason))]);
        assert_eq!((lab.received().len(), payment_headers(&lab)), (1, 0), "{reason}");
        assert_eq!(till.wallet.orders.lock().unwrap().len(), 0, "{reason}");
    }
}

#[tokio::test]
async fn without_payments_a_challenge_is_a_refusal_like_any_other() {
    let lab = Lab::scripted(shop("10000")).await;
    let client = builder(&lab).build_with(&ports()).await.unwrap();
    assert_eq!(buy(&client, None).await.unwrap_err().code(), "response_rejected");
    assert_eq!(lab.received().len(), 1);
}

async fn spent(till: &Till) -> Amount {
    let found = till.store.scan("scion-payments", "day/", None, 10).await.unwrap();
    found
        .first()
        .map_or(Amount::ZERO, |(_, entry)| scion_domain::payment::PaymentDay::from_bytes(&entry.value).unwrap().spent)
}

/// Proves: SDK-CONNECTOR-CONTROL-R049.2, SDK-CONNECTOR-CONTROL-R049.5
#[tokio::test]
async fn what_was_sent_counts_as_spent_and_what_was_not_is_given_back() {
    for (behaviour, outcome, kept) in [
        (Behaviour::from(Answer::ok("{}")), "paid", "0.01"),
        (Answer::status(402).body(challenge("10000")).into(), "rejected", "0.01"),
        (Answer::status(500).into(), "unknown", "0.01"),
        (Behaviour::CloseBeforeHead, "unknown", "0.01"),
    ] {
        let lab = Lab::sequence([Answer::status(402).body(challenge("10000")).into(), behaviour]).await;
        let till = Till::new();
        let client = client(&lab, till.payments(budget("1", "1"))).await;
        let done = buy(&client, Some(&context(Desk::new(ApprovalState::Approved), "r-1"))).await;
        assert_eq!(done.is_ok(), outcome == "paid", "{done:?}");
        assert_eq!(till.book.outcomes()[0].0, outcome);
        assert_eq!((spent(&till).await, lab.received().len()), (amount(kept), 2), "{outcome}");
    }
    let lab = Lab::scripted(shop("10000")).await;
    for header in [None, Some("authorization")] {
        let mut till = Till::new();
        till.wallet = Arc::new(crate::support::Wallet {
            declines_every: header.is_none().then_some(1),
            header,
            ..Default::default()
        });
        let client = client(&lab, till.payments(budget("1", "1"))).await;
        let failure = buy(&client, Some(&context(Desk::new(ApprovalState::Approved), "r-1"))).await.unwrap_err();
        assert_eq!(failure.code(), "payment_payer_failed");
        let reason = if header.is_none() { "payer_declined" } else { "payer_unusable" };
        assert_eq!(till.book.outcomes(), [("not_sent", Some(reason))]);
        assert_eq!(spent(&till).await, Amount::ZERO);
    }
    assert_eq!(payment_headers(&lab), 0);
}

/// Proves: SDK-CONNECTOR-CONTROL-R049.2
#[tokio::test]
async fn the_days_budget_survives_a_restart() {
    let lab = Lab::scripted(shop("10000")).await;
    let till = Till::new();
    for number in 0..3 {
        // Everything but the store is new.
        let client = client(&lab, till.payments(budget("1", "0.02"))).await;
        let done = buy(&client, Some(&context(Desk::new(ApprovalState::Approved), &format!("r-{number}")))).await;
        assert_eq!(done.map_err(|refusal| refusal.code()).err(), (number == 2).then_some("payment_over_budget"));
    }
    assert_eq!(payment_headers(&lab), 2);
    assert_eq!(till.book.records.lock().unwrap()[2].limit, Some(PaymentLimit::PerDay));
    // What is not ours is not overwritten.
    let (key, entry) = till.store.scan("scion-payments", "day/", None, 1).await.unwrap().remove(0);
    till.store.compare_and_swap("scion-payments", &key, Some(entry.version), b"broken").await.unwrap();
    let client = client(&lab, till.payments(budget("1", "1"))).await;
    let failure = buy(&client, Some(&context(Desk::new(ApprovalState::Approved), "r-9"))).await.unwrap_err();
    assert_eq!((failure.code(), payment_headers(&lab)), ("payment_ledger_unusable", 2));
}

/// Proves: SDK-CONNECTOR-CONTROL-R049.3
#[tokio::test]
async fn an_approval_is_waited_for_as_long_as_the_context_says() {
    let lab = Lab::scripted(shop("10000")).await;
    let till = Till::new();
    let client = client(&lab, till.payments(budget("1", "1"))).await;
    let mut context = context(Desk::new(ApprovalState::Pending), "r-1");
    context.wait = Duration::from_millis(50);
    assert_eq!(buy(&client, Some(&context)).await.unwrap_err().code(), "payment_not_approved");
    // A call that is dropped while somebody decides leaves its record, and no money is set aside.
    context.wait = Duration::from_mins(5);
    let dropped = tokio::time::timeout(Duration::from_millis(100), buy(&client, Some(&context))).await;
    assert!(dropped.is_err());
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(till.book.outcomes()[1], ("not_sent", Some("cancelled")));
    assert_eq!((spent(&till).await, payment_headers(&lab)), (Amount::ZERO, 0));
}

/// Proves: SDK-CONNECTOR-CONTROL-R049.5
#[tokio::test]
async fn a_call_dropped_after_sending_leaves_an_unknown_record_and_its_money_spent() {
    let stalls = |received: &Received| match received.header("x-payment") {
        Some(_) => Behaviour::StallBeforeHead,
        None => Answer::status(402).body(challenge("10000")).into(),
    };
    let lab = Lab::scripted(stalls).await;
    let till = Till::new();
    till.book.failures.store(1, Ordering::Relaxed);
    let client = client(&lab, till.payments(budget("1", "1"))).await;
    let context = context(Desk::new(ApprovalState::Approved), "r-1");
    let dropped = tokio::time::timeout(Duration::from_millis(200), buy(&client, Some(&context))).await;
    assert!(dropped.is_err());
    // The recorder fails once and is tried again.
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(till.book.outcomes(), [("unknown", Some("cancelled"))]);
    assert_eq!(spent(&till).await, amount("0.01"));
}

/// Proves: SDK-CONNECTOR-CONTROL-R049.5
#[tokio::test]
async fn stored_records_are_found_by_actor_and_request() {
    let till = Till::new();
    let stored = StoredPayments::new(Arc::new(till.store.clone()));
    let lab = Lab::scripted(shop("10000")).await;
    let client = client(&lab, till.payments(budget("1", "0.01"))).await;
    for request in ["r/1", "r/2"] {
        let _ = buy(&client, Some(&context(Desk::new(ApprovalState::Approved), request))).await;
        // Records are ordered to the millisecond.
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
    let records = till.book.records.lock().unwrap().clone();
    for record in &records {
        stored.record(record).await.unwrap();
        stored.record(record).await.unwrap();
    }
    let found = stored.by_actor("agent-7").await.unwrap();
    assert_eq!(found.iter().map(|record| record["outcome"].as_str().unwrap()).collect::<Vec<_>>(), ["paid", "refused"]);
    assert_eq!(stored.by_request("r/2").await.unwrap()[0]["reason"], "over_budget".into());
    assert_eq!(stored.by_request("r").await.unwrap(), vec![]);
    let whole = stored.by_transaction(&records[0].transaction_id).await.unwrap().unwrap();
    assert_eq!(whole, records[0].entity());
}
