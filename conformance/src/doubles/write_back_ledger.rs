//! Wrong ledgers.

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::id::Digest256;
use scion_domain::writeback::{AttemptKind, ChangeRequest, EffectStatus, LedgerEntry, WriteBackRefusal};
use scion_ports::WriteBackLedger;

use crate::reference::MemoryLedger;
use crate::suites::write_back_ledger::LedgerFixture;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerFlaw {
    /// Nothing; the reference.
    None,
    /// Loses the provenance of the fields.
    Cuts,
    /// Takes an id for another change.
    ReusesIds,
    /// Forgets everything at a restart.
    Forgets,
    /// Numbers entries from 0.
    FromZero,
    /// Makes up the preview that is missing.
    PreviewsItself,
    /// Reconciles by itself.
    ReconcilesItself,
    /// Says yes to an application of a settled change.
    AppliesAgain,
    /// Records every application for itself.
    RecordsAll,
    /// Takes an entry for any change.
    TakesAnything,
}

impl LedgerFlaw {
    /// Every flaw.
    pub const ALL: &'static [Self] = &[
        Self::Cuts,
        Self::ReusesIds,
        Self::Forgets,
        Self::FromZero,
        Self::PreviewsItself,
        Self::ReconcilesItself,
        Self::AppliesAgain,
        Self::RecordsAll,
        Self::TakesAnything,
    ];
}

#[derive(Debug)]
struct FlawedLedger {
    inner: MemoryLedger,
    flaw: LedgerFlaw,
}

#[async_trait]
impl WriteBackLedger for FlawedLedger {
    async fn create(&self, change: &ChangeRequest) -> Result<(), WriteBackRefusal> {
        let mut change = change.clone();
        if self.flaw == LedgerFlaw::Cuts {
            change.field_provenance.clear();
        }
        match self.inner.create(&change).await {
            Err(WriteBackRefusal::KeyReused { .. }) if self.flaw == LedgerFlaw::ReusesIds => Ok(()),
            other => other,
        }
    }

    async fn get(&self, change_set_digest: &Digest256) -> Result<Option<ChangeRequest>, WriteBackRefusal> {
        self.inner.get(change_set_digest).await
    }

    async fn record(&self, entry: &LedgerEntry) -> Result<u64, WriteBackRefusal> {
        let as_kind = |kind, status| {
            let mut other = entry.clone();
            other.kind = kind;
            other.effect.status = status;
            other
        };
        match (self.flaw, self.inner.record(entry).await) {
            (LedgerFlaw::PreviewsItself, Err(WriteBackRefusal::NotPreviewed { .. })) => {
                self.inner.record(&as_kind(AttemptKind::DryRun, EffectStatus::NoEffect)).await?;
                self.inner.record(entry).await
            }
            (LedgerFlaw::ReconcilesItself, Err(WriteBackRefusal::Uncertain { .. })) => {
                self.inner.record(&as_kind(AttemptKind::Reconciliation, EffectStatus::NoEffect)).await?;
                self.inner.record(entry).await
            }
            (LedgerFlaw::AppliesAgain, Err(WriteBackRefusal::Settled { .. })) => Ok(9),
            (LedgerFlaw::TakesAnything, Err(WriteBackRefusal::UnknownChange | WriteBackRefusal::KeyReused { .. })) => {
                Ok(1)
            }
            (LedgerFlaw::FromZero, Ok(sequence)) => Ok(sequence - 1),
            (_, outcome) => outcome,
        }
    }

    async fn entries(
        &self,
        change_set_digest: &Digest256,
        after: u64,
        limit: usize,
    ) -> Result<Vec<LedgerEntry>, WriteBackRefusal> {
        let mut found = self.inner.entries(change_set_digest, after, limit).await?;
        if self.flaw == LedgerFlaw::RecordsAll {
            found.extend(found.last().filter(|entry| entry.effect.status == EffectStatus::Applied).cloned());
        }
        Ok(found)
    }
}

/// A fixture of flawed ledgers.
#[derive(Clone, Copy, Debug)]
pub struct FlawedLedgers(pub LedgerFlaw);

#[async_trait]
impl LedgerFixture for FlawedLedgers {
    async fn open(&self) -> Arc<dyn WriteBackLedger> {
        Arc::new(FlawedLedger { inner: MemoryLedger::default(), flaw: self.0 })
    }

    async fn reopen(&self, ledger: Arc<dyn WriteBackLedger>) -> Arc<dyn WriteBackLedger> {
        if self.0 == LedgerFlaw::Forgets { self.open().await } else { ledger }
    }
}
