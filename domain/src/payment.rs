//! Payments a server asks for with status 402: what is asked, what may be spent, and what is written down
//! (SDK-CONNECTOR-CONTROL-R049).
//!
//! Nothing is paid until a caller sets a budget: both limits of [`PaymentBudget`] are zero by default. Amounts are exact. All of this
//! is pure; `scion-client` carries it out.

mod amount;
mod budget;
mod challenge;
mod gate;
mod record;
mod refusal;

pub use amount::Amount;
pub use budget::{PaymentBudget, PaymentDay, PaymentLimit};
pub use challenge::{PaymentAsset, PaymentChallenge, PaymentOffer};
pub use gate::{PaymentDecision, PaymentGate};
pub use record::{PaymentOrder, PaymentOutcome, PaymentProof, PaymentRecord, approval_digest, public_url};
pub use refusal::{PayerRefusal, PaymentFailure, PaymentRefused};
