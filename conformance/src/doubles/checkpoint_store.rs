//! Wrong checkpoint stores.

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::id::{ConnectorName, StreamName};
use scion_domain::json::Json;
use scion_domain::model::ProgressDocument;
use scion_domain::sink::StoreRefusal;
use scion_ports::CheckpointStore;

use crate::fixtures;
use crate::reference::MemoryKeyValues;
use crate::suites::checkpoint_store::CheckpointFixture;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointFlaw {
    /// Nothing; the reference.
    None,
    /// Answers an empty document for anything.
    Invents,
    /// Writes whatever version is expected.
    NoCompare,
    /// Rounds numbers.
    Rounds,
    /// One document for all sources.
    Shares,
    /// Keeps the document at a reset.
    Keeps,
}

impl CheckpointFlaw {
    /// Every flaw.
    pub const ALL: &'static [Self] = &[Self::Invents, Self::NoCompare, Self::Rounds, Self::Shares, Self::Keeps];
}

/// A store with a flaw over the reference.
#[derive(Debug)]
pub struct FlawedCheckpoints {
    inner: MemoryKeyValues,
    flaw: CheckpointFlaw,
}

impl FlawedCheckpoints {
    fn place(&self, connector: &ConnectorName, source: &StreamName) -> (ConnectorName, StreamName) {
        if self.flaw == CheckpointFlaw::Shares {
            (fixtures::connector(), fixtures::stream())
        } else {
            (connector.clone(), source.clone())
        }
    }
}

#[async_trait]
impl CheckpointStore for FlawedCheckpoints {
    async fn load(
        &self,
        connector: &ConnectorName,
        source: &StreamName,
    ) -> Result<Option<ProgressDocument>, StoreRefusal> {
        let (connector, source) = self.place(connector, source);
        let found = self.inner.load(&connector, &source).await?;
        if self.flaw == CheckpointFlaw::Invents {
            return Ok(Some(found.unwrap_or(ProgressDocument { version: 0, body: Json::Null })));
        }
        Ok(found)
    }

    async fn advance(
        &self,
        connector: &ConnectorName,
        source: &StreamName,
        expected: Option<u64>,
        body: &Json,
    ) -> Result<u64, StoreRefusal> {
        let (connector, source) = self.place(connector, source);
        let mut expected = expected;
        let mut body = body.clone();
        if self.flaw == CheckpointFlaw::NoCompare {
            expected = self.inner.load(&connector, &source).await?.map(|found| found.version);
        }
        if self.flaw == CheckpointFlaw::Rounds {
            body = Json::from(serde_json::Value::from(&body));
        }
        self.inner.advance(&connector, &source, expected, &body).await
    }

    async fn reset(&self, connector: &ConnectorName, source: &StreamName, expected: u64) -> Result<(), StoreRefusal> {
        if self.flaw == CheckpointFlaw::Keeps {
            return Ok(());
        }
        self.inner.reset(connector, source, expected).await
    }
}

/// A fixture of flawed stores.
#[derive(Clone, Copy, Debug)]
pub struct FlawedCheckpointStores(pub CheckpointFlaw);

#[async_trait]
impl CheckpointFixture for FlawedCheckpointStores {
    async fn open(&self) -> Arc<dyn CheckpointStore> {
        Arc::new(FlawedCheckpoints { inner: MemoryKeyValues::default(), flaw: self.0 })
    }

    async fn reopen(&self, store: Arc<dyn CheckpointStore>) -> Arc<dyn CheckpointStore> {
        store
    }
}
