//! Calls side by side, in any interleaving, never spend more than a day's limit.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use scion_client::{ClientPorts, GovernedClient};
use scion_conformance::reference::{SeededEntropy, VirtualClock};
use scion_domain::http::{Bytes, HeaderMap, HttpProfile, HttpRefusal, OutboundRequest, ResponseHead, StatusCode};
use scion_domain::json::Json;
use scion_domain::payment::{Amount, PaymentDay, PaymentOutcome};
use scion_domain::work::ApprovalState;
use scion_ports::{BodyStream, Clock as _, HttpDialer, HttpExchange, InboundResponse, KeyValueStore as _, async_trait};

use crate::support::{Desk, Literals, Till, Wallet, amount, budget, challenge, context};

/// A server without a socket: asks for the price in the path and fails some of the paid calls.
struct Shop;

struct Once(Option<Bytes>);

/// A body that never comes, whatever the limits of its request are.
struct Never;

#[async_trait]
impl BodyStream for Never {
    async fn chunk(&mut self) -> Result<Option<Bytes>, HttpRefusal> {
        std::future::pending().await
    }
}

#[async_trait]
impl BodyStream for Once {
    async fn chunk(&mut self) -> Result<Option<Bytes>, HttpRefusal> {
        Ok(self.0.take())
    }
}

#[async_trait]
impl HttpExchange for Shop {
    async fn send(&self, request: OutboundRequest) -> Result<InboundResponse, HttpRefusal> {
        tokio::task::yield_now().await;
        let host = String::from("shop.example");
        let mut parts = request.url.path().trim_start_matches('/').split('/');
        let (price, fate) = (parts.next().unwrap_or("1"), parts.next().unwrap_or("0"));
        let paid = request.headers.contains_key("x-payment");
        let (status, body) = match (paid, fate) {
            (true, "1") => return Err(HttpRefusal::Broken { host }),
            (true, "2") => return Err(HttpRefusal::Connect { host }),
            (false, _) | (true, "3") => (StatusCode::PAYMENT_REQUIRED, challenge(price)),
            (true, "4") => (StatusCode::FORBIDDEN, String::new()),
            (true, _) => (StatusCode::OK, "{}".to_owned()),
        };
        let head = ResponseHead { status, headers: HeaderMap::new(), url: request.url, redirects: 0 };
        if status == StatusCode::FORBIDDEN {
            return Ok(InboundResponse { head, body: Box::new(Never) });
        }
        Ok(InboundResponse { head, body: Box::new(Once(Some(Bytes::from(body)))) })
    }
}

#[async_trait]
impl HttpDialer for Shop {
    async fn open(&self, _: &HttpProfile) -> Result<Arc<dyn HttpExchange>, HttpRefusal> {
        Ok(Arc::new(Self))
    }
}

async fn run(calls: Vec<(u32, u32)>, per_day: u32, declines_every: usize) {
    let mut till = Till::new();
    let clock = Arc::new(VirtualClock::default());
    till.clock = clock.clone();
    till.wallet = Arc::new(Wallet { declines_every: Some(declines_every), ..Wallet::default() });
    let limit = format!("0.{per_day:06}");
    let ports = ClientPorts {
        dialer: Arc::new(Shop),
        auth: Arc::new(Literals),
        clock,
        entropy: Arc::new(SeededEntropy::new(3)),
    };
    let mut clients = Vec::new();
    // Two processes with one store.
    for _ in 0..2 {
        let client = GovernedClient::builder("desk-mcp").base_url("https://shop.example").unwrap();
        clients.push(client.payments(till.payments(budget("1", &limit))).build_with(&ports).await.unwrap());
    }
    let total = calls.len();
    let mut tasks = tokio::task::JoinSet::new();
    for (number, (price, fate)) in calls.into_iter().enumerate() {
        let client = clients[number % 2].clone();
        let context = context(Desk::new(ApprovalState::Approved), &format!("r-{number}"));
        tasks.spawn(async move {
            let _ = client.get(&format!("/{price}/{fate}")).pay_in(&context).json::<Json>().await;
        });
    }
    while tasks.join_next().await.is_some() {}

    let records = till.book.records.lock().unwrap().clone();
    assert_eq!(records.len(), total, "one record for each attempt");
    let kept = records
        .iter()
        .filter(|record| {
            matches!(record.outcome, PaymentOutcome::Paid | PaymentOutcome::Unknown | PaymentOutcome::Rejected)
        })
        .map(|record| record.amount.unwrap())
        .fold(Amount::ZERO, |sum, amount| sum.checked_add(amount).unwrap());
    assert!(kept <= amount(&limit), "{kept} of {limit}");
    let stored = till.store.scan("scion-payments", "day/", None, 10).await.unwrap();
    let spent = stored.first().map_or(Amount::ZERO, |(_, entry)| PaymentDay::from_bytes(&entry.value).unwrap().spent);
    assert_eq!(spent, kept, "what is not spent is given back, and nothing else");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Proves: SDK-CONNECTOR-CONTROL-R049.2
    #[test]
    fn parallel_calls_never_spend_more_than_the_day(
        calls in proptest::collection::vec((1u32..400, 0u32..5), 1..24),
        per_day in 0u32..2000,
        declines_every in 2usize..9,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(run(calls, per_day, declines_every));
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R049.5
#[tokio::test(start_paused = true)]
async fn what_a_payment_takes_is_part_of_the_deadline_of_its_call() {
    let mut till = Till::new();
    let clock = Arc::new(VirtualClock::default());
    till.clock = clock.clone();
    till.wallet = Arc::new(Wallet { takes: Duration::from_secs(6), ..Wallet::default() });
    let ports = ClientPorts {
        dialer: Arc::new(Shop),
        auth: Arc::new(Literals),
        clock: clock.clone(),
        entropy: Arc::new(SeededEntropy::new(3)),
    };
    let client = GovernedClient::builder("desk-mcp").base_url("https://shop.example").unwrap();
    let client = client.total_timeout(Duration::from_secs(10)).payments(till.payments(budget("1", "1")));
    let client = client.build_with(&ports).await.unwrap();
    let context = context(Desk::new(ApprovalState::Approved), "r-1");
    let started = clock.monotonic();
    let refusal = client.get("/10000/4").pay_in(&context).json::<Json>().await.unwrap_err();
    assert_eq!(till.wallet.orders.lock().unwrap().len(), 1);
    let took = clock.monotonic().saturating_sub(started);
    assert!(took >= Duration::from_secs(9) && took < Duration::from_secs(11), "{refusal}: {took:?}");
}
