//! Where the bytes of media go.

use std::sync::Arc;

use scion_domain::digest;
use scion_domain::id::Digest256;
use scion_domain::ingest::IngestRefusal;
use scion_domain::json::JsonObject;
use scion_domain::sink::StoreRefusal;
use scion_ports::KeyValueStore;

/// The largest asset, in bytes.
pub const MAX_MEDIA_BYTES: usize = 64 << 20;

const NAMESPACE: &str = "agent-connector-sdk-media";
const CHUNK: usize = 512 << 10;

/// Keeps bytes by their own digest in a key-value store, in chunks, each written once. The size entry is written last, so
/// bytes that are there are there completely. Bytes without a record stay behind harmlessly when a commit is refused.
#[derive(Clone)]
pub struct MediaVault {
    store: Arc<dyn KeyValueStore>,
}

impl MediaVault {
    /// A vault in a store.
    pub fn new(store: Arc<dyn KeyValueStore>) -> Self {
        Self { store }
    }

    /// Keeps bytes; answers their SHA-256. Refuses none and more than [`MAX_MEDIA_BYTES`].
    pub async fn put(&self, data: &[u8]) -> Result<Digest256, IngestRefusal> {
        if data.is_empty() {
            return Err(IngestRefusal::Empty { what: "bytes of media" });
        }
        if data.len() > MAX_MEDIA_BYTES {
            return Err(IngestRefusal::TooLarge { what: "bytes of media", count: data.len(), limit: MAX_MEDIA_BYTES });
        }
        let digest = digest::sha256(data);
        for (index, chunk) in data.chunks(CHUNK).enumerate() {
            self.write_once(&chunk_key(digest, index), chunk).await?;
        }
        self.write_once(&size_key(digest), data.len().to_string().as_bytes()).await?;
        Ok(digest)
    }

    /// Reads bytes back; `None` when they are not there. Refuses bytes that are not what their name says.
    pub async fn get(&self, digest: Digest256) -> Result<Option<Vec<u8>>, IngestRefusal> {
        let Some(size) = self.store.get(NAMESPACE, &size_key(digest)).await? else {
            return Ok(None);
        };
        let size = std::str::from_utf8(&size.value).ok().and_then(|text| text.parse::<usize>().ok());
        let size = size.filter(|size| *size <= MAX_MEDIA_BYTES).ok_or(StoreRefusal::Corrupt)?;
        let mut data = Vec::with_capacity(size);
        for index in 0..size.div_ceil(CHUNK) {
            let chunk = self.store.get(NAMESPACE, &chunk_key(digest, index)).await?;
            data.extend_from_slice(&chunk.ok_or(StoreRefusal::Corrupt)?.value);
        }
        if digest::sha256(&data) == digest { Ok(Some(data)) } else { Err(StoreRefusal::Corrupt.into()) }
    }

    async fn write_once(&self, key: &str, value: &[u8]) -> Result<(), IngestRefusal> {
        match self.store.compare_and_swap(NAMESPACE, key, None, value).await {
            // The name of the key is the digest of the content, so what is there is the same.
            Ok(_) | Err(StoreRefusal::Conflict { .. }) => Ok(()),
            Err(refusal) => Err(refusal.into()),
        }
    }
}

fn chunk_key(digest: Digest256, index: usize) -> String {
    format!("{digest}/{index:08}")
}

fn size_key(digest: Digest256) -> String {
    format!("{digest}/size")
}

/// The properties that say where the bytes of an asset are.
pub(super) fn asset_properties(name: &str, mime_type: &str, digest: Digest256, bytes: usize) -> JsonObject {
    [
        ("name", name.into()),
        ("mime_type", mime_type.into()),
        ("content_sha256", digest.to_hex().into()),
        ("byte_length", (bytes as u64).into()),
        ("media_reference", format!("media:sha256:{digest}").into()),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_owned(), value))
    .collect()
}
