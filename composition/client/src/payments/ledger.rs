//! What was spent today, kept by compare-and-swap so that no two calls and no two processes spend the same money.

use std::sync::Arc;

use scion_domain::id::ConnectorName;
use scion_domain::payment::{Amount, PaymentBudget, PaymentDay, PaymentFailure, PaymentLimit, PaymentRefused};
use scion_domain::refusal::Refusal as _;
use scion_domain::sink::StoreRefusal;
use scion_ports::{Clock, KeyValueStore};
use tokio::sync::Mutex;

const NAMESPACE: &str = "scion-payments";
/// How often a write is tried when other processes write too. Within the process calls wait for each other.
const ATTEMPTS: usize = 64;

/// Money set aside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reservation {
    day: i64,
    amount: Amount,
}

pub(super) struct Ledger {
    store: Arc<dyn KeyValueStore>,
    clock: Arc<dyn Clock>,
    key: String,
    turn: Mutex<()>,
}

impl Ledger {
    pub(super) fn new(
        store: Arc<dyn KeyValueStore>,
        clock: Arc<dyn Clock>,
        connector: &ConnectorName,
        budget: &PaymentBudget,
    ) -> Self {
        // A connector's name is at most 128 bytes; a currency is cut by the key's bound, which the store checks.
        let key = format!("day/{connector}/{}", budget.currency);
        Self { store, clock, key, turn: Mutex::new(()) }
    }

    async fn read(&self) -> Result<(Option<u64>, PaymentDay), PaymentFailure> {
        let entry = self.store.get(NAMESPACE, &self.key).await.map_err(|refusal| unusable(&refusal))?;
        let stored = match &entry {
            None => None,
            // What cannot be read may be money spent; it is not overwritten.
            Some(entry) => Some(PaymentDay::from_bytes(&entry.value).ok_or_else(|| unusable(&StoreRefusal::Corrupt))?),
        };
        let day = PaymentDay::at(stored, self.clock.unix_millis());
        Ok((entry.map(|entry| entry.version), day))
    }

    async fn change(
        &self,
        change: impl Fn(PaymentDay) -> Option<PaymentDay>,
    ) -> Result<Option<PaymentDay>, PaymentFailure> {
        let _turn = self.turn.lock().await;
        for _ in 0..ATTEMPTS {
            let (version, day) = self.read().await?;
            let Some(next) = change(day) else { return Ok(None) };
            match self.store.compare_and_swap(NAMESPACE, &self.key, version, &next.to_bytes()).await {
                Ok(_) => return Ok(Some(next)),
                Err(StoreRefusal::Conflict { .. }) => {}
                Err(refusal) => return Err(unusable(&refusal)),
            }
        }
        Err(unusable(&StoreRefusal::Conflict { key: self.key.clone() }))
    }

    /// Spent and reserved today.
    pub(super) async fn spent(&self) -> Result<Amount, PaymentFailure> {
        Ok(self.read().await?.1.spent)
    }

    /// Sets an amount aside, or refuses because the day's limit would be passed.
    pub(super) async fn reserve(&self, amount: Amount, budget: &PaymentBudget) -> Result<Reservation, PaymentFailure> {
        let Some(day) = self.change(|day| day.reserve(amount, budget.per_day)).await? else {
            let (currency, limit) = (budget.currency.clone(), PaymentLimit::PerDay);
            return Err(PaymentRefused::OverBudget { amount, currency, limit }.into());
        };
        Ok(Reservation { day: day.day, amount })
    }

    /// Gives back what was set aside and certainly not spent.
    pub(super) async fn release(&self, reservation: Reservation) -> Result<(), PaymentFailure> {
        self.change(|day| Some(day.release(reservation.day, reservation.amount))).await.map(|_| ())
    }
}

fn unusable(refusal: &StoreRefusal) -> PaymentFailure {
    PaymentFailure::Ledger { code: refusal.code() }
}
