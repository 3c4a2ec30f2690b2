//! One attempt to pay: exactly one record, whatever happens to the call.

use std::sync::Arc;
use std::time::Duration;

use scion_domain::payment::{Amount, PaymentBudget, PaymentFailure, PaymentOffer, PaymentOutcome, PaymentRecord};
use scion_domain::refusal::Refusal as _;
use scion_ports::{Clock, PaymentRecorder};
use tokio::task::JoinHandle;
use tracing::{error, info};

use super::PaymentPorts;
use super::ledger::{Ledger, Reservation};

/// How often a record or a release is tried.
const TRIES: u32 = 3;

pub(super) struct Attempt {
    recorder: Arc<dyn PaymentRecorder>,
    clock: Arc<dyn Clock>,
    ledger: Arc<Ledger>,
    pub(super) record: PaymentRecord,
    reserved: Option<Reservation>,
    /// Whether the payment may have reached the server.
    pub(super) sent: bool,
    open: bool,
}

impl Attempt {
    pub(super) fn new(ports: &PaymentPorts, ledger: Arc<Ledger>, record: PaymentRecord) -> Self {
        let (recorder, clock) = (ports.recorder.clone(), ports.clock.clone());
        Self { recorder, clock, ledger, record, reserved: None, sent: false, open: true }
    }

    /// Notes what is asked.
    pub(super) fn note(&mut self, offer: Option<&PaymentOffer>) {
        if let Some(offer) = offer {
            self.record.amount = Some(offer.amount);
            self.record.currency = Some(offer.currency.clone());
            self.record.payee = Some(offer.payee.clone());
        }
    }

    pub(super) async fn reserve(&mut self, amount: Amount, budget: &PaymentBudget) -> Result<(), PaymentFailure> {
        self.reserved = Some(self.ledger.reserve(amount, budget).await?);
        Ok(())
    }

    /// Ends before anything was sent.
    pub(super) async fn failed(&mut self, failure: &PaymentFailure) {
        match failure {
            PaymentFailure::Refused { refused } => {
                self.record.refuse(refused);
                let (outcome, reason) = (self.record.outcome, self.record.reason);
                self.end(outcome, reason).await;
            }
            PaymentFailure::Payer { refusal } => self.end(PaymentOutcome::NotSent, Some(refusal.code())).await,
            other => self.end(PaymentOutcome::NotSent, Some(other.code())).await,
        }
    }

    /// Ends. The record is kept even when the caller does not wait for it.
    pub(super) async fn end(&mut self, outcome: PaymentOutcome, reason: Option<&'static str>) {
        self.record.outcome = outcome;
        self.record.reason = reason;
        if let Some(task) = self.close() {
            // A panic in the task was reported by the runtime; the call itself goes on.
            let _ = task.await;
        }
    }

    /// Gives back what was not sent and keeps the record, as a task of its own: a call that is dropped drops none of it.
    fn close(&mut self) -> Option<JoinHandle<()>> {
        self.open = false;
        self.record.at_ms = self.clock.unix_millis();
        let (recorder, clock, ledger, record) =
            (self.recorder.clone(), self.clock.clone(), self.ledger.clone(), self.record.clone());
        let unspent = if self.sent { None } else { self.reserved.take() };
        let runtime = tokio::runtime::Handle::try_current().ok()?;
        Some(runtime.spawn(async move {
            if let Some(reservation) = unspent {
                give_back(&ledger, &*clock, reservation).await;
            }
            keep(&*recorder, &*clock, &record).await;
        }))
    }
}

impl Drop for Attempt {
    /// A call that is dropped half-way: unsent money is given back, sent money counts as spent.
    fn drop(&mut self) {
        if self.open {
            self.record.outcome = if self.sent { PaymentOutcome::Unknown } else { PaymentOutcome::NotSent };
            self.record.reason = Some("cancelled");
            drop(self.close());
        }
    }
}

async fn give_back(ledger: &Ledger, clock: &dyn Clock, reservation: Reservation) {
    for number in 1..=TRIES {
        match ledger.release(reservation).await {
            Ok(()) => return,
            Err(failure) if number == TRIES => {
                error!(code = failure.code(), "a reservation is not given back; today's limit stays lower");
            }
            Err(_) => clock.sleep(Duration::from_millis(100) * number).await,
        }
    }
}

async fn keep(recorder: &dyn PaymentRecorder, clock: &dyn Clock, record: &PaymentRecord) {
    let (transaction, outcome) = (record.transaction_id.as_str(), record.outcome.as_str());
    for number in 1..=TRIES {
        match recorder.record(record).await {
            Ok(()) => {
                info!(transaction, outcome, reason = record.reason.unwrap_or("none"), "payment attempt");
                return;
            }
            Err(refusal) if number == TRIES => {
                error!(transaction, outcome, code = refusal.code(), "the record of a payment attempt cannot be kept");
            }
            Err(_) => clock.sleep(Duration::from_millis(100) * number).await,
        }
    }
}
