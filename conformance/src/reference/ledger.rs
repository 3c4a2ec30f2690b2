//! A ledger in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use scion_domain::id::Digest256;
use scion_domain::writeback::{ChangeRequest, LedgerEntry, LedgerState, WriteBackRefusal};
use scion_ports::WriteBackLedger;

type Kept = HashMap<Digest256, (ChangeRequest, Vec<LedgerEntry>)>;

/// A ledger in memory. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct MemoryLedger {
    kept: Arc<Mutex<Kept>>,
}

#[async_trait]
impl WriteBackLedger for MemoryLedger {
    async fn create(&self, change: &ChangeRequest) -> Result<(), WriteBackRefusal> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let same_id = |(known, _): &&(ChangeRequest, _)| known.change_set_id == change.change_set_id;
        match kept.values().find(same_id) {
            Some((known, _)) if known.change_set_digest == change.change_set_digest => Ok(()),
            Some(_) => Err(WriteBackRefusal::KeyReused { key: change.change_set_id.clone() }),
            None => {
                kept.insert(change.change_set_digest, (change.clone(), Vec::new()));
                Ok(())
            }
        }
    }

    async fn get(&self, change_set_digest: &Digest256) -> Result<Option<ChangeRequest>, WriteBackRefusal> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(kept.get(change_set_digest).map(|(change, _)| change.clone()))
    }

    async fn record(&self, entry: &LedgerEntry) -> Result<u64, WriteBackRefusal> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (change, entries) = kept.get_mut(&entry.change_set_digest).ok_or(WriteBackRefusal::UnknownChange)?;
        if entry.idempotency_key != change.idempotency_key {
            return Err(WriteBackRefusal::KeyReused { key: entry.idempotency_key.clone() });
        }
        let after =
            |state: LedgerState, entry: &LedgerEntry| state.after(entry.kind, entry.effect.status, &change.entity_id);
        let state = entries.iter().try_fold(LedgerState::default(), after)?;
        after(state, entry)?;
        let sequence = entries.len() as u64 + 1;
        entries.push(LedgerEntry { sequence, ..entry.clone() });
        Ok(sequence)
    }

    async fn entries(
        &self,
        change_set_digest: &Digest256,
        after: u64,
        limit: usize,
    ) -> Result<Vec<LedgerEntry>, WriteBackRefusal> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((_, entries)) = kept.get(change_set_digest) else { return Ok(Vec::new()) };
        Ok(entries.iter().filter(|entry| entry.sequence > after).take(limit).cloned().collect())
    }
}
