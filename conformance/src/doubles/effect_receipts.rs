//! Wrong stores of receipts.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use scion_domain::id::Digest256;
use scion_domain::mcp::ToolResult;
use scion_domain::tool_context::{
    EffectIntent, EffectOutcome, ReceiptReference, RecoveredResult, RecoveryRequest, ToolExecutionContext,
};
use scion_domain::work::WorkRefusal;
use scion_domain::writeback::EffectStatus;
use scion_ports::EffectReceipts;

use crate::suites::effect_receipts::ReceiptFixture;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiptFlaw {
    /// Nothing; the reference.
    None,
    /// Forgets everything in a restart.
    Forgets,
    /// Makes an answer up for a receipt that is not settled.
    MakesUp,
    /// Gives every request the same receipt.
    OneForAll,
    /// Settles again and again.
    SettlesAgain,
    /// Takes an outcome for a receipt it never gave.
    TakesAnything,
    /// Calls every outcome applied.
    AlwaysApplied,
    /// Gives an answer to whoever names the request.
    TellsAnybody,
}

impl ReceiptFlaw {
    /// Every flaw.
    pub const ALL: &'static [Self] = &[
        Self::Forgets,
        Self::MakesUp,
        Self::OneForAll,
        Self::SettlesAgain,
        Self::TakesAnything,
        Self::AlwaysApplied,
        Self::TellsAnybody,
    ];
}

type Kept = Vec<(EffectIntent, Option<(EffectStatus, ToolResult)>)>;

#[derive(Debug, Default)]
struct FlawedReceipts {
    flaw: Option<ReceiptFlaw>,
    kept: Mutex<Kept>,
}

impl FlawedReceipts {
    fn has(&self, flaw: ReceiptFlaw) -> bool {
        self.flaw == Some(flaw)
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn reference(index: usize) -> ReceiptReference {
    ReceiptReference::parse(&format!("receipt-{index}")).expect("short visible ASCII")
}

#[async_trait]
impl EffectReceipts for FlawedReceipts {
    async fn open(&self, intent: &EffectIntent) -> Result<ReceiptReference, WorkRefusal> {
        let mut kept = self.kept();
        kept.push((intent.clone(), None));
        Ok(reference(if self.has(ReceiptFlaw::OneForAll) { 0 } else { kept.len() - 1 }))
    }

    async fn settle(&self, receipt: &ReceiptReference, outcome: EffectOutcome<'_>) -> Result<(), WorkRefusal> {
        let mut kept = self.kept();
        let index = (0..kept.len()).find(|index| reference(*index) == *receipt);
        let Some((_, settled)) = index.and_then(|index| kept.get_mut(index)) else {
            let taken = self.has(ReceiptFlaw::TakesAnything);
            return if taken { Ok(()) } else { Err(WorkRefusal::Unknown { what: "the receipt" }) };
        };
        if settled.is_some() && !self.has(ReceiptFlaw::SettlesAgain) {
            return Err(WorkRefusal::Settled { what: "the receipt" });
        }
        let status = if self.has(ReceiptFlaw::AlwaysApplied) { EffectStatus::Applied } else { outcome.status };
        *settled = Some((status, outcome.result.clone()));
        Ok(())
    }

    async fn recover(
        &self,
        context: &ToolExecutionContext,
        request: &RecoveryRequest,
        arguments_digest: Digest256,
    ) -> Result<Option<RecoveredResult>, WorkRefusal> {
        let kept = self.kept();
        let session = request.session.as_ref().unwrap_or(&context.session);
        let own = |intent: &EffectIntent| {
            let known = &intent.context;
            let caller = (&known.tenant, &known.actor, &known.connector, &known.operation);
            let same = caller == (&context.tenant, &context.actor, &context.connector, &context.operation)
                && intent.arguments_digest == arguments_digest
                && known.session == *session;
            known.request == request.request && (same || self.has(ReceiptFlaw::TellsAnybody))
        };
        let Some(index) = kept.iter().rposition(|(intent, _)| own(intent)) else { return Ok(None) };
        let made_up = self.has(ReceiptFlaw::MakesUp).then(|| (EffectStatus::Applied, ToolResult::default()));
        let settled = kept.get(index).and_then(|(_, settled)| settled.clone()).or(made_up);
        Ok(settled.map(|(status, result)| RecoveredResult { result, receipt: reference(index), status }))
    }
}

/// Makes stores with one flaw.
#[derive(Debug)]
pub struct FlawedReceiptStores {
    flaw: ReceiptFlaw,
    last: Mutex<Arc<FlawedReceipts>>,
}

impl FlawedReceiptStores {
    /// Stores with this flaw.
    pub fn new(flaw: ReceiptFlaw) -> Self {
        Self { flaw, last: Mutex::default() }
    }

    fn fresh(&self) -> Arc<FlawedReceipts> {
        let store = Arc::new(FlawedReceipts { flaw: Some(self.flaw), kept: Mutex::default() });
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&store);
        store
    }
}

#[async_trait]
impl ReceiptFixture for FlawedReceiptStores {
    async fn open(&self) -> Arc<dyn EffectReceipts> {
        self.fresh()
    }

    async fn reopen(&self) -> Arc<dyn EffectReceipts> {
        if self.flaw == ReceiptFlaw::Forgets {
            return self.fresh();
        }
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&*last) as Arc<dyn EffectReceipts>
    }
}
