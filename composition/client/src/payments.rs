//! Payments a server asks for with status 402 (SDK-CONNECTOR-CONTROL-R049).
//!
//! A challenge goes through four doors, in this order: the budget ([`PaymentGate`]), the context of the call and the approval in it, the
//! reservation in what was spent today, and the payer. Only then the call is made once more, with the payment. Whatever happens, one
//! [`PaymentRecord`] is kept of the attempt. A client without [`Payments`] treats 402 as any other refusal, and both limits of a
//! budget are zero until they are set.

mod attempt;
mod hook;
mod ledger;
mod recorder;

use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use scion_domain::http::{HeaderMap, HeaderName, HeaderValue, Url};
use scion_domain::id::{ConnectorName, TenantId};
use scion_domain::json::{Json, JsonObject};
use scion_domain::payment::{
    PayerRefusal, PaymentAsset, PaymentBudget, PaymentChallenge, PaymentDecision, PaymentFailure, PaymentGate,
    PaymentOffer, PaymentOrder, PaymentOutcome, PaymentRecord, PaymentRefused, approval_digest, public_url,
};
use scion_domain::refusal::Refusal as _;
use scion_domain::work::{ApprovalRequest, ApprovalState, WorkRefusal};
use scion_ports::{Approvals, Clock, Entropy, KeyValueStore, Payer, PaymentRecorder};

use attempt::Attempt;
use ledger::Ledger;
pub use recorder::StoredPayments;

/// The operation that approvals of payments name.
pub const PAYMENT_OPERATION: &str = "payment";
/// How often an approval that nobody has decided is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What payments work with.
#[derive(Clone)]
pub struct PaymentPorts {
    /// Pays.
    pub payer: Arc<dyn Payer>,
    /// Keeps the records.
    pub recorder: Arc<dyn PaymentRecorder>,
    /// Keeps what was spent today, so that a restart does not forget it.
    pub store: Arc<dyn KeyValueStore>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness, for transaction ids.
    pub entropy: Arc<dyn Entropy>,
}

impl fmt::Debug for PaymentPorts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PaymentPorts")
    }
}

/// The request a payment would be made for, and who is asked.
#[derive(Clone)]
pub struct PaymentContext {
    /// The tenant.
    pub tenant: TenantId,
    /// On whose behalf the call is made.
    pub actor: String,
    /// The request, the same when it is tried again: an approval belongs to it.
    pub request: String,
    /// Who decides, for the record.
    pub approver: String,
    /// Where to ask.
    pub approvals: Arc<dyn Approvals>,
    /// How long to wait for a decision; the call's own deadline ends the wait too.
    pub wait: Duration,
}

impl fmt::Debug for PaymentContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PaymentContext")
            .field("actor", &self.actor)
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}

/// Pays within a budget and after approval. One value is shared by all clients of a connector.
pub struct Payments {
    connector: ConnectorName,
    budget: PaymentBudget,
    assets: Vec<PaymentAsset>,
    ports: PaymentPorts,
    ledger: Arc<Ledger>,
}

impl fmt::Debug for Payments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Payments").field("budget", &self.budget).finish_non_exhaustive()
    }
}

impl Payments {
    /// For one connector. The day's limit is shared by everything that uses the same store, connector and currency.
    pub fn new(
        connector: ConnectorName,
        budget: PaymentBudget,
        assets: Vec<PaymentAsset>,
        ports: PaymentPorts,
    ) -> Self {
        let ledger = Ledger::new(ports.store.clone(), ports.clock.clone(), &connector, &budget);
        Self { connector, budget, assets, ports, ledger: Arc::new(ledger) }
    }

    /// Answers a challenge with a payment that is reserved, approved and made, but not sent.
    pub(crate) async fn challenged(
        &self,
        url: &Url,
        headers: &HeaderMap,
        body: &[u8],
        context: Option<&PaymentContext>,
    ) -> Result<Paying, PaymentFailure> {
        let mut attempt = Attempt::new(&self.ports, self.ledger.clone(), self.blank(url, context));
        match self.prepare(&mut attempt, headers, body, context).await {
            Ok((header, value)) => Ok(Paying { attempt, header, value }),
            Err(failure) => {
                attempt.failed(&failure).await;
                Err(failure)
            }
        }
    }

    fn blank(&self, url: &Url, context: Option<&PaymentContext>) -> PaymentRecord {
        let mut id = [0; 16];
        self.ports.entropy.fill(&mut id);
        PaymentRecord {
            transaction_id: hex(&id),
            amount: None,
            currency: None,
            payee: None,
            request_url: public_url(url),
            approver: None,
            outcome: PaymentOutcome::NotSent,
            reason: None,
            limit: None,
            actor: context.map(|context| context.actor.clone()),
            request: context.map(|context| context.request.clone()),
            at_ms: self.ports.clock.unix_millis(),
        }
    }

