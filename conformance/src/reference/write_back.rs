//! A vendor in memory with conditional updates, and the transport to it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use scion_domain::digest;
use scion_domain::id::Digest256;
use scion_domain::writeback::{ChangeRequest, Effect, EffectStatus, WriteBackRefusal};
use scion_ports::WriteBackTransport;

#[derive(Debug)]
struct Vendor {
    version: u64,
    applied: HashMap<String, (Digest256, Effect)>,
    effects: usize,
    requests: usize,
    lose_next_answer: bool,
}

/// A transport to one ticket, `T-1`, at version `v1`. Clones share the vendor, as a restart would.
#[derive(Clone, Debug)]
pub struct MemoryVendor {
    vendor: Arc<Mutex<Vendor>>,
}

impl Default for MemoryVendor {
    fn default() -> Self {
        let vendor = Vendor { version: 1, applied: HashMap::new(), effects: 0, requests: 0, lose_next_answer: false };
        Self { vendor: Arc::new(Mutex::new(vendor)) }
    }
}

impl MemoryVendor {
    fn lock(&self) -> MutexGuard<'_, Vendor> {
        self.vendor.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Somebody else changes the ticket.
    pub fn change_elsewhere(&self) {
        self.lock().version += 1;
    }

    /// The next change happens and its answer is lost.
    pub fn lose_next_answer(&self) {
        self.lock().lose_next_answer = true;
    }

    /// Changes carried out through transports.
    pub fn effects(&self) -> usize {
        self.lock().effects
    }

    /// Requests of any kind.
    pub fn requests(&self) -> usize {
        self.lock().requests
    }
}

fn effect(status: EffectStatus, pre: Option<u64>, post: Option<u64>) -> Effect {
    let version = |number: u64| format!("v{number}");
    let (pre, post) = (pre.map(version), post.map(version));
    let observation_digest = digest::sha256(format!("{status:?} {pre:?} {post:?}").as_bytes());
    Effect { status, pre_source_version: pre, post_source_version: post, observation_digest }
}

#[async_trait]
impl WriteBackTransport for MemoryVendor {
    async fn preview(&self, _change: &ChangeRequest) -> Result<Effect, WriteBackRefusal> {
        let mut vendor = self.lock();
        vendor.requests += 1;
        Ok(effect(EffectStatus::NoEffect, Some(vendor.version), None))
    }

    async fn apply(&self, change: &ChangeRequest, now_ms: i64) -> Result<Effect, WriteBackRefusal> {
        if now_ms > change.expires_at_ms {
            return Err(WriteBackRefusal::Expired);
        }
        let mut vendor = self.lock();
        vendor.requests += 1;
        if let Some((digest, before)) = vendor.applied.get(&change.idempotency_key) {
            return if *digest == change.change_set_digest {
                Ok(before.clone())
            } else {
                Err(WriteBackRefusal::KeyReused { key: change.idempotency_key.clone() })
            };
        }
        if change.base_source_version != format!("v{}", vendor.version) {
            return Err(WriteBackRefusal::StaleBase { entity: change.entity_id.clone() });
        }
        let before = vendor.version;
        vendor.version += 1;
        vendor.effects += 1;
        let done = effect(EffectStatus::Applied, Some(before), Some(vendor.version));
        vendor.applied.insert(change.idempotency_key.clone(), (change.change_set_digest, done.clone()));
        if std::mem::take(&mut vendor.lose_next_answer) {
            return Ok(effect(EffectStatus::Uncertain, None, None));
        }
        Ok(done)
    }

    async fn prior_effect(&self, change: &ChangeRequest) -> Result<Option<Effect>, WriteBackRefusal> {
        let mut vendor = self.lock();
        vendor.requests += 1;
        Ok(vendor.applied.get(&change.idempotency_key).map(|(_, effect)| effect.clone()))
    }

    async fn read_back(&self, change: &ChangeRequest) -> Result<Effect, WriteBackRefusal> {
        let mut vendor = self.lock();
        vendor.requests += 1;
        let applied = vendor.applied.contains_key(&change.idempotency_key);
        let status = if applied { EffectStatus::Applied } else { EffectStatus::NoEffect };
        Ok(effect(status, None, Some(vendor.version)))
    }
}
