//! A client on loopback, and the pieces payments work with.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use scion_client::{ClientBuilder, ClientPorts, GovernedClient, PaymentContext, PaymentPorts, Payments};
use scion_conformance::reference::{MemoryKeyValues, SeededEntropy};
use scion_domain::auth::{AuthDeclaration, AuthMaterial, AuthRefusal};
use scion_domain::http::{HeaderName, HeaderValue, StatusCode, header};
use scion_domain::id::{ConnectorName, Digest256, TenantId};
use scion_domain::payment::{
    Amount, PayerRefusal, PaymentAsset, PaymentBudget, PaymentOffer, PaymentOrder, PaymentProof, PaymentRecord,
};
use scion_domain::retry::RetryPolicy;
use scion_domain::sink::StoreRefusal;
use scion_domain::work::{ApprovalRequest, ApprovalState, WorkRefusal};
use scion_http::Dialer;
use scion_lab::Lab;
use scion_local::{SystemClock, SystemEntropy};
use scion_ports::{Approvals, AuthFactory, Clock, HttpExchange, Payer, PaymentRecorder, RequestAuth, async_trait};

pub(crate) const SECRET: &str = "s3cret-credential";

/// Sends what the declaration says, with one secret for every reference.
struct Literal(String);

#[async_trait]
impl RequestAuth for Literal {
    async fn material(&self) -> Result<AuthMaterial, AuthRefusal> {
        let value = HeaderValue::from_str(&self.0).unwrap();
        Ok(AuthMaterial { headers: vec![(header::AUTHORIZATION, value)], generation: 1, ..AuthMaterial::default() })
    }

    async fn rejected(&self, _: u64, _: StatusCode) -> Result<bool, AuthRefusal> {
        Ok(false)
    }
}

pub(crate) struct Literals;

#[async_trait]
impl AuthFactory for Literals {
    async fn open(
        &self,
        _: &ConnectorName,
        declaration: &AuthDeclaration,
        _: Arc<dyn HttpExchange>,
    ) -> Result<Arc<dyn RequestAuth>, AuthRefusal> {
        let text = match declaration {
            AuthDeclaration::Bearer(bearer) => format!("{} {SECRET}", bearer.scheme),
            AuthDeclaration::Basic(_) => format!("Basic {SECRET}"),
            _ => return Err(AuthRefusal::Configuration { field: "kind", what: "is not known to this test" }),
        };
        Ok(Arc::new(Literal(text)))
    }
}

pub(crate) fn ports() -> ClientPorts {
    ClientPorts {
        dialer: Arc::new(Dialer::builder().build()),
        auth: Arc::new(Literals),
        clock: Arc::new(SystemClock::new()),
        entropy: Arc::new(SystemEntropy),
    }
}

/// Three attempts, a few milliseconds apart.
pub(crate) fn builder(lab: &Lab) -> ClientBuilder {
    let brisk =
        RetryPolicy::new(3, Duration::from_millis(5), Duration::from_millis(20), Duration::from_secs(2)).unwrap();
    let builder = GovernedClient::builder("desk-mcp").base_url(lab.url("/").as_str()).unwrap();
    builder.allow_loopback().retry(brisk).total_timeout(Duration::from_secs(10))
}

pub(crate) fn amount(text: &str) -> Amount {
    Amount::parse(text).unwrap()
}

/// A challenge of 0.01 USDC, and one of another price.
pub(crate) fn challenge(units: &str) -> String {
    format!(
        r#"{{"x402Version": 1, "error": "payment required", "accepts": [{{"scheme": "exact", "network": "base", "asset": "0xA5",
        "maxAmountRequired": "{units}", "payTo": "0xPAYEE", "resource": "https://a.example/x", "maxTimeoutSeconds": 60}}]}}"#
    )
}

pub(crate) fn budget(per_call: &str, per_day: &str) -> PaymentBudget {
    PaymentBudget { currency: "USDC".into(), per_call: amount(per_call), per_day: amount(per_day) }
}

/// Pays, fails or stalls by plan.
#[derive(Default)]
pub(crate) struct Wallet {
    pub(crate) orders: Mutex<Vec<PaymentOrder>>,
    /// Every so many orders one is declined.
    pub(crate) declines_every: Option<usize>,
    pub(crate) header: Option<&'static str>,
    /// How long each takes.
    pub(crate) takes: Duration,
}

pub(crate) const PROOF: &str = "signed-payment-worth-money";

