//! Wrong sinks.

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::id::{ConnectorName, Digest256, StreamName};
use scion_domain::model::{
    Disposition, EntityRef, PackImport, PackReceipt, PackStatus, SourceBatch, SourceReceipt, StreamStatus,
};
use scion_domain::sink::{SinkCapabilities, SinkRefusal};
use scion_ports::Sink;

use crate::fixtures;
use crate::reference::MemoryGraph;
use crate::suites::sink::SinkFixture;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SinkFlaw {
    /// Nothing; the reference.
    None,
    /// Commits the good half of a refused batch.
    HalfCommit,
    /// Forgets everything at a restart.
    Forgets,
    /// Answers a replay with another receipt.
    NewReceipt,
    /// Applies an old batch again.
    AppliesOld,
    /// Ignores the expected checkpoint.
    NoCompare,
    /// Copies a wrong digest into the receipt.
    WrongDigest,
    /// Admits records without a mapping.
    AdmitsAll,
    /// Admits edges without a relation.
    AdmitsEdges,
    /// Answers a status for anything.
    InventsStatus,
    /// Declares fewer records than it takes.
    TakesMore,
    /// Declares that edges may not leave the stream, and lets them.
    LetsEdgesOut,
    /// Declares no forward references, and takes them.
    TakesForward,
    /// Reconciles nothing.
    NoReconcile,
    /// Reconciles every stream.
    WideReconcile,
    /// Withdraws what is not there.
    LenientWithdrawal,
    /// Takes empty snapshots.
    TakesEmpty,
    /// Never brings a record back.
    StaysDead,
    /// Counts a revision for an unchanged pack.
    CountsUnchanged,
    /// Ignores the expected revision.
    IgnoresRevision,
    /// Lets a mass withdrawal through.
    LetsMassGo,
    /// Takes a pack without a declaration.
    TakesBarePack,
}

impl SinkFlaw {
    /// Every flaw.
    pub const ALL: &'static [Self] = &[
        Self::HalfCommit,
        Self::Forgets,
        Self::NewReceipt,
        Self::AppliesOld,
        Self::NoCompare,
        Self::WrongDigest,
        Self::AdmitsAll,
        Self::AdmitsEdges,
        Self::InventsStatus,
        Self::TakesMore,
        Self::LetsEdgesOut,
        Self::TakesForward,
        Self::NoReconcile,
        Self::WideReconcile,
        Self::LenientWithdrawal,
        Self::TakesEmpty,
        Self::StaysDead,
        Self::CountsUnchanged,
        Self::IgnoresRevision,
        Self::LetsMassGo,
        Self::TakesBarePack,
    ];
}

/// A sink with a flaw over the reference.
#[derive(Clone, Debug)]
pub struct FlawedSink {
    graph: MemoryGraph,
    flaw: SinkFlaw,
}

fn live(graph: &MemoryGraph, connector: &ConnectorName, stream: &StreamName) -> Vec<EntityRef> {
    let all = graph.live_records().into_iter();
    all.filter(|r| r.connector == *connector && r.entity.stream == *stream).map(|r| r.entity).collect()
}

impl FlawedSink {
    async fn bend(&self, batch: &SourceBatch) -> SourceBatch {
        let mut bent = batch.clone();
        let accepted = match self.graph.status(&batch.connector, &batch.provider_checkpoint.stream).await {
            Ok(status) => status.accepted_checkpoint,
            Err(_) => None,
        };
        match self.flaw {
            SinkFlaw::HalfCommit => bent.records.retain(|r| r.mapping_reference != fixtures::undeclared_mapping()),
            SinkFlaw::AdmitsAll => {
                for record in &mut bent.records {
                    record.mapping_reference = fixtures::ticket("a", "b").mapping_reference;
                }
                let _ = self.graph.import_pack(&fixtures::pack()).await;
            }
            SinkFlaw::AdmitsEdges => bent.relationships.clear(),
            SinkFlaw::NoCompare | SinkFlaw::AppliesOld if accepted.as_ref() != Some(&bent.provider_checkpoint) => {
                bent.expected_previous_checkpoint = accepted;
            }
            SinkFlaw::NoCompare => {
                bent.provider_checkpoint.position = scion_domain::json::Json::from([("page", 99_i64.into())]);
                bent.expected_previous_checkpoint = accepted;
            }
            SinkFlaw::NoReconcile => {
                let stream = &batch.provider_checkpoint.stream;
                if let Some(listed) = &mut bent.authoritative_live_ids {
                    listed.extend(live(&self.graph, &batch.connector, stream));
                }
            }
            SinkFlaw::LenientWithdrawal => {
                let here = live(&self.graph, &batch.connector, &batch.provider_checkpoint.stream);
                bent.withdrawals.retain(|w| here.contains(&w.entity));
            }
            SinkFlaw::TakesEmpty if bent.is_empty() => {
                bent.mode = scion_domain::model::IngestMode::Delta;
                bent.authoritative_live_ids = None;
                bent.empty_authoritative_approval = None;
            }
            SinkFlaw::StaysDead => {
                let known = self.graph.effects();
                if known > 2 {
                    bent.records.clear();
                }
            }
            _ => {}
        }
        bent
    }
}