    async fn prepare(
        &self,
        attempt: &mut Attempt,
        headers: &HeaderMap,
        body: &[u8],
        context: Option<&PaymentContext>,
    ) -> Result<(HeaderName, HeaderValue), PaymentFailure> {
        let header = headers.get(PaymentChallenge::HEADER).map(HeaderValue::as_bytes);
        let challenge = PaymentChallenge::read(header, body, &self.assets);
        // A refusal names what was asked as well, so the record is filled from the cheapest offer there is.
        attempt.note(challenge.offers.iter().min_by_key(|offer| offer.amount));
        let spent = self.ledger.spent().await?;
        let payable = |offer: &PaymentOffer| self.ports.payer.supports(offer);
        let (offer, limit) = match PaymentGate::decide(&challenge, &self.budget, spent, payable) {
            PaymentDecision::Allowed { offer, limit } => (offer.clone(), limit),
            PaymentDecision::Refused(refused) => return Err(PaymentFailure::Refused { refused }),
        };
        attempt.note(Some(&offer));
        attempt.record.limit = Some(limit);
        let Some(context) = context else {
            return Err(PaymentFailure::Refused { refused: PaymentRefused::NoContext });
        };
        let request = self.approval(&attempt.record, &offer, context);
        self.approved(&request, &offer, context).await?;
        attempt.reserve(offer.amount, &self.budget).await?;
        context.approvals.spend(&request.digest).await.map_err(|refusal| match refusal {
            WorkRefusal::Settled { .. } | WorkRefusal::Unknown { .. } => not_approved(&offer),
            other => PaymentFailure::Approvals { code: other.code() },
        })?;
        attempt.record.approver = Some(context.approver.clone());
        let order = PaymentOrder {
            transaction_id: attempt.record.transaction_id.clone(),
            version: challenge.version,
            offer,
            request_url: attempt.record.request_url.clone(),
        };
        let proof = self.ports.payer.pay(&order).await.map_err(|refusal| PaymentFailure::Payer { refusal })?;
        // A payer names its own field, but none that changes what the request is.
        let name = proof.header.as_str();
        if !name.starts_with("payment") && !name.starts_with("x-payment") {
            return Err(PaymentFailure::Payer { refusal: PayerRefusal::Unusable });
        }
        let mut value = proof.value;
        value.set_sensitive(true);
        Ok((proof.header, value))
    }

    fn approval(&self, record: &PaymentRecord, offer: &PaymentOffer, context: &PaymentContext) -> ApprovalRequest {
        let members = [
            ("amount", Json::from(offer.amount.to_string())),
            ("currency", offer.currency.as_str().into()),
            ("payee", offer.payee.as_str().into()),
            ("scheme", offer.scheme.as_str().into()),
            ("network", offer.network.as_str().into()),
            ("asset", offer.asset.as_str().into()),
            ("request_url", record.request_url.as_str().into()),
            ("actor", context.actor.as_str().into()),
            ("request", context.request.as_str().into()),
            ("tenant", context.tenant.as_str().into()),
            ("connector", self.connector.as_str().into()),
        ];
        let arguments: JsonObject = members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        ApprovalRequest {
            tenant: context.tenant.clone(),
            connector: self.connector.clone(),
            operation: PAYMENT_OPERATION.to_owned(),
            digest: approval_digest(PAYMENT_OPERATION, &arguments),
            arguments,
        }
    }

    /// Asks, and waits as long as the context says.
    async fn approved(
        &self,
        request: &ApprovalRequest,
        offer: &PaymentOffer,
        context: &PaymentContext,
    ) -> Result<(), PaymentFailure> {
        let clock = &*self.ports.clock;
        let until = clock.monotonic().saturating_add(context.wait);
        let unusable = |refusal: WorkRefusal| PaymentFailure::Approvals { code: refusal.code() };
        let mut state = context.approvals.request(request).await.map_err(unusable)?;
        loop {
            match state {
                ApprovalState::Approved => return Ok(()),
                ApprovalState::Rejected | ApprovalState::Spent => return Err(not_approved(offer)),
                ApprovalState::Pending => {}
            }
            let left = until.saturating_sub(clock.monotonic());
            if left.is_zero() {
                return Err(not_approved(offer));
            }
            clock.sleep(left.min(LOOK_EVERY)).await;
            state = context.approvals.state(&request.digest).await.map_err(unusable)?;
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn not_approved(offer: &PaymentOffer) -> PaymentFailure {
    let refused = PaymentRefused::NotApproved { amount: offer.amount, currency: offer.currency.clone() };
    PaymentFailure::Refused { refused }
}

/// A payment that was made and is to be sent. Dropped unsent it is given back; dropped after [`Paying::field`] its outcome is unknown.
pub(crate) struct Paying {
    attempt: Attempt,
    header: HeaderName,
    value: HeaderValue,
}

impl Paying {
    /// The header field, from now on as good as sent.
    pub(crate) fn field(&mut self) -> (HeaderName, HeaderValue) {
        self.attempt.sent = true;
        (self.header.clone(), self.value.clone())
    }

    /// The request certainly did not leave.
    pub(crate) async fn not_sent(mut self, code: &'static str) {
        self.attempt.sent = false;
        self.attempt.end(PaymentOutcome::NotSent, Some(code)).await;
    }

    /// An end after sending.
    pub(crate) async fn ended(mut self, outcome: PaymentOutcome, code: Option<&'static str>) {
        self.attempt.end(outcome, code).await;
    }

    /// The refusal of a server that asks again.
    pub(crate) fn rejected(&self) -> PaymentFailure {
        PaymentFailure::Rejected {
            amount: self.attempt.record.amount.unwrap_or_default(),
            currency: self.attempt.record.currency.clone().unwrap_or_default(),
        }
    }
}
