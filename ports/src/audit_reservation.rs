use async_trait::async_trait;
use scion_domain::writeback::{ChangeRequest, Reservation, WriteBackRefusal};

/// Reserves a place in the audit trail before an effect.
///
/// Obligations:
/// - **O1** A returned reservation is durable.
/// - **O2** The same change and key get the same reservation again.
/// - **O3** A reservation binds digest and key; the same key with another digest is refused.
#[async_trait]
pub trait AuditReservation: Send + Sync {
    /// Reserves.
    async fn reserve(&self, change: &ChangeRequest) -> Result<Reservation, WriteBackRefusal>;
}