#[async_trait]
impl Sink for FlawedSink {
    fn capabilities(&self) -> SinkCapabilities {
        let mut declared = self.graph.capabilities();
        match self.flaw {
            SinkFlaw::TakesMore => declared.max_records = 10,
            SinkFlaw::LetsEdgesOut => declared.cross_stream_relationships = false,
            SinkFlaw::TakesForward => declared.forward_references = false,
            _ => {}
        }
        declared
    }

    async fn ready(&self) -> Result<(), SinkRefusal> {
        self.graph.ready().await
    }

    async fn import_pack(&self, import: &PackImport) -> Result<PackReceipt, SinkRefusal> {
        let mut import = import.clone();
        match self.flaw {
            SinkFlaw::IgnoresRevision => import.expected_revision = None,
            SinkFlaw::LetsMassGo => import.allow_mass_withdrawal = true,
            SinkFlaw::TakesBarePack if import.entries.is_empty() => import.entries = fixtures::pack().entries,
            _ => {}
        }
        let mut receipt = self.graph.import_pack(&import).await?;
        if self.flaw == SinkFlaw::CountsUnchanged && receipt.unchanged {
            receipt.revision += 1;
        }
        Ok(receipt)
    }

    async fn pack_status(&self, connector: &ConnectorName) -> Result<PackStatus, SinkRefusal> {
        self.graph.pack_status(connector).await
    }

    async fn commit(&self, batch: &SourceBatch) -> Result<SourceReceipt, SinkRefusal> {
        let before = self.graph.live_records().len();
        let mut receipt = self.graph.commit(&self.bend(batch).await).await?;
        match self.flaw {
            SinkFlaw::WrongDigest => receipt.batch_digest = Digest256::ZERO,
            SinkFlaw::NewReceipt if receipt.disposition == Disposition::Replayed => receipt.receipt_id.push('x'),
            SinkFlaw::WideReconcile if batch.authoritative_live_ids.is_some() => {
                receipt.tombstones =
                    vec![
                        scion_domain::model::Tombstone { entity: fixtures::entity("a"), reason: "gone".into() };
                        before
                    ];
            }
            _ => {}
        }
        Ok(receipt)
    }

    async fn status(&self, connector: &ConnectorName, stream: &StreamName) -> Result<StreamStatus, SinkRefusal> {
        let mut status = self.graph.status(connector, stream).await?;
        if self.flaw == SinkFlaw::InventsStatus {
            status.committed_graph_version.get_or_insert(0);
        }
        Ok(status)
    }
}

/// A fixture of flawed sinks.
#[derive(Clone, Copy, Debug)]
pub struct FlawedSinks(pub SinkFlaw);

/// What a fixture knows besides the port.
static OPENED: std::sync::Mutex<Option<MemoryGraph>> = std::sync::Mutex::new(None);

fn remember(graph: &MemoryGraph) {
    *OPENED.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(graph.clone());
}

#[async_trait]
impl SinkFixture for FlawedSinks {
    async fn open(&self) -> Arc<dyn Sink> {
        let graph = MemoryGraph::default();
        remember(&graph);
        Arc::new(FlawedSink { graph, flaw: self.0 })
    }

    async fn reopen(&self, sink: Arc<dyn Sink>) -> Arc<dyn Sink> {
        if self.0 == SinkFlaw::Forgets { self.open().await } else { sink }
    }

    async fn live_ids(&self, _sink: &Arc<dyn Sink>) -> Option<Vec<String>> {
        let graph = OPENED.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()?;
        let found = live(&graph, &fixtures::connector(), &fixtures::stream());
        Some(found.into_iter().map(|entity| entity.record_id.to_string()).collect())
    }
}
