use async_trait::async_trait;
use scion_domain::payment::{PayerRefusal, PaymentOffer, PaymentOrder, PaymentProof, PaymentRecord};
use scion_domain::sink::StoreRefusal;

/// Makes payments: a wallet, an account, a service. It decides nothing; it is asked only for what the gate allowed and a person
/// approved.
///
/// Obligations:
/// - **O1** `supports` answers without effect and without waiting.
/// - **O2** `pay` makes a payment of exactly the order's offer. Asked twice with one `transaction_id` it pays once.
/// - **O3** After a refusal nothing was paid and nothing will be.
/// - **O4** No proof, key or account appears in a refusal, log line or `Debug` text.
#[async_trait]
pub trait Payer: Send + Sync {
    /// Whether it can pay in this scheme, network and asset.
    fn supports(&self, offer: &PaymentOffer) -> bool;

    /// Pays.
    async fn pay(&self, order: &PaymentOrder) -> Result<PaymentProof, PayerRefusal>;
}

/// Keeps what became of every attempt to pay.
///
/// Obligations:
/// - **O1** A returned `record` is durable.
/// - **O2** The same `transaction_id` again changes nothing.
/// - **O3** Records link to the actor and the request they name ([`PaymentRecord::links`]).
#[async_trait]
pub trait PaymentRecorder: Send + Sync {
    /// Keeps a record.
    async fn record(&self, record: &PaymentRecord) -> Result<(), StoreRefusal>;
}
