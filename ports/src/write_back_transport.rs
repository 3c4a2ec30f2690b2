use async_trait::async_trait;
use scion_domain::writeback::{ChangeRequest, Effect, WriteBackRefusal};

/// Carries an approved change to a source.
///
/// Obligations:
/// - **O1** `preview` changes nothing and says which version it saw.
/// - **O2** `apply` changes the source only if it still has `base_source_version`, decided by the source at the moment of
///   the effect; otherwise [`WriteBackRefusal::StaleBase`]. There is no unconditional fallback.
/// - **O3** One idempotency key has one effect. `prior_effect` finds it after a restart, and `apply` with the same key and
///   digest answers it instead of acting again; with another digest it is [`WriteBackRefusal::KeyReused`].
/// - **O4** When the answer of the source is lost, `apply` answers
///   [`EffectStatus::Uncertain`](scion_domain::writeback::EffectStatus::Uncertain), never success and never "no effect".
/// - **O5** `read_back` asks the source anew; it never repeats what `apply` answered.
/// - **O6** An expired change is refused before the source is asked.
#[async_trait]
pub trait WriteBackTransport: Send + Sync {
    /// What would happen.
    async fn preview(&self, change: &ChangeRequest) -> Result<Effect, WriteBackRefusal>;

    /// Makes it happen, once. `now_ms` is the time since the Unix epoch.
    async fn apply(&self, change: &ChangeRequest, now_ms: i64) -> Result<Effect, WriteBackRefusal>;

    /// The effect this key had before, if any.
    async fn prior_effect(&self, change: &ChangeRequest) -> Result<Option<Effect>, WriteBackRefusal>;

    /// Reads the entity at the source.
    async fn read_back(&self, change: &ChangeRequest) -> Result<Effect, WriteBackRefusal>;
}
