use async_trait::async_trait;
use scion_domain::work::{Admission, CapacityHold, HoldAnswer, WorkLane, WorkRefusal, WorkersWanted};

/// Who may work, how many at once, and how they behave in time. A worker decides none of it.
///
/// Obligations:
/// - **A1** A lane that nobody set up, or that has no floor, is [`WorkRefusal::LaneMissing`]; no value is made up.
/// - **A2** `admission` answers at most what the lane leaves to background work, at most what was asked for, and the lane's own
///   times.
/// - **A3** However many ask at once, holds never exceed the capacity without the floor; the others are told how long to wait.
/// - **A4** A hold that is not renewed ends by itself and makes room; renewing it then is [`WorkRefusal::Fenced`].
/// - **A5** `release` makes room at once and may be called again.
/// - **A6** Lanes and holds survive a restart.
#[async_trait]
pub trait WorkAdmission: Send + Sync {
    /// Whether every method of this port is served.
    async fn ready(&self) -> Result<(), WorkRefusal>;

    /// Sets a lane up, or changes it. For operators.
    async fn set_lane(&self, lane: &WorkLane, now_ms: i64) -> Result<(), WorkRefusal>;

    /// The lane as it is; `None` when nobody set it up.
    async fn lane(&self, name: &str) -> Result<Option<WorkLane>, WorkRefusal>;

    /// How many workers a process may start.
    async fn admission(&self, lane: &str, wanted: WorkersWanted, now_ms: i64) -> Result<Admission, WorkRefusal>;

    /// Room for one worker.
    async fn acquire(&self, lane: &str, worker: &str, now_ms: i64) -> Result<HoldAnswer, WorkRefusal>;

    /// Keeps the room for the lane's time from now; answers when it ends.
    async fn renew(&self, lane: &str, hold: &CapacityHold, now_ms: i64) -> Result<i64, WorkRefusal>;

    /// Gives the room back.
    async fn release(&self, lane: &str, hold: &CapacityHold, now_ms: i64) -> Result<(), WorkRefusal>;
}
