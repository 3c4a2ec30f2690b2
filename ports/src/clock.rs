use std::time::Duration;

use async_trait::async_trait;

/// Time, as a port so that use cases run in virtual time.
///
/// Obligations:
/// - **O1** `monotonic` never goes back.
/// - **O2** `sleep` returns no earlier than its duration on `monotonic`; dropping it cancels it.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Milliseconds since the Unix epoch.
    fn unix_millis(&self) -> i64;

    /// Time since a fixed origin of this clock.
    fn monotonic(&self) -> Duration;

    /// Waits.
    async fn sleep(&self, duration: Duration);
}