#[async_trait]
impl Payer for Wallet {
    fn supports(&self, offer: &PaymentOffer) -> bool {
        offer.scheme == "exact"
    }

    async fn pay(&self, order: &PaymentOrder) -> Result<PaymentProof, PayerRefusal> {
        let number = {
            let mut orders = self.orders.lock().unwrap();
            orders.push(order.clone());
            orders.len()
        };
        tokio::task::yield_now().await;
        tokio::time::sleep(self.takes).await;
        if self.declines_every.is_some_and(|every| number % every == 0) {
            return Err(PayerRefusal::Declined);
        }
        let header = HeaderName::from_static(self.header.unwrap_or("x-payment"));
        Ok(PaymentProof { header, value: HeaderValue::from_static(PROOF) })
    }
}

/// Keeps records in memory and can fail at first.
#[derive(Default)]
pub(crate) struct Book {
    pub(crate) records: Mutex<Vec<PaymentRecord>>,
    pub(crate) failures: AtomicUsize,
}

#[async_trait]
impl PaymentRecorder for Book {
    async fn record(&self, record: &PaymentRecord) -> Result<(), StoreRefusal> {
        if self.failures.load(Ordering::Relaxed) > 0 {
            self.failures.fetch_sub(1, Ordering::Relaxed);
            return Err(StoreRefusal::Full);
        }
        self.records.lock().unwrap().push(record.clone());
        Ok(())
    }
}

impl Book {
    pub(crate) fn outcomes(&self) -> Vec<(&'static str, Option<&'static str>)> {
        let records = self.records.lock().unwrap();
        records.iter().map(|record| (record.outcome.as_str(), record.reason)).collect()
    }
}

/// Answers every request the same way, each approval once.
pub(crate) struct Desk {
    pub(crate) answer: ApprovalState,
    pub(crate) asked: Mutex<Vec<ApprovalRequest>>,
    spent: Mutex<Vec<Digest256>>,
}

impl Desk {
    pub(crate) fn new(answer: ApprovalState) -> Arc<Self> {
        Arc::new(Self { answer, asked: Mutex::default(), spent: Mutex::default() })
    }
}

#[async_trait]
impl Approvals for Desk {
    async fn request(&self, request: &ApprovalRequest) -> Result<ApprovalState, WorkRefusal> {
        self.asked.lock().unwrap().push(request.clone());
        self.state(&request.digest).await
    }

    async fn state(&self, digest: &Digest256) -> Result<ApprovalState, WorkRefusal> {
        let spent = self.spent.lock().unwrap().contains(digest);
        Ok(if spent { ApprovalState::Spent } else { self.answer })
    }

    async fn spend(&self, digest: &Digest256) -> Result<(), WorkRefusal> {
        let mut spent = self.spent.lock().unwrap();
        if self.answer != ApprovalState::Approved || spent.contains(digest) {
            return Err(WorkRefusal::Settled { what: "the approval" });
        }
        spent.push(*digest);
        Ok(())
    }
}

pub(crate) fn context(approvals: Arc<dyn Approvals>, request: &str) -> PaymentContext {
    PaymentContext {
        tenant: TenantId::parse("acme").unwrap(),
        actor: "agent-7".into(),
        request: request.into(),
        approver: "ada".into(),
        approvals,
        wait: Duration::ZERO,
    }
}

/// Everything payments work with, in memory.
pub(crate) struct Till {
    pub(crate) wallet: Arc<Wallet>,
    pub(crate) book: Arc<Book>,
    pub(crate) store: MemoryKeyValues,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Till {
    pub(crate) fn new() -> Self {
        Self {
            wallet: Arc::default(),
            book: Arc::default(),
            store: MemoryKeyValues::default(),
            clock: Arc::new(SystemClock::new()),
        }
    }

    pub(crate) fn payments(&self, budget: PaymentBudget) -> Arc<Payments> {
        let ports = PaymentPorts {
            payer: self.wallet.clone(),
            recorder: self.book.clone(),
            store: Arc::new(self.store.clone()),
            clock: self.clock.clone(),
            entropy: Arc::new(SeededEntropy::new(7)),
        };
        Arc::new(Payments::new(ConnectorName::parse("desk-mcp").unwrap(), budget, assets(), ports))
    }
}

pub(crate) fn assets() -> Vec<PaymentAsset> {
    vec![PaymentAsset { network: "base".into(), asset: "0xa5".into(), currency: "USDC".into(), decimals: 6 }]
}
