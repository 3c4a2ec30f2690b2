//! Wrong digest stores.

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::id::{ConnectorName, Digest256, RecordId, StreamName};
use scion_domain::model::SourceReceipt;
use scion_domain::sink::StoreRefusal;
use scion_ports::RecordDigests;

use crate::fixtures;
use crate::reference::MemoryGraph;
use crate::suites::record_digests::{Pair, RecordDigestsFixture};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DigestFlaw {
    /// Nothing; the reference.
    None,
    /// Leaves unknown ids out.
    Compacts,
    /// Remembers withdrawn records.
    RemembersWithdrawn,
    /// Ignores the stream.
    OneStream,
    /// Forgets everything at a restart.
    Forgets,
    /// Keeps the first digest of a record.
    KeepsFirst,
}

impl DigestFlaw {
    /// Every flaw.
    pub const ALL: &'static [Self] =
        &[Self::Compacts, Self::RemembersWithdrawn, Self::OneStream, Self::Forgets, Self::KeepsFirst];
}

#[derive(Debug)]
struct FlawedDigests {
    graph: MemoryGraph,
    flaw: DigestFlaw,
}

#[async_trait]
impl RecordDigests for FlawedDigests {
    async fn lookup(
        &self,
        connector: &ConnectorName,
        stream: &StreamName,
        ids: &[RecordId],
    ) -> Result<Vec<Option<Digest256>>, StoreRefusal> {
        let fixed = (fixtures::connector(), fixtures::stream());
        let (connector, stream) =
            if self.flaw == DigestFlaw::OneStream { (&fixed.0, &fixed.1) } else { (connector, stream) };
        let mut found = self.graph.lookup(connector, stream, ids).await?;
        match self.flaw {
            DigestFlaw::Compacts => found.retain(Option::is_some),
            DigestFlaw::RemembersWithdrawn => {
                for digest in &mut found {
                    digest.get_or_insert(Digest256::ZERO);
                }
            }
            DigestFlaw::KeepsFirst => {
                let first = fixtures::ticket("a", "1").content_digest;
                found.iter_mut().flatten().for_each(|digest| *digest = first);
            }
            _ => {}
        }
        Ok(found)
    }

    async fn accepted(
        &self,
        connector: &ConnectorName,
        stream: &StreamName,
        digests: &[(RecordId, Digest256)],
        receipt: &SourceReceipt,
    ) -> Result<(), StoreRefusal> {
        self.graph.accepted(connector, stream, digests, receipt).await
    }
}

/// A fixture of flawed digest stores.
#[derive(Clone, Copy, Debug)]
pub struct FlawedDigestStores(pub DigestFlaw);

#[async_trait]
impl RecordDigestsFixture for FlawedDigestStores {
    async fn open(&self) -> Pair {
        let graph = MemoryGraph::default();
        Pair { sink: Arc::new(graph.clone()), digests: Arc::new(FlawedDigests { graph, flaw: self.0 }) }
    }

    async fn reopen(&self, pair: Pair) -> Pair {
        if self.0 == DigestFlaw::Forgets { self.open().await } else { pair }
    }
}
