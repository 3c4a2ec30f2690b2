//! Wrong write-back transports.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use scion_domain::writeback::{ChangeRequest, Effect, EffectStatus, WriteBackRefusal};
use scion_ports::WriteBackTransport;

use crate::reference::MemoryVendor;
use crate::suites::write_back_transport::{NOW_MS, WriteBackFixture};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteBackFlaw {
    /// Nothing; the reference.
    None,
    /// A preview does it.
    PreviewApplies,
    /// Applies over a newer version.
    Unconditional,
    /// Does it again for the same key.
    Repeats,
    /// Finds no prior effect.
    Forgets,
    /// Takes another change under the same key.
    ReusesKeys,
    /// Calls a lost answer success.
    CallsUncertainApplied,
    /// Reads back what it remembers.
    ReadsMemory,
    /// Applies expired changes.
    IgnoresExpiry,
}

impl WriteBackFlaw {
    /// Every flaw.
    pub const ALL: &'static [Self] = &[
        Self::PreviewApplies,
        Self::Unconditional,
        Self::Repeats,
        Self::Forgets,
        Self::ReusesKeys,
        Self::CallsUncertainApplied,
        Self::ReadsMemory,
        Self::IgnoresExpiry,
    ];
}

#[derive(Debug)]
struct FlawedTransport {
    vendor: MemoryVendor,
    flaw: WriteBackFlaw,
    last: Mutex<Option<Effect>>,
}

impl FlawedTransport {
    /// The change as this transport misreads it.
    async fn bend(&self, change: &ChangeRequest) -> ChangeRequest {
        let mut bent = change.clone();
        let current = self.vendor.preview(change).await.ok().and_then(|effect| effect.pre_source_version);
        match self.flaw {
            WriteBackFlaw::Unconditional => bent.base_source_version = current.unwrap_or_default(),
            WriteBackFlaw::Repeats => {
                bent.base_source_version = current.unwrap_or_default();
                bent.idempotency_key = format!("{}-{}", bent.idempotency_key, self.vendor.requests());
            }
            WriteBackFlaw::ReusesKeys => {
                bent.base_source_version = current.unwrap_or_default();
                bent.idempotency_key = bent.change_set_digest.to_hex();
            }
            _ => {}
        }
        bent
    }
}

#[async_trait]
impl WriteBackTransport for FlawedTransport {
    async fn preview(&self, change: &ChangeRequest) -> Result<Effect, WriteBackRefusal> {
        let effect = self.vendor.preview(change).await?;
        if self.flaw == WriteBackFlaw::PreviewApplies {
            self.vendor.apply(change, NOW_MS).await?;
        }
        Ok(effect)
    }

    async fn apply(&self, change: &ChangeRequest, now_ms: i64) -> Result<Effect, WriteBackRefusal> {
        if self.flaw == WriteBackFlaw::IgnoresExpiry {
            return self.vendor.apply(change, change.expires_at_ms).await;
        }
        if now_ms > change.expires_at_ms {
            return Err(WriteBackRefusal::Expired);
        }
        let change =
            if matches!(self.flaw, WriteBackFlaw::Unconditional | WriteBackFlaw::Repeats | WriteBackFlaw::ReusesKeys) {
                self.bend(change).await
            } else {
                change.clone()
            };
        let mut effect = self.vendor.apply(&change, now_ms).await?;
        if self.flaw == WriteBackFlaw::CallsUncertainApplied {
            effect.status = EffectStatus::Applied;
        }
        *self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(effect.clone());
        Ok(effect)
    }

    async fn prior_effect(&self, change: &ChangeRequest) -> Result<Option<Effect>, WriteBackRefusal> {
        if self.flaw == WriteBackFlaw::Forgets {
            return Ok(None);
        }
        self.vendor.prior_effect(change).await
    }

    async fn read_back(&self, change: &ChangeRequest) -> Result<Effect, WriteBackRefusal> {
        let remembered = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        match remembered {
            Some(effect) if self.flaw == WriteBackFlaw::ReadsMemory => Ok(effect),
            _ => self.vendor.read_back(change).await,
        }
    }
}

/// A fixture of flawed transports.
#[derive(Debug)]
pub struct FlawedTransports {
    flaw: WriteBackFlaw,
    opened: Mutex<MemoryVendor>,
}

impl FlawedTransports {
    /// With a flaw.
    pub fn new(flaw: WriteBackFlaw) -> Self {
        Self { flaw, opened: Mutex::default() }
    }

    fn vendor(&self) -> MemoryVendor {
        self.opened.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    fn transport(&self) -> Arc<dyn WriteBackTransport> {
        Arc::new(FlawedTransport { vendor: self.vendor(), flaw: self.flaw, last: Mutex::new(None) })
    }
}

#[async_trait]
impl WriteBackFixture for FlawedTransports {
    async fn open(&self) -> Arc<dyn WriteBackTransport> {
        *self.opened.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = MemoryVendor::default();
        self.transport()
    }

    async fn reopen(&self) -> Arc<dyn WriteBackTransport> {
        self.transport()
    }

    async fn change_elsewhere(&self) {
        self.vendor().change_elsewhere();
    }

    async fn lose_next_answer(&self) {
        self.vendor().lose_next_answer();
    }

    async fn effects(&self) -> usize {
        self.vendor().effects()
    }

    async fn requests(&self) -> usize {
        self.vendor().requests()
    }
}
