//! Records in a key-value store, found by transaction, actor and request.

use std::sync::Arc;

use async_trait::async_trait;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use scion_domain::json::{self, Json, JsonLimits, JsonObject};
use scion_domain::payment::PaymentRecord;
use scion_domain::sink::StoreRefusal;
use scion_ports::{KeyValueStore, PaymentRecorder};

const NAMESPACE: &str = "scion-payment-records";
/// How many records one question answers at most.
const MAX_FOUND: usize = 10_000;
/// A link's target in a key, in bytes; longer ones are cut there and told apart by the record itself.
const MAX_TARGET: usize = 512;

/// Keeps the records of payment attempts as entities with links to the actor and the request of each.
#[derive(Clone)]
pub struct StoredPayments {
    store: Arc<dyn KeyValueStore>,
}

impl std::fmt::Debug for StoredPayments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StoredPayments")
    }
}

impl StoredPayments {
    /// Over a store.
    pub fn new(store: Arc<dyn KeyValueStore>) -> Self {
        Self { store }
    }

    /// The record of an attempt.
    pub async fn by_transaction(&self, transaction_id: &str) -> Result<Option<JsonObject>, StoreRefusal> {
        let Some(entry) = self.store.get(NAMESPACE, &format!("record/{transaction_id}")).await? else {
            return Ok(None);
        };
        match json::parse_with(&entry.value, JsonLimits::DEFAULT) {
            Ok(Json::Object(members)) => Ok(Some(members)),
            _ => Err(StoreRefusal::Corrupt),
        }
    }

    /// The attempts on behalf of an actor, in the order of time, to the millisecond; at most 10,000.
    pub async fn by_actor(&self, actor: &str) -> Result<Vec<JsonObject>, StoreRefusal> {
        self.linked("requestedBy", "actor", actor).await
    }

    /// The attempts of a request, in the order of time, to the millisecond; at most 10,000.
    pub async fn by_request(&self, request: &str) -> Result<Vec<JsonObject>, StoreRefusal> {
        self.linked("partOfRequest", "request", request).await
    }

    async fn linked(&self, relation: &str, member: &str, target: &str) -> Result<Vec<JsonObject>, StoreRefusal> {
        let prefix = format!("{relation}/{}/", encoded(target));
        let keys = self.store.scan(NAMESPACE, &prefix, None, MAX_FOUND).await?;
        let mut found = Vec::with_capacity(keys.len());
        for (_, entry) in keys {
            let transaction = String::from_utf8_lossy(&entry.value).into_owned();
            let record = self.by_transaction(&transaction).await?.ok_or(StoreRefusal::Corrupt)?;
            if record.get(member).and_then(Json::as_str) == Some(target) {
                found.push(record);
            }
        }
        Ok(found)
    }

    async fn create(&self, key: &str, value: &[u8]) -> Result<(), StoreRefusal> {
        match self.store.compare_and_swap(NAMESPACE, key, None, value).await {
            // The same transaction again.
            Ok(_) | Err(StoreRefusal::Conflict { .. }) => Ok(()),
            Err(refusal) => Err(refusal),
        }
    }
}

fn encoded(target: &str) -> String {
    let mut text = utf8_percent_encode(target, NON_ALPHANUMERIC).to_string();
    text.truncate(MAX_TARGET);
    text
}

#[async_trait]
impl PaymentRecorder for StoredPayments {
    async fn record(&self, record: &PaymentRecord) -> Result<(), StoreRefusal> {
        let entity = json::to_compact(&Json::Object(record.entity()));
        self.create(&format!("record/{}", record.transaction_id), entity.as_bytes()).await?;
        for (relation, target) in record.links() {
            let key = format!("{relation}/{}/{:020}/{}", encoded(target), record.at_ms.max(0), record.transaction_id);
            self.create(&key, record.transaction_id.as_bytes()).await?;
        }
        Ok(())
    }
}
