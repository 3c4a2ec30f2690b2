//! Wrong key-value stores.

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::sink::StoreRefusal;
use scion_ports::{KeyValueEntry, KeyValueStore};

use crate::reference::MemoryKeyValues;
use crate::suites::key_value::KeyValueFixture;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyValueFlaw {
    /// Nothing; the reference.
    None,
    /// One namespace for all.
    OneNamespace,
    /// Writes whatever version is expected.
    NoCompare,
    /// Reads, waits and writes without a lock.
    Races,
    /// Starts versions anew after a deletion.
    ReusesVersions,
    /// Forgets everything at a restart.
    Forgets,
    /// Scans in any order.
    Unordered,
    /// Has no bounds.
    Unbounded,
}

impl KeyValueFlaw {
    /// Every flaw.
    pub const ALL: &'static [Self] = &[
        Self::OneNamespace,
        Self::NoCompare,
        Self::Races,
        Self::ReusesVersions,
        Self::Forgets,
        Self::Unordered,
        Self::Unbounded,
    ];
}

/// A store with a flaw over the reference.
#[derive(Debug)]
pub struct FlawedKeyValues {
    inner: MemoryKeyValues,
    flaw: KeyValueFlaw,
}

impl FlawedKeyValues {
    fn space<'a>(&self, namespace: &'a str) -> &'a str {
        if self.flaw == KeyValueFlaw::OneNamespace { "all" } else { namespace }
    }
}

#[async_trait]
impl KeyValueStore for FlawedKeyValues {
    async fn get(&self, namespace: &str, key: &str) -> Result<Option<KeyValueEntry>, StoreRefusal> {
        self.inner.get(self.space(namespace), key).await
    }

    async fn compare_and_swap(
        &self,
        namespace: &str,
        key: &str,
        expected: Option<u64>,
        value: &[u8],
    ) -> Result<u64, StoreRefusal> {
        let namespace = self.space(namespace);
        let current = self.inner.get(namespace, key).await?.map(|entry| entry.version);
        let out_of_bounds = key.is_empty() || key.len() > 1024 || value.len() > 1 << 20;
        match self.flaw {
            KeyValueFlaw::Unbounded if out_of_bounds => Ok(1),
            KeyValueFlaw::NoCompare => self.inner.compare_and_swap(namespace, key, current, value).await,
            KeyValueFlaw::Races if current == expected => {
                tokio::task::yield_now().await;
                let latest = self.inner.get(namespace, key).await?.map(|entry| entry.version);
                self.inner.compare_and_swap(namespace, key, latest, value).await
            }
            KeyValueFlaw::ReusesVersions => {
                self.inner.compare_and_swap(namespace, key, expected, value).await.map(|_| 1)
            }
            _ => self.inner.compare_and_swap(namespace, key, expected, value).await,
        }
    }

    async fn delete(&self, namespace: &str, key: &str, expected: u64) -> Result<(), StoreRefusal> {
        let namespace = self.space(namespace);
        self.inner.delete(namespace, key, expected).await
    }

    async fn scan(
        &self,
        namespace: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, KeyValueEntry)>, StoreRefusal> {
        let mut found = self.inner.scan(self.space(namespace), prefix, after, limit).await?;
        if self.flaw == KeyValueFlaw::Unordered {
            found.reverse();
        }
        Ok(found)
    }
}

/// A fixture of flawed stores.
#[derive(Clone, Copy, Debug)]
pub struct FlawedKeyValueStores(pub KeyValueFlaw);

#[async_trait]
impl KeyValueFixture for FlawedKeyValueStores {
    async fn open(&self) -> Arc<dyn KeyValueStore> {
        Arc::new(FlawedKeyValues { inner: MemoryKeyValues::default(), flaw: self.0 })
    }

    async fn reopen(&self, store: Arc<dyn KeyValueStore>) -> Arc<dyn KeyValueStore> {
        if self.0 == KeyValueFlaw::Forgets { self.open().await } else { store }
    }
}
