//! A key-value store in memory, and checkpoints over any key-value store.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use scion_domain::id::{ConnectorName, StreamName};
use scion_domain::json::{self, Json};
use scion_domain::model::ProgressDocument;
use scion_domain::sink::StoreRefusal;
use scion_ports::{CheckpointStore, KeyValueEntry, KeyValueStore};

#[derive(Debug, Default)]
struct Slot {
    version: u64,
    value: Option<Vec<u8>>,
}

/// A key-value store in memory that is also a checkpoint store. Clones share one state.
#[derive(Clone, Debug, Default)]
pub struct MemoryKeyValues {
    slots: Arc<Mutex<BTreeMap<(String, String), Slot>>>,
}

const NAMESPACE: &str = "agent-connector-sdk";

impl MemoryKeyValues {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<(String, String), Slot>> {
        self.slots.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn swap(&self, place: (&str, &str), expected: Option<u64>, value: Option<&[u8]>) -> Result<u64, StoreRefusal> {
        let (namespace, key) = place;
        if key.is_empty() || key.len() > 1024 || value.is_some_and(|value| value.len() > 1 << 20) {
            return Err(StoreRefusal::BadKey { what: "the key or value is out of bounds" });
        }
        let mut slots = self.lock();
        let slot = slots.entry((namespace.to_owned(), key.to_owned())).or_default();
        let current = slot.value.is_some().then_some(slot.version);
        if current != expected {
            return Err(StoreRefusal::Conflict { key: key.to_owned() });
        }
        slot.version += 1;
        slot.value = value.map(<[u8]>::to_vec);
        Ok(slot.version)
    }
}

#[async_trait]
impl KeyValueStore for MemoryKeyValues {
    async fn get(&self, namespace: &str, key: &str) -> Result<Option<KeyValueEntry>, StoreRefusal> {
        let slots = self.lock();
        let slot = slots.get(&(namespace.to_owned(), key.to_owned()));
        Ok(slot.and_then(|slot| Some(KeyValueEntry { version: slot.version, value: slot.value.clone()? })))
    }

    async fn compare_and_swap(
        &self,
        namespace: &str,
        key: &str,
        expected: Option<u64>,
        value: &[u8],
    ) -> Result<u64, StoreRefusal> {
        self.swap((namespace, key), expected, Some(value))
    }

    async fn delete(&self, namespace: &str, key: &str, expected: u64) -> Result<(), StoreRefusal> {
        self.swap((namespace, key), Some(expected), None).map(|_| ())
    }

    async fn scan(
        &self,
        namespace: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, KeyValueEntry)>, StoreRefusal> {
        let slots = self.lock();
        let found = slots
            .iter()
            .filter(|((space, key), _)| {
                space == namespace && key.starts_with(prefix) && after.is_none_or(|after| key.as_str() > after)
            })
            .filter_map(|((_, key), slot)| {
                Some((key.clone(), KeyValueEntry { version: slot.version, value: slot.value.clone()? }))
            });
        Ok(found.take(limit).collect())
    }
}

fn progress_key(connector: &ConnectorName, source: &StreamName) -> String {
    format!("ingest-source/{connector}/{source}")
}

#[async_trait]
impl CheckpointStore for MemoryKeyValues {
    async fn load(
        &self,
        connector: &ConnectorName,
        source: &StreamName,
    ) -> Result<Option<ProgressDocument>, StoreRefusal> {
        let Some(entry) = self.get(NAMESPACE, &progress_key(connector, source)).await? else { return Ok(None) };
        let body = json::parse_with(&entry.value, json::JsonLimits::DEFAULT).map_err(|_| StoreRefusal::Corrupt)?;
        Ok(Some(ProgressDocument { version: entry.version, body }))
    }

    async fn advance(
        &self,
        connector: &ConnectorName,
        source: &StreamName,
        expected: Option<u64>,
        body: &Json,
    ) -> Result<u64, StoreRefusal> {
        let text = json::to_compact(body);
        self.swap((NAMESPACE, &progress_key(connector, source)), expected, Some(text.as_bytes()))
    }

    async fn reset(&self, connector: &ConnectorName, source: &StreamName, expected: u64) -> Result<(), StoreRefusal> {
        self.delete(NAMESPACE, &progress_key(connector, source), expected).await
    }
}
