use async_trait::async_trait;
use scion_domain::sink::StoreRefusal;

/// A value with the version to name in the next compare-and-swap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyValueEntry {
    /// From 1, growing with each write of the key; by how much is the store's business.
    pub version: u64,
    /// The bytes.
    pub value: Vec<u8>,
}

/// A small durable key-value store with compare-and-swap.
///
/// Obligations:
/// - **O1** Namespaces are separate.
/// - **O2** `compare_and_swap` with `None` creates and refuses with [`StoreRefusal::Conflict`] if the key exists; with a
///   version it replaces exactly that version. It answers the new version.
/// - **O3** A version is never used twice for a key, deletion included.
/// - **O4** A returned write is durable.
/// - **O5** `scan` answers keys with the prefix in byte order, after `after` when given, at most `limit`.
/// - **O6** Keys have 1 to 1024 bytes and values at most 1 MiB; otherwise [`StoreRefusal::BadKey`].
#[async_trait]
pub trait KeyValueStore: Send + Sync {
    /// Reads a key.
    async fn get(&self, namespace: &str, key: &str) -> Result<Option<KeyValueEntry>, StoreRefusal>;

    /// Writes a key if its version is the expected one; `None` expects absence.
    async fn compare_and_swap(
        &self,
        namespace: &str,
        key: &str,
        expected: Option<u64>,
        value: &[u8],
    ) -> Result<u64, StoreRefusal>;

    /// Deletes a key if its version is the expected one.
    async fn delete(&self, namespace: &str, key: &str, expected: u64) -> Result<(), StoreRefusal>;

    /// Lists keys.
    async fn scan(
        &self,
        namespace: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, KeyValueEntry)>, StoreRefusal>;
}
